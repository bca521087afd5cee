#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The live panel on a real GPU, a recording of it, and counter tracks laid over PyTorch's own trace.

usage: SMEFF=path panel.py OUTPUT_FOLDER

1. smeff top in a terminal (tmux) while loads run: screens as text, CPU time and memory of the panel, the time to the first
   frame and to the first counters.
2. A recording of two minutes at 50 Hz over changing loads: bytes an hour, and how long it takes to open.
3. torch.profiler traces bursts of matrix products while smeff records at 500 Hz; export --perfetto --over puts both into one
   file. Where the trace says that kernels begin and end, the counter "GR active" has to rise and fall.
Exit code: 0, 1 when something is off, 77 when this machine cannot."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

SMEFF = os.environ["SMEFF"]
HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/panel")
ROWS, BAD = [], []


def row(what, value, wanted, ok):
    ROWS.append(f"{'ok ' if ok else 'BAD'}  {what:58} {value:>22}   {wanted}")
    print(ROWS[-1], flush=True)
    if not ok:
        BAD.append(what)


def load(kind, seconds):
    return subprocess.Popen([sys.executable, HERE / "loads.py", kind, str(seconds)], stdout=subprocess.DEVNULL)


# ---- 1: the panel ----

class Terminal:
    def __init__(self, width, height):
        self.tmux = os.environ.get("TMUX_PROGRAM") or shutil.which("tmux")
        self.name = f"smeff{os.getpid()}"
        self.size = ["-x", str(width), "-y", str(height)]

    def call(self, *args):
        return subprocess.run([self.tmux, "-L", self.name, "-f", "/dev/null", *args], capture_output=True, text=True, check=False).stdout

    def start(self, command):
        self.call("new-session", "-d", *self.size, "-s", "s", command)
        self.call("set-option", "-g", "status", "off")
        self.call("resize-window", "-t", "s", *self.size)

    def screen(self):
        return self.call("capture-pane", "-p", "-t", "s")

    def keys(self, *keys):
        self.call("send-keys", "-t", "s", *keys)

    def wait(self, text, seconds):
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            if text in self.screen():
                return time.monotonic() - begin
            time.sleep(0.02)
        return None


