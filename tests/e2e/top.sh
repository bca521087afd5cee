#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff top in a real terminal (tmux): keys in, screen text out. $1 = smeff, $2 = source tree, $3 = the fake libraries.
# shellcheck disable=SC2046,SC2086,SC2317 # lists of process ids; functions for traps
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in tmux jq timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
locale -a 2>/dev/null | grep -qix 'C.utf-\?8' || { echo "skipped: needs the locale C.UTF-8"; exit 77; }
dir=$(mktemp -d) || exit 1
cp "$smeff" "$dir/smeff" || exit 1
unset NO_COLOR COLORTERM COLUMNS LINES CUDA_VISIBLE_DEVICES TMUX ${!SMEFF_@}
export LC_ALL=C.UTF-8 ASAN_OPTIONS=detect_leaks=0 SMEFF_STATE=$dir/state SMEFF_SERVER=none SMEFF_RUN_DIR=$dir/run FAKE_GPU=$dir/script
# tmux itself must not load the fakes
with_gpus() { echo "LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti"; }
decode=$root/data/h200/live/decode.jsonl.gz bursty=$root/data/h200/live/bursty.jsonl.gz
t() { tmux -L "smeff$$" -f /dev/null "$@"; }
ours() { find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$dir/smeff*" 2>/dev/null | cut -d/ -f3; }
end() {
    t kill-server 2>/dev/null
    local left
    left=$(ours)
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT
fail() { echo "FAILED: $*"; failed=1; }
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:2500}'" ;; esac; }
hasnt() { case $2 in *"$3"*) fail "$1: '$3' in '${2:0:2500}'" ;; esac; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; }
now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }

# A shell in a terminal of that size; `run` types a command line into it.
shell() { # width height
    t kill-server 2>/dev/null
    t new-session -d -x "$1" -y "$2" -s s "PS1='ready> ' bash --norc --noprofile" || { fail "tmux does not start"; exit 1; }
    t set-option -g status off >/dev/null
    t resize-window -t s -x "$1" -y "$2" 2>/dev/null
    shows "the shell" 'ready>' 20
    t send-keys -t s "cd $dir" Enter
}
run() { t send-keys -t s -l "$*"; t send-keys -t s Enter; }
key() { t send-keys -t s "$@"; }
screen() { t capture-pane -p -t s; }
# shows WHAT PATTERN SECONDS: waits until the screen has it.
shows() {
    local limit=$(($(now_ms) + $3 * 1000))
    until screen | grep -qE -- "$2"; do
        [ "$(now_ms)" -lt $limit ] || { fail "$1: no '$2' within $3 s on:"$'\n'"$(screen)"; return 1; }
        sleep 0.05
    done
}
panel() { ours | while read -r p; do tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null | grep -q '^[^ ]*smeff top' && echo "$p"; done | head -1; }
# The terminal is as it was: the shell's own screen, a cursor, and a line that echoes.
clean() { # what
    shows "$1: the shell again" 'ready> *$' 10
    run 'echo "4""2"; stty -a | grep -E "^-?isig"'
    shows "$1: what is typed is echoed, and lines are lines" '^isig icanon iexten echo ' 10
    shows "$1" '^42$' 5
    equal "$1: the cursor, the main screen" "$(t display-message -p -t s '#{cursor_flag} #{alternate_on}')" "1 0"
    local i
    for i in $(seq 60); do [ -z "$(ours)" ] && break; sleep 0.05; done
    [ -z "$(ours)" ] || fail "$1: left behind: $(for p in $(ours); do tr '\0' ' ' <"/proc/$p/cmdline"; done)"
    run 'clear'
}

