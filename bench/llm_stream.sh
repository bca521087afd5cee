#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What inference servers cost the whole program: CPU time of `smeff stream` (50 Hz, without its samplers, which run the test
# suite's doubles of NVIDIA's libraries) while it watches none and 16 servers of 47 kB each, both also with 32 processes on the GPU.
#   bench/llm_stream.sh [SMEFF] [FAKES] [SECONDS]      FAKES: tests/fakes of a build with SMEFF_TESTS=ON (target fakes)
# Needs python3. CPU time is the kernel's (schedstat), so that other load on the machine matters little.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
smeff=${1:-$here/../build/release/smeff} fakes=${2:-$here/../build/release/tests/fakes} seconds=${3:-60}
dir=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$dir"' EXIT
unset ${!SMEFF_@} CUDA_VISIBLE_DEVICES
export FAKE_GPU=$dir/script LD_LIBRARY_PATH=$fakes/nvml:$fakes/cuda:$fakes/cupti SMEFF_STATE=$dir/state
[[ -e $fakes/nvml/libnvidia-ml.so.1 ]] || { echo "no doubles in $fakes" >&2; exit 77; }

cpu_ns() { cat /proc/"$1"/task/*/schedstat | awk '{ n += $1 } END { print n }'; }
# share WHAT ARGUMENTS…: CPU time of a stream in percent of a core, and how many of its servers answered.
share() {
    local what=$1 pid before after
    shift
    "$smeff" stream --own "$@" >"$dir/events" 2>"$dir/err" &
    pid=$!
    started+=($pid)
    sleep 5 # libraries are loaded, connections made
    before=$(cpu_ns $pid)
    : >"$dir/events"
    sleep "$seconds"
    after=$(cpu_ns $pid)
    kill $pid
    wait $pid 2>/dev/null || :
    awk -v n=$((after - before)) -v s="$seconds" -v what="$what" \
        -v answers="$(grep -c '"event":"server".*"pid":.*"state":"ok","t0' "$dir/events" || :)" \
        -v samples="$(grep -c '"source":"pm","t0_ns"' "$dir/events" || :)" \
        'BEGIN { printf "%-42s %6.3f %% of a core   %d answers, %d batches of samples in %d s\n", what, n / s / 1e7, answers, samples, s }'
}

python3 "$here/llm_body.py" 40000 >"$dir/body"
python3 "$here/llm_serve.py" "$dir/body" 16 >"$dir/ports" &
server=$!
started+=($server)
for _ in $(seq 100); do [[ -s $dir/ports ]] && break; sleep 0.1; done
read -ra ports <"$dir/ports"
list=$(printf '127.0.0.1:%s,' "${ports[@]}")
for ((i = 0; i < 32; i++)); do
    sleep 100000 &
    started+=($!)
done
echo "$(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg), body of $(stat -c %s "$dir/body") bytes, 50 Hz"
printf 'process = %s 1000000 90 40\n' $server >"$dir/script"
share "no servers" --server none
share "16 servers, their process on the GPU" --server "$list"
for pid in "${started[@]: -32}"; do printf 'process = %s 1000000 1 1\n' "$pid"; done >>"$dir/script"
share "no servers, 32 more processes on the GPU" --server none
share "16 servers, 32 more processes on the GPU" --server "$list"
echo "load $(cut -d' ' -f1-3 /proc/loadavg) at the end; wanted for 16 servers: at most 1 % of a core more than without"
