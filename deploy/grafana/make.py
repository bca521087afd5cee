#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the dashboards: make.py FOLDER. A panel is a line or two here and 60 in Grafana's JSON.

The JSON files beside it are what is installed; a test compares them with what this writes.
"""
import json
import os
import sys

SCHEMA = 39  # of Grafana 10.4; later ones migrate it by themselves
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def mean(metric, where="", counter=None):
    """The exact mean of a share or a rate over the chart's step: increase over measured time."""
    counter = counter or "smeff_%s_seconds_total" % metric
    return (
        'rate(%s{%s}[$__rate_interval]) / ignoring(metric) '
        '(rate(smeff_measured_seconds_total{metric="%s"%s}[$__rate_interval]) > 0)'
        % (counter, where, metric, ", " + where if where else "")
    )


class Dashboard:
    def __init__(self, uid, title, description, variables):
        self.panels, self.x, self.y, self.row_height = [], 0, 0, 0
        self.top = {
            "uid": uid, "title": title, "description": description, "tags": ["smeff", "gpu"],
            "schemaVersion": SCHEMA, "version": 1, "editable": True, "graphTooltip": 1,
            "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timezone": "",
            "annotations": {"list": []}, "links": [
                {"type": "dashboards", "tags": ["smeff"], "title": "smeff", "asDropdown": True,
                 "includeVars": False, "keepTime": True, "targetBlank": False, "icon": "external link",
                 "tooltip": "", "url": ""}],
            "templating": {"list": [{
                "type": "datasource", "name": "datasource", "label": "Prometheus",
                "query": "prometheus", "refresh": 1, "current": {}, "options": [], "hide": 0,
                "includeAll": False, "multi": False, "regex": "", "skipUrlSync": False}] + variables},
        }

    def place(self, width, height):
        if self.x + width > 24:
            self.x, self.y, self.row_height = 0, self.y + self.row_height, 0
        at = {"x": self.x, "y": self.y, "w": width, "h": height}
        self.x += width
        self.row_height = max(self.row_height, height)
        return at

    def row(self, title):
        self.x, self.y, self.row_height = 0, self.y + self.row_height, 0
        self.panels.append({"id": len(self.panels) + 1, "type": "row", "title": title,
                            "collapsed": False, "panels": [], "gridPos": self.place(24, 1)})

    def panel(self, kind, title, targets, unit, width, height, description, custom=None,
              options=None, limits=(None, None), instant=False, extra=None):
        defaults = {"unit": unit, "custom": custom or {}, "mappings": [],
                    "thresholds": {"mode": "absolute", "steps": [{"color": "green", "value": None}]},
                    "color": {"mode": "palette-classic"}}
        for key, limit in zip(("min", "max"), limits):
            if limit is not None:
                defaults[key] = limit
        panel = {
            "id": len(self.panels) + 1, "type": kind, "title": title, "description": description,
            "datasource": DATASOURCE, "gridPos": self.place(width, height),
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "options": options or {},
            "targets": [{
                "refId": chr(65 + i), "datasource": DATASOURCE, "expr": expr, "legendFormat": legend,
                "instant": instant, "range": not instant,
                "format": "table" if kind == "table" else "time_series"}
                for i, (expr, legend) in enumerate(targets)],
        }
        panel.update(extra or {})
        self.panels.append(panel)
        return panel

    def series(self, title, targets, unit="percentunit", width=12, height=8, description="",
               limits=(0, None), stacked=False):
        return self.panel("timeseries", title, targets, unit, width, height, description, {
            "drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1,
            "fillOpacity": 30 if stacked else 8, "showPoints": "never", "spanNulls": False,
            "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
        }, {"legend": {"displayMode": "table", "placement": "bottom", "showLegend": True,
                       "calcs": ["mean", "max", "lastNotNull"]},
            "tooltip": {"mode": "multi", "sort": "desc"}}, limits)

    def number(self, title, expr, unit="short", width=4, height=4, description="", limits=(None, None)):
        return self.panel("stat", title, [(expr, "")], unit, width, height, description, None, {
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "value", "graphMode": "area", "justifyMode": "auto",
            "orientation": "auto", "textMode": "auto"}, limits)

    def table(self, title, targets, unit="percentunit", width=24, height=10, description="",
              names=None, sort=None):
        return self.panel("table", title, targets, unit, width, height, description, {
            "align": "auto", "cellOptions": {"type": "auto"}, "filterable": True},
            {"showHeader": True, "cellHeight": "sm",
             "sortBy": [{"displayName": sort, "desc": True}] if sort else []},
            instant=True, extra={"transformations": [
                {"id": "organize", "options": {
                    "excludeByName": {"Time": True, "job": True, "__name__": True},
                    "renameByName": names or {}}}]})

    def bars(self, title, expr, legend, unit="percentunit", width=12, height=8, description="",
             limits=(0, None)):
        return self.panel("bargauge", title, [(expr, legend)], unit, width, height, description,
                          None, {
                              "displayMode": "basic", "orientation": "horizontal",
                              "showUnfilled": True, "valueMode": "color",
                              "reduceOptions": {"calcs": ["lastNotNull"], "fields": "",
                                                "values": False}}, limits, instant=True)

    def text(self):
        whole = dict(self.top, panels=self.panels)
        return json.dumps(whole, indent=1, sort_keys=True) + "\n"


