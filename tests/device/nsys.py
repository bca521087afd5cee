#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What nsys as a live source gives and costs, beside PM sampling. usage: nsys.py SMEFF FOLDER [NSYS]; see nsys.sh."""
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

smeff, folder = sys.argv[1], sys.argv[2]
nsys = ["--nsys", sys.argv[3]] if len(sys.argv) > 3 else []
environment = dict(os.environ, SMEFF_SERVER="none")
rows = []


def row(check, value, limit, ok):
    rows.append((check, value, limit, "pass" if ok else "FAIL"))
    print(f"  {check:52s} {value:>24s}   {limit:20s} {'pass' if ok else 'FAIL'}", flush=True)


def start_load(seconds):
    load = subprocess.Popen([smeff, "load", "gemv", str(seconds), "--gpu", "0", "--json"], stdout=subprocess.PIPE, text=True)
    load.stdout.readline()  # load_begin: it runs steadily
    return load


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)


def run(arguments, limit, name):
    """Exit code, standard output, standard error."""
    try:
        p = subprocess.run([smeff] + arguments, capture_output=True, text=True, timeout=limit, env=environment)
        code, out, err = p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired as e:
        code, out, err = 124, (e.stdout or b"").decode(), (e.stderr or b"").decode()
    with open(f"{folder}/{name}.txt", "w") as f:
        f.write(f"$ smeff {' '.join(arguments)}\n{out}{err}exit code {code}\n")
    return code, out, err


