#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff export: CSV, tracks for trace viewers, laid over another trace, and the report. $1 = smeff, $2 = source tree, $3 = the fake libraries.
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq gzip; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset NO_COLOR COLUMNS LD_LIBRARY_PATH ${!SMEFF_@}
export LC_ALL=C.UTF-8 SMEFF_SERVER=none SMEFF_STATE=$dir/state SMEFF_RUN_DIR=$dir/run FAKE_GPU=$dir/script
decode=$root/data/h200/live/decode.jsonl.gz bursty=$root/data/h200/live/bursty.jsonl.gz sqlite=$root/data/h200/decode.sqlite
fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; }
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:2500}'" ;; esac; }
run() { # what expected-code command...
    local what=$1 code=$2
    shift 2
    out=$(timeout 60 "$smeff" "$@" 2>"$dir/err")
    equal "$what: exit code" $? "$code"
    err=$(cat "$dir/err")
}

# ---- CSV is that of analyze ----
run "csv" 0 export "$decode" --csv
equal "csv" "$(md5sum <<<"$out")" "$("$smeff" analyze --csv "$decode" | md5sum)"
run "csv of nsys" 0 export --csv "$sqlite"
equal "csv of nsys" "$(wc -l <<<"$out")" 66

# ---- tracks ----
"$smeff" export "$bursty" --perfetto >"$dir/tracks.json" || fail "tracks: exit code $?"
jq -e . "$dir/tracks.json" >/dev/null || fail "tracks: no JSON"
base=$(head -1 "$dir/tracks.json" | sed 's/.*"baseTimeNanoseconds":\([0-9]*\).*/\1/')
# Each change of a counter is an event at the time at which its sample began. In a CSV: t0_ns, value; a value that stays is not repeated.
column() { "$smeff" analyze --csv "$1" | sed -n 1p | tr ',' '\n' | grep -nx "$2" | cut -d: -f1; }
begin=$(column "$bursty" start_ns) active=$(column "$bursty" gr_active) source=$(column "$bursty" source)
"$smeff" analyze --csv "$bursty" | tail -n +2 | awk -F, -v t="$begin" -v v="$active" -v s="$source" -v base="$base" \
    '$s == "pm" && $v != "" && $v != last {printf "%d %.4f\n", ($t - base) / 1000, 100 * $v; last = $v}' >"$dir/wanted"
jq -r '.traceEvents[] | select(.ph == "C" and .name == "GR active (%)") | "\(.ts | floor) \(.args.value)"' "$dir/tracks.json" |
    awk '{printf "%d %.4f\n", $1, $2}' | sed '$d' >"$dir/got" # the last one only ends the track
[ "$(wc -l <"$dir/wanted")" -gt 400 ] || fail "tracks: only $(wc -l <"$dir/wanted") values expected"
# awk's numbers are no 64-bit integers: a microsecond either way
paste -d' ' "$dir/got" "$dir/wanted" | awk '{d = $1 - $3; v = $2 - $4; if (NF != 4 || d < -1 || d > 1 || v < -0.001 || v > 0.001) bad++} END {exit bad > 0}' ||
    fail "tracks: not the samples: $(diff "$dir/got" "$dir/wanted" | head -4)"
equal "tracks: one process" "$(jq -c '[.traceEvents[] | select(.name == "process_name") | .args.name]' "$dir/tracks.json")" '["GPU 0 NVIDIA H200 (smeff)"]'
equal "tracks: all are of it" "$(jq -c '[.traceEvents[].pid] | unique' "$dir/tracks.json")" '[900000000]'
run "tracks of nsys" 0 export --perfetto "$sqlite"
equal "tracks of nsys" "$(jq '[.traceEvents[] | select(.ph == "C") | .name] | unique | length > 5' <<<"$out")" true
# a doubtful number never stands there bare
has "a suspect track" "$out" '"Occupancy (%) [suspect]"'
zcat "$decode" | sed 's/"NVIDIA H200"/"A\\u202e\\u009bX"/' >"$dir/turned.jsonl"
run "a name that turns, as tracks" 0 export --perfetto "$dir/turned.jsonl"
grep -q $'\u202e' <<<"$out" && fail "a name that turns, as tracks"
# a recording with a hole in the middle
zcat "$bursty" | awk '!(/"samples"/ && /"pm"/ && ++n > 20 && n < 40)' >"$dir/hole.jsonl"
run "a hole" 0 export --perfetto "$dir/hole.jsonl"
equal "a hole" "$(jq -c '[.traceEvents[] | select(.ph == "X") | .name] | unique' <<<"$out")" '["not measured"]'
equal "a hole: once" "$(jq '[.traceEvents[] | select(.ph == "X" and .dur > 200000)] | length' <<<"$out")" 1

