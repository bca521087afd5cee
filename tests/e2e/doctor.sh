#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff doctor, and smeff metrics --chip, on fake GPUs: $1 = smeff, $2 = source tree, $3 = the fakes.
# shellcheck disable=SC2046,SC2086,SC2317 # lists of process ids; functions for traps
set -u
smeff=$1 fakes=$3 failed=0
for tool in jq flock timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
cp "$smeff" "$dir/smeff" && mkdir "$dir/empty" || exit 1
unset NO_COLOR CUDA_VISIBLE_DEVICES VIRTUAL_ENV ${!SMEFF_@}
libraries=$fakes/nvml:$fakes/cuda:$fakes/cupti
without_gpm=$fakes/nvml_old:$fakes/cuda:$fakes/cupti
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$libraries ASAN_OPTIONS=detect_leaks=0

ours() { find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$dir/*" 2>/dev/null | cut -d/ -f3; }
end() {
    local left
    left=$(ours)
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT
fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { # what, text, part; lines and columns do not matter: paths have any length
    local text part
    text=$(tr -s ' \n' ' ' <<<"$2") part=$(tr -s ' ' <<<"$3")
    case $text in *"$part"*) ;; *) fail "$1: no '$part' in '${text:0:400}'" ;; esac
}
script() { printf '%s\n' "$@" >"$dir/script"; }
# run WHAT CODE ARGUMENTS…: standard output to $out, standard error to $err.
run() {
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 30 "$dir/smeff" "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($err)"
    [ -z "$(ours)" ] || fail "$what: left behind: $(ours)"
}
# Numbers as numbers: jq 1.7 keeps 50.0 as it was written, 1.6 prints 50.
field() { jq -r "walk(if type == \"number\" then . + 0 else . end) | $1" <<<"$out"; }

# ---- everything works ----
script ''
ASAN_OPTIONS=detect_leaks=1 run "a GPU" 0 doctor
has "a GPU" "$out" "Hardware counters can be read here: by PM sampling."
has "a GPU" "$out" "driver      580.159.03"
has "a GPU" "$out" "GPU 0       NVIDIA H200, chip GH100, 0000:01:00.0, GPU-00000000-0000-0000-0000-000000000001"
has "a GPU" "$out" "CUPTI       13.0 Update 1: $fakes/cupti/libcupti.so.13"
has "a GPU" "$out" "Nothing to do"
has "a GPU" "$out" "nsys        no"
run "as JSON" 0 doctor --json
equal "one line" "$(wc -l <<<"$out")" 1
equal "schema and code" "$(field '"\(.schema) \(.exit_code) \(.counters) \(.remedy.kind)"')" "1 0 true none"
equal "sources" "$(field '[.backends|to_entries[]|"\(.key) \(.value.state)"]|join(", ")')" \
    "pm ok, gpm ok, nvml ok, nsys unsupported"
equal "CUPTI" "$(field '.cupti.taken|"\(.interface) \(.version) \(.from)"')" "130001 13.0 Update 1 LD_LIBRARY_PATH"
equal "the first folder" "$(field '.cupti.folders[0].path')" "$fakes/cupti"
equal "GPU" "$(field '.gpus[0]|"\(.chip) \(.backends.pm.usable) \(.backends.pm.rate_hz)"')" "GH100 true 50"
script '[gpu]' 'name = one' '[gpu]' 'name = two' 'busy = yes'
run "two GPUs, one busy" 0 doctor --json
equal "two GPUs, one busy" "$(field '[.gpus[]|"\(.name) \(.backends.pm.state)"]|join(", ")')" "one ok, two busy"
equal "two GPUs, one busy" "$(field '.remedy.kind')" release
run "the second GPU" 0 doctor --json --gpu 1
equal "the second GPU" "$(field '[.gpus[].name]|join(" ")')" two
run "by UUID" 0 doctor --json --gpu GPU-00000000-0000-0000-0000-000000000001
equal "by UUID" "$(field '[.gpus[].name]|join(" ")')" one

# ---- what is missing ----
script ''
run "--gpu 7" 3 doctor --gpu 7
has "--gpu 7" "$out" "The GPU that was asked for is not here."
has "--gpu 7" "$out" "no GPU 7"
run "no such UUID" 3 doctor --gpu GPU-77
has "no such UUID" "$out" "The GPU that was asked for is not here."
script 'gpus = 0'
run "a driver without a GPU" 3 doctor --json
equal "a driver without a GPU" "$(field '.gpus|length')" 0
script ''
if ldconfig -p 2>/dev/null | grep -qE 'libnvidia-ml|libcuda\.so'; then
    echo "not tried: a machine without a driver (this one has one)"
else
    LD_LIBRARY_PATH=$dir/empty run "no driver" 3 doctor --cupti "$fakes/cupti"
    has "no driver" "$out" "No hardware counters: there is no NVIDIA driver here."
    has "no driver" "$out" "no NVIDIA driver: libcuda.so.1 was not found"
    has "no driver" "$out" "CUPTI       13.0 Update 1: $fakes/cupti/libcupti.so.13 (--cupti)"
    [ "$(grep -c '^What to do$' <<<"$out")" = 1 ] || fail "no driver: not one remedy"
fi
run "no CUPTI" 0 doctor --json --cupti "$dir/empty"
equal "no CUPTI" "$(field '"\(.backends.pm.usable) \(.backends.gpm.usable) \(.remedy.kind) \(.cupti.taken)"')" "false true cupti null"
has "no CUPTI" "$(field .remedy.commands[0])" "install"
run "half a CUPTI" 0 doctor --json --cupti "$fakes/cupti_alone"
has "half a CUPTI" "$(field .cupti.reason)" "libnvperf_host.so"
script 'cupti_version = 24'
run "a CUPTI that is too old" 0 doctor --json --cupti "$fakes/cupti"
has "a CUPTI that is too old" "$(field .cupti.reason)" "is too old"
equal "a CUPTI that is too old" "$(field .remedy.kind)" cupti

# ---- no permission, in use ----
script 'denied = yes'
LD_LIBRARY_PATH=$without_gpm run "denied, no GPM" 4 doctor
has "denied, no GPM" "$out" "No hardware counters: no permission."
run "denied, with GPM" 0 doctor --json
equal "denied, with GPM" "$(field '"\(.backends.pm.state) \(.backends.gpm.state)"')" "no_permission ok"
[ "$(field .remedy.kind)" != none ] || fail "denied, with GPM: no remedy"
script ''
cp "$(command -v sleep)" "$dir/nsys"
flock "$dir/script.lock.0" "$dir/nsys" 60 &
for _ in $(seq 100); do flock -n "$dir/script.lock.0" true || break; sleep 0.02; done
nsys=$(pgrep -f "^$dir/nsys 60")
out=$(LD_LIBRARY_PATH=$without_gpm timeout 30 "$dir/smeff" doctor --json); equal "held by nsys" $? 5
equal "held by nsys" "$(field .remedy.kind)" release
equal "held by nsys" "$(field ".holders[]|select(.pid == $nsys)|.what")" "Nsight Systems"
out=$(timeout 30 "$dir/smeff" doctor); equal "held by nsys, with GPM" $? 0
has "held by nsys, with GPM" "$out" "by GPM, but not by PM sampling"
kill "$nsys"; wait

# ---- samplers in trouble ----
script 'crash = cuptiPmSamplingSetConfig'
run "a crash" 0 doctor --json
has "a crash" "$(field .backends.pm.reason)" "killed by signal 11"
script 'hang = nvmlInit_v2'
"$dir/smeff" doctor >"$dir/out" 2>&1 & pid=$!
sleep 0.5
grep -qE 'libcuda|libnvidia-ml|libcupti|libnvperf' "/proc/$pid/maps" && fail "vendor libraries in the parent"
kill -TERM $pid; wait $pid
equal "SIGTERM" $? 143
[ -z "$(ours)" ] || fail "SIGTERM: left behind: $(ours)"

# ---- usage, output ----
run "an argument" 2 doctor x
run "an option of others" 2 doctor --csv
script ''
if [ -w /dev/full ]; then
    "$dir/smeff" doctor >/dev/full 2>"$dir/err"; equal "a full disk" $? 1
fi
"$dir/smeff" doctor | grep -q $'\033' && fail "colours in a pipe"
if command -v script >/dev/null; then
    TERM=xterm command script -qec "'$dir/smeff' doctor" /dev/null </dev/null | grep -q $'\033\[1m' || fail "no colours on a terminal"
    TERM=xterm command script -qec "'$dir/smeff' doctor --no-color" /dev/null </dev/null | grep -q $'\033' && fail "colours in spite of --no-color"
fi
LC_ALL=C "$dir/smeff" doctor | LC_ALL=C grep -q '[^ -~]' && fail "more than ASCII in the C locale"

# ---- smeff metrics --chip: no GPU and no driver ----
export LD_LIBRARY_PATH=$fakes/cupti
script 'pm.tpc__warps_active_realtime = 12' 'passes.sm__cycles_active = 2' 'group.dram__read_throughput = a' \
    'group.dram__write_throughput = a'
ASAN_OPTIONS=detect_leaks=1 run "a chip" 0 metrics --chip gb202
has "a chip" "$out" "GB202 with the core set"
has "a chip" "$out" "  occupancy            mid   tpc__warps_active_realtime.avg.pct_of_peak_sustained_elapsed"
has "a chip" "$out" "CUPTI 13.0 Update 1 ($fakes/cupti/libcupti.so.13, LD_LIBRARY_PATH)"
run "as JSON" 0 metrics --chip GB202 --json --set wide
equal "chip and set" "$(field '"\(.schema) \(.chip) \(.set) \(.cupti.version)"')" "1 GB202 wide 13.0 Update 1"
equal "taken" "$(field '.metrics.occupancy|"\(.state) \(.cost) \(.counter)"')" \
    "ok mid tpc__warps_active_realtime.avg.pct_of_peak_sustained_elapsed"
equal "several passes" "$(field '.metrics.sm_active|"\(.state) \(.counter) \(.reason)"')" \
    "unsupported null needs more than one pass on this chip"
equal "pushed out" "$(field .metrics.dram_write.reason)" "does not fit one pass together with the rest of the set"
equal "not on this chip" "$(field .metrics.sm_throughput.reason)" "this chip has no counter for it that can be read in one pass"
run "a costly one" 0 metrics --chip GH100 --metric sm_throughput --json sm_throughput l2_hit
equal "keys" "$(field '.metrics|keys|join(" ")')" "l2_hit sm_throughput"
equal "costly" "$(field '.metrics|"\(.sm_throughput.state) \(.sm_throughput.cost) \(.l2_hit.reason)"')" \
    "ok high costly: taken only when asked for (--metric)"
out=$(SMEFF_CHIP=TU102 "$dir/smeff" metrics tensor_active); equal "SMEFF_CHIP" $? 0
has "SMEFF_CHIP" "$out" "sm__pipe_shared_cycles_active_realtime"
run "no counter" 0 metrics --chip GB202 power
has "no counter" "$out" "PM sampling does not give it on any chip"
run "no such chip" 2 metrics --chip RTX5090
for chip in GH100 GB202 TU102 AD102; do has "no such chip" "$err" $chip; done
run "no such key" 2 metrics --chip GB202 nonsense
run "no such set" 2 metrics --chip GB202 --set all
run "an empty name" 2 metrics --chip ''
run "no CUPTI" 1 metrics --chip GB202 --cupti "$dir/empty"
has "no CUPTI" "$err" "$dir/empty: no libcupti.so.* in this folder"
script 'fail = cuptiProfilerHostInitialize:27'
run "a chip without PM sampling" 1 metrics --chip GV100
has "a chip without PM sampling" "$err" "NOT_SUPPORTED, 27"
script 'crash = cuptiProfilerHostInitialize'
run "a crash of CUPTI" 1 metrics --chip GB202
has "a crash of CUPTI" "$err" "the process that asks CUPTI: killed by signal 11"
exit $failed
