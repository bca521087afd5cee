#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff load on fake GPUs: $1 = smeff, $2 = source tree, $3 = the fake libraries.
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
unset NO_COLOR CUDA_VISIBLE_DEVICES ${!SMEFF_@}
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/cuda

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:400}'" ;; esac; } # what, text, part
# A small GPU, whose buffers are small, too: 4 SMs, 1 MB of L2, 20 MB of memory.
script() { printf '%s\n' 'attribute.16 = 4' 'attribute.38 = 1000000' 'memory = 20000000' 'memory.used = 0' "$@" >"$dir/script"; }
last() { jq -c "$1" <<<"${out##*$'\n'}"; } # of the last line

# run WHAT CODE ARGUMENTS…: standard output to $out, standard error to $err; nothing may be left on the GPU.
run() {
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 20 "$smeff" load "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($err)"
    case $err in *"not released"*) fail "$what: $err" ;; esac
}

# ---- each kind: both events, and numbers that belong together ----
script
for kind in copy read gemv mma fma occupancy:8 h2d d2h duty:30 tail idle; do
    run "$kind" 0 "$kind" 0.3 --json
    equal "$kind: events" "$(jq -r '"\(.event) \(.schema) \(.kind)"' <<<"$out" | paste -sd,)" "load_begin 1 $kind,load 1 $kind"
    equal "$kind: GPU" "$(jq -r .gpu.uuid <<<"$out" | sort -u)" GPU-00000000-0000-0000-0000-000000000001
    equal "$kind: time" "$(last '.seconds >= 0.29 and .seconds < 2 and .begin_ns > 1e18 and ((.end_ns - .begin_ns) / 1e9 - .seconds | fabs) < 0.2')" true
    equal "$kind: the beginning" "$(jq -s '.[0].begin_ns == .[1].begin_ns' <<<"$out")" true
    equal "$kind: expectations" "$(last '(.expectations | length > 0) and all(.expectations[]; .how != "" and (.unit|length) > 0)')" true
    run "$kind as text" 0 "$kind" 0.2
    has "$kind as text" "$out" "$kind on GPU 0, NVIDIA H200 (GPU-00000000-"
    has "$kind as text" "$out" "counters must have read:"
    equal "$kind as text: nothing on stderr" "$err" ""
done
near() { last "(.expectations[] | select(.metric == \"$1\") | .value) as \$v | ($2) as \$e | (\$v - \$e | fabs) <= 1e-6 * \$e"; } # metric, what it must be
run copy 0 copy 0.2 --json
equal "copy reads what it writes" "$(last '.bytes_read == .bytes_written and .bytes_read > 0 and .bytes_read % .buffer_bytes == 0 and .buffer_bytes >= 8e6')" true
equal "copy: dram_write_bytes" "$(near dram_write_bytes '.bytes_written / .seconds')" true
equal "copy: dram_throughput" "$(near dram_throughput '(.bytes_read + .bytes_written) / .seconds / (3201e6 * 2 * 6144 / 8)')" true
run read 0 read 0.2 --json
equal "read does not write" "$(last '.bytes_written == 0 and .bytes_read > 0')" true
run gemv 0 gemv 0.2 --json
equal "gemv: weights" "$(last '.buffer_bytes == 2 * .layers * .layer_size * .layer_size and .bytes_read % .buffer_bytes == 0')" true
equal "gemv: rate" "$(last '[(.rate * .seconds * .buffer_bytes / .bytes_read - 1 | fabs) < 1e-9, .rate_unit]')" '[true,"passes_per_second"]'
script 'memory = 300000000' # larger matrices, whose vectors must not grow from layer to layer
run "gemv with large matrices" 0 gemv 0.2 --json
equal "gemv with large matrices" "$(last '[.layer_size, .layers]')" '[4096,8]'
script
run "progress" 0 gemv 0.3 --json --progress
equal "progress: every batch" "$(jq -s '[.[] | select(.event == "load_progress")] as $p | .[-1] as $l | [($p | length) == $l.batches, ($p[-1].units * $l.buffer_bytes == $l.bytes_read), ($p[-1].seconds / $l.seconds - 1 | fabs) < 1e-6, ($p | map(.units) | . == sort), ($p | map(.seconds) | . == sort)]' <<<"$out" | jq -c .)" '[true,true,true,true,true]'
run "progress without JSON" 0 gemv 0.3 --progress
equal "progress without JSON" "$(grep -c load_progress <<<"$out")" 0
run h2d 0 h2d 0.2 --json
equal "h2d" "$(last '.pcie_in > 0 and .pcie_out == 0')" true
equal "h2d: pcie_rx" "$(last '[.expectations[] | [.metric, .relation]]')" '[["pcie_rx","at_least"],["pcie_rx","at_most"]]'
equal "h2d: the bounds" "$(last '(.pcie_in / .seconds) as $b | [.expectations[0].value / $b, .expectations[1].value / $b] | map(. * 1e4 | round)')" '[10000,11875]'
run d2h 0 d2h 0.2 --json
equal "d2h: the bounds" "$(last '(.pcie_out / .seconds) as $b | [.expectations[0].value / $b, .expectations[1].value / $b] | map(. * 1e4 | round)')" '[10000,12500]'
run "duty" 0 duty:30 0.5 --json
equal "duty" "$(last '.busy > 0.27 and .busy < 0.33 and .expectations[0].value == .busy and .batches == 5')" true
run "mma" 0 mma 0.2 --json
equal "mma: expectation" "$(last '.expectations[0] as $e | [$e.metric, ($e.value - .instructions * 4 / (.sm_clock_hz * .seconds * 4 * 4) | fabs) < 1e-9]')" '["tensor_active",true]'
script 'capability = 8.0'
run "mma elsewhere" 0 mma 0.2 --json
equal "mma: unknown is null" "$(last '.expectations[] | [.metric, .value, .tolerance]')" '["tensor_active",null,null]'
script
run "mma" 0 mma 0.2 --json
equal "mma: clock" "$(last '(.sm_clock_hz / 1.98e9 - 1 | fabs) < 0.001')" true
run "occupancy" 0 occupancy:48 0.2 --json
equal "occupancy" "$(last '.expectations[] | [.metric, .relation, .value]')" '["occupancy","equal",0.75]'
script 'attribute.36 = 0'
run "a memory clock that is not told" 0 read 0.1 --json
equal "a memory clock that is not told" "$(last '[.gpu.memory_peak, (.expectations[] | select(.metric == "dram_throughput") | .value)]')" '[null,null]'

