# SPDX-License-Identifier: MIT
"""Runs `smeff stream` and measures what comes out of it: when the first value came, how old the newest sample is
when it arrives, what share of the time is covered, and what all processes of smeff cost."""
import json
import os
import selectors
import signal
import subprocess
import time

TICK = os.sysconf("SC_CLK_TCK")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            direct = [int(p) for p in f.read().split()]
    except OSError:
        return []
    return direct + [g for p in direct for g in children(p)]


def cpu_seconds(pid, first=11, last=12):
    """CPU time of a process, in seconds; fields 13 and 14: that of its children that it has waited for."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return sum(int(fields[i]) for i in range(first, last + 1)) / TICK
    except OSError:
        return 0.0


class Cost:
    """CPU seconds of a process and of all its children, those that come or go in between included."""

    def __init__(self, pid):
        self.pid, self.begin = pid, time.time()
        self.own, self.ended = cpu_seconds(pid), cpu_seconds(pid, 13, 14)
        self.before = {p: cpu_seconds(p) for p in children(pid)}

    def shares(self):
        """Of one core, by name; what ended in between is one entry."""
        wall = time.time() - self.begin
        now = {p: cpu_seconds(p) for p in children(self.pid)}
        gone = sum(seconds for p, seconds in self.before.items() if p not in now)
        cost = {"parent": cpu_seconds(self.pid) - self.own, "ended": cpu_seconds(self.pid, 13, 14) - self.ended - gone}
        for p, seconds in now.items():
            cost[name_of(p)] = cost.get(name_of(p), 0) + seconds - self.before.get(p, 0)
        return {name: seconds / wall for name, seconds in cost.items()}


def rss_mib(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return 0.0


def name_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            words = f.read().split(b"\0")
        return " ".join(w.decode() for w in words[1:3])
    except OSError:
        return "?"


class Stream:
    def __init__(self, smeff, arguments):
        self.begin = time.time()
        self.process = subprocess.Popen([smeff, "stream", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.rest = b""

    def events(self, until):
        """Yields (arrival time, event) until the given time."""
        while (left := until - time.time()) > 0:
            if not self.selector.select(left):
                return
            data = self.process.stdout.read()
            now = time.time()
            if not data:
                return
            lines = (self.rest + data).split(b"\n")
            self.rest = lines.pop()
            for line in lines:
                yield now, json.loads(line)

    def pids(self):
        return [self.process.pid, *children(self.process.pid)]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdout.close()


class Series:
    """What came from one source."""

    def __init__(self):
        self.values, self.t0, self.t1 = {}, [], []
        self.ages = []    # of the newest sample when its batch arrives
        self.oldest = []  # and just before the next batch arrives: what a reader has at the worst moment

    def take(self, now, event):
        if self.t1:
            self.oldest.append(now - self.t1[-1] * 1e-9)
        self.ages.append(now - event["t1_ns"][-1] * 1e-9)
        self.t0 += event["t0_ns"]
        self.t1 += event["t1_ns"]
        for key, values in event["values"].items():
            self.values.setdefault(key, []).extend(values)

    def coverage(self):
        return sum(b - a for a, b in zip(self.t0, self.t1)) / (self.t1[-1] - self.t0[0]) if self.t0 else 0.0

    def gaps(self):
        return sum(1 for a, b in zip(self.t0[1:], self.t1) if a > b)

    def mean(self, key):
        values = [v for v in self.values.get(key, []) if v is not None]
        return sum(values) / len(values) if values else None


def quantile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else float("nan")


def measure(smeff, seconds, arguments, settle=3.0):
    """Lets everything start, then measures for some seconds. What starting and settling took is told apart."""
    stream, notes, first = Stream(smeff, arguments), [], None
    started = Cost(stream.process.pid)
    sources = {}
    for now, event in stream.events(time.time() + settle):
        if event["event"] == "samples" and event["source"] == "pm" and first is None:
            first = now - stream.begin
        if event["event"] == "note":
            notes.append(event["text"])
    pids = stream.pids()
    settled = {name: share * (time.time() - started.begin) for name, share in started.shares().items()}
    cost, begin = Cost(stream.process.pid), time.time()
    for now, event in stream.events(begin + seconds):
        if event["event"] == "samples":
            sources.setdefault((event["source"], event["gpu"]), Series()).take(now, event)
        elif event["event"] == "note":
            notes.append(event["text"])
    wall = time.time() - begin
    shares = cost.shares()
    rss = {f"{name_of(p) or 'parent'}": rss_mib(p) for p in pids}
    parent_rss = rss_mib(stream.process.pid)
    stream.close()
    return {"first_value_s": first, "wall_s": wall, "sources": sources, "notes": notes, "cpu": shares,
            "cpu_until_settled_s": settled, "settle_s": settle, "rss_mib": rss,
            "parent_rss_mib": parent_rss, "cpu_total": sum(shares.values())}