def variable(name, label, query, multi=True):
    return {"type": "query", "name": name, "label": label, "datasource": DATASOURCE,
            "definition": query, "query": query, "refresh": 2, "regex": "", "sort": 3,
            "multi": multi, "includeAll": multi, "allValue": ".*" if multi else None,
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]} if multi else {},
            "options": [], "hide": 0, "skipUrlSync": False}


def node():
    d = Dashboard("smeff-node", "smeff node", "One machine: what GPU-Util says, and what its GPUs really do.", [
        variable("instance", "Machine", "label_values(smeff_gpu_info, instance)", False),
        variable("gpu", "GPU", 'label_values(smeff_gpu_info{instance="$instance"}, gpu)')])
    at = 'instance="$instance", gpu=~"$gpu"'
    d.row("What GPU-Util says, and what the hardware did")
    d.series("GPU-Util: a kernel was there, whatever it did", [(mean("gpu_util", at), "GPU {{gpu}}")], limits=(0, 1))
    d.series("SM active: share of time in which an SM held work", [(mean("sm_active", at), "GPU {{gpu}}")], limits=(0, 1))
    d.series("Tensor pipe", [(mean("tensor_active", at), "GPU {{gpu}}")], width=8, limits=(0, 1))
    d.series("DRAM, share of the peak", [
        (mean("dram_read", at), "GPU {{gpu}} read"), (mean("dram_write", at), "GPU {{gpu}} write")], width=8, limits=(0, 1))
    d.series("SM issue: instructions, share of the most", [(mean("sm_issue", at), "GPU {{gpu}}")], width=8, limits=(0, 1))
    d.panel("state-timeline", "Verdict: what limited the GPU", [
        ('smeff_verdict{%s} == 1' % at, "GPU {{gpu}} {{verdict}}")], "short", 24, 6,
        "One line for each verdict of a GPU, drawn while it holds.",
        {"fillOpacity": 70, "lineWidth": 0},
        {"mergeValues": True, "showValue": "never", "alignValue": "left", "rowHeight": 0.8,
         "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False},
         "tooltip": {"mode": "single", "sort": "none"}})
    d.row("Traffic")
    d.series("DRAM bytes", [
        (mean("dram_read_bytes", at, "smeff_dram_read_bytes_total"), "GPU {{gpu}} read"),
        (mean("dram_write_bytes", at, "smeff_dram_write_bytes_total"), "GPU {{gpu}} write")], "Bps", 8)
    d.series("PCIe, from the GPU's view", [
        (mean("pcie_rx", at, "smeff_pcie_rx_bytes_total"), "GPU {{gpu}} in"),
        (mean("pcie_tx", at, "smeff_pcie_tx_bytes_total"), "GPU {{gpu}} out")], "Bps", 8)
    d.series("NVLink, payload", [
        (mean("nvlink_rx", at, "smeff_nvlink_rx_bytes_total"), "GPU {{gpu}} in"),
        (mean("nvlink_tx", at, "smeff_nvlink_tx_bytes_total"), "GPU {{gpu}} out")], "Bps", 8,
        description="Empty where no GPU has NVLink.")
    d.row("Power, clocks, memory")
    d.series("Power", [
        (mean("energy", at, "smeff_energy_joules_total"), "GPU {{gpu}}"),
        ("smeff_power_limit_watts{%s}" % at, "GPU {{gpu}} limit")], "watt", 8,
        description="From the driver's energy counter; the limit beside it.")
    d.series("Temperature", [
        ("smeff_temperature_celsius{%s}" % at, "GPU {{gpu}}"),
        ("smeff_mem_temperature_celsius{%s}" % at, "GPU {{gpu}} memory")], "celsius", 8)
    d.series("Clocks", [
        ("smeff_gpc_clock_hertz{%s}" % at, "GPU {{gpu}} SM"),
        ("smeff_clock_mem_hertz{%s}" % at, "GPU {{gpu}} memory")], "hertz", 8)
    d.series("Memory in use", [
        ("smeff_mem_used_bytes{%s}" % at, "GPU {{gpu}}"),
        ("smeff_mem_total_bytes{%s}" % at, "GPU {{gpu}} in all")], "bytes", 8)
    d.series("Clocks held down, share of time by reason", [
        ('rate(smeff_throttle_seconds_total{%s}[$__rate_interval]) > 0' % at, "GPU {{gpu}} {{reason}}")], width=8,
        limits=(0, 1), description="idle and power_limit are normal; heat_*, hardware and power_brake are not.")
    d.series("Occupancy: resident warps, share of the most", [(mean("occupancy", at), "GPU {{gpu}}")], width=8, limits=(0, 1))
    d.row("How it was measured")
    d.series("Measured share of the time", [("smeff_coverage_ratio{%s}" % at, "GPU {{gpu}}")], width=8, limits=(0, 1))
    d.series("Age of the newest sample", [("smeff_sample_age_seconds{%s}" % at, "GPU {{gpu}}")], "s", 8)
    d.series("Samples a second", [("smeff_sample_rate_hertz{%s}" % at, "GPU {{gpu}}")], "hertz", 8)
    d.table("What has no sound number now, and why", [("smeff_metric_state{%s}" % at, "")], "short",
            names={"Value": "missing"})
    return d


