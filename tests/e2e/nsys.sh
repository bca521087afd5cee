#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nsight Systems as a live source, played by tests/fakes/nsys: $1 = smeff, $2 = source tree, $3 = the fake libraries.
# shellcheck disable=SC2046,SC2086,SC2317 # lists of process ids; functions for traps
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq flock timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
[ -x /usr/bin/sqlite3 ] || { echo "skipped: needs /usr/bin/sqlite3 (the fake nsys has no other PATH)"; exit 77; }
dir=$(mktemp -d) || exit 1
mkdir "$dir/tmp" "$dir/empty" "$dir/bin" && cp "$smeff" "$dir/smeff" && cp "$root/tests/fakes/nsys" "$dir/bin/nsys" || exit 1
unset NO_COLOR CUDA_VISIBLE_DEVICES METRICS_SET GPU_DEVICE ${!SMEFF_@}
libraries=$fakes/nvml:$fakes/cuda:$fakes/cupti
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$libraries SMEFF_STATE=$dir/state SMEFF_SERVER=none TMPDIR=$dir/tmp
export SECRET_CANARY=sing # must be in no report
export ASAN_OPTIONS=detect_leaks=0 # a leak check can take a sampler's time of grace; one run has it on
nsys=$dir/bin/nsys

# Ours: the program, and all that runs in an nsys's own environment.
ours() {
    find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$dir/smeff*" 2>/dev/null | cut -d/ -f3
    grep -slzx "HOME=$dir/tmp/smeff-nsys-.*" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
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
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:600}'" ;; esac; } # what, text, part
hasnt() { case $2 in *"$3"*) fail "$1: '$3' in '${2:0:400}'" ;; esac; }
gpu() { printf '%s\n' "$@" >"$dir/script"; }
# What nsys plays; quick unless told otherwise.
plays() {
    printf '%s\n' "recording = $root/data/h200/decode.sqlite" 'start = 0.05' 'trail = 0.02' 'finish = 0.05' "$@" >"$dir/bin/nsys.script"
    rm -f "$dir/bin/nsys.calls" "$dir/bin/did-nothing"
}
calls() { cat "$dir/bin/nsys.calls" 2>/dev/null; }
captures() { calls | grep -c '^profile -f'; }
now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }

# Neither processes nor files may live on when a command has ended.
gone() { # what
    local i
    for i in $(seq 150); do
        [ -n "$(ours)" ] || [ -n "$(ls -A "$dir/tmp")" ] || return 0
        sleep 0.02
    done
    fail "$1: left behind: $(for i in $(ours); do tr '\0' ' ' <"/proc/$i/cmdline"; done) $(ls -A "$dir/tmp")"
    kill -9 $(ours) 2>/dev/null
    rm -rf "$dir/tmp/"*
}
# run WHAT CODE ARGUMENTS…: standard output to $out, standard error to $err.
run() {
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 60 "$dir/smeff" "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($err)"
    gone "$what"
}
measure() { local what=$1 code=$2; shift 2; run "$what" "$code" measure --backend nsys --nsys "$nsys" --json "$@"; }
metric() { jq -c ".gpus[${2:-0}].metrics.$1 | [.value, .source, .state]" <<<"$out"; }
until_true() { # what, seconds, command…
    local what=$1 limit=$(($(now_ms) + $2 * 1000))
    shift 2
    until "$@"; do
        [ "$(now_ms)" -lt $limit ] || { fail "$what: not within the time"; return 1; }
        sleep 0.02
    done
}

# ---- measure: one capture, without a gap ----
gpu ''
plays
ASAN_OPTIONS=detect_leaks=1 measure "one capture" 0 1 --out "$dir/out"
equal "source and coverage" "$(jq -c '.gpus[0].source | [.backend, .rate_hz + 0, .coverage, .gaps + 0, .samples >= 45]' <<<"$out")" '["nsys",50,1,0,true]'
equal "identity: NVML's, and the chip of nsys" "$(jq -r '.gpus[0] | "\(.index) \(.uuid) \(.chip) \(.pci_bus)"' <<<"$out")" \
    "0 GPU-00000000-0000-0000-0000-000000000001 GH100 0000:01:00.0"
