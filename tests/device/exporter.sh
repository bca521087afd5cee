#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exporter.py on a real NVIDIA GPU with PyTorch: what the daemon's HTTP side says, against the driver and against smeff measure.
# Takes smeff from $SMEFF, from bundle/ (scripts/bundle.sh), or builds it.
#   tests/device/exporter.sh [OUTPUT_FOLDER]
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../..")
out=${1:-$root/out/exporter}
export SMEFF=${SMEFF:-$root/bundle/smeff}
[ -x "$SMEFF" ] || { "$root/scripts/bundle.sh" "$root/bundle"; SMEFF=$root/bundle/smeff; }
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || { echo "skipped: no NVIDIA GPU here"; exit 77; }
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || { echo "skipped: no PyTorch that sees a GPU"; exit 77; }
exec timeout 420 python3 "$here/exporter.py" "$out"
