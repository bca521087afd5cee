#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The systemd unit: what systemd makes of it, and how exposed it is. $1 = smeff (the unit lies in its folder).
set -u
unit=$(dirname "$1")/smeff.service root=$2 failed=0
command -v systemd-analyze >/dev/null || { echo "skipped: needs systemd-analyze"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; failed=1; }

# The program's path must exist for verify; here it is the built one.
sed "s|^ExecStart=[^ ]*|ExecStart=$1|" "$unit" >"$dir/smeff.service"
grep -q '^ExecStart=/.*/smeff daemon run' "$unit" || fail "ExecStart: $(grep ^ExecStart= "$unit")"
said=$(systemd-analyze verify "$dir/smeff.service" 2>&1 | grep -F smeff.service | grep -v "Command .man ")
[ -z "$said" ] || fail "systemd-analyze verify: $said"
if ! systemd-analyze security --help 2>&1 | grep -q -- --offline; then
    echo "skipped: systemd-analyze is too old for --offline"
    [ $failed = 0 ] && exit 77
    exit 1
fi
systemd-analyze security --offline=true --threshold=20 "$dir/smeff.service" >"$dir/security" 2>&1 || fail "exposure above 2.0"
tail -1 "$dir/security"
mkdir "$dir/smeff.service.d"
cp "$root/deploy/systemd/older-driver.conf" "$dir/smeff.service.d/"
systemd-analyze security --offline=true --threshold=25 "$dir/smeff.service" >"$dir/security" 2>&1 || fail "exposure with older-driver.conf above 2.5"
tail -1 "$dir/security"
exit $failed