# ---- keys in, screens out ----
shell 100 30
run "./smeff top --replay $decode --loop"
shows "the GPU view" '\[GPU 0\]' 10
shows "GPU-Util" 'GPU-Util +100 %' 10
shows "what the SMs did" 'SM issue +18' 10
shows "the verdict" 'memory_bound – the GPU waited for its memory' 15
shows "its evidence" 'DRAM 8[01] %' 5
shows "the origin" 'replay decode.jsonl.gz' 5
key '?'; shows "help" 'share of time in which a kernel was there' 5
key Escape; shows "back" '\[GPU 0\]' 5
key m; shows "metrics" 'every metric' 5
shows "why there is none" 'costly: taken only when asked for' 5
key /; key -l power; shows "typing a filter" 'filter: power' 5
key Enter; shows "filtered" 'Power limit' 5
key /; key C-u; key -l 'grün'; shows "letters beyond ASCII" 'filter: grün' 5
key BSpace; key BSpace; key C-u; key -l power; key Enter; shows "filtered again" 'Power limit' 5
hasnt "filtered" "$(screen)" "SM active"
key Escape; key Escape; shows "no filter" '\[GPU 0\]' 5
key p; shows "processes" 'processes? on GPUs|processes are not known' 5
key o; shows "all GPUs" '1 GPU · sorted by number' 5
key s; shows "sorted" 'sorted by GPU-Util' 5
key Enter; shows "one GPU" '\[GPU 0\]' 5
key Space; shows "frozen" 'FROZEN' 5
sleep 1.5; frozen=$(screen); sleep 1.2 # the driver's readings come once a second
equal "a frozen screen stands still" "$(screen)" "$frozen"
key Left; key Left; shows "the past" 'PAST' 5
shows "its values" 'the second before' 5
key End; shows "the present" 'last second' 5
hasnt "the present" "$(screen | head -1)" PAST
screen | grep -q '26.5 s ago' || fail "the time scale"
key -; shows "another time scale" ' 53 s ago' 5

# ---- a recording, now ----
key r; shows "recording" '● REC' 5
shows "its name" 'recording to smeff-[0-9-]*\.jsonl\.gz' 5
sleep 2.5
key r; shows "recorded" 'recorded: smeff-' 5
made=$(ls "$dir"/smeff-*.jsonl.gz)
key r; key r; key r; key r; sleep 0.5 # twice in a second
hasnt "recorded again and again" "$(screen)" 'not recorded'
equal "what it begins with, and ends with" "$(zcat "$made" | jq -r .event | sed -n '1p;$p' | tr '\n' ' ')" "hello end "
equal "a plan before samples" "$(zcat "$made" | jq -r .event | grep -m1 -nE 'plan|samples' | cut -d: -f2)" plan
has "it plays" "$(./x 2>/dev/null; "$dir/smeff" top --once --replay "$made")" "memory"

# ---- sizes ----
for size in 80x24 200x60 40x10 20x4 120x40; do
    t resize-window -t s -x "${size%x*}" -y "${size#*x}"
    case $size in
    20x4) shows "$size" '20x4 is too small' 5 ;;
    40x10) shows "$size" '^ GPU-Util +100 % █+' 5 ;;
    *) shows "$size" 'memory_bound' 5 ;;
    esac
    [ "$(screen | wc -L)" -le "${size%x*}" ] || fail "$size: a line is too long"
done
for _ in $(seq 60); do kill -WINCH "$(panel)"; done # a storm
t resize-window -t s -x 100 -y 30
shows "after a storm" 'memory_bound' 5

# ---- stopped and continued ----
key C-z; shows "stopped" 'Stopped' 10
equal "stopped: the main screen" "$(t display-message -p -t s '#{alternate_on}')" 0
run fg; shows "continued" 'GPU-Util' 10
pid=$(panel)
kill -STOP "$pid"; sleep 0.3; run clear; sleep 0.3; kill -CONT "$pid"; sleep 0.5
hasnt "continued in the background" "$(screen)" GPU-Util
run fg; shows "stopped without being asked" 'GPU-Util' 5
key q; clean "q"

# ---- every end leaves the terminal clean ----
for signal in TERM INT HUP SEGV ABRT KILLSAMPLER; do
    run "./smeff top --replay $bursty --loop 2>/dev/null"
    shows "$signal: begins" 'starved|first look|\[GPU 0\]' 10
    sleep 0.3
    case $signal in
    KILLSAMPLER) # its end is said, the panel stays
        kill -9 $(ours | grep -vx "$(panel)")
        shows "the death of a sampler is said" 'killed by signal 9' 10
        shows "and it is started again" 'starved' 20
        key q
        ;;
    *) kill -$signal "$(panel)" ;;
    esac
    clean "$signal"
