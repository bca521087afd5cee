#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff daemon run --listen on fake GPUs. $1 = smeff, $2 = source tree, $3 = the fake libraries.
# shellcheck disable=SC2046,SC2086,SC2317 # lists of process ids; functions for traps
set -u
smeff=$1 fakes=$3 failed=0
for tool in curl jq openssl timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
cp "$smeff" "$dir/smeff" || exit 1 # our own copy: every process of ours is one whose program lies there
unset NO_COLOR CUDA_VISIBLE_DEVICES XDG_RUNTIME_DIR RUNTIME_DIRECTORY NOTIFY_SOCKET http_proxy https_proxy all_proxy ${!SMEFF_@}
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_STATE=$dir/state
export SMEFF_RUN_DIR=$dir/run SMEFF_SERVER=none ASAN_OPTIONS=detect_leaks=0
load=$fakes/http_load helpers=()

ours() { find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$dir/smeff*" 2>/dev/null | cut -d/ -f3; }
end() {
    local left
    left=$(ours)
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    [ ${#helpers[@]} = 0 ] || kill "${helpers[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:600}'" ;; esac; } # what, text, part
now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }
until_true() { # what, seconds, command…
    local what=$1 end=$(($(now_ms) + $2 * 1000))
    shift 2
    until "$@"; do
        [ "$(now_ms)" -lt $end ] || { fail "$what: not within the time"; return 1; }
        sleep 0.05
    done
}
free_port() {
    local p
    while p=$((20000 + RANDOM % 12000)); (: <"/dev/tcp/127.0.0.1/$p") 2>/dev/null; do :; done
    echo $p
}
go() { # what, expected code, arguments…: standard output to $out, standard error to $err
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 40 "$dir/smeff" "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($out $err)"
}
refused() { # what, words, options…: one line, exit code 1, nothing left
    local what=$1 words=$2
    shift 2
    go "$what" 1 daemon run "$@"
    has "$what" "$err" "$words"
    equal "$what: lines" "$(grep -vc 'whoever reaches' <<<"$err")" 1
    [ -z "$(ours)" ] || fail "$what: left behind $(ours)"
}
get() { timeout 10 curl -s -m 8 "$@"; }
code() { timeout 10 curl -s -m 8 -o "$dir/body" -w '%{http_code}' "$@"; }
is_code() { [ "$(code "${@:2}")" = "$1" ]; }
child_of() { pgrep -P "$1" -f '^smeff http '; }
start() {
    "$dir/smeff" daemon run "$@" 2>"$dir/log" &
    daemon=$!
    until_true "$* serves" 20 is_code 200 "${insecure[@]}" "$scheme://127.0.0.1:$port/healthz"
    child=$(child_of $daemon)
}
stop() {
    kill $daemon
    wait $daemon
    equal "the daemon's end" $? 0
    equal "the process after it" "$(ours)" ""
}
printf 'gpus = 2\n' >"$dir/script"
port=$(free_port) dcgm=$(free_port) scheme=http insecure=()
web=http://127.0.0.1:$port

# ---- what cannot be had is one line ----
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/key" -out "$dir/cert" -days 2 -subj /CN=localhost \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' 2>/dev/null || fail "openssl"
openssl genrsa -out "$dir/key2" 2048 2>/dev/null
printf 'ann:$2b$04$z71zgYEpqaG8WVJxC7VsvOnh4Nq08V9S4HsXOFfXBFpWz/hubsOb.\n' >"$dir/users" # "secret"
echo tok-123 >"$dir/token"
echo 'ann:secret' >"$dir/wrong-users"
listen="--listen 127.0.0.1:$port"
"$fakes/http_server" 127.0.0.1 $dcgm >"$dir/port" &
helpers+=($!)
until_true "somebody listens" 5 [ -s "$dir/port" ]
refused "a port in use" "--listen: 127.0.0.1 port $dcgm: another program listens there" --listen 127.0.0.1:$dcgm
refused "a port in use for DCGM" "--dcgm-listen: 127.0.0.1 port $dcgm" $listen --dcgm-listen 127.0.0.1:$dcgm
kill "${helpers[@]}"; wait "${helpers[@]}" 2>/dev/null; helpers=()
dcgm=$(free_port)
refused "a name that is none" "--listen: no-such-name.invalid" --listen no-such-name.invalid:$port
refused "an address of others" "192.0.2.1" --listen 192.0.2.1:$port
refused "no certificate" "--tls-cert: $dir/none" $listen --tls-cert "$dir/none" --tls-key "$dir/key"
refused "no key" "--tls-key: $dir/none" $listen --tls-cert "$dir/cert" --tls-key "$dir/none"
refused "a folder" "--tls-key: $dir: Is a directory" $listen --tls-cert "$dir/cert" --tls-key "$dir"
refused "no PEM" "is no PEM file" $listen --tls-cert "$dir/token" --tls-key "$dir/key"
refused "no pair" "no pair that can be used" $listen --tls-cert "$dir/cert" --tls-key "$dir/key2"
refused "no users" "--web-users: $dir/none" $listen --web-users "$dir/none"
refused "users without hashes" "wrong-users:1: not USER:HASH" $listen --web-users "$dir/wrong-users"
refused "no token" "$dir/none" $listen --web-token "$dir/none"
mkdir "$dir/no-lib" && : >"$dir/no-lib/libmicrohttpd.so.12"
LD_LIBRARY_PATH=$dir/no-lib:$LD_LIBRARY_PATH refused "no libmicrohttpd" "--listen needs libmicrohttpd" $listen
go "a certificate alone" 2 daemon run $listen --tls-cert "$dir/cert"
go "a key without a server" 2 daemon run --web-token "$dir/token"
go "a port alone" 2 daemon run --listen 9400
go "another generation" 2 daemon run --dcgm-compat newest
go "the hidden command alone" 2 http
go "start says why, too" 1 daemon start --listen 192.0.2.1:$port
has "start says why, too" "$err" 192.0.2.1

# ---- what is served ----
SMEFF_TOKEN=of-the-servers start $listen --dcgm-listen 127.0.0.1:$dcgm
until_true "counters" 10 bash -c "curl -s $web/status.json | jq -e '.gpus[1].metrics.sm_active.value == 0.86' >/dev/null"
equal "its GPUs" "$(get $web/status.json | jq -c '[.schema, (.gpus | length)]')" "[1,2]"
equal "no daemon's own matter" "$(get $web/status.json | jq .daemon)" null
has "metrics" "$(get $web/metrics)" 'smeff_sm_active_ratio{gpu="1",uuid='
equal "up" "$(get $web/metrics | grep '^smeff_up')" "smeff_up 1"
equal "gzip" "$(get --compressed -o "$dir/body" -w '%{content_type}' $web/metrics)" "text/plain; version=0.0.4; charset=utf-8"
has "gzip" "$(get -i -H 'Accept-Encoding: gzip' $web/metrics | head -20 | tr -d '\0')" "Content-Encoding: gzip"
equal "gzip is smaller" "$(($(get -H 'Accept-Encoding: gzip' $web/metrics | wc -c) * 3 < $(get $web/metrics | wc -c)))" 1
if command -v promtool >/dev/null; then
    get $web/metrics | promtool check metrics >"$dir/promtool" 2>&1 || fail "promtool: $(head -5 "$dir/promtool")"
fi
has "DCGM" "$(get http://127.0.0.1:$dcgm/metrics)" 'DCGM_FI_PROF_SM_ACTIVE{gpu="0"'
equal "DCGM's door" "$(code http://127.0.0.1:$dcgm/health) $(code http://127.0.0.1:$dcgm/) $(code http://127.0.0.1:$dcgm/status.json) $(code http://127.0.0.1:$dcgm/events)" "200 200 404 404"
has "the page" "$(get $web/)" "<!DOCTYPE html>"
equal "charts" "$(get "$web/history.json?gpu=1&seconds=4&columns=8" | jq -c '[.schema, .gpu, .step_ns, (.values.sm_active.mean | length), .values.sm_active.mean[-2]]')" '[1,1,"500000000",8,0.86]'
equal "codes" "$(code $web/nope) $(code "$web/history.json?gpu=9") $(code "$web/history.json?columns=0") $(code "$web/events?hz=3") $(code -X POST -d x=y $web/metrics) $(code --path-as-is $web/../../etc/passwd)" \
    "404 404 400 400 405 404"
equal "a foreign name" "$(code -H 'Host: evil.example' $web/metrics) $(code -H 'Host: localhost:1' $web/metrics) $(code -H "Host: $(hostname)" $web/metrics)" "421 200 200"
get -N -m 3 "$web/events?hz=10" >"$dir/events"
equal "events begin" "$(head -1 "$dir/events")" "retry: 2000"
[ "$(grep -c '^event: status$' "$dir/events")" -ge 3 ] || fail "a status each second: $(grep -c '^event: status$' "$dir/events")"
[ "$(grep -c '^event: frame$' "$dir/events")" -ge 9 ] || fail "frames: $(grep -c '^event: frame$' "$dir/events")"
# the first that has a sample of it: they come in batches, about seven a second
equal "a frame" "$(grep -A1 '^event: frame$' "$dir/events" | grep '^data: ' | cut -c7- | jq -c '.gpus[] | select(.index == 1) | .values.sm_active // empty' | head -1)" "[0.86,0.86,0.86]"
equal "a status" "$(grep -A2 '^event: status$' "$dir/events" | grep '^data: ' | tail -1 | cut -c7- | jq .gpus[1].metrics.sm_active.value)" 0.86

# ---- no privilege ----
[ "$(id -u)" != 0 ] || equal "its user" "$(awk '/^Uid|^Gid/ { print $2, $3, $4, $5 }' /proc/$child/status | paste -sd' ')" "65534 65534 65534 65534 65534 65534 65534 65534"
equal "its capabilities" "$(awk '/^Cap(Inh|Prm|Eff|Amb)/ { print $2 }' /proc/$child/status | sort -u)" 0000000000000000
equal "no new privileges" "$(awk '/^NoNewPrivs/ { print $2 }' /proc/$child/status)" 1
equal "every thread" "$(cat /proc/$child/task/*/status | grep -cE 'CapEff:.*[1-9a-f]')" 0
grep -qE 'libcuda|libnvidia-ml|libcupti|libnvperf' "/proc/$child/maps" && fail "vendor libraries are loaded where strangers talk to"
grep -qE 'libmicrohttpd|libgnutls' "/proc/$daemon/maps" && fail "the HTTP library is loaded in the daemon"

# ---- the inference servers' key stays in the daemon, here though no server is asked ----
[ "$(ours | wc -l)" -ge 3 ] || fail "there are samplers: $(ours | wc -l) processes"
for process in $(ours); do
    [ "$process" != $daemon ] || continue
    has "its environment can be read" "$(tr '\0' '\n' <"/proc/$process/environ")" "SMEFF_RUN_DIR=$dir/run"
    equal "no key" "$(tr '\0' '\n' <"/proc/$process/environ" | grep -c '^SMEFF_TOKEN=')" 0
done

# ---- slow clients ----
"$load" slow 127.0.0.1 $port 1000 9 >"$dir/slow" &
helpers+=($!)
sleep 1
"$load" probe 127.0.0.1 $port /metrics 7 50 >"$dir/probe" || fail "the probe"
wait "${helpers[@]}"; helpers=()
equal "slow clients were held" "$(jq '.open_mean > 900' "$dir/slow")" true
# how late it comes is measured by bench/http.sh: here others use the machine, and sanitizers run
equal "meanwhile" "$(jq -c '[.failed, .ok > 20, .max_ms < 2000]' "$dir/probe")" "[0,true,true]"
equal "many requests" "$("$load" load 127.0.0.1 $port /metrics 16 2000 gzip | jq -c '[.requests, .not_200]')" "[2000,0]"
equal "50 browsers" "$("$load" events 127.0.0.1 $port 10 50 3 | jq -c '[.closed, .frames > 500, .statuses >= 100]')" "[0,true,true]"

# ---- it is killed, and hangs; so does the daemon ----
kill -9 $child
equal "whoever connects meanwhile is served" "$(code $web/healthz | tr 5 2 | tr 3 0)" 200 # 503 while it starts
until_true "well again" 10 is_code 200 $web/healthz
[ "$(child_of $daemon)" != "$child" ] || fail "it is the same process"
child=$(child_of $daemon)
has "its death is said" "$(cat "$dir/log")" "http: killed by signal 9 (Killed); starting it again"
equal "charts reach back beyond its start" "$(get "$web/history.json?seconds=600&columns=300" | jq '[.values.sm_active.mean[] | select(. != null)] | length > 5')" true
kill -STOP $child
(sleep 30; kill -CONT $child 2>/dev/null) & helpers+=($!)
until_true "one that hangs is killed" 20 bash -c "[ \"\$(pgrep -P $daemon -f '^smeff http ')\" != $child ]"
kill "${helpers[@]}" 2>/dev/null; helpers=()
until_true "well again" 10 is_code 200 $web/healthz
child=$(child_of $daemon)
kill -STOP $daemon
until_true "a daemon that hangs is not well" 15 is_code 503 $web/healthz
has "why" "$(get $web/healthz)" "the daemon has said nothing for"
equal "up" "$(get $web/metrics | grep '^smeff_up')" "smeff_up 0"
equal "no number of a GPU" "$(get $web/metrics | grep -c '^smeff_sm_active_ratio')" 0
equal "DCGM's door" "$(code http://127.0.0.1:$dcgm/metrics)" 503
kill -CONT $daemon
until_true "well again" 10 is_code 200 $web/healthz
stop
[ "$(wc -l <"$dir/log")" -le 4 ] || fail "too many words: $(cat "$dir/log")"

# ---- a daemon that is killed leaves nobody ----
start $listen
kill -9 $daemon
wait $daemon 2>/dev/null
until_true "nobody is left" 5 bash -c "[ -z \"\$(find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname '$dir/smeff*' 2>/dev/null)\" ]"

# ---- TLS and passwords ----
scheme=https insecure=(--cacert "$dir/cert")
start $listen --dcgm-compat legacy --dcgm-listen 127.0.0.1:$dcgm --tls-cert "$dir/cert" --tls-key "$dir/key" --web-users "$dir/users" --web-token "$dir/token"
tls=https://localhost:$port
equal "passwords" "$(code "${insecure[@]}" $tls/metrics) $(code "${insecure[@]}" -u ann:secret $tls/metrics) $(code "${insecure[@]}" -u ann:Secret $tls/) $(code "${insecure[@]}" -u zoe:secret $tls/) $(code "${insecure[@]}" -H 'Authorization: Bearer tok-123' $tls/status.json) $(code "${insecure[@]}" -H 'Authorization: Bearer tok-12' $tls/status.json)" \
    "401 200 401 401 200 401"
equal "passwords of DCGM's door" "$(code "${insecure[@]}" https://localhost:$dcgm/metrics) $(code "${insecure[@]}" -u ann:secret https://localhost:$dcgm/metrics) $(code "${insecure[@]}" https://localhost:$dcgm/health)" "401 200 200"
equal "plain HTTP" "$(code http://127.0.0.1:$port/healthz)" 000
equal "TLS 1.1" "$(code "${insecure[@]}" --tls-max 1.1 $tls/healthz)" 000
equal "TLS 1.2" "$(code "${insecure[@]}" --tls-max 1.2 $tls/healthz)" 200
get "${insecure[@]}" -N -m 3 -u ann:secret "$tls/events?hz=5" >"$dir/events"
[ "$(grep -c '^event: frame$' "$dir/events")" -ge 5 ] || fail "frames over TLS: $(grep -c '^event: frame$' "$dir/events")"
tr '\0' ' ' <"/proc/$(child_of $daemon)/cmdline" | grep -q tok-123 && fail "the token is in the command line"
"$load" slow 127.0.0.1 $port 300 3 >"$dir/slow" & helpers+=($!) # plain text where TLS is spoken
sleep 0.5
equal "meanwhile" "$(code "${insecure[@]}" $tls/healthz)" 200
wait "${helpers[@]}"; helpers=()
stop

# ---- a start that takes long, as one with many users may, is waited for; also after a death ----
scheme=http insecure=()
cp "$dir/users" "$dir/users2"
start $listen --web-users "$dir/users2"
rm "$dir/users2" && mkfifo "$dir/users2" # whoever opens it waits
kill -9 $child
until_true "it comes again" 5 bash -c "c=\$(pgrep -P $daemon -f '^smeff http ') && [ \$c != $child ]"
child=$(child_of $daemon)
sleep 12
equal "it is waited for" "$(child_of $daemon)" "$child"
timeout 5 sh -c "cat '$dir/users' >'$dir/users2'"
until_true "well after a long start" 10 is_code 200 $web/healthz
equal "passwords after a long start" "$(code $web/metrics) $(code -u ann:secret $web/metrics)" "401 200"
stop

# ---- root that may give up a part of itself alone ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    for bounds in -setgid -setgid,-setuid; do
        setpriv --bounding-set $bounds "$dir/smeff" daemon run $listen 2>"$dir/log" &
        daemon=$!
        until_true "root with $bounds" 20 is_code 200 $web/healthz
        child=$(child_of $daemon)
        [ $bounds != -setgid ] && user=0 said=1 || user=65534 said=0
        equal "$bounds: its user" "$(awk '/^Uid/ { print $2, $3, $4, $5 }' /proc/$child/status)" "$user $user $user $user"
        equal "$bounds: its capabilities" "$(awk '/^Cap(Inh|Prm|Eff|Amb)/ { print $2 }' /proc/$child/status | sort -u)" 0000000000000000
        equal "$bounds: what is said of it" "$(grep -c 'stays root without a capability' "$dir/log")" $said
        stop
    done
fi

# ---- another user, with the daemon's capability ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    scheme=http insecure=()
    chmod 755 "$dir" && mkdir -p "$dir/theirs" && chown 65533:65533 "$dir/theirs" && chmod 644 "$dir/script"
    setpriv --reuid=65533 --regid=65533 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon \
        "$dir/smeff" daemon run $listen --run-dir "$dir/theirs/run" 2>"$dir/log" &
    daemon=$!
    until_true "of a user" 20 is_code 200 $web/healthz
    child=$(child_of $daemon)
    equal "the daemon has it" "$(awk '/^CapEff/ { print $2 }' /proc/$daemon/status)" 0000004000000000
    equal "its HTTP side has not" "$(awk '/^Cap(Inh|Prm|Eff|Amb)/ { print $2 }' /proc/$child/status | sort -u)" 0000000000000000
    stop
fi
exit $failed
