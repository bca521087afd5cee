#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# GPUs and inference servers joined: fake GPUs, a small server. $1 = smeff, $2 = source tree, $3 = the fake libraries.
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
unset NO_COLOR CUDA_VISIBLE_DEVICES ${!SMEFF_@} http_proxy https_proxy all_proxy
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_STATE=$dir/state
export ASAN_OPTIONS=detect_leaks=0 # as in live.sh
servers=()
end() {
    kill "${servers[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:600}'" ;; esac; } # what, text, part
hasnt() { case $2 in *"$3"*) fail "$1: '$3' in '${2:0:400}'" ;; esac; }
script() { printf '%s\n' "$@" >"$dir/script"; }
now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }
run() { # what, expected code, arguments…
    local what=$1 expected=$2 code
    shift 2
    began=$(now_ms)
    out=$(timeout 40 "$smeff" "$@" 2>"$dir/err")
    code=$?
    took=$(($(now_ms) - began))
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($err)"
}
# start PORT: a server, its process id to $server and its address to $at.
start() {
    "$fakes/http_server" 127.0.0.1 "$1" >"$dir/port" 2>/dev/null &
    server=$!
    servers+=($server)
    for _ in $(seq 100); do [ -s "$dir/port" ] || ! kill -0 $server 2>/dev/null || { sleep 0.05; continue; }; break; done
    at=127.0.0.1:$(cat "$dir/port")
    [ "$at" != 127.0.0.1: ]
}
# is WHAT FILTER: the filter of the JSON gives true.
is() { equal "$1" "$(jq "$2" <<<"$out")" true; }
# A process that no machine has: what it holds is nobody's here.
nobody='process = 99999999 21474836480 97 40'

start 0 || { echo "skipped: no server can be started here"; exit 77; }
main=$server at_main=$at

# ---- one server with one request, by its process ----
script "process = $main 21474836480 97 40"
run "joined" 0 measure 2 --json --server "$at/joined" --out "$dir/run"
equal "the server" "$(jq -r '.servers[0]|"\(.url) \(.kind) \(.state) \(.gpus)"' <<<"$out")" "http://$at/joined vllm ok [0]"
is "one server" '.servers|length == 1'
is "its process, which the other one started" ".servers[0].pid > $main"
is "its window is the measurement" '.servers[0].window_s|. > 1.7 and . < 2.6'
is "200 tokens a second" '.servers[0].metrics.output_tokens_per_second|.state == "ok" and .value > 196 and .value < 204'
is "every metric of the group has a number or a reason" '[.servers[0].metrics[]|(.value != null) or (.reason|length > 0)]|all and length == 11'
list='for f in /proc/$$/fd/*; do echo "descriptor ${f##*/}"; done'
run "the command's descriptors" 0 measure --server "$at/joined" -- sh -c "$list"
equal "the command's descriptors, as without us" "$(grep descriptor <<<"$out")" "$(sh -c "$list")"
run "what the command was given" 0 measure --server "$at/joined" -- cat <(echo given all the same)
has "what the command was given" "$out" "given all the same"
run "joined" 0 measure 2 --json --server "$at/joined"
# (3.95 TB/s read + 0.05 TB/s written) ÷ 200/s, and 412 W ÷ 200/s
write=$(jq '.gpus[0].metrics.dram_write_bytes.value' <<<"$out")
expected=$(jq -n "(3.95e12 + $write) / 200")
is "bytes per token" ".derived.bytes_per_output_token|.state == \"ok\" and .value > 0.97 * $expected and .value < 1.03 * $expected"
is "joules per token" '.derived.joules_per_output_token|.state == "ok" and .value > 1.9 and .value < 2.2'
is "the same of the server" '.servers[0].derived == .derived'
equal "the verdict" "$(jq -r '.gpus[0].verdict.kind' <<<"$out")" memory_bound
has "advice" "$(jq -r '.gpus[0].verdict.advice[0]' <<<"$out")" "Raise concurrency: about one request runs"
# 20 GB at 3.95 TB/s ÷ 0.82 are 4.1 to 4.2 ms of 5 ms
has "evidence" "$(jq -r '.gpus[0].verdict.evidence[]' <<<"$out" | grep 'memory explains 8[0-9] %')" "of the time per token"
is "nothing was taken for granted" '[.gpus[0].verdict.limits[]|test("only ones here")]|any|not'
is "counters are whole" '.gpus[0].source|.coverage > 0.97 and .samples >= 80'
equal "the evidence has its events" "$(jq -r 'select(.event == "server" and .kind == "vllm").state' "$dir/run/events.jsonl" | sort -u)" ok
[ "$(grep -c '"event":"server"' "$dir/run/events.jsonl")" -ge 2 ] || fail "fewer than 2 events of the server"
has "summary.txt" "$(cat "$dir/run/summary.txt")" "Server  http://$at/joined"

