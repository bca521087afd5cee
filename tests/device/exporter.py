#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a daemon's HTTP side says of a real GPU, against smeff measure and the driver.

usage: SMEFF=path exporter.py OUTPUT_FOLDER

A daemon runs with --listen and --dcgm-listen. Under three loads two scrapes are taken, 20 s apart, and meanwhile `smeff measure`
and nvidia-smi look at the same seconds: what the counters grew by, divided by the measured time, has to be the mean. Also: what
one event stream and a scrape a second cost, DCGM's names, and that the HTTP process has no privilege.
Exit code: 0, 1 when something is off, 77 when this machine cannot."""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

SMEFF = os.environ["SMEFF"]
HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/exporter")
NATIVE, DCGM = "http://127.0.0.1:19400", "http://127.0.0.1:19401"
ROWS, BAD = [], []


def row(what, value, wanted, ok):
    ROWS.append(f"{'ok ' if ok else 'BAD'}  {what:62} {value:>26}   {wanted}")
    print(ROWS[-1], flush=True)
    if not ok:
        BAD.append(what)


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=5) as r:
        return r.read()


def series(text):
    out = {}
    for line in text.decode().splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            out[name] = float(value)
    return out


def of_gpu0(metrics, name, **labels):
    for key, v in metrics.items():
        if key.split("{")[0] == name and 'gpu="0"' in key and all(f'{k}="{x}"' in key for k, x in labels.items()):
            return v
    return None


def grown(a, b, key, metric=None):
    """What a counter grew by over the measured time of its metric."""
    metric = metric or key
    done = of_gpu0(b, f"smeff_{key}_total") - of_gpu0(a, f"smeff_{key}_total")
    return done, of_gpu0(b, "smeff_measured_seconds_total", metric=metric) - of_gpu0(a, "smeff_measured_seconds_total", metric=metric)


def cpu_s(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def process_with(words, parent):
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (p / "cmdline").read_bytes().split(b"\0")
            if line[1:2] == [words] and int((p / "stat").read_text().rsplit(")", 1)[1].split()[1]) == parent:
                return int(p.name)
        except (OSError, IndexError, ValueError):
            continue
    return None


class Smi:
    """nvidia-smi each 0.5 s."""

    def __init__(self):
        self.p = subprocess.Popen(["nvidia-smi", "-i", "0", "--query-gpu=utilization.gpu,power.draw,memory.used", "--format=csv,noheader,nounits", "-lms", "500"],
                                  stdout=subprocess.PIPE, text=True)

    def end(self):
        self.p.terminate()
        lines = [list(map(float, x.split(","))) for x in self.p.communicate()[0].splitlines() if x.count(",") == 2 and "N/A" not in x]
        return [statistics.mean(c) for c in zip(*lines)]


def under_load(name, command, seconds):
    work = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(8)
    smi = Smi()
    a = series(get(NATIVE + "/metrics"))
    measured = json.loads(subprocess.run([SMEFF, "measure", str(seconds), "--json", "--server", "none"], capture_output=True, check=True).stdout)["gpus"][0]
    text = get(NATIVE + "/metrics")
    b = series(text)
    util, power, used = smi.end()
    (OUT / f"metrics-{name}.prom").write_bytes(re.sub(rb"GPU-[0-9a-f-]{36}", b"GPU-00000000-0000-0000-0000-000000000000", text))
    for key in ("gr_active", "sm_active", "sm_issue", "tensor_active", "dram_read", "occupancy"):
        done, took = grown(a, b, key + "_seconds", key)
        want = measured["metrics"][key]["value"]
        row(f"{name}: {key}, from two scrapes", f"{100 * done / took:.2f} %", f"{100 * want:.2f} % by measure (±0.5)", abs(done / took - want) < 0.005)
    done, took = grown(a, b, "dram_read_bytes", "dram_read_bytes")
    want = measured["metrics"]["dram_read_bytes"]["value"]
    row(f"{name}: bytes read, from two scrapes", f"{done / took:.4g} B/s", f"{want:.4g} B/s by measure (±1 %)", abs(done / took - want) <= 0.01 * want + 1e6)
    row(f"{name}: measured time between the scrapes", f"{took:.2f} s", f"{seconds} s and what the command took", seconds - 1 < took < seconds + 6)
    done, took = grown(a, b, "gpu_util_seconds", "gpu_util")
    row(f"{name}: GPU-Util, from two scrapes", f"{100 * done / took:.1f} %", f"{util:.1f} % by nvidia-smi (±4)", abs(100 * done / took - util) < 4)
    joules = of_gpu0(b, "smeff_energy_joules_total") - of_gpu0(a, "smeff_energy_joules_total")
    row(f"{name}: energy over the time of its readings", f"{joules:.0f} J", f"{power:.0f} W by nvidia-smi", joules > 0)
    verdict = [k for k in b if k.startswith("smeff_verdict{") and b[k] == 1]
    row(f"{name}: verdict", re.search('verdict="([a-z_]*)"', verdict[0]).group(1), "one of the set", len(verdict) == 1)
    d = series(get(DCGM + "/metrics"))
    row(f"{name}: DCGM_FI_DEV_POWER_USAGE", f"{of_gpu0(d, 'DCGM_FI_DEV_POWER_USAGE'):.0f} W", f"{power:.0f} W by nvidia-smi (±15 %)", abs(of_gpu0(d, "DCGM_FI_DEV_POWER_USAGE") - power) < 0.15 * power + 20)
    row(f"{name}: DCGM_FI_PROF_SM_ACTIVE", f"{100 * of_gpu0(d, 'DCGM_FI_PROF_SM_ACTIVE'):.1f} %", "the native gauge (±5)",
        abs(of_gpu0(d, "DCGM_FI_PROF_SM_ACTIVE") - of_gpu0(b, "smeff_sm_active_ratio")) < 0.05)
    row(f"{name}: DCGM_FI_DEV_FB_USED", f"{of_gpu0(d, 'DCGM_FI_DEV_FB_USED'):.0f} MiB", f"{used:.0f} MiB by nvidia-smi (±64)", abs(of_gpu0(d, "DCGM_FI_DEV_FB_USED") - used) < 64)
    (OUT / f"dcgm-{name}.prom").write_bytes(re.sub(rb"GPU-[0-9a-f-]{36}", b"GPU-00000000-0000-0000-0000-000000000000", get(DCGM + "/metrics")))
    work.terminate()
    work.wait()


def events(seconds, frames):
    """Reads the event stream, and gathers the frames' SM active."""
    end = time.monotonic() + seconds
    with urllib.request.urlopen(NATIVE + "/events?hz=10", timeout=5) as r:
        kind = ""
        while time.monotonic() < end:
            line = r.readline().decode().strip()
            if line.startswith("event:"):
                kind = line[6:].strip()
            elif line.startswith("data:") and kind == "frame":
                frames.append(json.loads(line[5:]))