def fleet():
    d = Dashboard("smeff-fleet", "smeff fleet",
                  "All machines. Needs the recording rules of deploy/prometheus/rules.", [])
    d.number("GPUs", "fleet:smeff_gpus:count")
    d.number("GPUs with counters", "fleet:smeff_gpus_measured:count",
             description="Of these all means below are.")
    d.number("GPU-Util", "fleet:smeff_gpu_util:mean5m", "percentunit", limits=(0, 1))
    d.number("Busiest unit", "fleet:smeff_busiest_unit:mean5m", "percentunit", limits=(0, 1),
             description="Mean over GPUs of the unit that was busiest.")
    d.number("Waste in whole GPUs", "fleet:smeff_waste_gpus:sum", "short",
             description="So many GPUs GPU-Util calls busy, and no unit of them was.")
    d.number("Power", "fleet:smeff_power_watts:sum", "watt")
    d.row("Fleet")
    d.series("GPU-Util and what was behind it", [
        ("fleet:smeff_gpu_util:mean5m", "GPU-Util"), ("fleet:smeff_sm_active:mean5m", "SM active"),
        ("fleet:smeff_busiest_unit:mean5m", "busiest unit"), ("fleet:smeff_waste:mean5m", "waste")], limits=(0, 1))
    d.series("Units", [("fleet:smeff_unit:mean5m", "{{unit}}")], limits=(0, 1))
    d.series("GPUs by verdict", [("fleet:smeff_verdict:count", "{{verdict}}")], "short", stacked=True)
    d.series("Power by machine, the 20 with most", [("topk(20, instance:smeff_power_watts:sum)", "{{instance}}")], "watt")
    d.row("Where the waste is")
    d.bars("Machines with most waste", "topk(20, instance:smeff_waste:mean5m)", "{{instance}}", limits=(0, 1))
    d.table("GPUs with most waste", [
        ("topk(50, gpu:smeff_waste:mean5m) * on (job, instance, gpu, uuid) group_left (name) smeff_gpu_info", "")],
        width=12, height=8, sort="waste", names={"Value": "waste"},
        description="GPU-Util without what the busiest unit did.")
    d.row("Health")
    d.number("Exporters down", 'count(up{job="smeff"} == 0) or vector(0)')
    d.number("Streams down", "count(smeff_up == 0) or vector(0)")
    d.number("GPUs without counters", 'count(smeff_metric_state{metric="sm_active"}) or vector(0)')
    d.number("GPUs slowed by heat or supply",
             'count(sum without (reason) (rate(smeff_throttle_seconds_total{reason=~"heat_driver|heat_hardware|hardware|power_brake"}[10m])) > 0.1) or vector(0)')
    d.number("Oldest sample", "max(smeff_sample_age_seconds)", "s")
    d.number("Uncorrected memory errors, last day", "sum(increase(smeff_ecc_errors_total[1d])) or vector(0)")
    d.table("Why counters are missing", [
        ('count by (instance, state, reason) (smeff_metric_state{metric="sm_active"})', "")], "short",
        names={"Value": "GPUs"}, sort="GPUs")
    return d


