#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff analyze as a user meets it: $1 = smeff, $2 = source tree.
set -u
smeff=$1 root=$2 failed=0
dir=$(mktemp -d) && trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT
decode=$root/data/h200/decode.sqlite matmul=$root/data/h200/matmul.sqlite idle=$root/data/h200/idle.sqlite
unset NO_COLOR SMEFF_JSON SMEFF_CSV SMEFF_ALL COLUMNS
for tool in sqlite3 jq; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected

# Numbers are those of the file: every mean against the sqlite3 shell's own average.
json=$("$smeff" analyze "$decode" --json) || fail "exit code of analyze --json"
while IFS='|' read -r counter mean; do
    got=$(jq --arg c "$counter" '[.gpus[0].metrics[]|select(.counter==$c)|if .unit=="ratio" then .value*100 else .value end][0]' <<<"$json")
    [ "$got" = null ] || awk -v a="$got" -v b="$mean" 'BEGIN{exit !(a-b<1e-6*(b+1) && b-a<1e-6*(b+1))}' || fail "$counter: $got, sqlite3 says $mean"
done < <(sqlite3 "$decode" "SELECT metricName, avg(value) FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING(typeId,metricId) GROUP BY 1")
equal "metrics with a number" "$(jq '[.gpus[0].metrics[]|select(.value!=null)]|length' <<<"$json")" 11
equal "metrics without a number or reason" "$(jq '[.gpus[0].metrics[]|select(.value==null and ((.reason//"")==""))]|length' <<<"$json")" 0
equal schema "$(jq .schema <<<"$json")" 1
equal "sm_throughput" "$(jq -c '.gpus[0].metrics.sm_throughput|[.value,.state]' <<<"$json")" '[null,"unsupported"]'
equal verdicts "$("$smeff" analyze "$decode" "$matmul" "$idle" --json | jq -r '.gpus[0].verdict.kind' | paste -sd' ')" "memory_bound compute_bound idle"

# CSV: one row a sample, values of the rows.
equal "CSV rows" "$("$smeff" analyze --csv "$decode" "$idle" | wc -l)" $((65 + 81 + 1))
column=$("$smeff" analyze --csv "$decode" | head -1 | tr ',' '\n' | grep -nx sm_active | cut -d: -f1)
equal "CSV column" "$("$smeff" analyze --csv "$decode" | tail -n +2 | cut -d, -f"$column" | awk '{printf "%d\n", $1*100+.5}' | md5sum)" \
    "$(sqlite3 "$decode" 'SELECT value FROM GPU_METRICS WHERE metricId=3 ORDER BY timestamp' | md5sum)"
cp "$decode" "$dir/disorder.sqlite"; chmod u+w "$dir/disorder.sqlite"
sqlite3 "$dir/disorder.sqlite" "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY timestamp DESC; DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t"
equal "CSV of a file that is out of order" "$("$smeff" analyze --csv "$dir/disorder.sqlite" | cut -d, -f5- | md5sum)" "$("$smeff" analyze --csv "$decode" | cut -d, -f5- | md5sum)"

# Text: colours only for a terminal, and not with NO_COLOR.
"$smeff" analyze "$decode" | grep -q $'\033' && fail "colours in a pipe"
if command -v script >/dev/null; then
    TERM=xterm script -qec "'$smeff' analyze '$decode'" /dev/null </dev/null | grep -q $'\033\[1m' || fail "no colours on a terminal"
    TERM=xterm NO_COLOR=1 script -qec "'$smeff' analyze '$decode'" /dev/null </dev/null | grep -q $'\033' && fail "colours in spite of NO_COLOR"
fi
LC_ALL=C "$smeff" analyze "$decode" | LC_ALL=C grep -q '[^ -~]' && fail "more than ASCII in the C locale"

