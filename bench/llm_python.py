#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast prometheus_client parses a body, for bench/llm.sh: prints MB/s of the fastest of five rounds, and the number of samples.

llm_python.py FILE; exit code 77 without prometheus_client."""
import sys
import time

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    sys.exit(77)
text = open(sys.argv[1], encoding="utf-8").read()
best, samples = float("inf"), 0
for _ in range(5):
    began = time.perf_counter()
    samples = sum(len(family.samples) for family in text_string_to_metric_families(text))
    best = min(best, time.perf_counter() - began)
print(f"{len(text.encode()) / best / 1e6:.2f} {samples}")
