# SPDX-License-Identifier: MIT
"""What watching costs in watts: power with and without smeff, in turn, under steady loads.

    bench/power.py SMEFF OUTPUT_FOLDER [PAIRS]

Reads power and SM clock with nvidia-smi, which is there in both halves of a pair; the first 4 s of each half are left out, since
the card's own reading is a mean over a second and the change itself takes up to two. Order within a pair changes each time.
"""
import os
import statistics
import subprocess
import sys
import time

smeff, out, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5
SETTLE_S, SPAN_S = 4, 5
ENV = dict(os.environ, SMEFF_SERVER="none")
WAYS = {
    "pm 50 Hz": ["stream", "--own", "--backend", "pm", "--rate", "50"],
    "pm 1 kHz": ["stream", "--own", "--backend", "pm", "--rate", "1000"],
    "gpm": ["stream", "--own", "--backend", "gpm"],
}
LOADS = {"gemv": ["gemv"], "idle": None}


def read_power(seconds, log):
    smi = subprocess.Popen(["nvidia-smi", "--id=0", "--query-gpu=power.draw,clocks.sm", "--format=csv,noheader,nounits", "-lms", "250"],
                           stdout=subprocess.PIPE, text=True)
    watts, clocks, end = [], [], time.monotonic() + seconds
    while time.monotonic() < end:
        line = smi.stdout.readline()
        power, clock = (float(x) for x in line.split(","))
        watts.append(power)
        clocks.append(clock)
    smi.kill()
    smi.wait()
    log.write(" ".join(f"{w:.1f}" for w in watts) + "\n")
    return statistics.mean(watts), statistics.mean(clocks)


def half(way, log):
    watcher = way and subprocess.Popen([smeff, *WAYS[way]], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(SETTLE_S)
    log.write(f"{way or 'off'}: ")
    result = read_power(SPAN_S, log)
    if watcher:
        watcher.terminate()
        watcher.wait(10)
    return result


def compare(load, way, log):
    deltas, off_watts, on_watts, off_clock, on_clock = [], [], [], [], []
    for i in range(pairs):
        order = [None, way] if i % 2 == 0 else [way, None]
        got = {w: half(w, log) for w in order}
        deltas.append(got[way][0] - got[None][0])
        off_watts.append(got[None][0])
        on_watts.append(got[way][0])
        off_clock.append(got[None][1])
        on_clock.append(got[way][1])
    print(f"{load:6} {way:9} off {statistics.mean(off_watts):6.1f} W  on {statistics.mean(on_watts):6.1f} W  difference {statistics.mean(deltas):+6.1f} W "
          f"({min(deltas):+.1f} to {max(deltas):+.1f}, {pairs} pairs)  SM clock {statistics.mean(off_clock):.0f} / {statistics.mean(on_clock):.0f} MHz", flush=True)


def main():
    with open(os.path.join(out, "power-raw.txt"), "w") as log:
        for load, arguments in LOADS.items():
            worker = arguments and subprocess.Popen([smeff, "load", *arguments, "600"], env=ENV, stdout=subprocess.DEVNULL)
            time.sleep(5)
            for way in WAYS:
                if load == "idle" and way != "pm 50 Hz":
                    continue
                log.write(f"# {load}, {way}\n")
                compare(load, way, log)
            if worker:
                worker.terminate()
                worker.wait(20)


main()
