#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a fleet costs its Prometheus, and whether every query finds its data: MACHINES exporters of GPUS GPUs each on loopback
# (tests/fleet: made-up machines that play real recordings, behind our renderers and HTTP server), scraped by a real one.
#   bench/fleet.sh [FLEET] [MACHINES] [GPUS] [SECONDS] [SCRAPE_SECONDS]
# FLEET: tests/fakes/fleet of a build with SMEFF_TESTS=ON, without sanitizers. Needs prometheus, jq, curl.
# SMEFF_DCGM=no leaves DCGM's names out.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${1:-$root/build/release/tests/fakes/fleet} machines=${2:-200} gpus=${3:-8} seconds=${4:-600} scrape=${5:-15}
for tool in jq curl prometheus; do command -v $tool >/dev/null || { echo "needs $tool" >&2; exit 77; }; done
[[ -x $program ]] || { echo "no program $program" >&2; exit 77; }
dir=$(mktemp -d)
# shellcheck source=tests/fleet/lib.sh
. "$root/tests/fleet/lib.sh"
trap 'fleet_end; rm -rf "$dir"' EXIT

own() { curl -s "$prom/metrics" | awk -v name="$1" '$1 ~ "^" name "($|{)" { n += $2 } END { print n }'; } # of Prometheus itself
rss() { awk '/^VmRSS/ { print $2 * 1024 }' "/proc/$1/status"; }

echo "$(date -u +%FT%TZ) $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg), $(prometheus --version 2>&1 | head -1)"
echo "$machines machines of $gpus GPUs, scraped each $scrape s, rules each 30 s, for $seconds s"
fleet_start "$program" "$machines" "$gpus"
[[ ${SMEFF_DCGM:-yes} == yes ]] || echo '[]' >"$dir/dcgm.json"

echo
echo "== one exporter ($gpus GPUs) =="
sleep 8
for kind in web dcgm; do
    # machine 1 has no inference server, machine 0 has two
    for number in 0 1; do
        url=http://127.0.0.1:$(awk -v kind=$kind -v n=$number '$1 == kind && n-- == 0 { print $2; exit }' "$dir/ports")/metrics
        curl -s "$url" >"$dir/page"
        packed=$(curl -s -H 'Accept-Encoding: gzip' -o /dev/null -w '%{size_download}' "$url")
        awk -v kind=$kind -v n=$number -v packed="$packed" -v gpus="$gpus" -v bytes="$(stat -c %s "$dir/page")" '
            !/^#/ { all++ } !/^#/ && /gpu="/ && !/server=/ { of_gpu++ }
            !/^#/ && /^smeff_metric_state|^smeff_verdict|^smeff_measured|^smeff_throttle/ { about++ }
            END { printf "%-4s machine %d: %5d series, %6.1f a GPU (of these %5.1f state, verdict, throttle and measured time); %6d bytes, %5d by gzip\n",
                  kind, n, all, of_gpu / gpus, about / gpus, bytes, packed }' "$dir/page"
    done
done

echo
echo "== Prometheus =="
idle=$(date +%s)
prom_start "$scrape" 30
echo "without data: $(rss "$prom_pid") bytes resident"
for ((i = 1; i <= 10; i++)); do
    sleep $((seconds / 10))
    printf '%5d s: %8.0f series, %9.0f samples appended, %6.1f MB resident (heap in use %6.1f MB), %6.1f s of CPU; fleet %6.1f MB\n' \
        $(($(date +%s) - idle)) "$(own prometheus_tsdb_head_series)" "$(own prometheus_tsdb_head_samples_appended_total)" \
        "$(rss "$prom_pid" | awk '{ print $1 / 1e6 }')" "$(own go_memstats_heap_inuse_bytes | awk '{ print $1 / 1e6 }')" \
        "$(own process_cpu_seconds_total)" "$(rss "$fleet_pid" | awk '{ print $1 / 1e6 }')"
done

echo
echo "== what it got =="
echo "targets up: $(number 'sum(up)') of $(number 'count(up)'); GPUs $(number fleet:smeff_gpus:count), with counters $(number fleet:smeff_gpus_measured:count)"
echo "samples a scrape: $(number 'avg(scrape_samples_scraped{job="smeff"})') native, $(number 'avg(scrape_samples_scraped{job="dcgm"})') DCGM; a GPU $(number "sum(scrape_samples_scraped{job=\"smeff\"}) / fleet:smeff_gpus:count")"
echo "duration of a scrape: median $(number 'quantile(0.5, scrape_duration_seconds{job="smeff"})') s, 99 % $(number 'quantile(0.99, scrape_duration_seconds{job="smeff"})') s"
echo "series that came or went in 5 minutes: $(number 'sum(sum_over_time(scrape_series_added{job="smeff"}[5m]))')"
groups=$(curl -s "$prom/api/v1/rules")
echo "slowest group of rules: $(jq -r '[.data.groups[] | {name, evaluationTime}] | max_by(.evaluationTime) | "\(.name) \(.evaluationTime) s"' <<<"$groups"); rules not well: $(jq '[.data.groups[].rules[] | select(.health != "ok")] | length' <<<"$groups")"
echo "complaints in its log: $(grep -c 'level=\(warn\|error\)' "$dir/prometheus.log" || :)"

echo
echo "== the fleet's efficiency, from the recording rules =="
for record in gpu_util:mean5m sm_active:mean5m busiest_unit:mean5m waste:mean5m waste_gpus:sum power_watts:sum; do
    printf '%-32s %s\n' "fleet:smeff_$record" "$(number "fleet:smeff_$record")"
done
ask model:smeff_server_joules_per_output_token:mean | jq -r '.data.result[] | "joules a token, \(.metric.model): \(.value[1])"'
ask model:smeff_server_bytes_per_output_token:mean | jq -r '.data.result[] | "bytes a token, \(.metric.model): \(.value[1])"'

echo
echo "== panels =="
for file in "$root"/deploy/grafana/dashboards/*.json; do
    check_panels "$file" >"$dir/wrong"
    cat "$dir/wrong"
    echo "${file##*/}: $panels_good of $(panels "$file" | wc -l) queries have data"
done
if [[ ${SMEFF_DCGM:-yes} == yes ]]; then
    good=0
    while IFS=$'\t' read -r name expression; do
        wrong=$(good "$expression")
        if [[ -z $wrong ]]; then good=$((good + 1)); else echo "DCGM, $name: $wrong"; fi
    done < <(dcgm_queries)
    echo "DCGM: $good of $(dcgm_queries | wc -l) queries have data (the first 8 are those of dashboard 12239)"
fi
time_of() { curl -s -o /dev/null -w '%{time_total}' --data-urlencode "query=$1" "$prom/api/v1/query"; }
echo "time of a query over the fleet: waste of all GPUs by their counters $(time_of 'topk(50, rate(smeff_gpu_util_seconds_total[5m]) / ignoring(metric) rate(smeff_measured_seconds_total{metric="gpu_util"}[5m]))') s, by the recorded rule $(time_of 'topk(50, gpu:smeff_waste:mean5m)') s"
echo "$(date -u +%FT%TZ) load $(cut -d' ' -f1-3 /proc/loadavg) at the end"