def process_of(name):
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (p / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if len(words) > 1 and words[0].endswith(b"smeff") and words[1] == name:
            return int(p.name)
    return None


def cpu_s(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def rss_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def panel():
    t = Terminal(120, 40)
    if not t.tmux:
        print("the panel: not tried, there is no tmux")
        return
    work = load("decode", 45)
    time.sleep(8)
    begin = time.monotonic()
    t.start(f"env LC_ALL=C.UTF-8 TERM=tmux-256color SMEFF_SERVER=none {SMEFF} top --own")
    first = t.wait("quit", 20)
    counters = t.wait("memory_bound", 30)
    row("first frame", f"{first if first is not None else -1:.2f} s", "comes", first is not None)
    row("verdict of a decode-like load, from the start", f"{time.monotonic() - begin:.2f} s", "memory_bound", counters is not None)
    pid = process_of(b"top")
    before, at = cpu_s(pid), time.monotonic()
    time.sleep(15)
    share = (cpu_s(pid) - before) / (time.monotonic() - at)
    (OUT / "panel-decode-120x40.txt").write_text(t.screen())
    row("CPU of the panel, one GPU at 50 Hz, 15 s", f"{100 * share:.2f} %", "<= 1.5 %", share <= 0.015)
    row("memory of the panel", f"{rss_mib(pid):.1f} MiB", "<= 24 MiB", rss_mib(pid) <= 24)
    work.wait()
    work = load("matmul", 14)
    seen = t.wait("compute_bound", 25)
    time.sleep(3)
    (OUT / "panel-matmul-120x40.txt").write_text(t.screen())
    row("verdict of a matmul, in the same panel", f"{seen if seen is not None else -1:.2f} s", "compute_bound", seen is not None)
    t.keys("m")
    time.sleep(0.5)
    (OUT / "panel-metrics-120x40.txt").write_text(t.screen())
    t.keys("Escape")
    t.keys("Left", "Left", "Left", "Left", "Left", "Left")
    time.sleep(0.5)
    past = t.screen()
    (OUT / "panel-past-120x40.txt").write_text(past)
    row("looking back", "PAST" if "PAST" in past else "-", "PAST", "PAST" in past)
    work.wait()
    t.keys("End")
    idle = t.wait(" idle", 20)
    row("verdict afterwards", f"{idle if idle is not None else -1:.2f} s", "idle", idle is not None)
    t.keys("q")
    time.sleep(1)
    row("ends", str(process_of(b"top")), "nothing is left", process_of(b"top") is None)
    t.call("kill-server")


# ---- 2: a recording ----

def recording():
    path = OUT / "changing.jsonl.gz"
    seconds = 120
    r = subprocess.Popen([SMEFF, "record", path, "--for", str(seconds), "--own", "--server", "none"], stderr=subprocess.DEVNULL)
    end = time.monotonic() + seconds
    for kind, s in (("decode", 25), ("idle", 5), ("matmul", 25), ("copy", 20), ("decode", 25)):
        if time.monotonic() + s + 8 < end:
            load(kind, s).wait()
    r.wait()
    size = path.stat().st_size
    events = sum(len(json.loads(line)["t0_ns"]) for line in subprocess.run(["zcat", path], capture_output=True, text=True, check=True).stdout.splitlines()
                 if '"samples"' in line and '"pm"' in line)
    row("samples of pm in two minutes", str(events), f"~ {50 * seconds}", events > 45 * seconds)
    row("size of an hour at that rate", f"{size / seconds * 3600 / 2**20:.2f} MiB", "<= 15 MiB", size / seconds * 3600 <= 15 * 2**20)
    begin = time.monotonic()
    subprocess.run([SMEFF, "analyze", "--json", path], stdout=subprocess.DEVNULL, check=True)
    took = time.monotonic() - begin
    row("analyze of these two minutes", f"{took:.3f} s", "-", True)
    with open(OUT / "report.html", "wb") as f:
        subprocess.run([SMEFF, "export", "--report", path], stdout=f, check=True)


# ---- 3: over another trace ----

TRACED = """
import sys, time, torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
c = torch.empty_like(a)
torch.mm(a, a, out=c); torch.cuda.synchronize()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as p:
    for i in range(16):
        for _ in range(80):
            torch.mm(a, a, out=c)
        torch.cuda.synchronize()
        time.sleep(0.25)
p.export_chrome_trace(sys.argv[1])
"""


def bursts_of(kernels):
    out = []
    for ts, end in sorted(kernels):
        if out and ts - out[-1][1] < 50e3:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([ts, end])
    return out


def overlay():
    path, trace, both = OUT / "bursts.jsonl.gz", OUT / "torch.json", OUT / "both.json"
    r = subprocess.Popen([SMEFF, "record", path, "--for", "45", "--own", "--server", "none", "--rate", "500"], stderr=subprocess.DEVNULL)
    time.sleep(5)
    subprocess.run([sys.executable, "-c", TRACED, trace], check=True, stderr=subprocess.DEVNULL, timeout=90)
    r.terminate()
    r.wait()
    with open(both, "wb") as f:
        subprocess.run([SMEFF, "export", "--perfetto", "--over", trace, path], stdout=f, check=True)
    theirs, merged = json.loads(trace.read_text()), json.loads(both.read_text())
    row("baseTimeNanoseconds of PyTorch", str(theirs.get("baseTimeNanoseconds")), "there", bool(theirs.get("baseTimeNanoseconds")))
    kept = [e for e in merged["traceEvents"] if not isinstance(e.get("pid"), int) or e["pid"] < 900000000]
    row("its events are all in it, unchanged", str(len(kept)), str(len(theirs["traceEvents"])), kept == theirs["traceEvents"])
    bursts = bursts_of([(float(e["ts"]), float(e["ts"]) + float(e["dur"])) for e in theirs["traceEvents"] if e.get("cat") == "kernel"])
    active = sorted((float(e["ts"]), e["args"]["value"]) for e in merged["traceEvents"] if e["ph"] == "C" and e["name"] == "GR active (%)")
    starts, ends = [], []
    for begin, end in bursts:
        # the counter's first sample with work in it, and how much of it: a sample of 2 ms is a share of time
        up = next((i for i, (ts, v) in enumerate(active) if ts > begin - 20e3 and v > 3), None)
        if up is None or up + 1 >= len(active) or active[up][0] > begin + 50e3:
            continue
        width = 2000.0
        starts.append((active[up][0] + width * (1 - active[up][1] / 100) - begin) / 1e3)
        down = next((i for i, (ts, v) in enumerate(active) if ts > end - 20e3 and v < 97), None)
        if down is not None and active[down][0] < end + 50e3:
            ends.append((active[down][0] + width * active[down][1] / 100 - end) / 1e3)
    (OUT / "overlay-offsets.json").write_text(json.dumps({"bursts": bursts, "start_offsets_ms": starts, "end_offsets_ms": ends}, indent=1))
    row("bursts of kernels that the counter shows, too", f"{len(starts)} of {len(bursts)}", "all of 16", len(starts) == len(bursts) == 16)
    for name, list_ in (("rises", starts), ("falls", ends)):
        if list_:
            middle = statistics.median(list_)
            row(f"the counter {name} after the kernels by (median; range)", f"{middle:.2f} ms; {min(list_):.2f}..{max(list_):.2f}", "within 5 ms", abs(middle) < 5)
    subprocess.run(["gzip", "-f", trace, both], check=True)


OUT.mkdir(parents=True, exist_ok=True)
(OUT / "environment.txt").write_text(subprocess.run("nvidia-smi --query-gpu=name,driver_version --format=csv; uname -sr; python3 -c 'import torch; print(torch.__version__)'; "
                                                    + SMEFF + " --version", shell=True, capture_output=True, text=True, check=False).stdout)
for part in (panel, recording, overlay):
    try:
        part()
    except Exception as e:  # the others are still of interest
        row(part.__name__, type(e).__name__, str(e)[:80], False)
(OUT / "table.txt").write_text("\n".join(ROWS) + "\n")
sys.exit(1 if BAD else 0)