# one of nsys, whose period only its samples tell
if command -v sqlite3 >/dev/null; then
    cp "$sqlite" "$dir/hole.sqlite"
    sqlite3 "$dir/hole.sqlite" "DELETE FROM GPU_METRICS WHERE timestamp > (SELECT min(timestamp) + 0.3 * (max(timestamp) - min(timestamp)) FROM GPU_METRICS) AND timestamp < (SELECT min(timestamp) + 0.7 * (max(timestamp) - min(timestamp)) FROM GPU_METRICS)"
    run "a hole of nsys" 0 export --perfetto "$dir/hole.sqlite"
    equal "a hole of nsys" "$(jq '[.traceEvents[] | select(.ph == "X" and .name == "not measured" and .dur > 300000)] | length' <<<"$out")" 1
    end=$(jq '[.traceEvents[] | select(.ph == "C") | .ts] | max' <<<"$out")
    [ "$(jq --argjson last "$end" '[.traceEvents[] | select(.ph == "C" and .ts == $last)] | length' <<<"$out")" -gt 5 ] || fail "a hole of nsys: the tracks do not end together"
fi
# a metric that goes away while others go on; a value that is no number of JSON when scaled
made() { printf '%s\n' '{"event":"hello","schema":1,"tool":"x","host":""}' '{"event":"gpu","gpu":0,"name":"N","uuid":"U","chip":"","pci_bus":""}' \
    '{"event":"plan","gpu":0,"source":"pm","rate_hz":50,"series":[{"metric":"sm_active","unit":"ratio","state":"ok"},{"metric":"dram_read","unit":"ratio","state":"ok"}]}' "$@" '{"event":"end","status":"OK","reason":""}'; }
batch() { # first-ms values-of-sm-active
    local t0='' t1='' sm='' dram='' at=$1 v
    shift
    for v; do t0+=,$((1800000000000000000 + at * 1000000)) t1+=,$((1800000000000000000 + (at + 20) * 1000000)) sm+=,$v dram+=,0.5; at=$((at + 20)); done
    printf '{"event":"samples","gpu":0,"source":"pm","t0_ns":[%s],"t1_ns":[%s],"values":{"sm_active":[%s],"dram_read":[%s]}}\n' "${t0:1}" "${t1:1}" "${sm:1}" "${dram:1}"
}
made "$(batch 1000 0.9 null null null null null 0.8)" "$(batch 1140 1e308 $(printf 'null %.0s' $(seq 60)))" >"$dir/lost.jsonl"
run "a metric that goes away" 0 export --perfetto "$dir/lost.jsonl"
equal "a metric that goes away" "$(jq -c '[.traceEvents[] | select(.ph == "X") | .dur]' <<<"$out")" '[100000,1220000]'
equal "a metric that goes away" "$(jq -c '[.traceEvents[] | select(.name == "thread_name") | .args.name]' <<<"$out")" '["gaps of SM active (%)"]'
grep -qiE '\b(inf|nan)\b' <<<"$out" && fail "a value that is too large: no JSON"
run "a value that is too large, as a page" 0 export --report "$dir/lost.jsonl"
grep -oE '<path [^>]*>' <<<"$out" | grep -qiE 'inf|nan' && fail "a value that is too large, as a page"
# GPUs beyond the first 64
made '{"event":"gpu","gpu":70,"name":"N","uuid":"V","chip":"","pci_bus":""}' >"$dir/many.jsonl"
run "GPU 70" 0 export --perfetto "$dir/many.jsonl"
has "GPU 70" "$err" "left out"

