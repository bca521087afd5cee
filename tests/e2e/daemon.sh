#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff daemon and yield on fake GPUs and a recording. $1 = smeff, $2 = source tree, $3 = the fake libraries.
# shellcheck disable=SC2046,SC2086,SC2317 # lists of process ids; functions for traps
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq flock timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
cp "$smeff" "$dir/smeff" || exit 1 # our own copy: every process of ours is one whose program lies there
unset NO_COLOR CUDA_VISIBLE_DEVICES XDG_RUNTIME_DIR RUNTIME_DIRECTORY NOTIFY_SOCKET ${!SMEFF_@}
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_STATE=$dir/state
export SMEFF_RUN_DIR=$dir/run SMEFF_SERVER=none ASAN_OPTIONS=detect_leaks=0
run=$dir/run client=$fakes/socket_client helpers=()

ours() { find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$dir/smeff*" 2>/dev/null | cut -d/ -f3; }
end() {
    local left
    left=$(ours)
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    [ ${#helpers[@]} = 0 ] || kill "${helpers[@]}" 2>/dev/null
    wait 2>/dev/null
    umount "$dir/full" 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:600}'" ;; esac; } # what, text, part
script() { printf '%s\n' "$@" >"$dir/script"; }
now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }
gone() { # what: nothing of ours may live on
    local i
    for i in $(seq 150); do
        [ -n "$(ours)" ] || return 0
        sleep 0.02
    done
    fail "$1: left behind: $(for i in $(ours); do tr '\0' ' ' <"/proc/$i/cmdline"; done)"
    kill -9 $(ours)
}
go() { # what, expected code, arguments…: standard output to $out, standard error to $err
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 40 "$dir/smeff" "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($out $err)"
}
until_true() { # what, seconds, command…
    local what=$1 end=$(($(now_ms) + $2 * 1000))
    shift 2
    until "$@"; do
        [ "$(now_ms)" -lt $end ] || { fail "$what: not within the time"; return 1; }
        sleep 0.05
    done
}
status() { jq -r "$1" "$run/status.json"; }
is() { [ "$(status "$1" 2>/dev/null)" = "$2" ]; }
daemon_pid() { "$dir/smeff" daemon status --json | jq .daemon.pid; }
sampler_of() { pgrep -P "$1" -f "sampler $2"; }
lock_is_free() { flock -n "$dir/script.lock.0" true; }

# ---- none runs ----
script ''
for action in stop status pause resume; do go "$action without a daemon" 6 daemon $action; done
has "without a daemon" "$err" "no daemon runs"
go "no action" 2 daemon
go "a strange action" 2 daemon dance
go "yield without a daemon" 3 yield -- sh -c 'exit 3'
has "yield without a daemon" "$err" "no daemon runs"
go "a folder that is too long" 2 daemon start --run-dir "$dir/$(printf 'x%.0s' $(seq 200))"

# ---- start, status, a second one ----
exec 9>"$dir/caller.lock"
flock 9
go "start" 0 daemon start
exec 9>&-
flock -n "$dir/caller.lock" true || fail "the daemon holds a lock of whoever started it"
has "start" "$out" "the daemon runs: process"
pid=$(daemon_pid)
equal "the folder's modes" "$(stat -c '%a %n' "$run" "$run/socket" "$run/status.json" "$run/lock" "$run/log" | sed "s|$run||" | paste -sd' ')" \
    "700  600 /socket 600 /status.json 600 /lock 600 /log"
until_true "counters in status.json" 10 is '.gpus[0].metrics.sm_active.value' 0.86
equal "status.json" "$(status '[.schema, .daemon.state, .daemon.pid, .gpus[0].source.backend, .gpus[0].source.rate_hz + 0] | join(" ")')" "1 running $pid pm 50"
is '.gpus[0].source.age_ms | . > 0 and . < 1500' true || fail "age: $(status .gpus[0].source.age_ms)"
timeout 5 "$dir/smeff" stream 2>/dev/null | grep -m1 '"samples","gpu":0,"source":"pm"' >"$dir/first"
go "status" 0 daemon status
has "status" "$out" "SM active 86"
equal "status --json is status.json's form" "$(timeout 9 "$dir/smeff" daemon status --json | jq -c 'keys')" "$(status 'keys' | jq -c .)"
go "a second daemon" 1 daemon start
has "a second daemon" "$err" "runs already"
go "a second one in the foreground" 1 daemon run
has "a second one in the foreground" "$err" "a daemon runs already"
[ "$(daemon_pid)" = "$pid" ] || fail "the first daemon did not survive the second"
grep -qE 'libcuda|libnvidia-ml|libcupti|libnvperf' "/proc/$pid/maps" && fail "the daemon itself has vendor libraries loaded"

# ---- viewers ----
samplers=$(sampler_of $pid pm)
go "measure attaches" 0 measure 1.2 --json
equal "measure attaches" "$(jq -r '.gpus[0] | "\(.metrics.sm_active.value) \(.metrics.power.value) \(.source.backend) \(.source.coverage > 0.9)"' <<<"$out")" "0.86 412 pm true"
equal "and starts no sampler" "$(sampler_of $pid pm)" "$samplers"
go "what the daemon decides" 2 measure 1 --rate 100
has "what the daemon decides" "$err" "a daemon samples here"
go "--own, which finds the counters taken" 5 measure 1 --own --backend pm
go "--own, auto: GPM" 0 measure 1.5 --own --json
equal "--own, auto: GPM" "$(jq -r .gpus[0].metrics.sm_active.source <<<"$out")" gpm
go "--gpu, which it lacks" 3 measure 1 --gpu 5
viewers=()
for i in 1 2 3 4 5 6 7 8; do
    timeout 30 "$dir/smeff" stream >"$dir/viewer.$i" 2>/dev/null &
    viewers+=($!)
done
until_true "8 viewers" 5 is .daemon.viewers 8
sleep 2
kill "${viewers[@]}"
wait "${viewers[@]}"
grep '"event":"samples"' "$dir/viewer.1" | tail -15 | head -5 >"$dir/part" # while all of them looked
for i in 1 2 3 4 5 6 7 8; do
    equal "viewer $i begins" "$(head -1 "$dir/viewer.$i" | jq -c '[.event,.schema]')" '["hello",1]'
    equal "viewer $i has the events of viewer 1" "$(grep -cxFf "$dir/part" "$dir/viewer.$i")" 5
done
first=$(head -1 "$dir/first") # a viewer from the beginning on saw this sample first
"$client" "$run/socket" $'events 600\n' >"$dir/history" &
helpers+=($!)
until_true "the history" 5 grep -q '"samples"' "$dir/history"
kill $!
grep -qF "$first" "$dir/history" || fail "the history lacks what came first"
go "record" 0 record "$dir/recorded.jsonl.gz" --for 1.5
equal "record ends" "$(gzip -dc "$dir/recorded.jsonl.gz" | tail -1 | jq -c '[.event,.status]')" '["end","OK"]'
go "record of a GPU that is not there" 3 record "$dir/none.jsonl" --gpu 7 --for 2
[ ! -e "$dir/none.jsonl" ] || fail "record left a file without a sample"
go "record where a file is" 1 record "$dir/recorded.jsonl.gz" --for 1

# ---- lending the counters ----
go "pause" 0 daemon pause
until_true "pause frees the counters" 3 lock_is_free
until_true "pause is told" 3 is '.gpus[0].metrics.sm_issue | "\(.state) \(.value)"' "busy null"
has "pause: the reason" "$(status '.gpus[0].metrics.sm_issue.reason')" "smeff daemon resume"
equal "paused" "$(status .daemon.state)" paused
is '.gpus[0].metrics.power.state' ok || fail "paused: the driver's readings do not go on"
go "resume" 0 daemon resume
began=$(now_ms)
until_true "resume takes them back" 5 is '.gpus[0].metrics.sm_issue.state' ok
took=$(($(now_ms) - began))
[ $took -lt 3500 ] || fail "resume: $took ms" # one second of it is the window, one the status file's pace
go "yield" 7 yield -- sh -c "flock -n '$dir/script.lock.0' true || exit 99; exit 7"
until_true "after yield" 5 is '.gpus[0].metrics.sm_issue.state' ok
go "yield passes on a signal" 143 yield -- sh -c 'kill -TERM $$'
go "yield, nothing to start" 127 yield -- /no/such/program
go "yield of nothing" 2 yield
# its reason follows who has them
"$dir/smeff" yield -- sleep 30 &
yielder=$!
until_true "yield holds" 5 is '.gpus[0].metrics.sm_issue.reason' "lent to sleep, process $yielder (smeff yield)"
go "pause meanwhile" 0 daemon pause
go "resume meanwhile" 0 daemon resume
has "resume meanwhile" "$out" "still lent to sleep"
go "pause meanwhile" 0 daemon pause
kill -TERM $yielder
wait $yielder
equal "SIGTERM is passed on" $? 143
until_true "the reason is the new one" 5 is '.gpus[0].metrics.sm_issue.reason' "paused (smeff daemon resume takes them back)"
go "resume" 0 daemon resume
# a second Ctrl-C is the command's, too
"$dir/smeff" yield -- sh -c 'trap "" INT; sleep 2; exit 5' &
yielder=$!
sleep 0.5; kill -INT $yielder; sleep 0.2; kill -INT $yielder
wait $yielder
equal "yield outlasts Ctrl-C" $? 5
# a daemon that was started anew is asked again
"$dir/smeff" yield -- sleep 30 2>"$dir/yield.err" &
yielder=$!
until_true "yield holds" 5 is .daemon.state paused
go "stop under a yield" 0 daemon stop
go "start under a yield" 0 daemon start
until_true "the new one lends, too" 5 is .daemon.state paused
kill -TERM $yielder; wait $yielder
until_true "and takes them back" 5 is '.gpus[0].metrics.sm_issue.state' ok
pid=$(daemon_pid)
"$dir/smeff" yield -- sleep 30 &
yielder=$!
until_true "yield, in the status" 5 is .daemon.reason "lent to sleep, process $yielder (smeff yield)"
kill -9 $yielder
wait $yielder 2>/dev/null
pkill -f '^sleep 30$'
until_true "a yield that is killed gives back" 5 is '.gpus[0].metrics.sm_issue.state' ok

go "doctor borrows" 0 doctor --json
equal "doctor borrows" "$(jq -r '.gpus[0].backends.pm.usable // .backends.pm.usable' <<<"$out")" true
until_true "and gives back" 5 is '.gpus[0].metrics.sm_issue.state' ok

# ---- what a self-test found is seen through a daemon ----
go "stop, for a self-test" 0 daemon stop
script 'attribute.16 = 4' 'attribute.38 = 1000000' 'memory = 20000000' 'memory.used = 0' 'pm.gr__cycles_active = 0' 'gpm.1 = 0'
go "start, for a self-test" 0 daemon start
go "self-test" 1 selftest --quick --json
wrong=$(jq -r '[.proofs[]|select(.verdict=="fail")|.metric]|unique|.[0]' <<<"$out")
if [ -n "$wrong" ] && [ "$wrong" != null ]; then
    until_true "after the self-test" 10 is '.gpus[0].source.backend' pm
    go "doubts, attached" 0 measure 1.5 --json
    attached=$(jq -c '[.gpus[0].metrics|to_entries[]|select(.value.state=="suspect")|.key]|sort' <<<"$out")
    go "doubts, own" 0 daemon pause
    go "doubts, own" 0 measure 1.5 --own --json
    equal "doubts, attached and own" "$attached" "$(jq -c '[.gpus[0].metrics|to_entries[]|select(.value.state=="suspect")|.key]|sort' <<<"$out")"
    go "doubts, own" 0 daemon resume
else
    fail "the self-test found nothing wrong with a fake that reads constants"
fi
rm -rf "$dir/state"
go "stop, after the self-test" 0 daemon stop
script ''
go "start, after the self-test" 0 daemon start
pid=$(daemon_pid)

# ---- trouble ----
mkdir -m 755 "$dir/foreign"; : >"$dir/foreign/status.json.bak"
go "a folder of somebody else" 4 daemon start --run-dir "$dir/foreign"
equal "is left as it was" "$(stat -c %a "$dir/foreign") $(ls "$dir/foreign")" "755 status.json.bak"
"$client" "$run/socket" $'dance\n' | grep -q '^error' || fail "a strange request"
head -c 3000 /dev/urandom >"$dir/noise"
"$client" "$run/socket" "$(head -c 2000 /dev/zero | tr '\0' x)" >/dev/null 2>&1
"$client" "$run/socket" "$(tr -d '\0' <"$dir/noise")" >/dev/null 2>&1
"$client" "$run/socket" $'events -5e99\n' | head -c 10 >/dev/null
"$client" "$run/socket" $'events nan\n' | head -c 10 >/dev/null
"$client" "$run/socket" $'events 1e300\n' | head -c 10 >/dev/null
[ "$(daemon_pid)" = "$pid" ] || fail "the daemon did not survive noise"
rm "$run/socket"
until_true "the socket comes back" 4 test -S "$run/socket"
go "and serves" 0 daemon status
rm -r "$run"
until_true "the folder comes back" 4 test -s "$run/status.json"
go "and serves" 0 daemon status
dead=$(sampler_of $pid pm)
kill -9 "$dead"
until_true "a sampler that dies comes back" 5 eval '[ -n "$(sampler_of $pid pm)" ]'
kill -9 "$pid"
gone "kill -9 of the daemon"
[ -S "$run/socket" ] || fail "kill -9 should have left the socket"
: >"$run/status.json.abcdef"
go "status of a dead daemon" 6 daemon status
go "start after kill -9" 0 daemon start
[ ! -e "$run/status.json.abcdef" ] || fail "what a dead daemon left was not removed"
go "stop" 0 daemon stop
gone "stop"
equal "what stop leaves" "$(ls "$run" | paste -sd' ')" "lock log"

# ---- viewers that never read, at a high rate ----
go "start, fast" 0 daemon start --rate 5000 --set core
"$client" "$run/socket" $'events\n' never &
never=$!
helpers+=($never)
until_true "it is a viewer" 5 is .daemon.viewers 1
until_true "who never reads is dropped" 40 is '.daemon | "\(.viewers) \(.viewers_dropped)"' "0 1"
until_true "and notices" 5 eval "! kill -0 $never 2>/dev/null"
is '.gpus[0].source.coverage | . > 0.98' true || fail "a viewer that never reads cost samples: $(status .gpus[0].source.coverage)"
go "stop, fast" 0 daemon stop

# ---- a GPU that is lost, a driver that is not there, no right ----
script "lost = file $dir/lost"
go "start, to be lost" 0 daemon start
until_true "counters" 5 is '.gpus[0].metrics.sm_active.state' ok
touch "$dir/lost"
until_true "the loss is told" 25 is '.gpus[0].metrics.sm_active | .state != "ok" and .reason != null' true
until_true "a lost GPU has no number" 10 is '.gpus[0].metrics.sm_active | .value == null or .state == "stale"' true
rm "$dir/lost"
until_true "and its return" 60 is '.gpus[0].metrics.sm_active.state' ok
go "stop, lost" 0 daemon stop
script 'gpus = 0'
go "no GPU" 3 daemon start
has "no GPU" "$err" "GPU"
script 'denied = yes'
go "denied" 0 daemon start
until_true "denied: why" 8 is '.gpus[0].metrics.sm_issue.state' no_permission
go "stop, denied" 0 daemon stop

# ---- the folder is full ----
script ''
mkdir "$dir/full"
if mount -t tmpfs -o size=64k,nr_inodes=20 none "$dir/full" 2>/dev/null; then
    mkdir "$dir/full/run"
    chmod 700 "$dir/full/run"
    go "start, soon full" 0 daemon start --run-dir "$dir/full/run"
    cp "$dir/full/run/status.json" "$dir/before"
    head -c 100000 /dev/zero >"$dir/full/fill" 2>/dev/null
    until_true "a full disk is told" 5 grep -q "No space left" "$dir/full/run/log"
    jq -e .schema "$dir/full/run/status.json" >/dev/null || fail "a full disk: half a status"
    go "a full disk: it serves" 0 daemon status --run-dir "$dir/full/run"
    rm "$dir/full/fill"
    until_true "and is told when it ends" 5 grep -q "is written again" "$dir/full/run/log"
    go "stop, full" 0 daemon stop --run-dir "$dir/full/run"
else
    echo "a full disk: not tried, nothing can be mounted here"
fi

# ---- systemd ----
"$client" "=$dir/notify" >"$dir/told" &
helpers+=($!)
until_true "the fake systemd" 3 test -S "$dir/notify"
NOTIFY_SOCKET=$dir/notify WATCHDOG_USEC=600000 RUNTIME_DIRECTORY=$dir/run "$dir/smeff" daemon run 2>"$dir/err" &
pid=$!
until_true "READY" 10 grep -q '^READY=1' "$dir/told"
until_true "WATCHDOG" 3 eval '[ "$(grep -c WATCHDOG=1 "$dir/told")" -ge 3 ]'
kill -TERM $pid
wait $pid
equal "SIGTERM" $? 0
grep -q '^STOPPING=1' "$dir/told" || fail "systemd is not told of the end"
gone "SIGTERM"

# ---- a group, and who may stop ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$dir"
    go "start with a group" 0 daemon start --group nogroup
    equal "modes with a group" "$(stat -c '%a %G' "$run" "$run/socket" | paste -sd' ')" "750 nogroup 660 nogroup"
    as() { setpriv --reuid=65534 --regid="$1" --clear-groups "$dir/smeff" "${@:2}" 2>"$dir/err"; }
    as 65534 daemon status >/dev/null || fail "a member may not look: $(cat "$dir/err")"
    as 65534 daemon stop >/dev/null
    equal "a member may not stop" $? 4
    as 12345 daemon status >/dev/null
    equal "others may not look" $? 4
    go "stop with a group" 0 daemon stop
fi
go "a group that is not there" 1 daemon start --group no_such_group

# ---- what the unit's sandbox forbids: chown, also one that changes nothing ----
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    group=$(id -gn)
    rm -rf "$run" # it was another group's
    strace -f -o /dev/null -e trace=chown,lchown,fchown,fchownat -e inject=chown,lchown,fchown,fchownat:error=EPERM \
        "$dir/smeff" daemon run --group "$group" 2>"$dir/err" &
    helpers+=($!)
    until_true "a daemon that may not chown" 30 test -s "$run/status.json"
    go "stop, without chown" 0 daemon stop
else
    echo "a sandbox without chown: not tried, there is no strace that works"
fi

# ---- a daemon that hangs must not hang others ----
go "start, to hang" 0 daemon start
pid=$(daemon_pid)
kill -STOP "$pid"
crowd=()
for i in $(seq 70); do
    timeout 20 "$client" "$run/socket" $'status\n' >/dev/null 2>&1 &
    crowd+=($!)
done
sleep 1
began=$(now_ms)
go "status of a daemon that hangs" 1 daemon status
took=$(($(now_ms) - began))
[ $took -lt 16000 ] || fail "status of a daemon that hangs: $took ms"
kill "${crowd[@]}" 2>/dev/null
wait "${crowd[@]}" 2>/dev/null
kill -CONT "$pid"
go "it goes on" 0 daemon status
go "stop, hung" 0 daemon stop

# ---- a recording instead of a card ----
go "a recording" 0 daemon start --replay "$root/data/h200/live/decode.jsonl.gz" --loop
until_true "it plays" 6 is '.gpus[0].metrics.dram_read | .state == "ok" and .value > 0.79' true
equal "it says so" "$(status '.daemon.replay | split("/")[-1]')" decode.jsonl.gz
equal "and what it is of is no number of this host" "$(status .host)" null
go "measure takes it" 0 measure 1 --json
has "measure says so" "$err" "the daemon plays a recording"
has "measure's JSON says so" "$(jq -c .notes <<<"$out")" "the daemon plays a recording"
equal "measure takes it" "$(jq -r '.gpus[0].metrics.dram_read.value > 0.79' <<<"$out")" true
go "a recording is not lent" 1 daemon pause
has "a recording is not lent" "$err" "holds no counters"
go "top of a GPU that the recording lacks" 3 top --replay "$root/data/h200/live/decode.jsonl.gz" --gpu 7 --once
go "stream of a GPU that the recording lacks" 3 stream --replay "$root/data/h200/live/decode.jsonl.gz" --gpu 7 --speed 100
go "and measures no command with it" 1 measure -- true
go "stop, a recording" 0 daemon stop
go "a recording that is over" 0 daemon run --replay "$dir/recorded.jsonl.gz" --speed 100
go "a recording that is not there" 7 daemon start --replay "$dir/none.jsonl"
go "a recording that is none" 7 daemon start --replay "$root/README.md"
go "a start says what is wrong with itself" 7 daemon start --replay "$root/README.md"
equal "a start says what is wrong with itself" "$(wc -l <<<"$err")" 1
go "--loop without --replay" 2 daemon run --loop
gone "the end"
exit $failed