def costs(daemon):
    http = process_with(b"http", daemon)
    row("the HTTP process", str(http), "there", http is not None)
    status = pathlib.Path(f"/proc/{http}/status").read_text()
    row("its capabilities", re.search(r"CapEff:\s*(\w+)", status).group(1), "0", int(re.search(r"CapEff:\s*(\w+)", status).group(1), 16) == 0)
    row("its user", re.search(r"Uid:\s*(\d+)", status).group(1), "not root", re.search(r"Uid:\s*(\d+)", status).group(1) != "0")
    maps = pathlib.Path(f"/proc/{http}/maps").read_text()
    row("libraries of NVIDIA in it", str("nvidia" in maps or "cupti" in maps), "False", "nvidia" not in maps and "cupti" not in maps)
    frames = []
    reader = threading.Thread(target=events, args=(20, frames))
    before = cpu_s(http), cpu_s(daemon), time.monotonic()
    reader.start()
    sizes = []
    for _ in range(20):
        sizes.append((len(get(NATIVE + "/metrics")), len(get(NATIVE + "/metrics", **{"Accept-Encoding": "gzip"}))))
        time.sleep(1)
    reader.join()
    took = time.monotonic() - before[2]
    # a frame in which nothing came is not sent, and the counters come about seven times a second
    row("frames of one event stream at 10 Hz in 20 s", str(len(frames)), "130 to 210", 130 <= len(frames) <= 210)
    row("CPU of the HTTP process: a stream and two scrapes a second", f"{100 * (cpu_s(http) - before[0]) / took:.2f} %", "-", True)
    row("CPU of the daemon meanwhile", f"{100 * (cpu_s(daemon) - before[1]) / took:.2f} %", "-", True)
    resident = int(re.search(r"VmRSS:\s*(\d+)", pathlib.Path(f"/proc/{http}/status").read_text()).group(1))
    row("memory of the HTTP process", f"{resident / 1024:.1f} MiB", "-", True)
    row("bytes of a scrape, plain and gzip", f"{sizes[-1][0]}, {sizes[-1][1]}", "-", True)
    page = get(NATIVE + "/")
    row("the page", f"{len(page)} bytes", "< 100 KB", 1000 < len(page) < 100000)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "environment.txt").write_text(subprocess.run("nvidia-smi --query-gpu=name,driver_version --format=csv; uname -sr; " + SMEFF + " --version",
                                                        shell=True, capture_output=True, text=True, check=False).stdout)
    log = open(OUT / "daemon.log", "w")
    daemon = subprocess.Popen([SMEFF, "daemon", "run", "--listen", "127.0.0.1:19400", "--dcgm-listen", "127.0.0.1:19401", "--server", "none"], stderr=log)
    try:
        begin = time.monotonic()
        while time.monotonic() - begin < 30:
            try:
                if get(NATIVE + "/healthz").strip() == b"ok":
                    break
            except OSError:
                time.sleep(0.1)
        row("from the start to /healthz ok", f"{time.monotonic() - begin:.2f} s", "< 30 s", time.monotonic() - begin < 30)
        time.sleep(3)
        under_load("decode", [sys.executable, HERE / "loads.py", "decode", "60"], 20)
        under_load("matmul", [sys.executable, HERE / "loads.py", "matmul", "60"], 20)
        under_load("bursty", [SMEFF, "load", "duty:30", "60"], 20)
        costs(daemon.pid)
    finally:
        daemon.terminate()
        daemon.wait()
    (OUT / "table.txt").write_text("\n".join(ROWS) + "\n")
    return 1 if BAD else 0


sys.exit(main())
