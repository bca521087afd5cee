#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# daemon.py on a real NVIDIA GPU, with the facts of the machine. Takes smeff from $SMEFF or bundle/.
#   tests/device/daemon.sh [OUTPUT_FOLDER]
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../..")
out=${1:-$root/out/daemon}
smeff=${SMEFF:-$root/bundle/smeff}
[ -x "$smeff" ] || { "$root/scripts/bundle.sh" "$root/bundle"; smeff=$root/bundle/smeff; }
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || { echo "skipped: no NVIDIA GPU here"; exit 77; }
mkdir -p "$out"
timeout 280 python3 "$here/daemon.py" "$smeff" "$out"