# The fake's time is exact while its queue is never empty: what was counted, against what it does.
script 'kernel = 0.02' 'copy = 1e9'
# A busy machine can leave the queue empty for a moment: one of five runs must be exact.
counts() { # kind, rate, what the fake does
    local exact=false
    for _ in 1 2 3 4 5; do
        run "$1" 0 "$1" 0.2 --json
        exact=$(last "($2) as \$v | ($3) as \$e | (\$v / \$e - 1 | fabs) < 0.001")
        [ "$exact" = true ] && return
    done
    fail "$1: counted $(last "$2"), expected $(last "$3")"
}
counts copy '.bytes_read / .seconds' '.buffer_bytes / 0.02'
counts read '.bytes_read / .seconds' '.buffer_bytes / 0.02'
counts gemv .rate '1 / (0.02 * .layers)'
counts h2d '.pcie_in / .seconds' 1e9
counts d2h '.pcie_out / .seconds' 1e9
script
for kind in fma:512:64 mma:64:2048; do # instructions of a warp in a round, operations of each
    IFS=: read -r kind round each <<<"$kind"
    counts $kind '.instructions / .seconds' "4 * 32 * $round / 2.5e-6" # SMs, warps
    equal "$kind: operations" "$(last ".operations == $each * .instructions")" true
done
run fma 0 fma 0.2 --json
equal "fma_active" "$(last '(.expectations[0].value - 512 * 32 / 4 / (1.98e9 * 2.5e-6) | fabs) < 0.001')" true

# ---- a load that was stopped expects nothing; one that hangs does not outlive Ctrl-C ----
script
"$smeff" load occupancy:8 2.5 --json >"$dir/out" 2>&1 &
pid=$!
sleep 0.9
kill -STOP $pid
sleep 1
kill -CONT $pid
wait $pid
out=$(cat "$dir/out")
equal "stopped in mid-run" "$(last '[.expectations[] | [.value, (.how | startswith("not known: the load stood still"))]]')" '[[null,true]]'
script 'hang = cuLaunchKernel:9+'
"$smeff" load tail 30 >"$dir/out" 2>&1 &
pid=$!
sleep 1
begin=$(date +%s%N)
kill -INT $pid
wait $pid
equal "hanging: exit code" $? 142
[ $((($(date +%s%N) - begin) / 1000000)) -lt 6000 ] || fail "hanging: it outlived Ctrl-C"

# ---- which GPU ----
script '[gpu]' 'name = one' '[gpu]' 'name = two'
run "--gpu 1" 0 tail 0.05 --gpu 1 --json
equal "--gpu 1" "$(last '[.gpu.index,.gpu.name]')" '[1,"two"]'
run "a UUID" 0 tail 0.05 --gpu GPU-00000000-0000-0000-0000-000000000002 --json
equal "a UUID" "$(last '[.gpu.index,.gpu.name]')" '[1,"two"]'
run "--gpu 2" 3 tail 0.05 --gpu 2
has "--gpu 2" "$err" "no GPU 2: this machine has 2"
run "a UUID that no GPU has" 3 tail 0.05 --gpu GPU-7
has "a UUID that no GPU has" "$err" "no GPU GPU-7"
run "several GPUs" 2 tail 0.05 --gpu 0,1
has "several GPUs" "$err" 'one GPU'
script 'gpus = 0'
run "no GPU" 3 copy 0.05

