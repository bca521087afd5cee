#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the published data set: for each load the counters at 50 Hz (CSV and recording), the summary, the driver's readings as
# nvidia-smi gives them at the same time, and what the load itself counted. Identities are taken out.
#   tests/device/dataset.sh SMEFF FOLDER [SECONDS]
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
smeff=$1 out=$2 seconds=${3:-10}
mkdir -p "$out"
uuid=$(nvidia-smi --query-gpu=uuid --format=csv,noheader | head -1)
bus=$(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader | head -1)

# scrub FILE: no UUID, no host name, no PCI address, no process ids.
scrub() {
    sed -i -E -e "s/$uuid/GPU-00000000-0000-0000-0000-000000000000/g" -e "s/\"host\":\"[^\"]*\"/\"host\":\"\"/g" \
        -e "s/${bus#0000}/0000:00:00.0/gI" -e "s/\"pci_bus\":\"[^\"]*\"/\"pci_bus\":\"0000:00:00.0\"/g" -e '/"event":"processes"/d' \
        -e 's/"processes":\[[^]]*\]/"processes":null/g' -e 's#"text":"[^"]*/[^"]*"#"text":"(a path was here)"#g' "$1"
}

# capture NAME COMMAND…: the load runs longer than it is sampled.
capture() {
    local name=$1 load smi
    shift
    "$@" >"$out/$name-load.txt" 2>&1 &
    load=$!
    sleep "$([ "$name" = matmul ] && echo 8 || echo 2.5)"
    nvidia-smi --query-gpu=timestamp,utilization.gpu,utilization.memory,power.draw,temperature.gpu,clocks.sm,clocks.mem,memory.used \
        --format=csv -lms 500 >"$out/$name-nvidia-smi.csv" &
    smi=$!
    "$smeff" measure "$seconds" --gpu 0 --metric fma_active,dram_throughput --out "$out/$name" --csv >"$out/$name.csv"
    kill $smi
    wait $smi 2>/dev/null || true
    wait $load || true
    for file in "$out/$name.csv" "$out/$name-load.txt" "$out/$name/events.jsonl" "$out/$name/summary.json" "$out/$name/summary.txt"; do
        scrub "$file"
    done
    gzip -9 -n <"$out/$name/events.jsonl" >"$out/$name.jsonl.gz"
    mv "$out/$name/summary.json" "$out/$name-summary.json"
    mv "$out/$name/summary.txt" "$out/$name-summary.txt"
    rm -r "${out:?}/$name"
}

long=$((seconds + 5))
capture idle "$smeff" load idle "$long" --json
capture decode "$smeff" load gemv "$long" --json
if python3 -c 'import torch' 2>/dev/null; then
    capture matmul python3 "$here/loads.py" matmul $((long + 6))
else
    capture matmul "$smeff" load mma "$long" --json
fi
capture bursty "$smeff" load duty:30 "$long" --json
capture tail "$smeff" load tail "$long" --json
{
    echo "gpu         $(nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit --format=csv,noheader | head -1)"
    echo "smeff       $("$smeff" --version)"
    echo "system      $(uname -s) $(uname -r | cut -d- -f1) $(uname -m), $(nproc) cores, virtual machine: $(systemd-detect-virt 2>/dev/null || echo '?')"
    echo "pytorch     $(python3 -c 'import torch; print(torch.__version__)' 2>/dev/null || echo none)"
    echo "sampled     $seconds s at 50 Hz, core set with fma_active and dram_throughput"
    echo "command     smeff measure $seconds --gpu 0 --metric fma_active,dram_throughput --out NAME --csv"
    echo "driver      nvidia-smi --query-gpu=timestamp,utilization.gpu,… --format=csv -lms 500, at the same time"
} >"$out/environment.txt"
