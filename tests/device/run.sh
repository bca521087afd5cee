#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The checks that need a real NVIDIA GPU and PyTorch (for the loads). Takes smeff from bundle/ (scripts/bundle.sh) or builds it,
# and writes a dated folder of raw results, fit for docs/measurements/.
#   tests/device/run.sh [OUTPUT_FOLDER] [CHECK...]
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../..")
out=${1:-$root/out}
shift || true
smeff=${SMEFF:-$root/bundle/smeff}
[ -x "$smeff" ] || { "$root/scripts/bundle.sh" "$root/bundle"; smeff=$root/bundle/smeff; }
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || { echo "skipped: no NVIDIA GPU here"; exit 77; }
mkdir -p "$out"
{
    echo "date        $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "smeff       $("$smeff" --version), $(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo '?')"
    echo "gpu         $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | paste -sd';')"
    echo "permission  $(grep RmProfilingAdminOnly /proc/driver/nvidia/params 2>/dev/null || echo 'params not visible')"
    echo "system      $(uname -srm), $(nproc) cores, $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
    echo "pytorch     $(python3 -c 'import torch; print(torch.__version__)' 2>/dev/null || echo none)"
    echo "command     tests/device/run.sh $*"
} | tee "$out/environment.txt"
cd "$here"
python3 run.py "$smeff" "$out" "$@" 2>&1 | tee "$out/output.txt"
exit "${PIPESTATUS[0]}"
