#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A small fleet under a real Prometheus: five machines of eight GPUs behind our renderers and our HTTP server
# (tests/fleet), a daemon that plays a recording, the rules and dashboards of deploy/. $1 = smeff, $2 = source tree,
# $3 = the fake libraries.
# bench/fleet.sh is the same with two hundred.
# shellcheck disable=SC2086,SC2317
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq curl prometheus; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
# shellcheck source=tests/fleet/lib.sh
. "$root/tests/fleet/lib.sh"
unset ${!SMEFF_@}
export SMEFF_RUN_DIR=$dir/run SMEFF_SERVER=none SMEFF_STATE=$dir/state ASAN_OPTIONS=detect_leaks=0
daemon=
trap 'fleet_end; [ -z "$daemon" ] || { kill $daemon; wait $daemon; }; rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
near() { # what, got, expected, tolerance
    awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { exit !(a != "" && a >= b - t && a <= b + t) }' || fail "$1: got '$2', expected $3 ± $4"
}

fleet_start "$fakes/fleet" 5 8 || exit 1
for _ in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 10000))
    "$smeff" daemon run --replay "$root/data/h200/live/decode.jsonl.gz" --loop --listen "127.0.0.1:$port" 2>"$dir/daemon.err" &
    daemon=$!
    for _ in $(seq 100); do
        curl -sf "http://127.0.0.1:$port/healthz" >/dev/null && break 2
        kill -0 $daemon 2>/dev/null || break
        sleep 0.1
    done
    kill $daemon 2>/dev/null
    wait $daemon
    daemon=
done
[ -n "$daemon" ] || { echo "FAILED: the daemon does not start: $(cat "$dir/daemon.err")"; exit 1; }
jq -c ".[0].targets += [\"127.0.0.1:$port\"]" "$dir/web.json" >"$dir/web" && mv "$dir/web" "$dir/web.json"
prom_start 2 2 || exit 1
# a quarter of a minute of counters, and rules that were made of them
for _ in $(seq 120); do
    [ "$(number 'count_over_time(fleet:smeff_waste:mean5m[1m])')" != "" ] &&
        [ "$(number 'min(count_over_time(smeff_energy_joules_total[1m]))')" -ge 7 ] 2>/dev/null && break
    sleep 0.5
done

# ---- what was scraped ----
equal "targets" "$(number 'sum(max_over_time(up{job="smeff"}[20s]))')" 6
equal "targets under DCGM's names: but for the stream that is down" "$(number 'sum(max_over_time(up{job="dcgm"}[20s]))')" 4
equal "GPUs" "$(number 'fleet:smeff_gpus:count')" 41
# machine 3 has no permission, the stream of machine 4 is down
equal "GPUs with counters" "$(number 'fleet:smeff_gpus_measured:count')" 25
equal "no permission" "$(number 'count(smeff_metric_state{metric="sm_active", state="no_permission"})')" 8
equal "a stream that is down" "$(number 'count(smeff_up == 0)')" 1
equal "nothing of it" "$(rows 'smeff_power_watts and on (instance) smeff_up == 0')" 0
equal "rules" "$(curl -s "$prom/api/v1/rules" | jq -r '[.data.groups[].rules[]|select(.health != "ok")|.name + ": " + .lastError]|join("; ")')" ""
equal "Prometheus has no complaint" "$(grep -ci 'level=\(warn\|error\)' "$dir/prometheus.log")" 0