run "text" 0 measure 1 --server "$at/joined"
has "text" "$out" "
Server  http://$at/joined · vllm · GPU 0 · "
has "text" "$out" "
  Time per token              5.00 ms"
has "text" "$out" "
  Bytes per token "
has "text" "$out" "
  KV cache: "

# ---- the only ones here; not when --gpu left some out ----
script "$nobody"
run "alone" 0 measure 1 --json --server "$at/joined"
is "alone" '.servers[0].gpus == [0] and .derived.bytes_per_output_token.state == "ok"'
is "alone, said" '[.gpus[0].verdict.limits[]|test("only ones here")]|any'
run "--gpu" 0 measure 1 --json --server "$at/joined" --gpu 0
equal "--gpu" "$(jq -r '.derived.bytes_per_output_token|"\(.value) \(.state) \(.reason)"' <<<"$out")" \
    "null unsupported it is not known which GPU this server uses"
script 'process = 1 21474836480 97 40' # whom everybody sees, and who is nobody's server
run "another program's GPU" 0 measure 1 --json --server "$at/joined"
equal "another program's GPU" "$(jq -c '.servers[0].gpus' <<<"$out")" "[]"

# ---- nothing to do, and nobody who asks ----
script "process = $main 21474836480 0 0" 'pm.gr__cycles_active = 0' 'pm.sm__cycles_active = 0' 'pm.sm__inst_executed = 0' \
    'pm.dram__read_throughput = 0' 'pm.dram__write_throughput = 0' 'pm.dram__read_bytes = 0' 'pm.dram__write_bytes = 0' \
    'pm.sm__pipe_tensor_cycles_active = 0' 'gpm = no' 'pm.pcie__read_bytes = 0' 'pm.pcie__write_bytes = 0'
run "quiet" 0 measure 2.5 --json --server "$at/quiet"
case $(jq -r '.gpus[0].verdict.kind' <<<"$out") in
idle | starved) has "quiet" "$(jq -r '.gpus[0].verdict.evidence[]' <<<"$out")" "no request ran or waited at http://$at/quiet" ;;
*) fail "quiet: verdict $(jq -c '.gpus[0].verdict' <<<"$out")" ;;
esac
equal "no token" "$(jq -r '.derived.bytes_per_output_token|"\(.value) \(.reason)"' <<<"$out")" "null no output token in the window"

# ---- a server that never answers costs nothing ----
script "process = $main 21474836480 97 40"
run "without servers" 0 measure 2 --json --server none
plain=$took
equal "without servers" "$(jq -c .servers <<<"$out")" "[]"
equal "without servers, why" "$(jq -r .derived.bytes_per_output_token.reason <<<"$out")" "no inference server was read"
run "hang" 0 measure 2 --json --server "$at/hang"
[ "$took" -le $((plain + 1500)) ] || fail "hang: took $took ms, without servers $plain ms"
is "hang: counters are whole" '.gpus[0].source|.coverage > 0.97 and .samples >= 80'
is "hang: it is said" '.servers[0]|.state != "ok" and .kind == null and (.reason|length > 0)'
is "hang: no number" '[.servers[0].metrics[].value, .derived[].value]|all(. == null)'
run "hang beside another" 0 measure 2 --json --server "$at/hang,$at/joined"
is "hang beside another" '[.servers[]|select(.kind == "vllm")|.metrics.output_tokens_per_second.value > 196]|any'
equal "two of one process" "$(jq -r '.servers[]|select(.kind == "vllm").derived.bytes_per_output_token.reason' <<<"$out")" "several servers use GPU 0"
run "nobody there" 0 measure 1 --json --server 127.0.0.1:1
equal "nobody there" "$(jq -r '.servers[0]|"\(.state) \(.reason[:20])"' <<<"$out")" "failed nobody answers there"

