#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Help, version and usage errors: $1 = smeff.
set -u
smeff=$1 failed=0
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
exit $failed
