#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The HTTP side on loopback, beside Debian's prometheus-node-exporter in the same run: eight (fake) GPUs at 50 Hz.
#   bench/http.sh [BUILD] [SLOW_SECONDS]    default: build/release, 300
# BUILD has smeff, http_load and the fake libraries:
#   cmake -S . -B build/release -DSMEFF_TESTS=ON && cmake --build build/release --target smeff http_load fakes
# OUT=FOLDER keeps what was printed there. Needs jq; without prometheus-node-exporter its rows are left out. Takes about 7 minutes.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(readlink -f "${1:-$here/../build/release}") slow_s=${2:-300} gpus=8 rounds=5
smeff=$build/smeff fakes=$build/tests/fakes load=$build/tests/fakes/http_load
[[ -x $load ]] || load=$build/http_load
for file in "$smeff" "$load" "$fakes/nvml/libnvidia-ml.so.1"; do [[ -e $file ]] || { echo "bench/http.sh needs $file" >&2; exit 2; }; done
command -v jq >/dev/null || { echo "bench/http.sh needs jq" >&2; exit 77; }
node=$(command -v prometheus-node-exporter || command -v node_exporter || true)
dir=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT
[[ -z ${OUT:-} ]] || { mkdir -p "$OUT"; exec > >(tee "$OUT/table.txt"); }

