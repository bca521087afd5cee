#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One recording of several GPUs out of recordings of one: merge.py OUT N FILE...

GPU i is that of the file number i (the files come round again), its times moved so that all begin
together. Everything else is as it was recorded.
"""
import gzip
import json
import sys


def lines(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as f:
        return [json.loads(line) for line in f]


def moved(event, gpu, shift):
    event = json.loads(json.dumps(event))
    event["gpu"] = gpu
    for key in ("t0_ns", "t1_ns"):
        if key in event:
            event[key] = [t + shift for t in event[key]]
    if "uuid" in event:
        event["uuid"] = "GPU-00000000-0000-0000-0000-%012d" % gpu
        event["pci_bus"] = "0000:%02x:00.0" % (gpu + 1)
    return event


def main():
    out, n, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    recordings = [lines(f) for f in files]
    begin = min(t for r in recordings for e in r for t in e.get("t0_ns", []))
    first, rest = [], []
    for gpu in range(n):
        events = recordings[gpu % len(recordings)]
        shift = begin - min(t for e in events for t in e.get("t0_ns", []))
        time = 0
        for e in events:
            if e["event"] in ("gpu", "plan", "samples", "processes") and "gpu" in e:
                e = moved(e, gpu, shift)
                time = e["t1_ns"][-1] if "t1_ns" in e else time
                (first if time == 0 else rest).append((time, e))
    rest.sort(key=lambda pair: pair[0])
    with open(out, "w") as f:
        for e in [recordings[0][0]] + [e for _, e in first + rest]:
            f.write(json.dumps(e, separators=(",", ":")) + "\n")
        f.write('{"event":"end","status":"OK","reason":""}\n')


main()