done
run "./smeff top --replay $bursty --loop"
shows "the terminal goes" '\[GPU 0\]' 10
t kill-server
for _ in $(seq 100); do [ -z "$(ours)" ] && break; sleep 0.05; done
[ -z "$(ours)" ] || fail "a terminal that was closed: left behind"

# ---- colours ----
shell 100 30
run "TERM=xterm-256color ./smeff top --replay $decode --loop"
shows "colours" 'memory_bound' 15
t capture-pane -e -p -t s | grep -q $'\e\\[[0-9;]*38;5;214m' || fail "GPU-Util has no colour"
key q; clean "colours"
if infocmp xterm-direct >/dev/null 2>&1; then
    run "COLORTERM=truecolor TERM=xterm-256color ./smeff top --replay $decode --loop"
    shows "24 bits of colour" 'memory_bound' 15
    t capture-pane -e -p -t s | grep -q $'\e\\[[0-9;]*38;2;230;159;0m' || fail "24 bits of colour: GPU-Util has not 0xE69F00"
    key q; clean "24 bits of colour"
else
    echo "24 bits of colour: not tried, the terminal database has no xterm-direct"
fi
run "NO_COLOR=1 TERM=xterm-256color ./smeff top --replay $decode --loop"
shows "NO_COLOR" 'memory_bound' 15
t capture-pane -e -p -t s | grep -qE $'\e\\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])[;m]' && fail "NO_COLOR has colours"
key q; clean "NO_COLOR"

# ---- no UTF-8, no real terminal ----
run "LC_ALL=C ./smeff top --replay $decode --loop"
shows "LANG=C" '\* memory_bound - the GPU waited' 15
screen | LC_ALL=C grep -q '[^ -~]' && fail "LANG=C shows more than ASCII"
key q; clean "LANG=C"
for term in dumb nonsense; do
    run "TERM=$term ./smeff top --replay $decode 2>err; echo code \$?"
    shows "TERM=$term" 'code 0' 10
    has "TERM=$term says so" "$(cat "$dir/err")" "one frame instead of the panel"
    shows "TERM=$term" 'memory_bound' 5
    run clear
done
out=$("$dir/smeff" top --replay "$decode" 2>&1 | cat); has "no terminal" "$out" "memory_bound"
hasnt "no terminal" "$out" $'\e'
for columns in 40 80 200; do
    [ "$(COLUMNS=$columns "$dir/smeff" top --once --replay "$decode" | wc -L)" -le "$columns" ] ||
        fail "COLUMNS=$columns: a line is too long"
done

# ---- faster than it was ----
run "./smeff top --replay $decode --speed 100 --loop"
shows "a hundred times as fast" 'pm 5000 Hz' 15
key q; clean "a hundred times as fast"

# ---- the end of a recording ----
run "./smeff top --replay $decode --speed 10"
shows "the end of a recording" 'no more comes' 15
shows "it stays" 'ENDED' 5
key Left; shows "and can be looked at" 'PAST' 5
key End; before=$(ls "$dir" | md5sum)
key r; shows "nothing is recorded then" 'the stream has ended, nothing more comes' 5
equal "nothing is recorded then" "$(ls "$dir" | md5sum)" "$before"
key q; clean "the end of a recording"

# ---- bad input ----
code() { # expected, arguments
    local expected=$1 got; shift
    err=$(timeout 20 "$dir/smeff" top "$@" 2>&1 >/dev/null </dev/null); got=$?
    [ $got = "$expected" ] || fail "top $*: exit $got, expected $expected ($err)"
}
echo garbage >"$dir/garbage.jsonl"; : >"$dir/empty.jsonl"
code 7 --once --replay "$dir/garbage.jsonl"; has garbage "$err" "garbage.jsonl"
code 7 --once --replay "$dir/empty.jsonl"
code 7 --once --replay "$dir/none.jsonl"; has "no such recording" "$err" "none.jsonl"
code 2 --once --speed 5; code 2 --replay x --host y; code 2 --nonsense; code 2 too much
code 2 --once --host -oProxyCommand=x; has "an option is no host" "$err" "--host is USER@HOST"
sed 's/"schema":1/"schema":9/' < <(zcat "$decode") >"$dir/schema.jsonl"
code 7 --once --replay "$dir/schema.jsonl"; has "another schema" "$err" "schema"
zcat "$decode" | head -c 60000 >"$dir/cut.jsonl"
out=$("$dir/smeff" top --once --replay "$dir/cut.jsonl"); has "cut off" "$out" "the recording was cut off"
{ zcat "$decode" | head -20; echo '{"event":"tomorrow","x":[1]}'; zcat "$decode" | tail -n +21; } >"$dir/unknown.jsonl"
out=$("$dir/smeff" top --once --replay "$dir/unknown.jsonl"); has "unknown events" "$out" memory_bound
code 3 --once --own # no GPU here

