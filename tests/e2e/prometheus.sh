#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What deploy/ ships for Prometheus and Grafana, without running them: promtool on configuration, rules and the rules'
# own tests; the form of the dashboards. $1 = smeff, $2 = source tree, $3 = the fake libraries.
# shellcheck disable=SC2016 # dollars of jq and of Grafana
set -u
root=$2 failed=0
for tool in jq promtool; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
cd "$root/deploy" || exit 1

# ---- Prometheus ----
out=$(promtool check config prometheus/prometheus.yml 2>&1) || fail "check config: $out"
out=$(promtool check rules prometheus/rules/*.yml 2>&1) || fail "check rules: $out"
out=$(promtool test rules prometheus/tests/*.yml 2>&1) || fail "test rules: $out"
# every alert has a test that makes it fire
while read -r alert; do
    awk -v name="$alert" '/alertname:/ { on = $3 == name } on && /exp_labels/ { found = 1 } END { exit !found }' \
        prometheus/tests/smeff.alerts.test.yml || fail "$alert: no test in which it fires"
done < <(sed -n 's/^ *- alert: *//p' prometheus/rules/*.yml)
# a test of a rule can fail: one with another threshold does
cp -r prometheus "$dir"
sed -i 's/gpu:smeff_waste:mean5m > 0.7/gpu:smeff_waste:mean5m > 0.99/' "$dir/prometheus/rules/smeff.alerts.yml"
promtool test rules "$dir"/prometheus/tests/*.yml >/dev/null 2>&1 && fail "a wrong rule passes its tests"

# Every name in rules and dashboards is one that the exporter has, or that a rule records.
known=$(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' "$root/tests/golden/metrics.prom"
    sed -n 's/^ *- record: *//p' prometheus/rules/smeff.rules.yml)
keys=$("$1" metrics --json | jq -r .key)
named=$({ cat prometheus/rules/*.yml; jq -r '.panels[]|select(.targets)|.targets[].expr' grafana/dashboards/*.json; } |
    grep -v '^ *#' | grep -oE '\b([a-z]+:)?smeff_[a-z0-9_]+(:[a-z0-9]+)?' | sort -u)
for name in $named; do
    grep -qx "$name" <<<"$known" && continue
    # metrics that the golden page's card lacks: the key must be in the catalogue
    key=$(sed -E 's/^smeff_(server_)?//; s/_(ratio|seconds|seconds_total|bytes_total|bytes_per_second|bytes|hertz|watts|celsius)$//' <<<"$name")
    grep -qx "$key" <<<"$keys" || fail "$name: no such metric"
done

# ---- Grafana: what is known of its format ----
for file in grafana/dashboards/*.json; do
    name=${file##*/}
    jq -e . "$file" >/dev/null || { fail "$name: no JSON"; continue; }
    equal "$name: uid" "$(jq -r .uid "$file")" "${name%.json}"
    equal "$name: schema" "$(jq '.schemaVersion >= 36' "$file")" true
    equal "$name: the datasource is a variable" "$(jq -r '.templating.list[0]|"\(.type) \(.name)"' "$file")" "datasource datasource"
    equal "$name: which all panels take" \
        "$(jq -c '[.panels[]|select(.type != "row")|.datasource.uid, .targets[].datasource.uid]|unique' "$file")" '["${datasource}"]'
    equal "$name: panel types of today" \
        "$(jq -r '[.panels[].type]|unique - ["bargauge","row","stat","state-timeline","table","timeseries"]|join(" ")' "$file")" ""
    equal "$name: ids differ" "$(jq '[.panels[].id]|length == (unique|length)' "$file")" true
    equal "$name: titles" "$(jq '[.panels[]|.title|length > 0]|all' "$file")" true
    equal "$name: panels lie within 24 columns and not on each other" "$(jq '
        [.panels[].gridPos] as $p
        | ([$p[]|.x >= 0 and .x + .w <= 24 and .h > 0]|all)
          and ([range($p|length) as $i | range($i) as $k | ($p[$i], $p[$k])] | length > 0)
          and ([range($p|length) as $i | range($i) as $k | [$p[$i], $p[$k]]
               | select(.[0].x < .[1].x + .[1].w and .[1].x < .[0].x + .[0].w
                        and .[0].y < .[1].y + .[1].h and .[1].y < .[0].y + .[0].h)] | length == 0)' "$file")" true
    equal "$name: variables are those that it has" "$(jq -r '
        [.templating.list[].name] as $have
        | [.panels[]|select(.targets)|.targets[].expr|scan("\\$([a-z_]+)")[0]]
        | unique - $have - ["__rate_interval"] | join(" ")' "$file")" ""
done
equal "dashboards" "$(find grafana/dashboards -name '*.json' | wc -l)" 3
equal "uids differ" "$(jq -r .uid grafana/dashboards/*.json | sort -u | wc -l)" 3

# The files are what their program writes.
if command -v python3 >/dev/null; then
    mkdir "$dir/made"
    python3 grafana/make.py "$dir/made" || fail "make.py"
    diff -r "$dir/made" grafana/dashboards >/dev/null || fail "deploy/grafana/make.py writes other dashboards"
else
    echo "without python3: the dashboards were not made again"
fi

# ---- Kubernetes and Docker: parsed, and no more rights than are said ----
if python3 -c 'import yaml' 2>/dev/null; then
    python3 - kubernetes/*.yml grafana/provisioning/*/*.yml <<'END' || failed=1
import sys, yaml
docs = [d for f in sys.argv[1:] for d in yaml.safe_load_all(open(f))]
(daemon,) = [d for d in docs if d.get("kind") == "DaemonSet"]
pod = daemon["spec"]["template"]["spec"]
(container,) = pod["containers"]
rights = container["securityContext"]
ok = True
def equal(what, got, expected):
    global ok
    if got != expected:
        ok = False
        print("FAILED: %s: got %r, expected %r" % (what, got, expected))
equal("capabilities", rights["capabilities"], {"drop": ["ALL"], "add": ["PERFMON"]})
equal("privileged", rights["privileged"], False)
equal("escalation", rights["allowPrivilegeEscalation"], False)
equal("root file system", rights["readOnlyRootFilesystem"], True)
equal("token", pod["automountServiceAccountToken"], False)
equal("takes no GPU", [k for r in container["resources"].values() for k in r if "nvidia" in k], [])
equal("of the host", [v["hostPath"]["path"] for v in pod["volumes"] if "hostPath" in v], ["/usr/local/cuda"])
equal("read-only", [m["mountPath"] for m in container["volumeMounts"] if not m.get("readOnly")], ["/run/smeff"])
equal("host's namespaces", [k for k in ("hostNetwork", "hostPID", "hostIPC") if k in pod], [])
labels = daemon["spec"]["template"]["metadata"]["labels"]
for d in docs:
    if d.get("kind") in ("Service", "PodMonitor", "NetworkPolicy"):
        of = d["spec"].get("selector") or d["spec"].get("podSelector")
        equal(d["kind"] + " selects", of.get("matchLabels", of), labels)
sys.exit(not ok)
END
else
    echo "without python3-yaml: Kubernetes' files were not parsed"
fi
equal "the image's last user" "$(sed -n 's/^USER //p' docker/Dockerfile | tail -n 1)" 65534:65534
exit $failed