equal "sm_active, to a point" "$(jq '.gpus[0].metrics.sm_active | .value > 0.85 and .value < 0.88 and .source == "nsys" and .state == "ok"' <<<"$out")" true
equal "what nsys is wrong about" "$(metric occupancy | jq -r '.[2]')" suspect
equal "what it does not have" "$(metric sm_throughput)" '[null,"nsys","unsupported"]'
equal "the driver's readings beside it" "$(metric power)" '[412,"nvml","ok"]'
equal "captures" "$(captures)" 1
hasnt "nothing to complain of" "$err" warning
equal "how nsys is called" "$(calls | grep '^profile -f' | sed 's/ -o .*//')" \
    "profile -f true --trace=none --sample=none --cpuctxsw=none --gpu-metrics-devices=0 --gpu-metrics-frequency=50"

# ---- evidence: the report, its export, and one to be shown ----
equal "the files" "$(cd "$dir/out" && echo nsys*)" "nsys-1-shared.sqlite nsys-1.nsys-rep nsys-1.sqlite"
equal "not for everybody" "$(stat -c %a "$dir/out/nsys-1.nsys-rep" "$dir/out/nsys-1.sqlite" | paste -sd' ')" "600 600"
environment=$(sqlite3 "$dir/out/nsys-1.nsys-rep" "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'DeviceEnvironment'")
has "the environment that nsys saw" "$environment" LC_ALL=C
hasnt "the environment that nsys saw" "$environment" CANARY
equal "its variables" "$(sed 's/=.*//' <<<"$environment" | grep -vxE '_|PWD|SHLVL|OLDPWD' | sort | paste -sd' ')" "HOME LANG LC_ALL LD_LIBRARY_PATH PATH TMPDIR"
for secret in "$(hostname)" "$(id -un)"; do
    grep -qawF -- "$secret" "$dir/out/nsys-1-shared.sqlite" && fail "the file to be shown has the word '$secret' in it"
done
for secret in secret- PATH= /usr/bin /home /tmp LD_LIBRARY sing "$dir" DeviceEnvironment Hostname StringIds uuid UUID; do
    grep -qaiF -- "$secret" "$dir/out/nsys-1-shared.sqlite" && fail "the file to be shown has '$secret' in it"
done
for secret in secret-user secret-host secret-process; do
    grep -qaF -- "$secret" "$dir/out/nsys-1.nsys-rep" || fail "the fake's report has no '$secret': the test above proves nothing"
done
equal "the same is read of both" "$("$dir/smeff" analyze "$dir/out/nsys-1-shared.sqlite" | tail -n +2)" "$("$dir/smeff" analyze "$dir/out/nsys-1.sqlite" | tail -n +2)"
measure "old evidence" 1 0.5 --out "$dir/out"
has "old evidence" "$err" "exists already"

# ---- analyze: reports ----
cp "$dir/out/nsys-1.nsys-rep" "$dir/run.nsys-rep"
run "a report" 0 analyze "$dir/run.nsys-rep" --nsys "$nsys" --json
equal "a report" "$(jq -r '.file + " " + (.gpus[0].metrics.sm_active.value > 0.85 | tostring)' <<<"$out")" "$dir/run.nsys-rep true"
run "a report as rows" 0 analyze "$dir/run.nsys-rep" --nsys "$nsys" --csv
equal "a report as rows" "$(tail -n +2 <<<"$out" | cut -d, -f1 | sort -u)" "$dir/run.nsys-rep"
echo x >"$dir/bad.nsys-rep"
run "a bad report" 7 analyze "$dir/bad.nsys-rep" "$dir/run.nsys-rep" --nsys "$nsys"
has "a bad report" "$err" "$dir/bad.nsys-rep: nsys 2025.3.1 made no export: "
has "a bad report: the other one" "$out" "SM active"
PATH=/usr/bin:/bin run "no nsys for a report" 7 analyze "$dir/run.nsys-rep"
has "no nsys for a report" "$err" "$dir/run.nsys-rep: no nsys in PATH"
sqlite3 "$dir/run.nsys-rep" 'DROP TABLE GPU_METRICS'
run "a report without counters" 7 analyze "$dir/run.nsys-rep" --nsys "$nsys"
has "a report without counters" "$err" "$dir/run.nsys-rep: no GPU metrics in this export"
run "no such report" 7 analyze "$dir/nothing.nsys-rep" --nsys "$nsys"

