#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff measure and stream on fake GPUs: $1 = smeff, $2 = source tree, $3 = the fake libraries.
# shellcheck disable=SC2046,SC2086,SC2317 # lists of process ids; functions for traps
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq flock timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
# Our own copy: every process of ours is one whose program lies there.
cp "$smeff" "$dir/smeff" && mkdir "$dir/empty" || exit 1
unset NO_COLOR CUDA_VISIBLE_DEVICES ${!SMEFF_@}
libraries=$fakes/nvml:$fakes/cuda:$fakes/cupti
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$libraries SMEFF_STATE=$dir/state SMEFF_SERVER=none # not this machine's
# A leak check that a second SIGTERM meets can hang, and then takes a sampler's time of grace: one
# run has it on.
export ASAN_OPTIONS=detect_leaks=0

ours() { # process ids
    find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$dir/smeff*" 2>/dev/null | cut -d/ -f3
}
end() {
    local left
    left=$(ours)
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    wait 2>/dev/null
    umount "$dir/full" 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:400}'" ;; esac; } # what, text, part
hasnt() { case $2 in *"$3"*) fail "$1: '$3' in '${2:0:400}'" ;; esac; }
script() { printf '%s\n' "$@" >"$dir/script"; }
now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }

# Nothing of ours may live on when a command has ended.
gone() { # what
    local i
    for i in $(seq 100); do
        [ -n "$(ours)" ] || return 0
        sleep 0.02
    done
    fail "$1: left behind: $(for i in $(ours); do tr '\0' ' ' <"/proc/$i/cmdline"; done)"
    kill -9 $(ours)
}

# run WHAT CODE ARGUMENTS…: standard output to $out, standard error to $err.
run() {
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 40 "$dir/smeff" "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($err)"
    gone "$what"
}
# Numbers as numbers (+ 0): jq 1.7 keeps 50.0 as it was written, 1.6 prints 50.
value() { jq -r ".gpus[${2:-0}].metrics.$1 | \"\(if .value then .value + 0 else .value end) \(.source) \(.state)\"" <<<"$out"; }

# until WHAT SECONDS COMMAND…: waits until the command succeeds.
until_true() {
    local what=$1 limit=$(($(now_ms) + $2 * 1000))
    shift 2
    until "$@"; do
        [ "$(now_ms)" -lt $limit ] || { fail "$what: not within the time"; return 1; }
        sleep 0.03
    done
}

# ---- measure: numbers, both forms ----
script ''
ASAN_OPTIONS=detect_leaks=1 run "measure 1 as text" 0 measure 1
has "text" "$out" "SM active               86.0 %"
has "text" "$out" "DRAM read rate       3.95 TB/s"
has "text" "$out" "Power                    412 W"
has "text" "$out" "memory_bound"
hasnt "text" "$err" "no hardware counters"
run "measure --json" 0 measure 1 --json
equal "one line of JSON" "$(wc -l <<<"$out")" 1
equal schema "$(jq .schema <<<"$out")" 1
for pair in "gr_active 0.98" "sm_active 0.86" "sm_issue 0.008" "occupancy 0.12" "tensor_active 0.033" "dram_read 0.82" \
    "dram_write 0.01" "dram_read_bytes 3950000000000" "pcie_rx 2000000" "pcie_tx 9000000" "gpc_clock 1980000000"; do
    equal "${pair% *}" "$(value "${pair% *}")" "${pair#* } pm ok"
done
equal power "$(value power)" "412 nvml ok"
equal gpu_util "$(value gpu_util)" "1 nvml ok"
equal "GPU" "$(jq -r '.gpus[0]|"\(.index) \(.name) \(.uuid) \(.chip) \(.pci_bus)"' <<<"$out")" \
    "0 NVIDIA H200 GPU-00000000-0000-0000-0000-000000000001 GH100 0000:01:00.0"
