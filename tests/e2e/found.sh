#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Inference servers that start, and start anew, while a stream runs. $1 = smeff, $2 = source tree, $3 = the fake libraries.
set -u
smeff=$1 fakes=$3 failed=0
for tool in jq pgrep; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
unset NO_COLOR CUDA_VISIBLE_DEVICES ${!SMEFF_@} http_proxy https_proxy all_proxy
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_STATE=$dir/state
export ASAN_OPTIONS=detect_leaks=0 # as in live.sh
server='' streams=()
end() {
    kill $server "${streams[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT
fail() { echo "FAILED: $*"; failed=1; }
# start PORT: the process that listens there to $listener; false when somebody else has it.
start() {
    : >"$dir/port"
    "$fakes/http_server" 127.0.0.1 "$1" >"$dir/port" 2>/dev/null &
    server=$!
    for _ in $(seq 100); do
        [ -s "$dir/port" ] && { listener=$(pgrep -P $server | head -n 1) && return 0; break; }
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
    kill $server 2>/dev/null
    server=''
    return 1
}
stop() {
    kill $server
    wait $server 2>/dev/null
    server=''
}
pids() { jq -r "select(.event == \"server\" and .url == \"http://127.0.0.1:$port/metrics\" and .state == \"ok\").pid" "$1" 2>/dev/null; }
# later WHAT FILE PID: within 20 s FILE says that the server has this process.
later() {
    for _ in $(seq 200); do
        pids "$2" | tail -n 1 | grep -qx "$3" && return
        sleep 0.1
    done
    fail "$1: pids $(pids "$2" | sort | uniq -c | tr '\n' ' '), expected $3"
}

printf 'process = 99999999 21474836480 97 40\n' >"$dir/script"
for port in 2242 1234 23333 ''; do
    [ -n "$port" ] && start "$port" && break
done
[ -n "$port" ] || { echo "skipped: no usual port is free here"; exit 77; }
stop
"$smeff" stream >"$dir/found" 2>"$dir/err" &
streams+=($!)
for _ in $(seq 200); do grep -q '"source":"pm","t0_ns"' "$dir/found" && break; sleep 0.1; done # it has the counters
"$smeff" stream --server "127.0.0.1:$port" >"$dir/named" 2>"$dir/err" &
streams+=($!)
sleep 2
[ -z "$(pids "$dir/found")" ] || fail "a server before there was one"
start "$port" || { echo "skipped: port $port was taken meanwhile"; exit 77; }
later "started later, found" "$dir/found" $listener
later "started later, named" "$dir/named" $listener
first=$listener
stop
sleep 2
start "$port" || { echo "skipped: port $port was taken meanwhile"; exit 77; }
later "started anew, found" "$dir/found" $listener
later "started anew, named" "$dir/named" $listener
[ "$first" != "$listener" ] || fail "the same process id twice"
# meanwhile the counters of the first stream, which holds them, went on without a gap
kill "${streams[@]}"
wait "${streams[@]}" 2>/dev/null
streams=()
gap=$(jq -c 'select(.event == "samples" and .source == "pm")|[.t0_ns, .t1_ns]|transpose[]' "$dir/found" |
    jq -s '[., .[1:]]|transpose|map(select(.[1])|.[1][0] - .[0][1])|max / 1e9')
jq -en "$gap < 0.1" >/dev/null || fail "$gap s without samples"
exit $failed
