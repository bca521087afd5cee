# SPDX-License-Identifier: MIT
"""The daemon on a real GPU: what viewers cost, lending the counters to other profilers, attaching.

    daemon.py SMEFF OUTPUT_FOLDER

Raw output goes into OUTPUT_FOLDER; the last lines are a table. NCU and NSYS may name these programs.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SMEFF, OUT = sys.argv[1], sys.argv[2]
RUN = tempfile.mkdtemp(prefix="smeff-run-")
ENV = dict(os.environ, SMEFF_RUN_DIR=RUN, SMEFF_SERVER="none")
TICKS = os.sysconf("SC_CLK_TCK")
rows, failed = [], []


def row(what, value, wanted="", ok=True):
    rows.append((what, value, wanted, "" if ok else "NO"))
    if not ok:
        failed.append(what)


def smeff(*arguments, timeout=60):
    return subprocess.run([SMEFF, *arguments], env=ENV, capture_output=True, text=True, timeout=timeout)


def start_load(kind, seconds):
    load = subprocess.Popen([SMEFF, "load", kind, str(seconds), "--json"], env=ENV, stdout=subprocess.PIPE, text=True)
    load.stdout.readline()  # load_begin
    return load


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_mib(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(next(l for l in f if l.startswith("VmRSS")).split()[1]) / 1024


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(x) for x in f.read().split()]


class Viewer(threading.Thread):
    """A stream, with the UNIX time at which each batch of PM samples arrived and the times that it covers."""

    def __init__(self):
        super().__init__(daemon=True)
        self.batches, self.plans = [], []
        self.process = subprocess.Popen([SMEFF, "stream"], env=ENV, stdout=subprocess.PIPE, text=True)

    def run(self):
        for line in self.process.stdout:
            now = time.time()
            event = json.loads(line)
            if event.get("source") == "pm" and event["event"] == "samples":
                self.batches.append((now, event["t0_ns"][0] * 1e-9, event["t1_ns"][-1] * 1e-9, len(event["t0_ns"])))
            if event.get("source") == "pm" and event["event"] == "plan":
                self.plans.append((now, event["series"][0]["state"], event["series"][0].get("reason", "")))

    def end(self):
        self.process.terminate()
        self.process.wait(10)
        self.join(10)


def measure_viewers(pid):
    """CPU of the daemon with 0, 8 and 0 viewers, 15 s each."""
    shares = []
    for n in (0, 8, 0):
        viewers = [subprocess.Popen([SMEFF, "stream"], env=ENV, stdout=subprocess.DEVNULL) for _ in range(n)]
        time.sleep(2)
        before, begin = cpu_s(pid), time.monotonic()
        time.sleep(15)
        shares.append(100 * (cpu_s(pid) - before) / (time.monotonic() - begin))
        for viewer in viewers:
            viewer.terminate()
            viewer.wait(10)
    alone = (shares[0] + shares[2]) / 2
    row("daemon's CPU without a viewer", f"{alone:.2f} % of a core ({shares[0]:.2f}, {shares[2]:.2f})")
    row("daemon's CPU with 8 viewers", f"{shares[1]:.2f} %", "at most 1 % more", shares[1] - alone <= 1)
    row("daemon's memory", f"{rss_mib(pid):.1f} MiB")
    for child in children(pid):
        with open(f"/proc/{child}/cmdline") as f:
            name = " ".join(f.read().split("\0")[1:3])
        row(f"  {name}", f"{cpu_s(child):.1f} s of CPU so far, {rss_mib(child):.0f} MiB")


def lend(name, command, must_say, viewer):
    """Runs a command under yield; when are samples there again?"""
    path = os.path.join(OUT, f"yield-{name}.txt")
    before = len(viewer.batches)
    begin = time.time()
    with open(path, "w") as f:
        f.write("$ " + " ".join(command) + "\n")
        f.flush()
        code = subprocess.run([SMEFF, "yield", "--", *command], env=ENV, stdout=f, stderr=subprocess.STDOUT, timeout=150).returncode
    end = time.time()
    time.sleep(6)
    after = [b for b in viewer.batches[before:] if b[1] > end - 0.01]
    inside = [b for b in viewer.batches[before:] if b[1] > begin + 2 and b[2] < end]
    said = open(path, errors="replace").read()
    worked = code == 0 and all(part in said for part in must_say)
    row(f"yield -- {name}", f"exit code {code}, {end - begin:.1f} s" + ("" if worked else f", see {os.path.basename(path)}"), "works", worked)
    if after:
        row("  first sample begins after its end", f"{after[0][1] - end:.2f} s (arrived {after[0][0] - end:.2f} s after)", "within 2 s", after[0][0] - end <= 2)
    else:
        row("  first sample begins after its end", "never", "within 2 s", False)
    row("  samples while it ran", f"{len(inside)} batches", "0", not inside)


def find(*candidates):
    for c in candidates:
        if c and (shutil.which(c) or os.access(c, os.X_OK)):
            return shutil.which(c) or c
    return None


def newest(pattern):
    import glob
    found = sorted(glob.glob(pattern))
    return found[-1] if found else None


def profilers(viewer):
    load = [SMEFF, "load", "gemv", "1"]
    ncu = find(os.environ.get("NCU"), "ncu", newest("/opt/nvidia/nsight-compute/*/ncu"), "/usr/local/cuda/bin/ncu")
    if ncu:
        lend("ncu", [ncu, "--metrics", "sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum", "--launch-skip", "20",
                     "--launch-count", "3", *load], ["dram__bytes_read.sum"], viewer)
        path = os.path.join(OUT, "ncu-without-yield.txt")  # what it is for: without yield ncu fails, or the daemon loses
        with open(path, "w") as f:
            code = subprocess.run([ncu, "--metrics", "dram__bytes_read.sum", "--launch-skip", "20", "--launch-count", "3", *load],
                                  stdout=f, stderr=subprocess.STDOUT, timeout=150).returncode
        row("ncu without yield, for comparison", f"exit code {code}; see {os.path.basename(path)}")
    else:
        row("yield -- ncu", "not run: there is no ncu here")
    nsys = find(os.environ.get("NSYS"), "nsys")
    if nsys:
        base = os.path.join(tempfile.mkdtemp(), "x")
        lend("nsys", [nsys, "profile", "-f", "true", "--trace=none", "--sample=none", "--cpuctxsw=none", "--gpu-metrics-devices=0",
                      "--export=sqlite", "-o", base, "sleep", "1"], [], viewer)
        size = os.path.getsize(base + ".sqlite") if os.path.exists(base + ".sqlite") else 0
        row("  its export", f"{size} bytes", "there", size > 0)
    else:
        row("yield -- nsys", "not run: there is no nsys here")


def attach(pid):
    before = children(pid)
    measured = json.loads(smeff("measure", "3", "--json").stdout)
    row("measure takes the daemon's events", f"no sampler of its own: {children(pid) == before}", "True", children(pid) == before)
    json.dump(measured, open(os.path.join(OUT, "attached.json"), "w"), indent=1)
    smeff("daemon", "pause")
    own = json.loads(smeff("measure", "3", "--own", "--json").stdout)
    smeff("daemon", "resume")
    json.dump(own, open(os.path.join(OUT, "own.json"), "w"), indent=1)
    for key in ("sm_active", "dram_read", "tensor_active", "power"):
        a, b = (m["gpus"][0]["metrics"][key]["value"] for m in (measured, own))
        row(f"  {key}, attached and own", f"{a:.4g} and {b:.4g}", "equal within 3 %", a is not None and b is not None and abs(a - b) <= 0.03 * max(abs(a), abs(b), 0.01))
    a = measured["gpus"][0]["source"]
    row("  coverage, attached", f"{100 * a['coverage']:.1f} % of {a['samples']} samples", "at least 99.5 %", a["coverage"] >= 0.995)


# prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN): what MemoryDenyWriteExecute= of the unit asks for.
MDWE = "import ctypes,os,sys; rc=ctypes.CDLL(None,use_errno=True).prctl(65,1,0,0,0); sys.exit(98) if rc else os.execv(sys.argv[1],sys.argv[1:])"


def hardened():
    done = subprocess.run([sys.executable, "-c", MDWE, SMEFF, "measure", "2", "--own", "--backend", "pm", "--json"], env=ENV, capture_output=True, text=True, timeout=60)
    if done.returncode == 98:
        row("without memory that is writable and executable", "not tried: this kernel has no PR_SET_MDWE")
        return
    row("without memory that is writable and executable", f"exit code {done.returncode} {done.stderr.strip()[:120]}", "0", done.returncode == 0)
    if shutil.which("setpriv"):
        with tempfile.TemporaryDirectory() as home:
            os.chmod(home, 0o777)
            done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--inh-caps=-all", SMEFF, "measure", "2",
                                   "--own", "--backend", "pm", "--json"], env=dict(ENV, HOME=home), capture_output=True, text=True, timeout=60)
            row("as nobody, no_new_privs, no capability", f"exit code {done.returncode} {done.stderr.strip()[:120]}")


def main():
    load = start_load("gemv", 280)
    started = time.monotonic()
    done = smeff("daemon", "start", "--rate", "50")
    row("daemon start", f"{time.monotonic() - started:.2f} s: {done.stdout.strip() or done.stderr.strip()}", "ready", done.returncode == 0)
    pid = json.loads(smeff("daemon", "status", "--json").stdout)["daemon"]["pid"]
    try:
        viewer = Viewer()
        viewer.start()
        time.sleep(3)
        open(os.path.join(OUT, "status.txt"), "w").write(smeff("daemon", "status").stdout)
        profilers(viewer)
        attach(pid)
        viewer.end()
        measure_viewers(pid)
        open(os.path.join(OUT, "status.json"), "w").write(open(os.path.join(RUN, "status.json")).read())
        os.kill(pid, signal.SIGKILL)
        time.sleep(1.5)
        began = time.monotonic()
        done = smeff("daemon", "start", "--rate", "50")
        row("start after kill -9", f"{time.monotonic() - began:.2f} s, exit code {done.returncode}", "0", done.returncode == 0)
        shutil.copy(os.path.join(RUN, "log"), os.path.join(OUT, "log.txt"))
    finally:
        smeff("daemon", "stop")
    hardened()
    load.terminate()
    load.wait(20)
    widths = [max(len(r[i]) for r in rows) for i in range(3)]
    with open(os.path.join(OUT, "table.txt"), "w") as f:
        for r in rows:
            line = "  ".join(c.ljust(w) for c, w in zip(r, widths)) + "  " + r[3]
            print(line.rstrip())
            f.write(line.rstrip() + "\n")
    shutil.rmtree(RUN, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
