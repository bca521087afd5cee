#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the .ptx from each .cu beside it, for compute capability 7.5 (and by the driver's compiler all
# later ones), in the PTX language of 2018 that drivers of 2020 understand. Needs clang 14 alone, no CUDA.
# usage: build.sh [FOLDER]      where to write; default: beside the sources
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
out=${1:-$here}
clang=${CLANG:-clang-14}
command -v "$clang" >/dev/null || clang=clang
# Another version writes the same kernel in other words, and the files here are compared.
"$clang" --version | grep -q 'clang version 14\.' || {
    echo "skipped: needs clang 14"
    exit 77
}
cd "$here"
for source in *.cu; do
    # Without a CUDA that happens to be installed, whose version would change the PTX version.
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 --cuda-path=/nonexistent -nocudainc -nocudalib \
        -std=c++17 -O3 -Wall -Wextra -S "$source" -o - \
        -Xclang -target-feature -Xclang +ptx65 >"$out/${source%.cu}.ptx.new"
    mv "$out/${source%.cu}.ptx.new" "$out/${source%.cu}.ptx"
done