# ---- stream: captures in turn ----
gpu ''
plays 'start = 0.4' 'finish = 2.5'
timeout --foreground -s INT 24 "$dir/smeff" stream --backend nsys --nsys "$nsys" >"$dir/stream" 2>"$dir/err"
gone stream
# A window is what has no gap: its first and last times, and how many samples.
windows=$(jq -s -c '[.[] | select(.event == "samples" and .source == "nsys") | [range(.t0_ns | length) as $i | [.t0_ns[$i], .t1_ns[$i]]] | .[]] |
    reduce .[] as $s ([]; if length > 0 and $s[0] - .[-1][1] < 1e6 then .[-1][1] = $s[1] | .[-1][2] += 1 else . + [[$s[0], $s[1], 1]] end)' "$dir/stream")
equal "windows" "$(jq 'length >= 3' <<<"$windows")" true
equal "their length" "$(jq 'all(.[]; .[2] >= 70 and .[2] <= 95)' <<<"$windows")" true
equal "no overlap" "$(jq '[range(1; length) as $i | .[$i][0] >= .[$i - 1][1]] | all' <<<"$windows")" true
# one by one they would be 0.4 + 1.5 + 2.5 s and more apart
equal "the second begins while the first is being finished" "$(jq '(.[-1][1] - .[0][1]) / 1e9 / (length - 1) | . < 4' <<<"$windows")" true
equal "wall-clock times" "$(jq --argjson now "$(date +%s)" '.[-1][1] / 1e9 | . > $now - 20 and . <= $now' <<<"$windows")" true
equal "its plans" "$(jq -r 'select(.event == "plan" and .source == "nsys") | .series[] | select(.metric == "sm_active").state' "$dir/stream" | paste -sd' ')" "warming ok"
equal "nothing to complain of" "$(jq -r 'select(.event == "note" and .level != "info").text' "$dir/stream")" ""
has "what was chosen" "$(jq -r 'select(.event == "note").text' "$dir/stream")" "nsys 2025.3.1 from $nsys, metric set of the chip, windows of 1.5 s"
equal "the end" "$(tail -1 "$dir/stream" | jq -r '"\(.event) \(.status)"')" "end OK"
plays
run "as long as a command runs" 0 measure --backend nsys --nsys "$nsys" --json -- sleep 14
equal "gaps are gaps" "$(jq '.gpus[0].source | .gaps >= 1 and .coverage < 0.97 and .coverage > 0.1' <<<"$out")" true
plays
SMEFF_BACKEND=nsys SMEFF_NSYS=$nsys run "the environment, and --rate" 0 measure 0.5 --json --rate 200
equal "the environment, and --rate" "$(jq '.gpus[0].source | .rate_hz == 200 and .samples > 80' <<<"$out")" true
SMEFF_RATE=5 run "--rate is not for the driver's readings" 0 measure 0.5 --backend nvml --json
equal "--rate is not for the driver's readings" "$(jq '.gpus[0].source.rate_hz + 0' <<<"$out")" 1
SMEFF_GPU=3 run "--gpu all wins over SMEFF_GPU" 0 measure 0.5 --backend nvml --gpu all --json
measure "a rate that nsys does not have" 0 0.5 --rate 2
equal "a rate that nsys does not have" "$(jq -r '.notes[].text' <<<"$out" | grep -c 'nsys samples 10 times a second, not 2')" 1

# ---- options by version, GPUs, sets ----
plays 'version = 2023.4.4' 'no_tables = yes'
measure "an old nsys" 0 0.3
has "an old nsys" "$(calls)" "--gpu-metrics-device=0 "
equal "an old nsys: exports, with the filter and without" "$(calls | grep -c '^export')" 2
plays 'version = 2026.1.1'
measure "a new nsys" 0 0.3
has "a new nsys" "$(calls)" "--discard-environment=true"
plays 'version = 2022.4.2'
measure "a too old nsys" 1 0.3
has "a too old nsys" "$err" "is too old: nsys 2022.4.2 exports no table of GPU metrics; install 2023.4 or newer"
plays
measure "a set" 0 0.3 --metrics-set gh100-ct
has "a set" "$(calls)" "--gpu-metrics-set=gh100-ct "
plays
METRICS_SET=gh100-ct measure "a set by METRICS_SET" 0 0.3
has "a set by METRICS_SET" "$(calls)" "--gpu-metrics-set=gh100-ct "
plays
METRICS_SET=gh100-ct SMEFF_METRICS_SET=gh100 measure "our own name wins" 0 0.3
has "our own name wins" "$(calls)" "--gpu-metrics-set=gh100 "
plays 'version = 2026.1.1' 'sets = gb20x gb20x-top' 'gpu = 0: Blackwell GB202 | NVIDIA GeForce RTX 5090 PCI[0000:01:00.0]'
measure "GB20x" 0 0.3
has "GB20x" "$(calls)" "--gpu-metrics-sets=gb20x-top "
measure "an unknown set" 1 0.3 --metrics-set gh100-x
has "an unknown set" "$err" 'nsys has no metric set "gh100-x" (--metrics-set); it has gb20x gb20x-top'
gpu 'gpus = 2'
bus=$("$dir/smeff" measure 0.2 --backend nvml --json 2>/dev/null | jq -r '.gpus[1].pci_bus')
plays "gpu = 0: Hopper GH100 | NVIDIA H200 PCI[$bus]" 'gpu = 5: Hopper GH100 | NVIDIA H200 PCI[0000:01:00.0]'
measure "two GPUs, counted otherwise" 0 0.5
has "two GPUs, counted otherwise" "$(calls)" "--gpu-metrics-devices=5,0 "
equal "both have numbers of their own" "$(jq -c '[.gpus[] | [.index, .source.backend, .source.samples > 15, .chip]]' <<<"$out")" '[[0,"nsys",true,"GH100"],[1,"nsys",true,"GH100"]]'
plays "gpu = 0: Hopper GH100 | NVIDIA H200 PCI[$bus]" 'gpu = 5: Hopper GH100 | NVIDIA H200 PCI[0000:01:00.0]'
GPU_DEVICE=1 measure "GPU_DEVICE" 0 0.3
has "GPU_DEVICE" "$(calls)" "--gpu-metrics-devices=0 "
equal "GPU_DEVICE" "$(jq -c '[.gpus[].index]' <<<"$out")" '[1]'
GPU_DEVICE=1 measure "--gpu wins" 0 0.3 --gpu 0
equal "--gpu wins" "$(jq -c '[.gpus[].index]' <<<"$out")" '[0]'
plays "gpu = 0: Hopper GH100 | NVIDIA H200 PCI[$bus]"
measure "a GPU that nsys does not list" 3 0.3 --gpu 0
has "a GPU that nsys does not list" "$err" "nsys cannot sample GPU 0"
gpu ''

# ---- what goes wrong: stated, with the exit code that scripts know ----
fault() { # what, fault, exit code, part of the reason
    plays "fault = $2"
    measure "$1" "$3" 0.3
    has "$1" "$err" "$4"
    equal "$1: no number" "${out:0:200}" ""
}
fault "busy" busy 5 "another program holds the GPU's counters (nsys, ncu, DCGM, or another smeff)"
fault "busy, as older ones say it" busy_old 5 "another program holds the GPU's counters, maybe in another container"
fault "no permission, in the list" denied 4 "no permission to read GPU counters: run as root or with CAP_SYS_ADMIN"
fault "no permission, later" denied_late 4 "no permission to read GPU counters"
fault "no GPU" no_gpu 3 "nsys: it finds no GPU"
fault "no importer" importer 1 "its importer could not run, so that only a .qdstrm file came out: install"
fault "no importer, no word" importer_silent 1 "its importer could not run, so that only a .qdstrm file came out: install"
fault "importer of another build" importer_build 1 "its importer is of another build"
fault "exit 0, no report" nothing 1 "nsys 2025.3.1 wrote no report; it ended with exit code 0"
fault "killed" killed 1 "nsys 2025.3.1 wrote no report; it was killed by signal 9 (Killed)"
fault "a full disk, as it says" disk_full 1 "the disk is full: make room, or let TMPDIR name another folder"
fault "exit 0, no export" export_nothing 1 "nsys 2025.3.1 wrote no export; it ended with exit code 0"
fault "a report of a newer one" export_newer 1 "the report is from a newer nsys"
fault "hanging at once" hang_version 1 "nsys hung and was stopped"
plays 'empty = yes'
measure "no counters in the report" 1 0.3
has "no counters in the report" "$err" "no GPU metrics"
hasnt "no counters in the report: whose file?" "$err" "$dir/tmp"
plays 'overflow = yes'
measure "lost samples" 0 0.3
equal "lost samples" "$(jq -c '.gpus[0].metrics.sm_active | [.state, .reason]' <<<"$out")" '["suspect","nsys reports that samples were lost"]'
if mkdir "$dir/full" && mount -t tmpfs -o size=100k none "$dir/full" 2>/dev/null; then
    plays
    TMPDIR=$dir/full measure "a disk that is full" 1 0.3
    has "a disk that is full" "$err" "the disk is full"
    equal "a disk that is full: left" "$(ls -A "$dir/full")" ""
fi
begin=$(now_ms)
PATH=/usr/bin:/bin run "no nsys" 1 measure 0.3 --backend nsys
[ $(($(now_ms) - begin)) -lt 15000 ] || fail "no nsys: said after $(($(now_ms) - begin)) ms only"
has "no nsys" "$err" "no nsys in PATH or below /opt/nvidia: install Nsight Systems, or say where it is (--nsys PROGRAM)"
run "not that one" 1 measure 0.3 --backend nsys --nsys "$dir/nothing"
has "not that one" "$err" "$dir/nothing: no such program"
run "no nsys at all" 1 measure 0.3 --backend nsys --nsys /bin/true
has "no nsys at all" "$err" "this is no nsys"
gpu 'gpus = 0'
plays
measure "no GPU at all" 3 0.3
gpu ''

# ---- beside others ----
plays 'fault = nothing_once'
timeout --foreground -s INT 12 "$dir/smeff" stream --backend nsys --nsys "$nsys" >"$dir/stream" 2>"$dir/err"
gone "one window lost"
equal "one window lost" "$(jq -r 'select(.event == "note" and .level == "warning").text' "$dir/stream")" \
    "a window is lost: nsys 2025.3.1 wrote no report; it ended with exit code 0"
equal "one window lost: the next ones come" "$(jq -s '[.[] | select(.event == "samples" and .source == "nsys")] | length >= 2' "$dir/stream")" true
plays 'held = 1.2'
timeout --foreground -s INT 20 "$dir/smeff" stream --backend nsys --nsys "$nsys" >"$dir/stream" 2>"$dir/err"
gone "counters that are taken for a moment"
equal "counters that are taken for a moment: quietly" "$(jq -r 'select(.event == "note" and .level != "info").text' "$dir/stream")" ""
equal "counters that are taken for a moment: again and again" "$(jq -s '[.[] | select(.event == "samples" and .source == "nsys")] | length >= 2' "$dir/stream")" true
plays "lock = $dir/script.lock.0"
timeout 20 "$dir/smeff" stream --backend pm >"$dir/pm" 2>/dev/null &
until_true "PM sampling" 10 grep -q '"source":"pm","t0_ns"' "$dir/pm"
out=$(timeout 20 "$dir/smeff" measure 1 --backend nsys --nsys "$nsys" 2>"$dir/err")
equal "beside PM sampling" $? 5
has "beside PM sampling" "$(cat "$dir/err")" "another program holds the GPU's counters"
kill %1
wait
gone "beside PM sampling"

# ---- auto: where the others can never be had ----
plays
export PATH=$dir/bin:$PATH
LD_LIBRARY_PATH=$fakes/nvml_old:$fakes/cuda run "auto" 0 measure 8 --json --cupti "$dir/empty"
equal "auto" "$(jq -r .gpus[0].source.backend <<<"$out")" nsys
gpu 'denied = yes'
plays
LD_LIBRARY_PATH=$fakes/nvml_old:$fakes/cuda:$fakes/cupti run "auto, not permitted" 0 measure 0.5 --json
equal "auto, not permitted: nsys is not tried" "$(calls)" ""
gpu ''
plays
run "auto with PM sampling" 0 measure 0.5 --json
equal "auto with PM sampling: nsys is not tried" "$(calls)" ""

# ---- killed in the middle: nothing is left ----
in_the_middle() { pgrep -f "$dir/bin/nsys profile -f" >/dev/null; }
for signal in TERM INT KILL; do
    for fault in none hang_hard export_hang; do
        plays "fault = $fault"
        "$dir/smeff" stream --backend nsys --nsys "$nsys" >"$dir/stream" 2>&1 &
        pid=$!
        if [ $fault = export_hang ]; then
            until_true "an export" 15 pgrep -f "$dir/bin/nsys export" >/dev/null
        else
            until_true "a capture" 15 in_the_middle
            sleep 0.3
        fi
        kill -$signal $pid
        wait $pid 2>/dev/null
        gone "SIG$signal, nsys: $fault"
    done
done
plays
"$dir/smeff" stream --backend nsys --nsys "$nsys" >"$dir/stream" 2>&1 &
pid=$!
until_true "samples" 15 grep -q '"source":"nsys","t0_ns"' "$dir/stream"
sampler=$(pgrep -f "^smeff sampler nsys" | while read -r p; do [ "$(readlink "/proc/$p/exe")" = "$dir/smeff" ] && awk -v p="$p" '/^PPid/ && $2 == '$pid' { print p }' "/proc/$p/status"; done)
kill -KILL $sampler
before=$(wc -l <"$dir/stream")
until_true "SIGKILL of the sampler: it is started again" 20 eval 'tail -n +$((before + 1)) "$dir/stream" | grep -q "\"source\":\"nsys\",\"t0_ns\""'
has "SIGKILL of the sampler: is told" "$(jq -r 'select(.event == "note").text' "$dir/stream")" "nsys: killed by signal 9 (Killed); starting it again"
equal "SIGKILL of the sampler: one folder" "$(ls "$dir/tmp" | wc -l)" 1
kill $pid
wait $pid
gone "SIGKILL of the sampler"

# ---- Nsight Compute's nsys, whose importer lies elsewhere; doctor ----
ncu=$dir/nsight-compute/host
mkdir -p "$ncu/target-linux-x64" "$ncu/linux-desktop-glibc_2_11_3-x64"
cp "$root/tests/fakes/nsys" "$ncu/target-linux-x64/"
plays 'needs_importer = yes'
cp "$dir/bin/nsys.script" "$ncu/target-linux-x64/"
run "an nsys without its importer" 1 measure 0.3 --backend nsys --nsys "$ncu/target-linux-x64/nsys"
has "an nsys without its importer" "$err" "its importer could not run"
LD_LIBRARY_PATH=$libraries run "doctor: no importer" 0 doctor --json --nsys "$ncu/target-linux-x64/nsys"
equal "doctor: no importer" "$(jq -c '.backends.nsys | [.usable, .version, (.reason | test("importer"))]' <<<"$out")" '[false,"2025.3.1",true]'
touch "$ncu/linux-desktop-glibc_2_11_3-x64/QdstrmImporter"
run "Nsight Compute's nsys" 0 measure 0.3 --backend nsys --nsys "$ncu/target-linux-x64/nsys"
run "doctor" 0 doctor --json --nsys "$ncu/target-linux-x64/nsys"
equal "doctor" "$(jq -c '.backends.nsys | [.usable, .state, .version, .program]' <<<"$out")" "[true,\"ok\",\"2025.3.1\",\"$ncu/target-linux-x64/nsys\"]"
run "doctor in words" 0 doctor --nsys "$ncu/target-linux-x64/nsys"
has "doctor in words" "$(tr -s ' \n' ' ' <<<"$out")" "nsys yes 2025.3.1, $ncu/target-linux-x64/nsys: windows of seconds, with gaps"
exit $failed