def stream(seconds, arguments, name):
    """Samples (start, end) in ns of one source, in order; notes; CPU seconds of the whole tree per minute."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    with open(f"{folder}/{name}.jsonl", "w") as out:
        p = subprocess.Popen([smeff, "stream", "--gpu", "0"] + arguments, stdout=out, stderr=subprocess.DEVNULL, env=environment)
        try:
            p.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGINT)
            p.wait(timeout=20)
    elapsed = time.monotonic() - begin
    # everything that smeff starts is waited for by what started it, so that its time is in here
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    samples, notes, source = [], [], arguments[1]
    with open(f"{folder}/{name}.jsonl") as lines:
        for line in lines:
            e = json.loads(line)
            if e["event"] == "samples" and e["source"] == source:
                samples += zip(e["t0_ns"], e["t1_ns"])
            if e["event"] == "note" and e["level"] != "info":
                notes.append(e["text"])
    os.remove(f"{folder}/{name}.jsonl")
    return samples, notes, 60 * cpu / elapsed


def windows(samples):
    """Stretches without a gap."""
    found = []
    for t0, t1 in samples:
        if found and t0 - found[-1][1] < 1_000_000:
            found[-1][1] = t1
        else:
            found.append([t0, t1])
    return found


def mean_distance(ends):
    return (ends[-1] - ends[0]) / 1e9 / (len(ends) - 1) if len(ends) > 1 else float("inf")


def coverage(samples):
    return sum(t1 - t0 for t0, t1 in samples) / (samples[-1][1] - samples[0][0]) if samples else 0


def check_relay():
    load = start_load(130)
    samples, notes, cpu = stream(90, ["--backend", "nsys"] + nsys, "relay")
    end(load)
    w = windows(samples)
    ends = [x[1] for x in w]
    steps = [(b - a) / 1e9 for a, b in zip(ends, ends[1:])]
    row("nsys: windows in 90 s", str(len(w)), "(told)", len(w) > 0)
    row("nsys: mean distance between points (window ends)", f"{mean_distance(ends):.2f} s", "<= 4.5 s", mean_distance(ends) <= 4.5)
    row("nsys: longest distance", f"{max(steps, default=float('inf')):.2f} s", "(told)", True)
    row("nsys: coverage", f"{100 * coverage(samples):.1f} %", "(told)", True)
    row("nsys: CPU seconds per minute, the start included", f"{cpu:.2f}", "(told)", True)
    row("nsys: complaints", str(len(notes)), "0", not notes)
    with open(f"{folder}/relay.json", "w") as f:
        json.dump({"windows_ns": w, "distances_s": steps, "coverage": coverage(samples), "cpu_s_per_minute": cpu, "notes": notes}, f, indent=1)


def check_pm():
    load = start_load(100)
    samples, notes, cpu = stream(60, ["--backend", "pm", "--rate", "50"], "pm")
    end(load)
    ends = [t1 for _, t1 in samples]
    row("pm: mean distance between points", f"{1e3 * mean_distance(ends):.2f} ms", "20 ms", 19.5 <= 1e3 * mean_distance(ends) <= 20.5)
    row("pm: coverage", f"{100 * coverage(samples):.2f} %", ">= 99.5 %", coverage(samples) >= 0.995)
    row("pm: CPU seconds per minute, the start included", f"{cpu:.2f}", "(told)", True)
    with open(f"{folder}/pm.json", "w") as f:
        json.dump({"samples": len(samples), "distance_s": mean_distance(ends), "coverage": coverage(samples), "cpu_s_per_minute": cpu, "notes": notes}, f, indent=1)


def secrets():
    """What a file that is shared must not tell: words of this machine."""
    names = {socket.gethostname(), os.environ.get("USER") or "root", os.path.expanduser("~")}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                names.add(f.read().strip())
        except OSError:
            pass
    names |= {"PATH=", "LD_LIBRARY_PATH", "HOME=", "/tmp/", "/opt/", "/usr/", "/bin/sh", "sleep"}
    return {n for n in names if len(n) >= 2}


def check_measure():
    run_folder = f"{folder}/measure-nsys"
    shutil.rmtree(run_folder, ignore_errors=True)
    load = start_load(40)
    code, out, _ = run(["measure", "3", "--backend", "nsys", "--gpu", "0", "--out", run_folder, "--json"] + nsys, 60, "measure")
    row("measure 3: exit code", str(code), "0", code == 0)
    gpu = json.loads(out)["gpus"][0] if code == 0 else {"source": {}, "metrics": {}}
    cover = gpu["source"].get("coverage") or 0
    row("measure 3: coverage", f"{100 * cover:.1f} %", "100 %", cover >= 0.999)
    code, out, _ = run(["measure", "3", "--backend", "pm", "--gpu", "0", "--json"], 40, "measure-pm")
    end(load)
    pm = json.loads(out)["gpus"][0]["metrics"] if code == 0 else {}
    for key in ("gr_active", "sm_active", "tensor_active", "dram_read"):
        a, b = (m.get(key, {}).get("value") for m in (gpu["metrics"], pm))
        ok = a is not None and b is not None and abs(a - b) <= 0.02
        row(f"{key}: nsys and pm, one after the other", f"{a} {b}"[:24], "within 2 points", ok)
    shared = f"{run_folder}/nsys-1-shared.sqlite"
    data = open(shared, "rb").read() if os.path.exists(shared) else b""
    told = sorted(n for n in secrets() if re.search(rb"(?<![A-Za-z0-9_])" + re.escape(n.encode()) + rb"(?![A-Za-z0-9_])", data))
    row("the file to be shared: bytes", str(len(data)), "> 0", len(data) > 0)
    row("the file to be shared: names of this machine in it", " ".join(told)[:24] or "none", "none", data and not told)
    report = f"{run_folder}/nsys-1.nsys-rep"
    code, out, err = run(["analyze", report, "--json"] + nsys, 60, "analyze")
    again = json.loads(out)["gpus"][0]["metrics"]["sm_active"]["value"] if code == 0 else None
    first = gpu["metrics"].get("sm_active", {}).get("value")
    row("analyze nsys-1.nsys-rep: sm_active again", f"{again} {first}"[:24], "within half a point", again is not None and abs(again - (first or 9)) < 0.005)
    # the raw report holds names of the whole machine: not for publication
    for name in ("nsys-1.nsys-rep", "nsys-1.sqlite"):
        if os.path.exists(f"{run_folder}/{name}"):
            os.remove(f"{run_folder}/{name}")


def check_busy():
    p = subprocess.Popen([smeff, "stream", "--backend", "pm", "--gpu", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    for line in p.stdout:
        if '"event":"samples"' in line and '"source":"pm"' in line:
            break
    drain = subprocess.Popen(["cat"], stdin=p.stdout, stdout=subprocess.DEVNULL)
    code, _, err = run(["measure", "2", "--backend", "nsys", "--gpu", "0"] + nsys, 60, "busy")
    end(p)
    drain.wait(timeout=20)
    row("beside pm: exit code of measure --backend nsys", str(code), "5", code == 5)
    row("beside pm: reason", "given" if "another program holds" in err else (err.strip()[:24] or "none"), "given", "another program holds" in err)


def check_nothing_left():
    tmp = os.environ.get("TMPDIR", "/tmp")
    left = [n for n in os.listdir(tmp) if n.startswith("smeff-nsys-")]
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    children = [line for line in running.splitlines() if "nsys" in line and ("profile" in line or "agent" in line) and "nsys.py" not in line and "nsys.sh" not in line]
    row("temporary folders left", str(len(left)), "0", not left)
    row("processes of nsys left", str(len(children)), "0", not children)


run(["doctor"] + nsys, 60, "doctor")
for check in (check_relay, check_pm, check_measure, check_busy, check_nothing_left):
    check()
with open(f"{folder}/table.txt", "w") as f:
    for r in rows:
        f.write(f"{r[0]:52s} {r[1]:>24s}   {r[2]:20s} {r[3]}\n")
print()
print(open(f"{folder}/table.txt").read(), end="")
sys.exit(any(r[3] == "FAIL" for r in rows))
