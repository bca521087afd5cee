#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff selftest on fake GPUs, whose counters do not follow the loads: $1 = smeff, $2 = source tree, $3 = the fake libraries. That a
# true card passes is shown in docs/measurements.
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq timeout pgrep; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
unset NO_COLOR CUDA_VISIBLE_DEVICES ${!SMEFF_@}
cp "$smeff" "$dir/smeff" || exit 1 # a name of its own, to find its processes by
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/cuda:$fakes/nvml:$fakes/cupti SMEFF_STATE=$dir/state SMEFF_PROC=$dir/root
mkdir -p "$dir/root/proc/driver/nvidia" && echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1.2  x" >"$dir/root/proc/driver/nvidia/version"

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:600}'" ;; esac; } # what, text, part
# A small GPU that does nothing; what the loads need of it, and the two sources' own numbers.
script() {
    printf '%s\n' 'attribute.16 = 4' 'attribute.38 = 1000000' 'memory = 20000000' 'memory.used = 0' 'pm.gr__cycles_active = 0' 'gpm.1 = 0' "$@" >"$dir/script"
}
run() { # what, exit code, arguments…
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 180 "$dir/smeff" "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($err)"
}
file=$dir/state/selftest-GPU-00000000-0000-0000-0000-000000000001.json

# ---- counters that do not tell the truth ----
script 'pm.sm__cycles_active = 86' 'gpm.2 = 40'
run "lies" 1 selftest --quick --json
equal "one line" "$(wc -l <<<"$out")" 1
equal "verdict" "$(jq -r .verdict <<<"$out")" fail
equal "the loads that ran" "$(jq -c '[.loads[].kind]' <<<"$out")" '["idle","gemv","mma","fma","h2d","tail","occupancy:8"]'
equal "each proof has both sources" "$(jq 'all(.proofs[]; (.pm.state|length > 0) and (.gpm.state|length > 0) and (.how|length > 0))' <<<"$out")" true
proof() { jq -c --arg l "$1" --arg m "$2" '[.proofs[] | select(.load == $l and .metric == $m) | [.pm.value + 0, .pm.verdict, .gpm.verdict, .verdict]][0]' <<<"$out"; }
equal "an idle GPU whose SMs work" "$(proof idle sm_active)" '[0.86,"fail","fail","fail"]'
equal "GR active of an idle GPU" "$(proof idle gr_active)" '[0,"pass","pass","pass"]'
equal "sources that disagree" "$(proof fma sm_active)" '[0.86,"fail","fail","fail"]'
equal "sources that agree" "$(proof fma occupancy)" '[0.12,"agree","agree","agree"]'
equal "a costly metric" "$(jq -r '.proofs[] | select(.metric == "sm_throughput") | .pm.reason' <<<"$out")" "costly: taken only when asked for (--metric)"

# ---- is remembered, and shown by the others ----
equal "what is remembered" "$(jq -r '.failed[] | select(.metric == "sm_active" and .source == "pm") | .reason' "$file")" \
    "self-test: read 86.0 % during the load idle, where at most 0.50 % is true"
run "measure with a doubt" 0 measure 0.5 --json
equal "sm_active is suspect" "$(jq -r '.gpus[0].metrics.sm_active | "\(.value) \(.state) \(.reason)"' <<<"$out")" \
    "0.86 suspect self-test: read 86.0 % during the load idle, where at most 0.50 % is true"
equal "what did not fail is not" "$(jq -r '.gpus[0].metrics.pcie_tx.state' <<<"$out")" ok
run "CSV with a doubt" 0 measure 0.5 --csv
has "the column suspect" "$(grep -m1 ,pm, <<<"$out")" " sm_active "
jq '.driver = "1.2.3"' "$file" >"$dir/other" && cp "$dir/other" "$file"
run "another driver" 0 measure 0.5 --json
equal "is not in doubt" "$(jq -r '.gpus[0].metrics.sm_active.state' <<<"$out")" ok
run "text" 1 selftest --quick
has "text" "$out" "sm_active           <= 0.50 %"
has "text" "$out" "  fail  sm_active by pm read 86.0 % during the load idle, where at most 0.50 % is true"
equal "each failure is said once" "$(grep -c '  fail  sm_active by pm ' <<<"$out")" 1