# Bad input: one line on stderr that names file and cause, nothing on stdout, exit 7.
bad() { # cause, file
    local out
    out=$(timeout 20 "$smeff" analyze "$2" 2>"$dir/err"); local code=$?
    [ $code = 7 ] || fail "$2: exit $code"
    [ -z "$out" ] || fail "$2: prints '$out'"
    [ "$(wc -l <"$dir/err")" = 1 ] || fail "$2: $(wc -l <"$dir/err") lines on stderr"
    grep -qF "$2" "$dir/err" && grep -q "$1" "$dir/err" || fail "$2: stderr is '$(cat "$dir/err")', expected '$1'"
}
: >"$dir/empty"; echo hello >"$dir/text"; mkdir "$dir/folder"; mkfifo "$dir/pipe"; gzip <"$decode" >"$dir/zip"
head -c 100000 "$decode" >"$dir/cut"; head -c 50 "$decode" >"$dir/stump"
sqlite3 "$dir/other" "CREATE TABLE t(a); INSERT INTO t VALUES(1)"
bad "empty file" "$dir/empty"; bad "neither a recording of smeff nor an SQLite export" "$dir/text"; bad "is a directory" "$dir/folder"
bad "not a regular file" "$dir/pipe"; bad "gzip" "$dir/zip"; bad "truncated" "$dir/cut"; bad "truncated" "$dir/stump"
bad "no nsys export" "$dir/other"; bad "No such file" "$dir/nothing"
(head -c 8192 "$decode"; head -c 188416 /dev/zero | tr '\0' '\377') >"$dir/noise"; bad "damaged" "$dir/noise"
change() { cp "$decode" "$dir/$1"; chmod u+w "$dir/$1"; sqlite3 "$dir/$1" "$2" "${@:3}" >/dev/null; } # name, SQL…
change computed "CREATE TABLE t AS SELECT * FROM GPU_METRICS; DROP TABLE GPU_METRICS; CREATE TABLE GPU_METRICS(rawTimestamp,timestamp,
    typeId,metricId,v,value AS (length(hex(zeroblob(8000000))))); INSERT INTO GPU_METRICS(timestamp,typeId,metricId,v) SELECT timestamp,
    typeId,metricId,value FROM t"; bad "not an ordinary table" "$dir/computed"
change nothing-captured "DROP TABLE GPU_METRICS; CREATE TABLE GENERIC_EVENTS(typeId,data); INSERT INTO GENERIC_EVENTS VALUES(1,'{}')"
bad "no GPU metrics in this export" "$dir/nothing-captured"
change old "DROP TABLE GPU_METRICS; CREATE TABLE GENERIC_EVENTS(typeId,data); INSERT INTO GENERIC_EVENTS VALUES(1,'{\"SM Active\":\"7\"}')"
bad "too old" "$dir/old"
# A program died while it wrote: nothing is read, and nothing written beside it.
change busy "PRAGMA journal_mode=WAL; CREATE TABLE t(a)" ".shell cp '$dir/busy' '$dir/left'; cp '$dir/busy-wal' '$dir/left-wal'"
bad "unfinished write .*open it once with sqlite3" "$dir/left"; equal "files beside it" "$(cd "$dir" && echo left*)" "left left-wal"
rm "$dir/left-wal"; equal "exit code in WAL mode" "$("$smeff" analyze "$dir/left" >/dev/null 2>&1; echo $?)" 0
equal "files beside it" "$(cd "$dir" && echo left*)" left
# However long the path is, the cause is told whole.
long=$dir; for _ in {1..60}; do long+=/./././.; done; cp "$dir/text" "$dir/a-long-way"
"$smeff" analyze "$long/a-long-way" 2>"$dir/err"; equal "long path" $? 7
grep -q 'a-long-way: neither a recording of smeff nor an SQLite export of nsys (.*nsys export -t sqlite FILE)$' "$dir/err" || fail "long path: $(cat "$dir/err")"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    cp "$decode" "$dir/secret"; chmod 0600 "$dir/secret"; chmod 0755 "$dir"
    setpriv --reuid 65534 --clear-groups "$smeff" analyze "$dir/secret" 2>"$dir/err"; equal "no permission" $? 7
    grep -q "secret: Permission denied" "$dir/err" || fail "no permission: $(cat "$dir/err")"
fi

# A bad file among good ones costs only itself.
out=$("$smeff" analyze --json "$dir/empty" "$decode" 2>"$dir/err"); equal "exit code with one bad file" $? 7
equal "good files beside a bad one" "$(jq -r .file <<<"$out")" "$decode"
out=$("$smeff" analyze --csv "$decode" "$dir/text" 2>"$dir/err"); equal "exit code of CSV with one bad file" $? 7
equal "CSV rows beside a bad file" "$(wc -l <<<"$out")" 66

# Warnings reach stderr and the JSON.
cp "$decode" "$dir/warn"; chmod u+w "$dir/warn"; sqlite3 "$dir/warn" "DROP TABLE TARGET_INFO_GPU_METRICS"
out=$("$smeff" analyze --json "$dir/warn" 2>"$dir/err"); equal "exit code with a warning" $? 0
grep -q "warning: the file has no metric names; ids are used" "$dir/err" || fail "no warning on stderr"
equal "warning in the JSON" "$(jq -r '.notes[0].level' <<<"$out")" warning

# Output that cannot be written is a failure, said once.
if [ -w /dev/full ]; then
    "$smeff" analyze "$decode" >/dev/full 2>"$dir/err"; equal "full disk" $? 1
    grep -q "No space left" "$dir/err" || fail "full disk: $(cat "$dir/err")"
fi
exit $failed
