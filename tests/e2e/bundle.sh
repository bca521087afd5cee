#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The release bundle (its own build, with link-time optimisation): $2 = source tree.
set -u
root=$2 failed=0
for tool in cmake objcopy ldd tar; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; failed=1; }
SMEFF_BUILD=$dir/build "$root/scripts/bundle.sh" "$dir/bundle" >"$dir/log" 2>&1 || { tail -20 "$dir/log"; fail "bundle.sh"; exit 1; }

# as a user has it: unpacked elsewhere, without the build
mkdir "$dir/there" && tar -C "$dir/there" -xzf "$dir/bundle.tar.gz" && rm -rf "$dir/bundle" "$dir/build" || fail "the tarball"
smeff=$dir/there/bundle/smeff
"$smeff" --version | grep -qE '^smeff [0-9]+\.[0-9]+\.[0-9]+$' || fail "--version"
"$smeff" analyze "$dir/there/bundle/data/h200/decode.sqlite" | grep -q memory_bound || fail "analyze"
linked=$(ldd "$smeff" | awk '$2 == "=>" && $3 !~ /^\/(usr\/)?lib/ { print $3 }')
case $linked in *"$dir/there/bundle/lib/"*) ;; *) fail "its libraries are not those beside it: $linked" ;; esac
grep -c 'target sm_75' "$smeff" | grep -qx 0 && fail "the kernels of the loads are not in it"
exit $failed