equal backend "$(jq -r '.gpus[0].source|"\(.backend) \(.rate_hz + 0)"' <<<"$out")" "pm 50"
equal coverage "$(jq '.gpus[0].source.coverage >= 0.99 and .gpus[0].source.samples >= 40 and .gpus[0].source.gaps == 0' <<<"$out")" true
equal "NVLink, which this GPU lacks" "$(jq -c '.gpus[0].metrics.nvlink_rx|[.value,(.reason|length>0)]' <<<"$out")" '[null,true]'
equal "sm_throughput" "$(jq -r .gpus[0].metrics.sm_throughput.reason <<<"$out")" "costly: taken only when asked for (--metric)"
run "measure --csv" 0 measure 1.5 --csv
column() { head -1 <<<"$out" | tr ',' '\n' | grep -nx "$1" | cut -d: -f1; }
equal "the sources of the rows" "$(tail -n +2 <<<"$out" | cut -d, -f"$(column source)" | sort -u | grep -v gpm | tr '\n' ' ')" "nvml pm "
equal "sm_active of every row of pm" "$(grep ,pm, <<<"$out" | cut -d, -f"$(column sm_active)" | sort -u)" 0.86
equal "as many as were sampled" "$(grep -c ,pm, <<<"$out" | awk '{ print ($1 >= 60 && $1 <= 90) }')" 1
equal "power, and no counter, in the rows of nvml" "$(grep ,nvml, <<<"$out" | cut -d, -f"$(column power),$(column sm_active)" | sort -u)" ",412"
equal "each row has every column" "$(awk -F, '{ print NF }' <<<"$out" | sort -u | wc -l)" 1
run "--json and --csv" 2 measure 1 --json --csv
script 'pm.sm__cycles_active = square 20 60 0.5' 'driver = 550.54.15'
run "a square wave" 0 measure 1 --json --rate 200
equal "its mean, least and most" "$(jq -c '.gpus[0].metrics.sm_active|[.value > 0.36 and .value < 0.44,.min,.max]' <<<"$out")" '[true,0.2,0.6]'
script 'pm.sm__cycles_active = -5'
run "a counter below 0" 0 measure 0.6 --json --backend pm
equal "is no number" "$(jq -c '.gpus[0].metrics.sm_active | [.value, .state == "ok"]' <<<"$out")" '[null,false]'
script ''
run "--metric and --set" 0 measure 1 --json --metric sm_throughput --set wide
equal "sm_throughput" "$(value sm_throughput)" "0.34 pm ok"
equal "dram_throughput" "$(value dram_throughput)" "0.83 pm ok"
run "backend nvml" 0 measure 1 --json --backend nvml
equal "sm_active without counters" "$(jq .gpus[0].metrics.sm_active.value <<<"$out")" null
run "--rate of GPM" 0 measure 2.1 --json --backend gpm --rate 6
equal "its rate, and more samples than by default" "$(jq -c '[.gpus[0].source.rate_hz + 0, .gpus[0].source.samples >= 9]' <<<"$out")" '[6,true]'
run "GPM where PM sampling cannot be had" 0 measure 2.1 --json --cupti "$dir/empty"
equal "its rate" "$(jq '.gpus[0].source.rate_hz + 0' <<<"$out")" 4
run "backend gpm" 0 measure 2.1 --json --backend gpm
equal "sm_active of GPM" "$(value sm_active)" "0.86 gpm ok"

# ---- measure -- COMMAND ----
run "the command's exit code" 7 measure -- sh -c 'exit 7'
run "a command that is killed" 137 measure -- sh -c 'kill -9 $$'
run "no such command" 1 measure -- "$dir/nothing"
has "no such command" "$err" "$dir/nothing: No such file"
run "the command's output" 0 measure --json -- sh -c 'echo hello >&2; sleep 0.3'
has "the command's output" "$err" hello
run "the command's signals" 0 measure -- grep SigIgn /proc/self/status
mask=$(sed -n 's/^SigIgn:[[:space:]]*//p' <<<"$out")
equal "SIGPIPE of the command" $((0x${mask:-1000} >> 12 & 1)) 0
"$dir/smeff" measure -- sh -c "echo \$\$ >$dir/pid; exec sleep 31.41592" >"$dir/out" 2>&1 &
pid=$!
until_true "the command's start" 10 test -s "$dir/pid" && kill -TERM $pid
wait $pid
equal "SIGTERM" $? 143
kill -0 "$(cat "$dir/pid")" 2>/dev/null && fail "SIGTERM: the command lives on"
gone "SIGTERM"
"$dir/smeff" measure 30 >"$dir/out" 2>&1 &
pid=$!
sleep 1.2
kill -INT $pid # bash lets background jobs ignore it, smeff catches it all the same
wait $pid
equal "Ctrl-C" $? 130
grep -q "SM active" "$dir/out" || fail "Ctrl-C: what was measured is not shown"
gone "Ctrl-C"

# ---- usage ----
for rate in 0 1e9 x -5; do
    run "--rate $rate" 2 measure 1 --rate "$rate"
    has "--rate $rate" "$err" "--rate is 0.1 to 20000"
done
run "0 seconds" 2 measure 0
run "seconds and a command" 2 measure 1 -- true
run "seconds that are none" 2 measure 10s
run "a command without --" 2 measure true
run "no command" 2 measure --
run "no such metric" 2 measure 1 --metric nonsense
run "no such set" 2 stream --set nonsense
run "an argument too many" 2 stream 5

