#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The loads' kernels: is the PTX that of the sources, does NVIDIA's compiler take it for every kind of
# chip, and are the loops still what they were written for? $2 = source tree.
set -u
root=$2 kernels=$2/src/load/kernels failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; failed=1; }

# ---- the PTX that is here, and the one that the script makes ----
said=$("$kernels/build.sh" "$dir" 2>&1); code=$?
if [ $code = 0 ]; then
    for source in "$kernels"/*.cu; do
        name=$(basename "$source" .cu)
        cmp "$kernels/$name.ptx" "$dir/$name.ptx" || fail "$name.ptx is not what build.sh makes of $name.cu"
    done
elif [ $code != 77 ]; then
    fail "build.sh: $said"
fi
for file in "$kernels"/*.ptx; do
    [ -f "${file%.ptx}.cu" ] || fail "$file has no source"
    name=$(basename "$file" .ptx)
    grep -q "X([A-Z]*, $name)" "$root/src/load/kernels.h" || fail "$file is not in kernels.h"
    # 6.5 is CUDA 10.2's, so drivers from 440 on (2019) take it.
    [ "$(grep -E '^\.(version|target)' "$file" | paste -sd' ')" = ".version 6.5 .target sm_75" ] || fail "$file: another PTX version or target"
done

# ---- as each chip runs it ----
ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
if ! [ -x "$ptxas" ] || ! command -v readelf >/dev/null; then
    [ $failed = 0 ] || exit 1
    [ $code != 77 ] || { echo "skipped: needs clang 14, or ptxas (of a CUDA toolkit) and readelf"; exit 77; }
    echo "not tried: ptxas (of a CUDA toolkit) or readelf is not here"
    exit 0
fi

# opcodes FILE KERNEL: the low 12 bits of each 16-byte instruction, one a line.
opcodes() {
    local at size
    read -r at size < <(readelf -SW "$1" 2>/dev/null | sed -n "s/.* \.text\.$2 *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p")
    [ -n "$size" ] || return 1
    od -An -v -tx8 -w16 -j $((16#$at)) -N $((16#$size)) "$1" | awk '{ print substr($1, 14) }'
}
# share OPCODES: how many there are, and how many of 1000 from the first to the last one. NOPs, which
# ptxas puts between HMMAs for 12.0, do not count.
share() {
    grep -v 918 | awk -v wanted="$1" 'index(wanted, $1) { n++; if (!first) first = NR; last = NR }
        END { print n + 0, n ? int(1000 * n / (last - first + 1)) : 0 }'
}
# check FILE KERNEL OPCODES NUMBER SHARE: at least so many, and at least that share.
check() {
    local n promille
    read -r n promille < <(opcodes "$1" "$2" | share "$3")
    [ "${n:-0}" -ge "$4" ] || fail "${1##*/}: $2 has ${n:-0} instructions of $3, expected $4"
    [ "${promille:-0}" -ge "$5" ] || fail "${1##*/}: the loop of $2 is only ${promille:-0} of 1000 $3"
}
ffma=223 hmma=23c load='381 981' store='386 986'
tried=0
for chip in 75 80 86 89 90 100 120; do
    for file in "$kernels"/*.ptx; do
        name=$(basename "$file" .ptx)
        "$ptxas" -arch=sm_$chip "$file" -o "$dir/$name.$chip" 2>"$dir/err" || {
            grep -qiE "is not defined for option|not supported" "$dir/err" && continue 2 # a chip that this ptxas does not know
            fail "ptxas for sm_$chip: $name.ptx: $(head -2 "$dir/err")"
        }
        grep -qi spill "$dir/err" && fail "sm_$chip: $name.ptx spills registers"
    done
    tried=$((tried + 1))
    check "$dir/fma.$chip" fma $ffma 512 980
    check "$dir/mma.$chip" mma $hmma 64 940
    check "$dir/memory.$chip" copy "$load" 8 0
    check "$dir/memory.$chip" copy "$store" 8 0
    check "$dir/memory.$chip" read "$load" 8 0
    check "$dir/gemv.$chip" gemv "$load" 12 0
done
[ $tried -ge 3 ] || fail "only $tried chips were tried"
exit $failed
