#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/device/serving.py without a GPU: a loop that counts its own tokens, found by smeff, beside fake GPUs.
# $1 = smeff, $2 = source tree, $3 = the fake libraries.
set -u
root=$2 fakes=$3
command -v python3 >/dev/null || { echo "skipped: needs python3"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset NO_COLOR CUDA_VISIBLE_DEVICES ${!SMEFF_@} http_proxy https_proxy all_proxy
printf 'process = 99999999 21474836480 97 40\n' >"$dir/script"
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_STATE=$dir/state SMEFF=$1
export ASAN_OPTIONS=detect_leaks=0 # as in live.sh
timeout 200 python3 "$root/tests/device/serving.py" "$dir/out" --cpu