# ---- what was not read proves nothing, and takes nothing back ----
script 'pm.sm__cycles_active = 86' 'gpm.2 = 40'
run "a doubt to begin with" 1 selftest --quick
before=$(jq -c '[.failed[] | select(.source == "pm")]' "$file")
script 'busy = yes'
run "PM sampling is not to be had" 1 selftest --quick --json
equal "is not a pass" "$(jq -r .verdict <<<"$out" | sed 's/fail/incomplete/')" incomplete
has "says so" "$err" "PM sampling was not put to the test: "
equal "the doubts of PM sampling stay" "$(jq -c '[.failed[] | select(.source == "pm")]' "$file")" "$before"
script 'busy = yes' 'gpm.1 = error 3'
run "nobody knows whether it is idle" 1 selftest --quick
has "nobody knows whether it is idle" "$err" "whether another program uses this GPU is not known"
script 'fail = cuptiPmSamplingDecodeData:999:40+'
run "samples stop coming" 1 selftest --quick --json
equal "holes are no numbers" "$(jq '[.proofs[] | select(.pm.state == "failed" and (.pm.reason | test("of the window were sampled")))] | length > 0' <<<"$out")" true
CUDA_VISIBLE_DEVICES=1 run "which GPU?" 2 selftest --quick
CUDA_VISIBLE_DEVICES=1 run "which GPU? (load)" 2 load tail 0.1
run "--gpu all" 2 selftest --quick --gpu all

# ---- a state that cannot be understood is said, and stops nothing ----
rm "$file" && mkfifo "$file"
run "a FIFO as state" 0 measure 0.5 --json
has "a FIFO as state" "$err" "$file cannot be understood"
rm "$file"
for text in '' '{' '{"schema":99}' '[]'; do
    printf '%s' "$text" >"$file"
    run "state $text" 0 measure 0.3 --json
    has "state $text" "$err" "$file cannot be understood"
done
rm "$file"

# ---- Nsight Systems as a third witness: a fake one, which gives a real recording ----
cp "$root/tests/fakes/nsys" "$dir/nsys"
plays() { printf '%s\n' "recording = $root/data/h200/decode.sqlite" 'start = 0.05' 'trail = 0.02' 'finish = 0.05' "$@" >"$dir/nsys.script"; }
plays
script
TMPDIR=$dir run "--nsys" 1 selftest --quick --json --nsys "$dir/nsys"
nsys() { jq -c --arg l "$1" --arg m "$2" '[.proofs[] | select(.load == $l and .metric == $m) | .nsys | [.state, .verdict]][0]' <<<"$out"; }
equal "a witness that agrees" "$(nsys fma sm_active)" '["ok","agree"]'
equal "and one that does not" "$(nsys idle sm_active)" '["ok","fail"]'
equal "what nsys is wrong about proves nothing" "$(nsys fma occupancy)" '["suspect","unchecked"]'
equal "one capture a load" "$(grep -c '^profile -f' "$dir/nsys.calls")" 7
has "how nsys is called" "$(grep -m1 '^profile -f' "$dir/nsys.calls")" "profile -f true --trace=none --sample=none --cpuctxsw=none --gpu-metrics-devices=0"
equal "temporary files left" "$(find "$dir" -maxdepth 1 -name 'smeff-nsys-*' | wc -l)" 0
equal "what nsys got wrong is not remembered" "$(jq -c "[.failed[] | select(.source == \"nsys\")]" "$file")" "[]"
plays 'fault = nothing'
TMPDIR=$dir run "nsys that fails" 1 selftest --quick --nsys "$dir/nsys"
has "nsys that fails" "$err" "nsys 2025.3.1 wrote no report; it ended with exit code 0"
equal "temporary files left" "$(find "$dir" -maxdepth 1 -name 'smeff-nsys-*' | wc -l)" 0
run "no nsys" 1 selftest --quick --nsys "$dir/nothing"
has "no nsys" "$err" "$dir/nothing: no such program"

# ---- it cannot be compared ----
rm -r "$dir/state"
script 'pm.gr__cycles_active = 40'
run "a busy card" 1 selftest --quick
has "a busy card" "$err" "another program uses this GPU (GR active 40 %"
[ -e "$file" ] && fail "a busy card: something is remembered"
script 'memory.used = 19500000'
run "a full card" 1 selftest --quick
has "a full card" "$err" "free"
equal "a full card: other loads ran" "$(grep -c '^  fma ' <<<"$out")" 6
printf 'gpus = 0\n' >"$dir/script"
run "no GPU" 3 selftest --quick
script
run "an index that does not exist" 3 selftest --quick --gpu 5
run "two GPUs" 2 selftest --quick --gpu 0,1
run "an argument" 2 selftest 5

# ---- Ctrl-C: nothing is left, nothing is remembered ----
rm -rf "$dir/state"
script
"$dir/smeff" selftest >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 100); do
    [ -n "$(pgrep -f "$dir/smeff load")" ] && break
    sleep 0.05
done
sleep 0.4
kill -INT $pid
wait $pid
equal "Ctrl-C: exit code" $? 130
sleep 0.2
equal "Ctrl-C: processes left" "$(pgrep -f "$dir/smeff" | wc -l)" 0
[ -e "$file" ] && fail "Ctrl-C: something is remembered"
exit $failed