run "./smeff top --replay cut.jsonl --speed 20"
shows "a recording that was cut off says so" 'the recording is over \(it was cut off\)' 15
key q; clean "a recording that was cut off"

# ---- from elsewhere ----
out=$(zcat "$decode" | "$dir/smeff" top --once --from -); has "--from -" "$out" "GPU-Util"
code 7 --once --from -; has "nothing" "$err" "no event came"
err=$(echo garbage | "$dir/smeff" top --once --from - 2>&1 >/dev/null); equal "garbage from a pipe: code" $? 7
mkdir "$dir/bin"
cat >"$dir/bin/ssh" <<END
#!/bin/sh
echo "\$@" >$dir/asked
[ "\$2" != slow@there ] || { printf 'password: ' >/dev/tty; read -r word </dev/tty; echo "\$word" >$dir/word; }
[ "\$2" != nowhere ] || { echo "ssh: nowhere is not known" >&2; exit 255; }
exec $dir/smeff stream --replay $decode --loop
END
chmod +x "$dir/bin/ssh"
out=$(PATH=$dir/bin:$PATH "$dir/smeff" top --once --host me@there); has "--host" "$out" "GPU-Util"
equal "what ssh is asked" "$(cat "$dir/asked")" "-- me@there smeff stream"
err=$(PATH=$dir/bin:$PATH "$dir/smeff" top --once --host nowhere 2>&1 >/dev/null); equal "no such host: code" $? 1
has "no such host" "$err" "ssh: nowhere is not known"
run "PATH=$dir/bin:\$PATH ./smeff top --host me@there"
shows "--host in a terminal" 'me@there' 10
shows "--host in a terminal" 'SM issue +18' 10
key q; clean "--host"
run "PATH=$dir/bin:\$PATH ./smeff top --host slow@there"
shows "ssh asks on the terminal" 'password:' 10
sleep 0.5; run secret
shows "and then the panel comes" 'SM issue +18' 10
equal "what ssh heard" "$(cat "$dir/word")" secret
key q; clean "--host with a password"
run "PATH=$dir/bin:\$PATH ./smeff top --host nowhere; echo code \$?"
shows "no such host in a terminal" 'code 1' 10
has "no such host in a terminal" "$(screen)" 'ssh: nowhere is not known'
run clear
run "zcat $decode | ./smeff top --from -"
shows "keys from the terminal, events from a pipe" 'memory_bound' 10
key m; shows "keys from the terminal" 'every metric' 5
key q; clean "--from -"

# ---- a daemon, and GPUs ----
mkdir "$dir/run"; chmod 700 "$dir/run"
"$dir/smeff" daemon start --replay "$bursty" --loop || fail "the daemon does not start"
sleep 4
out=$("$dir/smeff" top --once); has "a daemon" "$out" "daemon (replay)"
has "its past" "$out" "starved"
out=$("$dir/smeff" top --once --from "$dir/run/smeff.sock" 2>&1) || out=$("$dir/smeff" top --once --from "$(find "$dir/run" -type s | head -1)" 2>&1)
has "--from a socket" "$out" "starved"
code 6 --once --from "$dir/no.sock"; has "no socket" "$err" "no.sock"
"$dir/smeff" daemon stop || fail "the daemon does not stop"
printf '%s\n' 'gpus = 8' >"$dir/script"
run "$(with_gpus) ./smeff top"
shows "eight GPUs" '8 GPUs' 15
key 8; shows "the eighth" '\[GPU 7\]' 5
shows "its counters" 'SM active +86' 15
key q; clean "eight GPUs"
exit $failed
