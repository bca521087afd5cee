#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plain way to the summary that `smeff analyze` prints: sqlite3 and statistics, for bench/analyze.sh."""
import sqlite3
import statistics
import sys

db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
names = dict(((t, m), n) for t, m, n in db.execute("SELECT typeId, metricId, metricName FROM TARGET_INFO_GPU_METRICS"))
values = {}
for type_id, metric_id, value in db.execute("SELECT typeId, metricId, value FROM GPU_METRICS"):
    values.setdefault((type_id, metric_id), []).append(value & 0xFFFFFFFF)
for key, list_ in sorted(values.items()):
    cuts = statistics.quantiles(list_, n=100)
    print(names.get(key, key), len(list_), statistics.fmean(list_), min(list_), cuts[49], cuts[94], max(list_), sep="\t")
