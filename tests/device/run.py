#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks that need a real GPU. usage: run.py SMEFF FOLDER [CHECK...]; see run.sh."""
import json
import os
import signal
import subprocess
import sys
import time

import reader

smeff, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))
rows = []


def row(check, value, limit, ok):
    rows.append((check, value, limit, "pass" if ok else "FAIL"))
    print(f"  {check:58s} {value:>22s}   {limit:24s} {'pass' if ok else 'FAIL'}", flush=True)


def text(number):
    return "none" if number is None else f"{number:.3f}"


def start_load(kind, seconds, device=0):
    load = subprocess.Popen([sys.executable, f"{here}/loads.py", kind, str(seconds), str(device)], stdout=subprocess.PIPE, text=True)
    if kind != "idle":
        time.sleep(8)
    return load


def end_load(load):
    load.send_signal(signal.SIGKILL) if load.poll() is None else None
    load.wait()


def keep(name, result):
    """Raw numbers, so that the table can be checked."""
    raw = {k: v for k, v in result.items() if k != "sources"}
    raw["sources"] = {f"{s} gpu{g}": {"samples": len(x.t1), "coverage": x.coverage(), "gaps": x.gaps(),
                                      "age_ms": {q: 1e3 * reader.quantile(x.ages, q) for q in (0.5, 0.99, 1.0)},
                                      "oldest_ms": {q: 1e3 * reader.quantile(x.oldest, q) for q in (0.5, 0.99, 1.0)},
                                      "mean": {k: x.mean(k) for k in x.values},
                                      "max": {k: max((v for v in x.values[k] if v is not None), default=None) for k in x.values}}
                      for (s, g), x in result["sources"].items()}
    with open(f"{folder}/{name}.json", "w") as f:
        json.dump(raw, f, indent=1)


def check_steady():
    load = start_load("decode", 170)
    result = reader.measure(smeff, 60, ["--backend", "auto"], settle=20)
    keep("decode-50hz-60s", result)
    pm = result["sources"].get(("pm", 0), reader.Series())
    row("first value after start", f"{text(result['first_value_s'])} s", "<= 1.2 s", (result["first_value_s"] or 9) <= 1.2)
    row("50 Hz, 60 s: coverage", f"{100 * pm.coverage():.2f} %", ">= 99.5 %", pm.coverage() >= 0.995)
    oldest = reader.quantile(pm.oldest, 0.99)
    row("50 Hz: newest sample at the reader, p99 of the worst moments", f"{1e3 * oldest:.0f} ms", "<= 150 ms", oldest <= 0.150)
    row("50 Hz: CPU of all processes", f"{100 * result['cpu_total']:.2f} % of a core", "<= 2.0 %", result["cpu_total"] <= 0.02)
    row("50 Hz: CPU seconds of the first 20 s, the start included", f"{sum(result['cpu_until_settled_s'].values()):.2f} s", "(told)", True)
    row("50 Hz: memory of the parent", f"{result['parent_rss_mib']:.1f} MiB", "<= 12 MiB", result["parent_rss_mib"] <= 12)
    result = reader.measure(smeff, 60, ["--backend", "auto", "--rate", "1000"])
    keep("decode-1khz-60s", result)
    pm = result["sources"].get(("pm", 0), reader.Series())
    overflow = [n for n in result["notes"] if "overflow" in n]
    row("1 kHz, 60 s: samples a second", f"{len(pm.t1) / result['wall_s']:.1f}", ">= 990", len(pm.t1) / result["wall_s"] >= 990)
    row("1 kHz: overflows", str(len(overflow)), "0", not overflow)
    row("1 kHz: CPU of all processes", f"{100 * result['cpu_total']:.2f} % of a core", "<= 12 %", result["cpu_total"] <= 0.12)
    end_load(load)


def check_burst():
    load = start_load("decode", 30)
    result = reader.measure(smeff, 5, ["--backend", "pm", "--rate", "10000"])
    keep("decode-10khz-5s", result)
    pm = result["sources"].get(("pm", 0), reader.Series())
    row("10 kHz, 5 s: samples a second", f"{len(pm.t1) / result['wall_s']:.0f}", ">= 9000", len(pm.t1) / result["wall_s"] >= 9000)
    row("10 kHz: overflows", str(sum("overflow" in n for n in result["notes"])), "0", not any("overflow" in n for n in result["notes"]))
    end_load(load)


