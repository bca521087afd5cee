#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/figures/util-*.svg from data/h200/live: what nvidia-smi's GPU-Util said, and what the hardware counters read in the
same seconds. Every number in a figure is computed from the data. Only Python's own library is used.
usage: tools/figures.py [DATA [FIGURES]]"""
import csv
import json
import math
import pathlib
import sys
from datetime import datetime, timezone
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOADS = {  # in the order of the overview: what runs, as a title and in short
    "decode": ("batch-1 matrix-vector products, as in LLM decoding", "batch-1 decoding"),
    "matmul": ("a large matrix product, again and again", "large matrix product"),
    "bursty": ("one small kernel, then a pause, again and again", "a kernel now and then"),
    "tail": ("one warp on one SM, without a pause", "one warp on one SM"),
    "idle": ("nothing runs", "nothing runs"),
}
COUNTERS = {  # column: label, class (the class is the colour, and the line in the chart)
    "gr_active": ("GR active", "gr"),
    "sm_active": ("SM active", "sm"),
    "sm_issue": ("SM issue", "other"),
    "occupancy": ("Occupancy", "other"),
    "tensor_active": ("Tensor pipe", "other"),
    "fma_active": ("FMA pipe", "other"),
    "dram_throughput": ("DRAM", "dram"),
}
OVERVIEW = ("sm_active", "sm_issue", "tensor_active", "dram_throughput")
LINES = {"bursty": ("gr_active", "sm_active", "dram_throughput")}  # in the chart; others:
LINES_ELSE = ("sm_active", "dram_throughput")
ZOOM = {"bursty": (5.0, 6.0)}  # seconds since the first sample; others: the whole time

# Light and dark carry their own ground, so that a figure is readable on any page.
LIGHT = {"ground": "#ffffff", "text": "#1f2328", "soft": "#59636e", "grid": "#d1d9e0", "track": "#eaeef2", "util": "#b85c00",
         "gr": "#a04a80", "sm": "#0068a8", "dram": "#00785a", "other": "#6b7785"}
DARK = {"ground": "#0d1117", "text": "#e6edf3", "soft": "#9aa4ae", "grid": "#30363d", "track": "#21262d", "util": "#e69f00",
        "gr": "#d68ab4", "sm": "#56b4e9", "dram": "#2fbf95", "other": "#8b98a5"}
DRAWN = {"util": 'stroke-width="5" stroke-opacity="0.75"', "gr": 'stroke-width="2"', "sm": 'stroke-width="2"',
         "dram": 'stroke-width="2" stroke-dasharray="5 3"'}


# ---- data ----

def read_samples(path):
    """The PM sampling rows: [{column: number, "begin" and "end": seconds since the epoch}], oldest first."""
    samples = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["source"] == "pm":
                sample = {key: float(row[key]) for key in COUNTERS}
                sample["begin"], sample["end"] = int(row["start_ns"]) / 1e9, int(row["end_ns"]) / 1e9
                samples.append(sample)
    return samples


def read_util(path):
    """nvidia-smi's readings: [(seconds since the epoch, ratio)]. Its clock was in UTC."""
    readings = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, skipinitialspace=True):
            time = datetime.strptime(row["timestamp"], "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=timezone.utc)
            readings.append((time.timestamp(), int(row["utilization.gpu [%]"].removesuffix(" %")) / 100))
    return readings


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def read_load(folder, name):
    """All that is drawn of one load; times are seconds since the first sample."""
    samples = read_samples(folder / f"{name}.csv")
    begin, end = samples[0]["begin"], samples[-1]["end"]
    util = read_util(folder / f"{name}-nvidia-smi.csv")
    inside = [ratio for time, ratio in util if begin <= time <= end]
    gpu = json.loads((folder / f"{name}-summary.json").read_text(encoding="utf-8"))["gpus"][0]
    return {
        "name": name, "gpu": gpu["name"], "verdict": gpu["verdict"], "seconds": end - begin,
        "samples": len(samples), "readings": len(inside), "util": mean(inside),
        "means": {key: mean(s[key] for s in samples) for key in COUNTERS},
        "lines": {key: [(s["begin"] - begin, s[key]) for s in samples] for key in COUNTERS},
        "util_line": [(time - begin, ratio) for time, ratio in util],
    }


# ---- text and shapes ----

def percent(ratio):
    """As smeff's table has it; what is more than 0 never reads 0."""
    value = 100 * ratio
    if value == 0:
        return "0 %"
    if value < 0.005:
        return "< 0.01 %"
    if value >= 99.95:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if value >= 9.995 else f"{value:.2f} %"


def percent_util(ratio):
    """GPU-Util comes in whole percents: no digits where all readings agree."""
    value = 100 * ratio
    return f"{value:.0f} %" if abs(value - round(value)) < 1e-9 else f"{value:.1f} %"


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def text(x, y, words, style="", anchor="start", size=13):
    return (f'<text x="{number(x)}" y="{number(y)}" class="{style or "text"}" text-anchor="{anchor}" '
            f'font-size="{size}">{escape(words)}</text>')


def bar(x, y, width, height, ratio, style):
    """A track that stands for 100 %, and the part of it that was used."""
    track = f'<rect x="{number(x)}" y="{number(y)}" width="{width}" height="{height}" class="track"/>'
    full = max(width * min(ratio, 1), 1 if ratio > 0 else 0)
    return track + f'<rect x="{number(x)}" y="{number(y)}" width="{number(full)}" height="{height}" class="{style}"/>'


def rule(x1, y1, x2, y2):
    return f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" class="rule"/>'


def colours(theme):
    rules = [f'.ground{{fill:{theme["ground"]}}}', f'.text{{fill:{theme["text"]}}}', f'.soft{{fill:{theme["soft"]}}}',
             f'.track{{fill:{theme["track"]}}}', f'.rule{{stroke:{theme["grid"]}}}']
    for key in ("util", "gr", "sm", "dram", "other"):
        rules.append(f'.{key}{{fill:{theme[key]}}}.line-{key}{{stroke:{theme[key]};fill:none}}')
    return "".join(rules)


def document(width, height, title, description, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'font-family="system-ui, -apple-system, \'Segoe UI\', Helvetica, Arial, sans-serif">')
    style = f"<style>{colours(LIGHT)}@media (prefers-color-scheme:dark){{{colours(DARK)}}}</style>"
    return "\n".join([head, "<!-- Made by tools/figures.py. Do not edit. -->", f"<title>{escape(title)}</title>",
                      f"<desc>{escape(description)}</desc>", style,
                      f'<rect width="{width}" height="{height}" class="ground"/>', *parts, "</svg>", ""])


# ---- the chart ----

class Chart:
    """A frame: seconds from left to right, 0 to 100 % from the bottom to the top."""

    def __init__(self, box, span):
        (self.x, self.y, self.width, self.height), (self.begin, self.end) = box, span

    def at_x(self, seconds):
        return self.x + self.width * (seconds - self.begin) / (self.end - self.begin)

    def at_y(self, ratio):
        return self.y + self.height * (1 - min(ratio, 1))

    def frame(self):
        parts = []
        for share in (0, 0.25, 0.5, 0.75, 1):
            parts.append(rule(self.x, self.at_y(share), self.x + self.width, self.at_y(share)))
            parts.append(text(self.x - 7, self.at_y(share) + 4, f"{100 * share:.0f} %", "soft", "end", 11))
        step = 2 if self.end - self.begin > 2 else 0.2
        for i in range(int((self.end - self.begin) / step + 1e-6) + 1):
            seconds = self.begin + i * step
            parts.append(text(self.at_x(seconds), self.y + self.height + 17, f"{number(seconds)} s", "soft", "middle", 11))
        return parts

    def steps(self, points, style):
        """A line that holds each value until the next one begins."""
        before = [p for p in points if p[0] <= self.begin]
        shown = before[-1:] + [p for p in points if self.begin < p[0] < self.end]
        level = number(self.at_y(shown[0][1]))
        path = f"M{number(self.at_x(max(shown[0][0], self.begin)))} {level}"
        for seconds, ratio in shown[1:]:
            if number(self.at_y(ratio)) != level:
                level = number(self.at_y(ratio))
                path += f"H{number(self.at_x(seconds))}V{level}"
        return f'<path d="{path}H{number(self.x + self.width)}" class="line-{style}" {DRAWN[style]}/>'

    def dots(self, points, style):
        return [f'<circle cx="{number(self.at_x(t))}" cy="{number(self.at_y(v))}" r="3.5" class="{style}"/>'
                for t, v in points if self.begin <= t <= self.end]

    def labels(self, entries):
        """Names right of the lines, each as high as its value where there is room. entries: (words, class, ratio)."""
        entries = sorted(entries, key=lambda entry: -entry[2])
        heights, above = [], -math.inf
        for _, _, ratio in entries:
            above = max(self.at_y(ratio) + 4, above + 16)
            heights.append(above)
        for i in range(len(heights)):  # none below the frame: lift the lowest, and what it then meets
            heights[-1 - i] = min(heights[-1 - i], self.y + self.height + 4 - 16 * i)
        parts, x = [], self.x + self.width + 10
        for (words, style, _), y in zip(entries, heights):
            parts.append(f'<path d="M{number(x)} {number(y - 4)}h22" class="line-{style}" {DRAWN[style]}/>')
            parts.append(text(x + 28, y, words, style, "start", 12))
        return parts


# ---- the figures ----

def bars_of(load, x, y):
    """GPU-Util as people know it, and beneath it the counters of the same seconds."""
    parts = [text(x, y, "What nvidia-smi said", "soft", size=12),
             text(x, y + 26, "GPU-Util", "text", size=14), bar(x + 92, y + 11, 220, 20, load["util"], "util"),
             text(x + 320, y + 26, percent_util(load["util"]), "text", size=14),
             text(x, y + 60, "What the hardware counted in the same seconds", "soft", size=12)]
    for i, (key, (label, style)) in enumerate(COUNTERS.items()):
        row = y + 72 + 23 * i
        parts += [text(x, row + 12, label), bar(x + 92, row + 1, 220, 13, load["means"][key], style),
                  text(x + 320, row + 12, percent(load["means"][key]))]
    return parts


def chart_of(load, x, y):
    keys = LINES.get(load["name"], LINES_ELSE)
    chart = Chart((x + 42, y + 16, 268, 200), ZOOM.get(load["name"], (0, load["seconds"])))
    span = "One second of it" if load["name"] in ZOOM else "The whole time"
    parts = [text(x, y, span, "soft", size=12), *chart.frame(), chart.steps(load["util_line"], "util"),
             *chart.dots(load["util_line"], "util")]
    parts += [chart.steps(load["lines"][key], COUNTERS[key][1]) for key in keys]
    parts += chart.labels([("GPU-Util", "util", load["util"])] +
                          [(COUNTERS[key][0], COUNTERS[key][1], load["means"][key]) for key in keys])
    return parts


def describe(load):
    counters = ", ".join(f"{label} {percent(load['means'][key])}" for key, (label, _) in COUNTERS.items())
    return f"GPU-Util {percent_util(load['util'])}. Counters of the same seconds: {counters}."


def load_figure(load):
    name, title = load["name"], LOADS[load["name"]][0]
    verdict = f"{load['verdict']['kind']} – {load['verdict']['text']}"
    parts = [text(24, 32, name, "text", size=17), text(24, 52, f"{title} · {load['gpu']} · {load['seconds']:.0f} s", "soft", size=12),
             *bars_of(load, 24, 84), *chart_of(load, 455, 84),
             text(24, 345, f"smeff's verdict: {verdict}", "text", size=13),
             text(24, 364, f"Bars: means of {load['readings']} readings of nvidia-smi and of {load['samples']} samples of the counters. "
                  f"Dots: readings of nvidia-smi; lines: {load['samples'] / load['seconds']:.0f} samples a second.", "soft", size=11)]
    return document(900, 380, f"{name}: GPU-Util against the hardware counters", describe(load), parts)


def overview_row(load, y):
    parts = [rule(24, y - 16, 876, y - 16), text(24, y + 10, load["name"], "text", size=15),
             text(24, y + 27, LOADS[load["name"]][1], "soft", size=11),
             bar(180, y + 2, 76, 18, load["util"], "util"), text(262, y + 16, percent_util(load["util"]), "text", size=13)]
    for i, key in enumerate(OVERVIEW):
        x = 338 + 135 * i
        parts += [bar(x, y + 4, 66, 14, load["means"][key], COUNTERS[key][1]), text(x + 72, y + 16, percent(load["means"][key]))]
    return parts


def overview(loads):
    parts = [text(180, 30, "nvidia-smi", "soft", size=12), text(338, 30, "hardware counters, the same seconds", "soft", size=12),
             text(180, 50, "GPU-Util", "text", size=14)]
    parts += [text(338 + 135 * i, 50, COUNTERS[key][0], "text", size=14) for i, key in enumerate(OVERVIEW)]
    for i, load in enumerate(loads):
        parts += overview_row(load, 82 + 54 * i)
    foot = 82 + 54 * len(loads)
    parts += [rule(322, 18, 322, foot - 16),
              text(24, foot + 6, f"{loads[0]['gpu']}, {loads[0]['seconds']:.0f} s each. A full bar is 100 %.", "soft", size=11)]
    said = " ".join(f"{load['name']}: {describe(load)}" for load in loads)
    return document(900, foot + 22, "GPU-Util beside the hardware counters, five loads", said, parts)


def main(folder=ROOT / "data/h200/live", out=ROOT / "docs/figures"):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    loads = [read_load(folder, name) for name in LOADS]
    out.mkdir(parents=True, exist_ok=True)
    (out / "util-overview.svg").write_text(overview(loads), encoding="utf-8")
    for load in loads:
        (out / f"util-{load['name']}.svg").write_text(load_figure(load), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