say() { printf '\n%s\n' "$*"; }
wanted() { awk -v a="$1" -v b="$3" "BEGIN { printf \"   wanted: $2 %s: %s\n\", b, (a $2 b ? \"yes\" : \"NO\") }"; } # value, relation, limit
field() { jq -r ".$1" <<<"$2"; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
cpu_ticks() { cut -d')' -f2 "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
memory_kb() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; }

unset "${!SMEFF_@}" CUDA_VISIBLE_DEVICES || true
echo "gpus = $gpus" >"$dir/script"
port=$((21000 + RANDOM % 4000)) node_port=$((25000 + RANDOM % 4000))
FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_STATE=$dir/state \
    "$smeff" daemon run --run-dir "$dir/run" --server none --listen 127.0.0.1:$port 2>"$dir/log" &
pids+=($!)
daemon=$!
if [[ -n $node ]]; then
    "$node" --web.listen-address=127.0.0.1:$node_port 2>/dev/null &
    pids+=($!)
fi
for _ in $(seq 200); do
    "$load" probe 127.0.0.1 $port /healthz 0.1 100 2>/dev/null | grep -q '"failed":0' && break
    sleep 0.1
done
sleep 5
http=$(pgrep -P $daemon -f '^smeff http ')
echo "$(nproc) cores, $(uname -sr), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ //')"
"$smeff" --version
[[ -z $node ]] || "$node" --version 2>&1 | head -1
echo "load of the machine before: $(cut -d' ' -f1-3 /proc/loadavg)"

say "one scrape at a time, kept alive (ms); $rounds rounds in turn, medians"
for ((i = 0; i < rounds; i++)); do
    "$load" load 127.0.0.1 $port /metrics 1 3000 gzip | tee -a "$dir/raw" >>"$dir/ours.1"
    [[ -z $node ]] || "$load" load 127.0.0.1 $node_port /metrics 1 150 gzip | tee -a "$dir/raw" >>"$dir/node.1"
done
p99=$(jq .p99_ms "$dir/ours.1" | median)
echo "smeff, 8 GPUs, gzip        p50 $(jq .p50_ms "$dir/ours.1" | median)   p99 $p99   all p99: $(jq .p99_ms "$dir/ours.1" | tr '\n' ' ')"
[[ -z $node ]] || echo "node_exporter, gzip        p50 $(jq .p50_ms "$dir/node.1" | median)   p99 $(jq .p99_ms "$dir/node.1" | median)"
echo "p99 $p99 ms"
wanted "$p99" '<=' 2

say "scrapes a second over 8 connections; $rounds rounds in turn, medians"
for how in plain gzip; do
    for ((i = 0; i < rounds; i++)); do
        "$load" load 127.0.0.1 $port /metrics 8 20000 $how | tee -a "$dir/raw" >>"$dir/ours.8.$how"
        [[ -z $node ]] || "$load" load 127.0.0.1 $node_port /metrics 8 600 $how | tee -a "$dir/raw" >>"$dir/node.8.$how"
    done
    ours=$(jq .per_second "$dir/ours.8.$how" | median)
    echo "smeff, $how               $ours   ($(jq .bytes_each "$dir/ours.8.$how" | median) bytes each)   all: $(jq .per_second "$dir/ours.8.$how" | tr '\n' ' ')"
    [[ -n $node ]] || continue
    theirs=$(jq .per_second "$dir/node.8.$how" | median)
    echo "node_exporter, $how       $theirs   ($(jq .bytes_each "$dir/node.8.$how" | median) bytes each)   all: $(jq .per_second "$dir/node.8.$how" | tr '\n' ' ')"
    ratio=$(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.1f", a / b }')
    echo "ratio $ratio"
    wanted "$ratio" '>=' 5
done

say "memory of the HTTP process (anonymous, resident) over 1,000,000 scrapes"
"$load" load 127.0.0.1 $port /metrics 8 100000 gzip >>"$dir/raw"
before=$(memory_kb $http) ticks=$(cpu_ticks $http)
result=$("$load" load 127.0.0.1 $port /metrics 8 "${SCRAPES:-1000000}" gzip | tee -a "$dir/raw")
sleep 2
after=$(memory_kb $http)
echo "before $before KiB, after $after KiB: $(((after - before) * 1024)) bytes; $(field per_second "$result") a second, $(field not_200 "$result") not 200, $(awk -v t=$(($(cpu_ticks $http) - ticks)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f", t / hz }') s of CPU"
wanted $(((after - before) * 1024)) '<=' 200

say "a new connection and a scrape each 50 ms, beside nobody, and beside 1,000 slow clients for $slow_s s (ms)"
alone=$("$load" probe 127.0.0.1 $port /metrics 20 50 | tee -a "$dir/raw")
ticks=$(cpu_ticks $http)
"$load" slow 127.0.0.1 $port 1000 "$slow_s" >"$dir/slow" &
slow=$!
sleep 2
beside=$("$load" probe 127.0.0.1 $port /metrics $((slow_s - 4)) 50 | tee -a "$dir/raw")
wait $slow
cat "$dir/slow" >>"$dir/raw"
echo "alone    ok $(field ok "$alone"), failed $(field failed "$alone"), p50 $(field p50_ms "$alone"), p99 $(field p99_ms "$alone"), most $(field max_ms "$alone")"
echo "beside   ok $(field ok "$beside"), failed $(field failed "$beside"), p50 $(field p50_ms "$beside"), p99 $(field p99_ms "$beside"), most $(field max_ms "$beside")"
echo "slow clients: $(cat "$dir/slow"); HTTP process: $(awk -v t=$(($(cpu_ticks $http) - ticks)) -v hz="$(getconf CLK_TCK)" -v s="$slow_s" 'BEGIN { printf "%.1f", 100 * t / hz / s }') % of a core, $(memory_kb $http) KiB"
wanted "$(field failed "$beside")" '<=' 0
wanted "$(field max_ms "$beside")" '<=' 50

say "events at 10 Hz to 50 browsers for 60 s"
ticks=$(cpu_ticks $http)
result=$("$load" events 127.0.0.1 $port 10 50 60 | tee -a "$dir/raw")
share=$(awk -v t=$(($(cpu_ticks $http) - ticks)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", 100 * t / hz / 60 }')
ticks=$(cpu_ticks $http)
sleep 30
quiet=$(awk -v t=$(($(cpu_ticks $http) - ticks)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", 100 * t / hz / 30 }')
echo "$result"
echo "HTTP process: $share % of a core; without a viewer $quiet %"
wanted "$share" '<=' 5

say "load of the machine after: $(cut -d' ' -f1-3 /proc/loadavg)"
cat "$dir/log"
[[ -z ${OUT:-} ]] || cp "$dir/raw" "$OUT/raw.jsonl"