def check_agreement():
    """pm against the second source, at the same time, on four loads."""
    keys = ["gr_active", "sm_active", "occupancy", "tensor_active", "dram_throughput"]
    for kind in ("decode", "matmul", "copy", "idle"):
        load = start_load(kind, 30)
        result = reader.measure(smeff, 12, ["--backend", "auto", "--metric", "dram_throughput"])
        keep(f"agreement-{kind}", result)
        pm, gpm = (result["sources"].get((s, 0), reader.Series()) for s in ("pm", "gpm"))
        for key in keys:
            a, b = pm.mean(key), gpm.mean(key)
            known = a is not None and b is not None
            row(f"{kind}: {key}, pm against gpm", f"{a:.4f} / {b:.4f}" if known else f"{a} / {b}", "within 0.01", known and abs(a - b) <= 0.01)
        end_load(load)


def check_kill():
    load = start_load("decode", 40)
    stream = reader.Stream(smeff, ["--backend", "pm"])
    for now, event in stream.events(time.time() + 15):
        if event["event"] == "samples" and event["source"] == "pm":
            break
    victim = next(p for p in stream.pids() if "sampler pm" in reader.name_of(p))
    killed = time.time()
    os.kill(victim, signal.SIGKILL)
    back, notes = None, []
    for now, event in stream.events(time.time() + 10):
        if event["event"] == "note":
            notes.append(event["text"])
        if event["event"] == "samples" and event["source"] == "pm" and event["t1_ns"][-1] * 1e-9 > killed + 0.2:
            back = now - killed
            break
    stream.close()
    row("kill -9 of a sampler: stream resumes after", f"{text(back)} s", "<= 2 s", back is not None and back <= 2)
    row("and says why", "yes" if any("killed by signal 9" in n for n in notes) else "no", "yes", any("killed by signal 9" in n for n in notes))
    end_load(load)