# ---- which GPU ----
run "--gpu 7" 3 measure 1 --gpu 7
has "--gpu 7" "$err" "no GPU 7"
run "stream --gpu 7" 3 stream --gpu 7
run "a UUID that no GPU has" 3 measure 1 --gpu GPU-77777777
script '[gpu]' 'name = one' 'pm.sm__cycles_active = 10' '[gpu]' 'name = two' 'pm.sm__cycles_active = 20'
run "two GPUs" 0 measure 1 --json
equal "two GPUs" "$(jq -c '[.gpus[]|[.index,.name,.metrics.sm_active.value]]' <<<"$out")" '[[0,"one",0.1],[1,"two",0.2]]'
run "the second GPU" 0 measure 1 --json --gpu 1
equal "the second GPU" "$(jq -c '[.gpus[]|[.index,.name,.metrics.sm_active.value]]' <<<"$out")" '[[1,"two",0.2]]'
run "a UUID" 0 measure 1 --json --gpu GPU-00000000-0000-0000-0000-000000000002
equal "a UUID" "$(jq -c '[.gpus[]|[.index,.name,.metrics.sm_active.value]]' <<<"$out")" '[[1,"two",0.2]]'
script 'gpus = 0'
run "a driver without a GPU" 3 measure 1
has "a driver without a GPU" "$err" "finds no GPU"
script ''
if ldconfig -p 2>/dev/null | grep -qE 'libnvidia-ml|libcuda\.so'; then
    echo "not tried: a machine without a driver (this one has one)"
else
    LD_LIBRARY_PATH=$dir/empty run "no driver" 3 measure 1
    has "no driver" "$err" "no NVIDIA driver"
    LD_LIBRARY_PATH=$dir/empty run "no driver, stream" 3 stream
fi

# ---- counters that are held, or not permitted ----
flock "$dir/script.lock.0" sleep 60 &
holder=$!
until_true "the lock" 5 eval '! flock -n "$dir/script.lock.0" true'
run "held, backend pm" 5 measure 1 --backend pm
has "held" "$err" "another program holds this GPU's counters"
run "held, auto" 0 measure 2.1 --json
equal "held, auto: GPM" "$(value sm_active)" "0.86 gpm ok"
hasnt "held, auto" "$err" "no hardware counters"
equal "held, auto: SM issue, which GPM lacks" "$(jq -r .gpus[0].metrics.sm_issue.state <<<"$out")" busy
LD_LIBRARY_PATH=$fakes/nvml_old:$fakes/cuda:$fakes/cupti run "held, and no GPM" 0 measure 2 --json
has "held, and no GPM" "$err" "no hardware counters"
equal "held, and no GPM: driver" "$(value power)" "412 nvml ok"
pkill -P $holder sleep; wait $holder 2>/dev/null
script 'denied = yes'
run "denied, backend pm" 4 measure 1 --backend pm
has "denied" "$err" "no permission to read the GPU's counters"
run "denied, auto" 0 measure 1 --json
hasnt "denied, auto" "$err" "no hardware counters"
equal "denied, auto: SM issue" "$(jq -r .gpus[0].metrics.sm_issue.state <<<"$out")" no_permission
script 'cupti_version = 24'
run "CUPTI too old" 1 measure 1 --backend pm --cupti "$fakes/cupti"
has "CUPTI too old" "$err" "is too old"
script ''
run "half a CUPTI" 1 measure 1 --backend pm --cupti "$fakes/cupti_alone"
has "half a CUPTI" "$err" "libnvperf_host.so"
LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda_broken:$fakes/cupti run "half a driver" 3 measure 1 --backend pm

# ---- stream ----
sampler_pid() { pgrep -P "$1" -f "sampler $2"; }
samples_after() { # is there a pm sample that ended after this UNIX time in ns?
    jq -e -s --argjson t "$1" 'any(.[]; .event == "samples" and .source == "pm" and .t1_ns[-1] > $t)' <"$dir/out" >/dev/null 2>&1
}
has_samples() { grep -q '"event":"samples","gpu":0,"source":"pm"' "$dir/out"; }
zombies() { ps -o stat= --ppid "$1" | grep -c '^Z'; }
"$dir/smeff" stream --rate 100 >"$dir/out" 2>"$dir/err" &
pid=$!
until_true "first samples" 5 has_samples
grep -qE 'libcuda|libnvidia-ml|libcupti|libnvperf' "/proc/$pid/maps" && fail "the parent has vendor libraries loaded"
kill -9 "$(sampler_pid $pid pm)"
before=$(date +%s%N) # after it: what the killed one still sampled is none of the new one
until_true "kill -9: samples again" 2 samples_after "$before"
grep -q '"text":"pm on GPU 0: killed by signal 9 (Killed); starting it again"' "$dir/out" || fail "kill -9: no note"
equal "kill -9: zombies" "$(zombies $pid)" 0
stopped=$(sampler_pid $pid pm)
before=$(date +%s%N)
kill -STOP "$stopped"
until_true "SIGSTOP: samples again" 6 samples_after $((before + 2000000000))
grep -q 'it said nothing for 2.5 s' "$dir/out" || fail "SIGSTOP: no note"
kill -0 "$stopped" 2>/dev/null && fail "SIGSTOP: the stopped process is still there"
equal "every line is an event" "$(jq -r '.event' <"$dir/out" | sort -u | paste -sd' ')" "gpu hello note plan processes samples"
equal "first line" "$(head -1 "$dir/out" | jq -c '[.event,.schema]')" '["hello",1]'
kill -TERM $pid
wait $pid
equal "stream and SIGTERM" $? 0
equal "last line" "$(tail -1 "$dir/out" | jq -c '[.event,.status]')" '["end","OK"]'
# docs/events.md shows lines as they really are: the same keys.
while read -r line; do
    kind=$(jq -r .event <<<"$line") || { fail "docs/events.md: $line"; continue; }
    case $kind in beat | server) continue ;; esac # samplers only; joined.sh
    jq -c --arg kind "$kind" 'select(.event == $kind)|keys' "$dir/out" | grep -qxF "$(jq -c keys <<<"$line")" ||
        fail "docs/events.md: no such $kind line in the stream: $line"