# ---- over another trace ----
theirs='{"ph":"X","pid":7,"tid":7,"name":"aten::mm \"[traceEvents\":[","ts":1000000.5,"dur":5}'
other() { printf '%s' "$2" >"$dir/$1"; }
other first.json "{\"schemaVersion\":1,\"baseTimeNanoseconds\":$base,\"deviceProperties\":[{\"traceEvents\":[1]}],\"traceEvents\":[$theirs,$theirs],\"traceName\":\"x\"}"
other last.json "{\"traceEvents\": [
 $theirs ], \"baseTimeNanoseconds\": $base
}"
other empty.json "{\"baseTimeNanoseconds\":$base,\"traceEvents\":[ ]}"
other list.json "[$theirs,$theirs]"
other unix.json "{\"traceEvents\":[$theirs]}"
gzip -k "$dir/first.json"
mine=$(jq '.traceEvents | length' "$dir/tracks.json")
for case in first.json:2 last.json:1 empty.json:0 first.json.gz:2; do
    run "over ${case%:*}" 0 export "$bursty" --perfetto --over "$dir/${case%:*}"
    equal "over ${case%:*}: all events" "$(jq '.traceEvents | length' <<<"$out")" $((mine + ${case#*:}))
    equal "over ${case%:*}: theirs" "$(jq -c '[.traceEvents[] | select(.pid == 7) | .ts] | unique' <<<"$out")" "$([ "${case#*:}" = 0 ] && echo '[]' || echo '[1000000.5]')"
    equal "over ${case%:*}: same base, same times" "$(jq -c '[.traceEvents[] | select(.ph == "C") | .ts] | max' <<<"$out")" "$(jq -c '[.traceEvents[] | select(.ph == "C") | .ts] | max' "$dir/tracks.json")"
done
run "over a list" 0 export "$bursty" --perfetto --over "$dir/list.json"
equal "over a list" "$(jq length <<<"$out")" $((mine + 2))
run "over UNIX times" 0 export "$bursty" --perfetto --over "$dir/unix.json"
equal "over UNIX times" "$(jq "[.traceEvents[] | select(.ph == \"C\") | .ts] | min / 1e6 | . > $((base / 1000000000)) and . < $((base / 1000000000 + 120))" <<<"$out")" true
head -c 150 "$dir/first.json" >"$dir/cut.json"
head -c 60 "$dir/first.json.gz" >"$dir/cut.json.gz"
other none.json '{"events":[]}'
other text.json 'hello'
other twice.json "{\"traceEvents\":[]}}"
other huge.json '{"baseTimeNanoseconds":99999999999999999999999,"traceEvents":[]}'
: >"$dir/nothing.json"
for value in 1.8e18 -5 '"1800"' '12 34' null '[1]' '1,"baseTimeNanoseconds":2'; do
    other base.json "{\"baseTimeNanoseconds\":$value,\"traceEvents\":[$theirs]}"
    run "a base of $value" 7 export "$bursty" --perfetto --over "$dir/base.json"
    equal "a base of $value: nothing printed" "$out" ""
done
other twolists.json "{\"traceEvents\":[$theirs],\"traceEvents\":[$theirs]}"
other brackets.json "{\"traceEvents\":[$theirs}]}"
head -c -9 "$dir/first.json.gz" >"$dir/short.json.gz"
for bad in twolists.json brackets.json short.json.gz; do
    run "over $bad" 7 export "$bursty" --perfetto --over "$dir/$bad"
    equal "over $bad: nothing printed" "$out" ""
done
other base.json "{\"baseTimeNanoseconds\" : $base , \"traceEvents\" : [ $theirs ] }"
run "a base with blanks" 0 export "$bursty" --perfetto --over "$dir/base.json"
equal "a base with blanks" "$(jq -c '[.traceEvents[] | select(.ph == "C") | .ts] | max' <<<"$out")" "$(jq -c '[.traceEvents[] | select(.ph == "C") | .ts] | max' "$dir/tracks.json")"
run "over a pipe" 7 export "$bursty" --perfetto --over <(cat "$dir/first.json")
"$smeff" export "$bursty" --perfetto --over "$dir/first.json" >/dev/full 2>"$dir/err"
equal "over a trace, and a full disk" $? 1
if command -v sqlite3 >/dev/null; then
    cp "$sqlite" "$dir/timeless.sqlite"
    sqlite3 "$dir/timeless.sqlite" "DROP TABLE TARGET_INFO_SESSION_START_TIME"
    run "over a trace, and no time" 7 export --perfetto --over "$dir/first.json" "$dir/timeless.sqlite"
    has "over a trace, and no time" "$err" "not known when"
fi
for bad in cut.json cut.json.gz none.json text.json twice.json huge.json nothing.json missing.json; do
    run "over $bad" 7 export "$bursty" --perfetto --over "$dir/$bad"
    has "over $bad" "$err" "$bad"
    equal "over $bad: nothing printed" "$out" ""
done

# ---- the report ----
"$smeff" export "$decode" --report >"$dir/report.html" || fail "report: exit code $?"
report=$(cat "$dir/report.html")
for text in 'memory_bound' 'GPU-Util' 'NVIDIA H200' 'aria-label="SM active over time"' '<path class="band"' 'no number' '80.6 %' 'Coverage'; do
    has "report" "$report" "$text"
done
equal "report: the JSON in it" "$(sed -n 's/.*id="data">\(.*\)$/\1/p' "$dir/report.html" | jq -cS '.gpus[0].metrics')" "$("$smeff" analyze --json "$decode" | jq -cS '.gpus[0].metrics')"
grep -qiE '(src|href|url\()|<script( |>)[^t]|@import|https?:' <(sed '/Content-Security-Policy/d; s/<script type="application\/json".*//' "$dir/report.html") && fail "report: it asks for something, or runs something"
[ "$(stat -c %s "$dir/report.html")" -lt 2000000 ] || fail "report: too large"
# text of others
zcat "$decode" | sed 's/"NVIDIA H200"/"<script>alert(1)<\/script>\\u202eX"/' >"$dir/hostile.jsonl"
run "a hostile name" 0 export --report "$dir/hostile.jsonl"
case $out in *'<script>alert'*) fail "a hostile name: not escaped" ;; esac
has "a hostile name" "$out" '&lt;script&gt;alert(1)&lt;/script&gt;'
grep -q $'\u202e' <<<"$out" && fail "a hostile name: it turns the text around"
"$smeff" analyze "$dir/hostile.jsonl" | grep -q $'\u202e' && fail "analyze: a name turns the text around"
run "report of nsys" 0 export --report "$sqlite"
has "report of nsys" "$out" '<path class="band"'

# ---- the report of a measurement ----
if [ -d "$fakes/nvml" ]; then
    : >"$dir/script"
    LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti timeout 60 "$smeff" measure 1 --own --out "$dir/evidence" >/dev/null 2>"$dir/err" || fail "measure: $(cat "$dir/err")"
    has "report of measure" "$(cat "$dir/evidence/report.html")" '<path class="band"'
fi

# ---- a recording ends whole, though its end is asked for twice at once ----
"$smeff" record "$dir/twice.jsonl" --replay "$decode" --loop 2>/dev/null &
pid=$!
for _ in $(seq 100); do grep -qs samples "$dir/twice.jsonl" && break; sleep 0.1; done
kill -TERM $pid; kill -INT $pid; kill -TERM $pid
wait $pid
equal "asked twice to end" "$(tail -1 "$dir/twice.jsonl" | jq -c '[.event,.status]')" '["end","OK"]'
timeout 3 "$smeff" record "$dir/timeout.jsonl" --replay "$decode" --loop 2>/dev/null
equal "ended by timeout" "$(tail -1 "$dir/timeout.jsonl" | jq -c '[.event,.status]')" '["end","OK"]'

# ---- the servers' key is no sampler's business ----
if [ -d "$fakes/nvml" ]; then
    LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_TOKEN=sesame "$smeff" stream --own >"$dir/stream" 2>/dev/null &
    pid=$!
    for _ in $(seq 100); do grep -q samples "$dir/stream" && break; sleep 0.1; done
    children=0
    for process in /proc/[0-9]*; do
        [ "$(awk '{print $4}' "$process/stat" 2>/dev/null)" = $pid ] || continue
        children=$((children + 1))
        tr '\0' '\n' <"$process/environ" | grep -q '^SMEFF_TOKEN=' && fail "a sampler has the servers' key"
    done
    [ $children -gt 0 ] || fail "the servers' key: no sampler was looked at"
    kill $pid
    wait $pid
fi

# ---- bad input ----
run "no form" 2 export "$decode"
run "two forms" 2 export --csv --report "$decode"
run "no file" 2 export --csv
run "two files" 2 export --csv "$decode" "$decode"
run "--over without tracks" 2 export --report --over "$dir/first.json" "$decode"
for form in csv perfetto report; do
    run "no such file as $form" 7 export "--$form" "$dir/missing"
    has "no such file as $form" "$err" "missing"
    run "a bad file as $form" 7 export "--$form" "$root/README.md"
    for bytes in 300 5000 20000; do
        head -c "$bytes" "$decode" >"$dir/part.jsonl.gz"
        timeout 60 "$smeff" export "--$form" "$dir/part.jsonl.gz" >"$dir/out" 2>"$dir/err"
        code=$?
        { [ $code = 0 ] && grep -q "cut off" "$dir/err"; } || [ $code = 7 ] || fail "cut at $bytes as $form: $code $(cat "$dir/err")"
    done
    "$smeff" export "--$form" "$decode" >/dev/full 2>"$dir/err"
    equal "a full disk as $form" $? 1
done
exit $failed