def code_of(*arguments, timeout=40):
    done = subprocess.run([smeff, *arguments], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stderr.strip().replace("\n", " | ")


def check_faults():
    holder = subprocess.Popen([smeff, "stream", "--backend", "pm"], stdout=subprocess.DEVNULL)
    time.sleep(3)
    code, text = code_of("measure", "1", "--backend", "pm")
    row("counters held by another process: --backend pm", f"exit {code}", "exit 5", code == 5)
    print("    ", text)
    code, text = code_of("measure", "3", "--json")
    row("counters held by another process: auto uses gpm", f"exit {code}", "exit 0", code == 0)
    holder.terminate()
    holder.wait()
    for arguments, expected in ((["--gpu", "7"], 3), (["--rate", "0"], 2), (["--rate", "1e9"], 2), (["--cupti", "/nowhere", "--backend", "pm"], 1)):
        code, text = code_of("measure", "1", *arguments)
        row(f"measure {' '.join(arguments)}", f"exit {code}", f"exit {expected}", code == expected)
        print("    ", text)
    code, _ = code_of("measure", "--", "sh", "-c", "exit 9")
    row("measure -- COMMAND passes the exit code", f"exit {code}", "exit 9", code == 9)
    left = subprocess.run(["pgrep", "-f", "sampler"], capture_output=True, text=True).stdout.split()
    row("processes left behind", str(len(left)), "0", not left)


def check_nsys():
    """Another user of the counters, as people have them: Nsight Systems. $NSYS names its program."""
    nsys = os.environ.get("NSYS")
    if not nsys:
        print("  (NSYS is not set: Nsight Systems as the holder of the counters not checked)")
        return
    profile = [nsys, "profile", "-f", "true", "--trace=none", "--sample=none", "--cpuctxsw=none", "--gpu-metrics-devices=0",
               "--gpu-metrics-frequency=50", "-o", f"{folder}/capture"]
    holder = subprocess.Popen([*profile, "sleep", "15"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(5)
    code, said = code_of("measure", "1", "--backend", "pm")
    row("counters held by nsys: --backend pm", f"exit {code}", "exit 5", code == 5)
    print("    ", said)
    done = subprocess.run([smeff, "doctor", "--no-color"], capture_output=True, text=True, timeout=60)
    row("counters held by nsys: doctor", "says busy" if "another program holds" in done.stdout else "?", "says busy (GPM still reads)",
        "another program holds" in done.stdout and done.returncode == 0)
    print("     " + done.stdout.replace("\n", "\n     "))
    done = subprocess.run([smeff, "measure", "3", "--json"], capture_output=True, text=True, timeout=40)
    gpu = json.loads(done.stdout)["gpus"][0]
    row("counters held by nsys: auto uses", gpu["source"]["backend"], "gpm", gpu["source"]["backend"] == "gpm")
    stream = reader.Stream(smeff, [])
    free, back = None, None
    for now, event in stream.events(time.time() + 40):
        free = free or (now if holder.poll() is not None else None)
        if event["event"] == "samples" and event["source"] == "pm":
            back = now
            break
    row("nsys has ended: pm delivers after", f"{text(back - free) if back and free else 'never'} s", "(told)", bool(back))
    done = subprocess.run([*profile, "sleep", "2"], capture_output=True, text=True, timeout=60)
    print("     nsys while smeff samples:", (done.stdout + done.stderr).strip().replace("\n", " | ")[:400])
    stream.close()


def check_two():
    count = int(subprocess.run("nvidia-smi -L | wc -l", shell=True, capture_output=True, text=True).stdout)
    if count < 2:
        print("  (one GPU only: several GPUs not checked)")
        return
    load = start_load("decode", 60, 1)
    result = reader.measure(smeff, 20, ["--backend", "auto"])
    keep("two-gpus", result)
    for gpu, kind in ((0, "idle"), (1, "decode")):
        pm = result["sources"].get(("pm", gpu), reader.Series())
        row(f"GPU {gpu} ({kind}): dram_read, coverage", f"{text(pm.mean('dram_read'))}, {100 * pm.coverage():.2f} %", "own values, >= 99.5 %",
            pm.coverage() >= 0.995 and ((pm.mean("dram_read") or 0) > 0.5) == (gpu == 1))
    row("two GPUs, 50 Hz: CPU of all processes", f"{100 * result['cpu_total']:.2f} % of a core", "(told)", True)
    end_load(load)
    load = start_load("peer", 20, 1)
    result = reader.measure(smeff, 6, ["--backend", "pm", "--set", "wide"])
    keep("peer-copy", result)
    copied = float(load.communicate()[0].split()[1])
    for gpu, key in ((0, "nvlink_tx"), (1, "nvlink_rx")):
        rate = result["sources"].get(("pm", gpu), reader.Series()).mean(key)
        row(f"GPU 0 to GPU 1: {key} of GPU {gpu} per byte copied", f"{(rate or 0) / copied:.3f}", "0.98 to 1.02",
            rate is not None and 0.98 <= rate / copied <= 1.02)


def check_heavy():
    """The costly counter: right with its incomplete samples held back, and what it costs."""
    for kind in ("decode", "matmul"):
        load = start_load(kind, 40)
        light = reader.measure(smeff, 8, ["--backend", "pm"])
        heavy = reader.measure(smeff, 8, ["--backend", "pm", "--metric", "sm_throughput"])
        keep(f"heavy-{kind}", heavy)
        a, b = light["sources"].get(("pm", 0), reader.Series()), heavy["sources"].get(("pm", 0), reader.Series())
        for key in ("sm_active", "tensor_active"):
            row(f"{kind}: {key} beside sm_throughput", f"{text(a.mean(key))} / {text(b.mean(key))}", "within 0.01",
                a.mean(key) is not None and b.mean(key) is not None and abs(a.mean(key) - b.mean(key)) <= 0.01)
        top = max((v for v in b.values.get("sm_throughput", []) if v is not None), default=0)
        row(f"{kind}: sm_throughput mean, max", f"{text(b.mean('sm_throughput'))}, {top:.4f}", "max <= 1", 0 < top <= 1.0)
        row(f"{kind}: CPU with sm_throughput, coverage", f"{100 * heavy['cpu_total']:.1f} %, {100 * b.coverage():.2f} %", "(told)", True)
        end_load(load)


checks = {"steady": check_steady, "burst": check_burst, "agreement": check_agreement, "kill": check_kill, "faults": check_faults,
          "heavy": check_heavy, "nsys": check_nsys, "two": check_two}
for name in wanted or checks:
    print(name, flush=True)
    checks[name]()
with open(f"{folder}/table.txt", "w") as f:
    for r in rows:
        f.write(f"{r[0]:58s} {r[1]:>22s}   {r[2]:24s} {r[3]}\n")
failed = sum(r[3] != "pass" for r in rows)
print(f"{len(rows) - failed} passed, {failed} failed")
sys.exit(failed > 0)