# ---- numbers: machine 0 decodes, as data/h200/live/decode-summary.txt has it ----
one="instance=\"$first\", gpu=\"0\""
near "SM active" "$(number "gpu:smeff_sm_active:mean5m{$one}")" 0.929 0.005
near "DRAM" "$(number "gpu:smeff_unit:mean5m{$one, unit=\"dram\"}")" 0.806 0.005
near "DRAM bytes" "$(number "gpu:smeff_dram_read_bytes_per_second:mean5m{$one} / 1e12")" 3.88 0.03
near "power" "$(number "gpu:smeff_power_watts:mean5m{$one}")" 581 12
near "the gauge and the counter" "$(number "smeff_sm_active_ratio{$one} - gpu:smeff_sm_active:mean5m{$one}")" 0 0.01
# four GPUs of 3.88 TB/s, and of 581 W, for the 400 tokens/s of a server of machine 0
near "bytes of a token" "$(number "smeff_server_bytes_per_output_token{instance=\"$first\", server=~\".*:8000/.*\"} / 1e9")" 38.8 0.4
near "joules of a token" "$(number "smeff_server_joules_per_output_token{instance=\"$first\", server=~\".*:8000/.*\"}")" 5.81 0.15
near "the fleet's waste" "$(number 'fleet:smeff_waste:mean5m - avg(clamp_min(gpu:smeff_gpu_util:mean5m - gpu:smeff_busiest_unit:mean5m, 0))')" 0 0.03

# ---- and the daemon, which plays the same at 50 Hz ----
one="instance=\"127.0.0.1:$port\""
near "a daemon's SM active" "$(number "gpu:smeff_sm_active:mean5m{$one}")" 0.9288 0.0005
near "a daemon's DRAM bytes" "$(number "gpu:smeff_dram_read_bytes_per_second:mean5m{$one} / 1e12")" 3.877 0.002
equal "a daemon's verdict" "$(ask "smeff_verdict{$one} == 1" | jq -r '.data.result[0].metric.verdict')" memory_bound
if command -v promtool >/dev/null; then
    out=$(curl -s "http://127.0.0.1:$port/metrics" | promtool check metrics 2>&1) || fail "check metrics: $out"
fi

# ---- DCGM's names, beside ours ----
near "GPU-Util" "$(number "sum(DCGM_FI_DEV_GPU_UTIL) / 100 - sum(smeff_gpu_util_ratio{instance!=\"127.0.0.1:$port\"})")" 0 0.5
equal "both names of a host" "$(number 'count(DCGM_FI_DEV_GPU_TEMP{hostname="gpu-000", Hostname="gpu-000"})')" 8
while IFS=$'\t' read -r name expression; do
    wrong=$(good "$expression")
    [ -z "$wrong" ] || fail "DCGM, $name: $wrong: $expression"
done < <(dcgm_queries)

# ---- the panel over the same Prometheus ----
page=$(LC_ALL=C.UTF-8 COLUMNS=200 LINES=60 timeout 60 "$smeff" top --once --prometheus "$prom" 2>"$dir/top.err") || fail "top --prometheus: $(cat "$dir/top.err")"
case $page in *"41 GPUs on 6 hosts"*) ;; *) fail "top --prometheus: ${page:0:600}" ;; esac
case $page in *"no_permission: "*) ;; *) fail "top --prometheus: it does not say why there is no number" ;; esac
line=$(grep "^ $first/0 " <<<"$page")
case $line in *"80."*" % DRAM"*memory_bound*) ;; *) fail "top --prometheus: machine 0: '$line'" ;; esac
near "top --prometheus: waste" "$(sed -n "s/.* did .*: \([0-9.]*\) GPUs' worth.*/\1/p" <<<"$page")" "$(number 'sum(clamp_min(gpu:smeff_gpu_util:mean5m - gpu:smeff_busiest_unit:mean5m, 0))')" 0.6
equal "top --prometheus: nobody" "$(timeout 60 "$smeff" top --once --prometheus http://127.0.0.1:1 >/dev/null 2>&1; echo $?)" 1

# ---- every panel of the shipped dashboards ----
for file in "$root"/deploy/grafana/dashboards/*.json; do
    wrong=$(check_panels "$file")
    [ -z "$wrong" ] || fail "$wrong"
done
# a panel that asks for something else is noticed
sed 's/smeff_temperature_celsius/smeff_temperature_kelvin/' "$root/deploy/grafana/dashboards/smeff-node.json" >"$dir/wrong.json"
check_panels "$dir/wrong.json" | grep -q 'Temperature: no data' || fail "a panel without data is not noticed"

kill "$fleet_pid"
wait "$fleet_pid"
equal "the fleet's end: $?" "$(tail -n 3 "$dir/fleet.err")" ""
fleet_pid=
exit $failed
