#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Aggregating an nsys export of ROWS rows (default 5 million): smeff, the sqlite3 shell and plain Python side by side in
# one run, in turn, ROUNDS times, each over every metric of the file. Prints each one's median seconds and peak memory,
# the ratios, and whether all three found the same means and maxima.
#   bench/analyze.sh [SMEFF] [ROWS] [ROUNDS]
# Needs sqlite3, python3 and GNU time (Debian: sqlite3 python3 time).
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
smeff=${1:-$here/build/release/smeff} rows=${2:-5000000} rounds=${3:-5}
for tool in sqlite3 python3 /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "bench/analyze.sh needs $tool" >&2; exit 77; }
done
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
big=$dir/big.sqlite

# The shipped export's schema and metrics, its samples repeated over and over in time.
cp "$here/data/h200/decode.sqlite" "$big" && chmod u+w "$big"
sqlite3 "$big" "
  PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
  CREATE TEMP TABLE first AS SELECT * FROM GPU_METRICS ORDER BY timestamp, metricId;
  DELETE FROM GPU_METRICS;
  WITH RECURSIVE block(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM block WHERE n < $rows / (SELECT count(*) FROM first))
  INSERT INTO GPU_METRICS
  SELECT rawTimestamp + n*1300000000, timestamp + n*1300000000, typeId, metricId,
         CASE WHEN metricId IN (0,1) THEN value + (n*7919+timestamp) % 100003 ELSE value END
  FROM block CROSS JOIN first LIMIT $rows;" >/dev/null

# the mask: 4-byte values are stored with their sign extended
sql="SELECT metricName, mean, top FROM (SELECT typeId, metricId, avg(value & 0xFFFFFFFF) AS mean, max(value & 0xFFFFFFFF) AS top
     FROM GPU_METRICS GROUP BY 1, 2) JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId);"
run() { # name, command…: appends "seconds KiB" to its log
    local name=$1; shift
    /usr/bin/time -f '%e %M' -o "$dir/t" "$@" >"$dir/$name.out"
    cat "$dir/t" >>"$dir/$name.log"
}
for ((i = 0; i < rounds; i++)); do
    run smeff "$smeff" analyze --json --all "$big"
    run sqlite3 sqlite3 -readonly "$big" "$sql"
    run python python3 "$here/bench/summary.py" "$big"
done

median() { cut -d' ' -f"$2" "$dir/$1.log" | sort -n | awk '{v[NR]=$1} END{print v[int((NR+1)/2)]}'; }
echo "rows $(sqlite3 "$big" 'SELECT count(*) FROM GPU_METRICS'), file $(stat -c %s "$big") bytes, $rounds rounds in turn, medians"
for name in smeff sqlite3 python; do
    printf '%-8s %7.2f s %8.1f MiB peak   all runs: %s\n' "$name" "$(median $name 1)" \
        "$(median $name 2 | awk '{print $1/1024}')" "$(cut -d' ' -f1 "$dir/$name.log" | tr '\n' ' ')"
done
awk -v a="$(median smeff 1)" -v b="$(median sqlite3 1)" -v c="$(median python 1)" 'BEGIN {
    printf "smeff / sqlite3 = %.2f   (wanted: at most 1.3)\npython / smeff = %.1f   (wanted: at least 6)\n", a/b, c/a }'
# the three must agree, else the times mean nothing
python3 "$here/bench/compare.py" "$dir/smeff.out" "$dir/sqlite3.out" "$dir/python.out"
