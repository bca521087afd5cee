#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do smeff, the sqlite3 shell and plain Python agree? Means and maxima of every metric, for bench/analyze.sh.

compare.py SMEFF.json SQLITE3.out PYTHON.out; exit code 1 when they do not."""
import json
import sys


def of_smeff(path):
    gpu = json.load(open(path, encoding="utf-8"))["gpus"][0]
    rows = {}
    for name, m in list(gpu["metrics"].items()) + list(gpu["other_metrics"].items()):
        if m["value"] is not None:
            scale = 100 if m["unit"] == "ratio" else 1
            rows[m.get("counter", name)] = (m["value"] * scale, m["max"] * scale)
    return rows


def of_table(path, separator, mean, maximum):
    rows = (line.rstrip("\n").split(separator) for line in open(path, encoding="utf-8"))
    return {r[0]: (float(r[mean]), float(r[maximum])) for r in rows}


results = {
    "smeff": of_smeff(sys.argv[1]),
    "sqlite3": of_table(sys.argv[2], "|", 1, 2),
    "python": of_table(sys.argv[3], "\t", 2, 6),
}
wanted = results["python"]
wrong = 0
for program, rows in results.items():
    for name in sorted(set(wanted) | set(rows)):
        pairs = zip(rows.get(name, ()), wanted.get(name, ()))
        if name not in rows or name not in wanted or any(abs(a - b) > 1e-9 * max(1, abs(b)) for a, b in pairs):
            print(f"{name}: {program} has {rows.get(name)}, python {wanted.get(name)}")
            wrong += 1
print(f"means and maxima of {len(wanted)} metrics agree:", "NO" if wrong else "yes")
sys.exit(wrong > 0)
