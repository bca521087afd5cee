#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nsight Systems as a live source, on a real NVIDIA GPU: needs no PyTorch. Takes smeff from $SMEFF (else bundle/), nsys from $NSYS (else
# as smeff finds it), and writes raw results.
#   tests/device/nsys.sh [OUTPUT_FOLDER]
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../..")
out=${1:-$root/out}
smeff=${SMEFF:-$root/bundle/smeff}
[ -x "$smeff" ] || { "$root/scripts/bundle.sh" "$root/bundle"; smeff=$root/bundle/smeff; }
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || { echo "skipped: no NVIDIA GPU here"; exit 77; }
mkdir -p "$out"
{
    echo "date        $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "smeff       $("$smeff" --version), $(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo '?')"
    echo "nsys        $({ timeout 20 "${NSYS:-nsys}" --version || echo '?'; } 2>/dev/null | tail -1)"
    echo "gpu         $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | paste -sd';')"
    echo "system      $(uname -srm), $(nproc) cores, $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
    echo "command     tests/device/nsys.sh"
} | tee "$out/environment.txt"
timeout 540 python3 "$here/nsys.py" "$smeff" "$out" ${NSYS:+"$NSYS"} 2>&1 | tee "$out/output.txt"
exit "${PIPESTATUS[0]}"
