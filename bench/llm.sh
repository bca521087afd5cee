#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Parsing a vLLM-like body of 1 MB: smeff's parser, the whole making of a scrape, and Python's prometheus_client side by side
# in one run, in turn; then the CPU time of asking 16 servers (47 kB each) once a second for SECONDS (default 30).
#   bench/llm.sh [BENCH_LLM] [SECONDS]      BENCH_LLM: cmake --build build/release --target bench_llm
# Needs python3; without prometheus_client (Debian: python3-prometheus-client) its row is left out. PYTHON says which.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bench=${1:-$here/../build/release/bench_llm} seconds=${2:-30} python=${PYTHON:-/usr/bin/python3} rounds=5
command -v "$python" >/dev/null || { echo "bench/llm.sh needs python3" >&2; exit 77; }
dir=$(mktemp -d)
server=''
trap '[[ -z $server ]] || kill $server 2>/dev/null; rm -rf "$dir"' EXIT

"$python" "$here/llm_body.py" 1000000 >"$dir/large"
"$python" "$here/llm_body.py" 40000 >"$dir/small"
for ((i = 0; i < rounds; i++)); do
    "$bench" parse "$dir/large" >>"$dir/ours"
    "$python" "$here/llm_python.py" "$dir/large" >>"$dir/theirs" || { [[ $? == 77 ]] && : >"$dir/none"; }
done
median() { cut -d' ' -f"$2" "$1" | sort -n | awk '{v[NR]=$1} END{print v[int((NR+1)/2)]}'; }
echo "body of $(stat -c %s "$dir/large") bytes, $(median "$dir/ours" 2) samples; $rounds rounds in turn, medians of the best of each round"
printf '%-22s %8.1f MB/s   all: %s\n' "smeff, parser" "$(median "$dir/ours" 1)" "$(cut -d' ' -f1 "$dir/ours" | tr '\n' ' ')"
printf '%-22s %8.1f MB/s   all: %s(%s series kept)\n' "smeff, whole scrape" "$(median "$dir/ours" 3)" \
    "$(cut -d' ' -f3 "$dir/ours" | tr '\n' ' ')" "$(median "$dir/ours" 4)"
awk -v a="$(median "$dir/ours" 1)" 'BEGIN { printf "parser %.0f MB/s   (wanted: at least 300): %s\n", a, (a >= 300 ? "yes" : "NO") }'
if [[ -e $dir/none ]]; then
    echo "prometheus_client is not installed: its row is left out"
else
    [[ $(median "$dir/theirs" 2) == "$(median "$dir/ours" 2)" ]] || echo "NOT THE SAME: prometheus_client found $(median "$dir/theirs" 2) samples"
    printf '%-22s %8.1f MB/s   all: %s\n' "prometheus_client" "$(median "$dir/theirs" 1)" "$(cut -d' ' -f1 "$dir/theirs" | tr '\n' ' ')"
    awk -v a="$(median "$dir/ours" 3)" -v b="$(median "$dir/theirs" 1)" \
        'BEGIN { printf "smeff, whole scrape / prometheus_client = %.0f   (wanted: at least 10): %s\n", a/b, (a/b >= 10 ? "yes" : "NO") }'
fi

"$python" "$here/llm_serve.py" "$dir/small" 16 >"$dir/ports" &
server=$!
for _ in $(seq 100); do [[ -s $dir/ports ]] && break; sleep 0.1; done
read -ra ports <"$dir/ports"
read -r share answered < <("$bench" poll "$seconds" "${ports[@]/#/127.0.0.1:}")
echo "16 servers, $(stat -c %s "$dir/small") bytes each, once a second for $seconds s: $share % of a core, $answered answered"
awk -v a="$share" 'BEGIN { printf "wanted: at most 1 %%: %s\n", (a <= 1 ? "yes" : "NO") }'
