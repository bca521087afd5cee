#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A day of a daemon in a quarter of an hour: a recording of an H200 (50 Hz) played 100 times as fast, with viewers that come and go,
# statuses, pauses. Prints the resident memory of the daemon and its sampler over time, and the drift after the warm-up.
#   bench/soak.sh SMEFF [MINUTES]     15 minutes by default; ends with 1 when the daemon drifts by 1 MiB or more
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
smeff=$(readlink -f "${1:?usage: bench/soak.sh SMEFF [MINUTES]}") minutes=${2:-15} speed=100
recording=$here/../data/h200/live/decode.jsonl.gz
dir=$(mktemp -d -p "${XDG_RUNTIME_DIR:-/dev/shm}" 2>/dev/null || mktemp -d)
export SMEFF_RUN_DIR=$dir
trap '"$smeff" daemon stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
"$smeff" daemon start --replay "$recording" --loop --speed $speed >/dev/null
pid=$("$smeff" daemon status --json | sed 's/.*"daemon":{"pid":\([0-9]*\).*/\1/')
sampler=$(pgrep -P "$pid" -f 'sampler replay')
rss_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
threads_fds() { echo "$(ls "/proc/$1/task" | wc -l) $(ls "/proc/$1/fd" | wc -l)"; }
echo "# smeff $("$smeff" --version | cut -d' ' -f2), $speed x a 50 Hz recording for $minutes min, $(date -u +%FT%TZ)"
echo "seconds daemon_KiB sampler_KiB threads fds viewers history_MiB cpu_s"
begin=$SECONDS end=$((SECONDS + minutes * 60)) turn=0
while [ $SECONDS -lt $end ]; do
    for _ in 1 2 3; do timeout 8 "$smeff" stream >/dev/null 2>&1 & done       # come and go
    [ $((turn % 3)) != 0 ] || { "$smeff" daemon pause >/dev/null; "$smeff" yield -- true; "$smeff" daemon resume >/dev/null; }
    sleep 10
    status=$("$smeff" daemon status --json)
    field() { sed "s/.*\"$1\":\([0-9.]*\).*/\1/" <<<"$status"; }
    echo "$((SECONDS - begin)) $(rss_kib "$pid") $(rss_kib "$sampler") $(threads_fds "$pid") $(field viewers) $(field bytes | awk '{ printf "%.1f", $1 / 1048576 }') $(field cpu_seconds)"
    turn=$((turn + 1))
done | tee "$dir/table"
# The history fills for about two minutes; what the memory does after a third of the time is drift.
awk -v minutes="$minutes" -v speed=$speed '
    { n++; t[n] = $1; daemon[n] = $2; sampler[n] = $3 }
    function fit(v,   i, m, sx, sy, sxx, sxy) { # KiB a second, by least squares
        for (i = int(n / 3) + 1; i <= n; i++) { m++; sx += t[i]; sy += v[i]; sxx += t[i] ^ 2; sxy += t[i] * v[i] }
        return (m * sxy - sx * sy) / (m * sxx - sx ^ 2)
    }
    END {
        span = t[n] - t[int(n / 3) + 1]
        d = fit(daemon) * span; s = fit(sampler) * span
        printf "drift over the last %.0f s (%.1f h of samples): daemon %+.0f KiB, sampler %+.0f KiB\n", span, span * speed / 3600, d, s
        exit !(d < 1024 && s < 1024)
    }' "$dir/table"