done < <(grep '^{"event"' "$root/docs/events.md")
equal "events in docs/events.md" "$(grep '^{"event"' "$root/docs/events.md" | jq -r .event | sort -u | paste -sd' ')" \
    "beat end gpu hello note plan processes samples server"
gone "stream and SIGTERM"
"$dir/smeff" stream >"$dir/out" 2>&1 &
pid=$!
until_true "first samples" 5 has_samples
kill -9 $pid; wait $pid 2>/dev/null
gone "kill -9 of smeff itself"
timeout 20 "$dir/smeff" stream 2>"$dir/err" | head -3 >"$dir/out"
equal "nobody reads any more" "${PIPESTATUS[0]}" 1
equal "what was read" "$(wc -l <"$dir/out")" 3
gone "nobody reads any more"

# ---- trouble in mid-run ----
script "lost = file $dir/lost"
"$dir/smeff" measure 2.5 --json >"$dir/out" 2>"$dir/err" &
pid=$!
sleep 1.8; touch "$dir/lost"
wait $pid
equal "GPU lost" $? 0
out=$(cat "$dir/out")
grep -q "fell off the bus" "$dir/err" || fail "GPU lost: $(cat "$dir/err")"
equal "GPU lost: a number, or why there is none" "$(jq '.gpus[0].metrics.sm_active|.value == 0.86 or (.value == null and .reason != "")' <<<"$out")" true
gone "GPU lost"
script 'crash = cuptiPmSamplingDecodeData:9'
run "a sampler that crashes" 0 measure 2 --json
has "a sampler that crashes" "$err" "pm on GPU 0: killed by signal 11"
equal "a sampler that crashes" "$(value sm_active)" "0.86 pm ok"
script 'sample_bytes = 1e6' 'delay = cuptiPmSamplingDecodeData:1:4'
run "an overflow" 0 measure 2.2 --json
has "an overflow" "$err" "the hardware buffer overflowed"
equal "an overflow is a gap" "$(jq '.gpus[0].source.gaps' <<<"$out")" 1

# ---- --out ----
script ''
run "--out" 0 measure 1 --json --out "$dir/evidence"
equal "summary.json" "$(jq -c '.gpus[0].metrics.sm_active.value' "$dir/evidence/summary.json")" 0.86
equal "events.jsonl ends" "$(tail -1 "$dir/evidence/events.jsonl" | jq -c '[.event,.status]')" '["end","OK"]'
[ -s "$dir/evidence/summary.txt" ] || fail "summary.txt"
mkdir "$dir/full"
if mount -t tmpfs -o size=32k none "$dir/full" 2>/dev/null; then
    run "a full disk" 1 measure 4 --rate 1000 --out "$dir/full/evidence"
    umount "$dir/full"
    has "a full disk" "$err" "No space left on device"
else
    echo "a full disk: not tried, nothing can be mounted here"
fi
cp "$dir/evidence/events.jsonl" "$dir/before"
run "--out where evidence is" 1 measure 1 --out "$dir/evidence"
has "--out where evidence is" "$err" "exists already"
cmp "$dir/before" "$dir/evidence/events.jsonl" || fail "--out: old evidence was overwritten"
run "--out, and nothing measured" 3 measure 1 --gpu 7 --out "$dir/none"
[ ! -e "$dir/none" ] || fail "--out, and nothing measured: left $(ls -d "$dir/none"/*)"
run "--out below a file" 1 measure 1 --out "$dir/script/x"
if [ -w /dev/full ]; then
    "$dir/smeff" measure 1 >/dev/full 2>"$dir/err"; equal "standard output is full" $? 1
    grep -q "No space left" "$dir/err" || fail "standard output is full: $(cat "$dir/err")"
fi
gone "the end"
exit $failed
