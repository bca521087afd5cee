#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Help, version, usage errors, and where output goes: $1 = smeff, $2 = source tree.
set -u
smeff=$1 root=$2 failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
decode=$root/data/h200/decode.sqlite
unset NO_COLOR SMEFF_JSON SMEFF_CSV SMEFF_ALL
fail() { echo "FAILED: $*"; failed=1; }
code() { # expected code, arguments…
    local expected=$1; shift
    "$smeff" "$@" >/dev/null 2>&1; local got=$?
    [ $got = "$expected" ] || fail "smeff $*: exit $got, expected $expected"
}
code 0; code 0 --help; code 0 help; code 0 --version; code 0 metrics; code 0 metrics --json
code 2 nonsense; code 2 analyze; code 2 analyze --nonsense x; code 2 analyze --json --csv x; code 2 metrics no_such_key
code 2 metrics --csv
"$smeff" --version | grep -qE '^smeff [0-9]+\.[0-9]+\.[0-9]+$' || fail "version"
for command in $("$smeff" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -v '^smeff$'); do
    "$smeff" "$command" --help | grep -q "^example:" || fail "$command --help has no example"
    [ "$("$smeff" "$command" --help)" = "$("$smeff" help "$command")" ] || fail "help $command differs from $command --help"
done
"$smeff" analyze 2>&1 >/dev/null | grep -q "analyze --help" || fail "a usage error names the help"
SMEFF_JSON=1 "$smeff" metrics sm_active | grep -q '^{"key":"sm_active"' || fail "SMEFF_JSON"
SMEFF_JSON=0 "$smeff" metrics sm_active | grep -q '^sm_active (ratio)' || fail "SMEFF_JSON=0"
# The command line wins over the environment.
SMEFF_JSON=1 "$smeff" analyze --csv "$decode" | sed -n 1p | grep -q '^file,gpu,uuid' || fail "--csv with SMEFF_JSON"
SMEFF_CSV=1 "$smeff" analyze --json "$decode" | cut -c1-11 | grep -qx '{"schema":1' || fail "--json with SMEFF_CSV"
SMEFF_JSON=1 SMEFF_CSV=1 code 2 analyze "$decode"
SMEFF_JSON=1 SMEFF_CSV=1 code 0 analyze --csv "$decode"

# Only ASCII where the locale has no more.
for arguments in --help "analyze --help" metrics "metrics sm_throughput"; do
    # shellcheck disable=SC2086
    LC_ALL=C "$smeff" $arguments | LC_ALL=C grep -q '[^ -~]' && fail "smeff $arguments: more than ASCII in the C locale"
done

# Output that cannot be written is a failure, said once, and outweighs a bad file.
: >"$dir/empty"
if [ -w /dev/full ]; then
    for arguments in --help --version "analyze --help" metrics "analyze $dir/empty $decode" "analyze --csv $dir/empty $decode"; do
        # shellcheck disable=SC2086
        "$smeff" $arguments >/dev/full 2>"$dir/err"; got=$?
        [ $got = 1 ] || fail "smeff $arguments >/dev/full: exit $got"
        [ "$(grep -c "No space left" "$dir/err")" = 1 ] || fail "smeff $arguments >/dev/full: $(cat "$dir/err")"
    done
fi

# CSV holds one file open at a time, and without a usable file it prints nothing.
files=(); for _ in {1..60}; do files+=("$decode"); done
rows=$(ulimit -n 20; "$smeff" analyze --csv "${files[@]}" 2>"$dir/err" | wc -l)
[ "$rows" = $((60 * 65 + 1)) ] || fail "CSV of 60 files with 20 descriptors: $rows lines; $(head -1 "$dir/err")"
out=$("$smeff" analyze --csv "$dir/empty" "$dir/nothing" 2>/dev/null); got=$?
[ "$got:$out" = 7: ] || fail "CSV of bad files: exit $got, prints '$out'"

if command -v sqlite3 >/dev/null; then
    # A warning is said once.
    cp "$decode" "$dir/warn"; chmod u+w "$dir/warn"; sqlite3 "$dir/warn" "DROP TABLE TARGET_INFO_SESSION_START_TIME"
    "$smeff" analyze "$dir/warn" >"$dir/out" 2>"$dir/err"
    [ "$(cat "$dir/out" "$dir/err" | grep -c "no session start time")" = 1 ] || fail "a warning is not said once"
    grep -q "no session start time" "$dir/err" || fail "a warning is not on stderr"

    # What only reading shows of a series is said in one line; the rows before cannot know it.
    cp "$decode" "$dir/odd"; chmod u+w "$dir/odd"
    sqlite3 "$dir/odd" "UPDATE GPU_METRICS SET value=-3 WHERE metricId IN (3, 5) AND timestamp<40000000"
    "$smeff" analyze --csv "$dir/odd" >"$dir/out" 2>"$dir/err"
    [ "$(wc -l <"$dir/err")" = 1 ] || fail "CSV of doubtful rows: $(cat "$dir/err")"
    for key in sm_active tensor_active; do
        grep -qF "$key is suspect: " "$dir/err" || fail "CSV of doubtful rows does not name $key: $(cat "$dir/err")"
    done
    [ "$(sed -n 2p "$dir/out" | cut -d, -f8)" = occupancy ] || fail "the column suspect: $(sed -n 2p "$dir/out")"
fi

# What gets installed.
build=$(dirname "$smeff")
if command -v cmake >/dev/null && [ -f "$build/cmake_install.cmake" ]; then
    cmake --install "$build" --prefix "$dir/usr" >"$dir/log" 2>&1 || fail "cmake --install: $(tail -3 "$dir/log")"
    for file in bin/smeff share/man/man1/smeff.1 share/man/man7/smeff-metrics.7; do
        [ -s "$dir/usr/$file" ] || fail "not installed: $file"
    done
fi
exit $failed
