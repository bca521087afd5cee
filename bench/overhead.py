#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What sampling costs the workload: windows with the sampler and without it in turn, while the load runs on.

usage: overhead.py [options] MODE...        modes: 50hz, 1khz, wide, gpm, nsys

The load (one of):
  (default)          smeff load gemv: passes a second by the GPU's own clock
  --command CMD      a command that prints a number (its present rate) a line, all the time
  --server URL       a running vLLM or llama.cpp server under steady load: its counter of output tokens

  --smeff PATH       the program (default: smeff)
  --nsys PATH        for the mode nsys: captures of 1.5 s, one after another
  --pairs N          windows with and without (default 20)
  --window S         seconds of each (default 1)
  --json FILE        also every window's rate

Each pair is one window without the sampler and one with it (its start is not in the window), in changing order. The result
is the mean of the ratios with/without, and its 95 % confidence interval (Student's t)."""
import argparse
import json
import math
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

# Student's t, 97.5 %, by degrees of freedom; more than 60: 2.
T975 = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179, 14: 2.145, 16: 2.120,
        18: 2.101, 19: 2.093, 20: 2.086, 25: 2.060, 29: 2.045, 30: 2.042, 40: 2.021, 60: 2.000}


def t975(df):
    return T975.get(df) or next((v for k, v in sorted(T975.items(), reverse=True) if k <= df), 12.71)


class Gemv:
    """smeff load gemv: (UNIX time, seconds by the GPU's clock, passes) of each batch."""

    def __init__(self, smeff, seconds):
        self.points = []
        self.process = subprocess.Popen([smeff, "load", "gemv", str(seconds), "--json", "--progress"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "load_progress":
                self.points.append((event["unix_ns"] * 1e-9, event["seconds"], event["units"]))

    def rate(self, begin, end):
        inside = [p for p in self.points if begin <= p[0] <= end]
        if len(inside) < 2:
            raise SystemExit("the load does not tell its progress any more")
        return (inside[-1][2] - inside[0][2]) / (inside[-1][1] - inside[0][1])


class Command:
    """A command that prints its rate, a number a line."""

    def __init__(self, command):
        self.points = []
        self.process = subprocess.Popen(command, shell=True, stdout=subprocess.PIPE, text=True, start_new_session=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            number = re.search(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?", line)
            if number:
                self.points.append((time.time(), float(number.group())))

    def rate(self, begin, end):
        inside = [v for t, v in self.points if begin <= t <= end]
        if not inside:
            raise SystemExit("the command printed no number within a window: make the window longer")
        return statistics.fmean(inside)


class Server:
    """A server's own counter of output tokens, read at both ends of a window."""
    process = None
    names = ("vllm:generation_tokens_total", "llamacpp:tokens_predicted_total", "sglang:generation_tokens_total")

    def __init__(self, url):
        self.url = url if url.endswith("/metrics") else url.rstrip("/") + "/metrics"
        self.at = {}

    def tokens(self):
        with urllib.request.urlopen(self.url, timeout=2) as answer:
            text = answer.read().decode()
        values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.split("{")[0].split(" ")[0] in self.names]
        if not values:
            raise SystemExit(f"{self.url} has none of {', '.join(self.names)}")
        return sum(values)

    def mark(self):
        now = time.time()
        self.at[now] = self.tokens()
        return now

    def rate(self, begin, end):
        return (self.at[end] - self.at[begin]) / (end - begin)


def sampler(mode, options):
    """A command that samples until it is ended, and the source of its samples (None: it does not tell)."""
    stream = [options.smeff, "stream", "--backend"]
    capture = (f"while :; do {shlex.quote(options.nsys)} profile -f true --trace=none --sample=none --cpuctxsw=none --gpu-metrics-devices=0 "
               f"--gpu-metrics-frequency=50 -o {shlex.quote(options.folder)}/x sleep 1.5 || exit 1; done")
    return {"50hz": (stream + ["pm", "--rate", "50"], "pm"), "1khz": (stream + ["pm", "--rate", "1000"], "pm"),
            "wide": (stream + ["pm", "--set", "wide"], "pm"), "gpm": (stream + ["gpm"], "gpm"), "nsys": (["sh", "-c", capture], None)}[mode]


class Sampler:
    """Runs until closed; knows when its newest samples came."""

    def __init__(self, mode, options):
        command, self.source = sampler(mode, options)
        self.mode, self.newest, self.came = mode, 0.0, threading.Event()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE if self.source else subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        text=True, start_new_session=True)
        if self.source:
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if f'"samples","gpu":0,"source":"{self.source}"' in line:
                self.newest = time.time()
                self.came.set()

    def settle(self):
        if not self.source:
            time.sleep(3)
        elif not self.came.wait(20):
            raise SystemExit(f"{self.mode}: no samples came within 20 s")

    def check(self):
        """It must have sampled all the time."""
        if self.process.poll() is not None:
            raise SystemExit(f"{self.mode}: the sampler ended by itself with {self.process.returncode}")
        if self.source and time.time() - self.newest > 2.5:
            raise SystemExit(f"{self.mode}: no samples came in the last {time.time() - self.newest:.1f} s")

    def close(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(5)
                break
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                break


def window(load, seconds):
    begin = load.mark() if hasattr(load, "mark") else time.time()
    time.sleep(seconds)
    end = load.mark() if hasattr(load, "mark") else time.time()
    return begin, end


def one_pair(load, mode, options, first):
    """The windows' times: (without, with)."""
    times = {}
    for on in (first, not first):
        if not on:
            time.sleep(0.3)
            times[on] = window(load, options.window)
            continue
        running = Sampler(mode, options)
        try:
            running.settle()
            times[on] = window(load, options.window)
            running.check()
        finally:
            running.close()
    return times[False], times[True]


def measure(load, mode, options):
    pairs = [one_pair(load, mode, options, i % 2 == 0) for i in range(options.pairs)]
    time.sleep(0.2)
    rates = [(load.rate(*off), load.rate(*on)) for off, on in pairs]
    ratios = [on / off for off, on in rates]
    mean, half = statistics.fmean(ratios), 0.0
    if len(ratios) > 1:
        half = t975(len(ratios) - 1) * statistics.stdev(ratios) / math.sqrt(len(ratios))
    print(f"{mode:6s} {len(ratios):3d} pairs   rate without {statistics.fmean(r[0] for r in rates):.6g}   with/without {mean:.5f}   "
          f"95 % interval {100 * (mean - half - 1):+.3f} % to {100 * (mean + half - 1):+.3f} %", flush=True)
    return {"mode": mode, "ratio": mean, "interval": [mean - half, mean + half], "rates": rates}


def main():
    usage = __doc__.split("usage: ", 1)[1].replace("%", "%%")
    parser = argparse.ArgumentParser(usage=usage)
    parser.add_argument("--smeff", default="smeff")
    parser.add_argument("--nsys", default="nsys")
    parser.add_argument("--command")
    parser.add_argument("--server")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--window", type=float, default=1.0)
    parser.add_argument("--json")
    parser.add_argument("modes", nargs="+", choices=["50hz", "1khz", "wide", "gpm", "nsys"])
    options = parser.parse_args()
    if options.server:
        load = Server(options.server)
    elif options.command:
        load = Command(options.command)
    else:
        load = Gemv(options.smeff, 86400)
    try:
        time.sleep(3)
        options.folder = tempfile.mkdtemp(prefix="smeff-overhead-")
        results = [measure(load, mode, options) for mode in options.modes]
    finally:
        if load.process:
            load.process.terminate()
        shutil.rmtree(getattr(options, "folder", ""), ignore_errors=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    sys.exit(main())