# ---- usage ----
script
for kind in nonsense copy:1 occupancy duty ''; do
    run "KIND '$kind'" 2 "$kind" 1
    has "KIND '$kind'" "$err" "copy, read, gemv, mma, fma, occupancy:N, h2d, d2h, duty:P, tail, idle"
done
run "no KIND" 2
run "SECONDS 0" 2 copy 0
run "SECONDS that are none" 2 copy 1s
run "an argument too many" 2 copy 1 2
run "duty:100" 2 duty:100 1
run "occupancy:65" 2 occupancy:65 1
has "occupancy:65" "$err" "an SM of this GPU holds 64 warps"
help=$("$smeff" load --help)
for kind in copy read gemv mma fma occupancy:N h2d d2h duty:P tail idle; do has "--help" "$help" "  $kind "; done

# ---- what cannot run ----
script 'memory.used = 12000000'
run "a GPU that is nearly full" 1 copy 0.05
has "a GPU that is nearly full" "$err" "has too little free memory: 7.6 MiB; this load needs at least 15.3 MiB"
script 'capability = 7.0'
run "too old a GPU" 1 copy 0.05
has "too old a GPU" "$err" "compute capability 7.0; loads need 7.5"
script 'fail = cuModuleLoadDataEx:222'
run "too old a driver" 1 copy 0.05
has "too old a driver" "$err" "cuModuleLoadDataEx"
script 'gemv = wrong'
run "a GPU that computes wrong" 1 gemv 0.1
has "a GPU that computes wrong" "$err" "the GPU computes nonsense"
script 'fail = cuLaunchKernel:719:9+'
run "a failure in mid-run" 1 tail 10 --json
has "a failure in mid-run" "$err" "cuLaunchKernel: "
equal "a failure in mid-run: begun, but no report" "$(jq -r .event <<<"$out")" load_begin
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so'; then
    mkdir "$dir/empty"
    script
    LD_LIBRARY_PATH=$dir/empty run "no driver" 3 copy 0.05
    has "no driver" "$err" "no NVIDIA driver"
fi

# ---- Ctrl-C and SIGTERM ----
script
for kind in copy gemv duty:50 idle; do
    for signal in INT:130 TERM:143; do
        "$smeff" load "$kind" 30 --json >"$dir/out" 2>"$dir/err" &
        pid=$!
        for _ in $(seq 200); do grep -q load_begin "$dir/out" && break; sleep 0.02; done
        begin=${EPOCHREALTIME/./}
        kill -"${signal%:*}" $pid
        wait $pid
        equal "$kind, ${signal%:*}" $? "${signal#*:}"
        took=$(((${EPOCHREALTIME/./} - begin) / 1000))
        [ $took -lt 1500 ] || fail "$kind, ${signal%:*}: ended after $took ms"
        equal "$kind, ${signal%:*}: report" "$(tail -1 "$dir/out" | jq -c '[.event,.seconds > 0,(.expectations|length > 0)]')" '["load",true,true]'
        equal "$kind, ${signal%:*}: nothing left" "$(cat "$dir/err")" ""
    done
done
# What was not released is seen, else none of the above proved anything.
script 'fail = cuMemFree_v2:700'
"$smeff" load read 0.1 >"$dir/out" 2>"$dir/err"
has "the fake tells what is left" "$(cat "$dir/err")" "fake CUDA: not released: 1 memory"

# ---- output ----
script
if [ -w /dev/full ]; then
    "$smeff" load tail 5 --json >/dev/full 2>"$dir/err"
    equal "standard output is full" $? 1
    equal "standard output is full" "$(cat "$dir/err")" "smeff: standard output: No space left on device"
fi
# docs/interface.md shows both lines with all their keys.
run "copy" 0 copy 0.1 --json
while read -r line; do
    event=$(jq -r .event <<<"$line") || { fail "docs/interface.md: $line"; continue; }
    jq -c --arg e "$event" 'select(.event == $e) | [paths(type != "array") | map(select(type == "string")) | join(".")] | unique' <<<"$out" |
        grep -qxF "$(jq -c '[paths(type != "array") | map(select(type == "string")) | join(".")] | unique' <<<"$line")" ||
        fail "docs/interface.md: not the keys of $event: $line"
done < <(grep '^{"event":"load' "$root/docs/interface.md")
equal "events in docs/interface.md" "$(grep '^{"event":"load' "$root/docs/interface.md" | jq -r .event | paste -sd,)" load_begin,load
exit $failed