def inference():
    d = Dashboard("smeff-inference", "smeff inference efficiency",
                  "What a token costs, by model. Needs the recording rules of deploy/prometheus/rules.", [
                      variable("model", "Model", "label_values(smeff_server_up, model)")])
    at = 'model=~"$model"'
    d.row("By model")
    d.series("Energy of a token", [("model:smeff_server_joules_per_output_token:mean{%s}" % at, "{{model}}")], "joule",
             description="Energy of the server's GPUs over its output tokens; idle power is in it.")
    d.series("Memory traffic of a token", [("model:smeff_server_bytes_per_output_token:mean{%s}" % at, "{{model}}")], "decbytes",
             description="DRAM bytes of the server's GPUs over its output tokens: with batch 1 about the size of the weights.")
    d.series("Output tokens a second", [("model:smeff_server_output_tokens_per_second:sum{%s}" % at, "{{model}}")], "short")
    d.series("GPUs that serve it", [("model:smeff_server_gpus:count{%s}" % at, "{{model}}")], "short")
    d.row("By server")
    each = "{{instance}} {{server}}"
    d.series("KV cache in use", [("smeff_server_kv_usage_ratio{%s}" % at, each)], width=8, limits=(0, 1))
    d.series("Running", [("smeff_server_running{%s}" % at, each)], "short", 8)
    d.series("Waiting", [("smeff_server_waiting{%s}" % at, each)], "short", 8)
    d.series("Time to the first token, mean", [("smeff_server_ttft_seconds{%s}" % at, each)], "s", 8)
    d.series("Time per output token, mean", [("smeff_server_tpot_seconds{%s}" % at, each)], "s", 8)
    d.series("Time of a request, mean", [("smeff_server_e2e_latency_seconds{%s}" % at, each)], "s", 8)
    d.series("Prompt tokens a second", [("smeff_server_prompt_tokens_per_second{%s}" % at, each)], "short", 8)
    d.series("Prefix cache hits", [("smeff_server_prefix_hit_ratio{%s}" % at, each)], width=8, limits=(0, 1))
    d.series("Draft tokens accepted", [("smeff_server_spec_acceptance_ratio{%s}" % at, each)], width=8, limits=(0, 1))
    d.row("The GPUs behind it")
    of = ("avg by (model) (max by (job, instance, gpu, uuid, model) (smeff_server_gpu{%s}) "
          "* on (job, instance, gpu, uuid) group_left () gpu:smeff_unit:mean5m{unit=\"%s\"})")
    d.series("DRAM of the GPUs that serve it", [(of % (at, "dram"), "{{model}}")], width=8, limits=(0, 1))
    d.series("Tensor pipe of the GPUs that serve it", [(of % (at, "tensor"), "{{model}}")], width=8, limits=(0, 1))
    d.series("Measured over estimated traffic", [("smeff_server_measured_to_estimated{%s}" % at, each)], "short", 8,
             description="Near 1: weights and KV cache explain the traffic. For servers that estimate it.")
    d.table("Servers", [("smeff_server_up{%s}" % at, "")], "short", names={"Value": "up"}, height=7, width=12)
    d.table("What a server does not tell, and why", [("smeff_server_metric_state{%s}" % at, "")], "short",
            names={"Value": "missing"}, height=7, width=12)
    return d


def main():
    for make in (node, fleet, inference):
        d = make()
        with open(os.path.join(sys.argv[1], d.top["uid"] + ".json"), "w") as f:
            f.write(d.text())


main()