# ---- a server that dies in the middle ----
start 0 || fail "no second server"
"$smeff" measure 4 --json --server "$at/joined" >"$dir/out" 2>"$dir/err" &
measuring=$!
sleep 2.5
kill "$server"
wait $measuring || fail "dies: exit $? ($(cat "$dir/err"))"
out=$(cat "$dir/out")
is "dies: the counters are whole" '.gpus[0].source|.coverage > 0.97 and .samples >= 160'
is "dies: what it was" '.servers[0].kind == "vllm" and .servers[0].state == "failed" and (.servers[0].reason|length > 0)'
is "dies: what it last said is stale" '.servers[0].metrics.running|.state == "stale" and .value == 1 and (.reason|test("s old"))'
is "dies: no number of two windows" '[.derived[]|.value == null and (.reason|length > 0)]|all'
at=$at_main

# ---- options ----
run "no URL" 2 measure 1 --server "ftp://$at/"
run "a key" 0 measure 1 --json --server "$at/key"
equal "no key" "$(jq -r '.servers[0].state' <<<"$out")" no_permission
echo sesame >"$dir/key"
run "a key" 0 measure 1 --json --server "$at/key" --token-file "$dir/key" --out "$dir/keyed"
equal "a key" "$(jq -r '.servers[0].state' <<<"$out")" ok
grep -rq sesame "$dir/keyed" && fail "the key is in the evidence"
SMEFF_SERVER=none run "SMEFF_SERVER" 0 measure 1 --json
equal "SMEFF_SERVER" "$(jq -c .servers <<<"$out")" "[]"

# ---- found by itself, at a usual port of this machine ----
for port in 2242 1234 23333; do
    start $port && break
done
if [ "$at" != 127.0.0.1: ]; then
    run "found" 0 measure 1 --json
    # /metrics of the small server
    is "found" "[.servers[]|select(.url == \"http://$at/metrics\" and .kind == \"vllm\")]|length == 1"
    SMEFF_SERVER='' run "an empty variable" 0 measure 1 --json
    is "an empty variable" "[.servers[]|select(.url == \"http://$at/metrics\")]|length == 1"
fi
at=$at_main

# ---- stream ----
timeout 8 "$smeff" stream --server "$at/joined" >"$dir/out" 2>"$dir/err"
[ "$(grep -c '"event":"server"' "$dir/out")" -ge 5 ] || fail "stream: too few events"
out=$(jq -s '[.[]|select(.event == "server")]' "$dir/out")
is "stream: windows of at most 6 s, later ones with a rate" \
    '([.[]|.t1_ns - .t0_ns]|max) < 6.5e9 and ([.[2:][]|.metrics.output_tokens_per_second.state]|all(. == "ok"))'
is "stream: a window begins anew" '[.[]|.t0_ns]|unique|length >= 2'
cp "$dir/out" "$dir/joined.jsonl"
# ---- gauges from before: said of every event once it is known, in short windows, too ----
timeout 13 "$smeff" stream --server "$at/stuck" >"$dir/out" 2>"$dir/err"
out=$(jq -s '[.[]|select(.event == "server")]' "$dir/out")
first=$(jq '.[0].t1_ns' <<<"$out")
is "stuck: fresh at first" '.[0].metrics.running.state == "ok"'
is "stuck: later stale, each of the three" "[.[]|select(.t1_ns - $first > 5.5e9)]|length >= 4 and \
    all(.metrics|.running.state == \"stale\" and .waiting.state == \"stale\" and .kv_usage.state == \"stale\" and .kv_usage.value == 0.9)"
is "stuck: why" '.[-1].metrics.waiting.reason|test("no token was counted for [0-9]+ s")'

# docs/events.md shows a line as it really is: the same keys.
line=$(grep '^{"event":"server"' "$root/docs/events.md")
jq -c 'select(.event == "server")|keys' "$dir/joined.jsonl" | grep -qxF "$(jq -c keys <<<"$line")" || fail "docs/events.md: other keys: $line"
# docs/interface.md, too.
shown=$(awk '/^## Snapshot/ { on = 1 } on && /^```json/ { take = 1; next } /^```/ { if (take) exit } take' "$root/docs/interface.md")
run "keys" 0 measure 1 --json --server "$at/joined"
equal "keys in docs/interface.md" "$(jq -c '.servers[0]|keys' <<<"$shown")" "$(jq -c '.servers[0]|keys' <<<"$out")"
exit $failed
