#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real decoding loop on a GPU that shows its own numbers as vLLM does, and what smeff makes of both.

usage: SMEFF=path serving.py OUTPUT_FOLDER [--cpu]

A child process decodes with batch 1 (a CUDA graph of linear layers over 2.7 GB of bf16 weights; one token a step) and serves
/metrics at a port that inference servers use, from what it measures itself. Three phases: one stream runs; nothing runs; the
KV cache is full and others wait. In each, smeff has to find the server by itself, and its numbers are compared with the loop's
own count. --cpu: without PyTorch, a token each 5 ms, nothing about the GPU is checked. Only one GPU is used.
Exit code: 0, 1 when something is off, 77 when this machine cannot."""
import bisect
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

PORTS = [8000, 30000, 8080, 23333, 1234, 2242]
LAYERS, WIDTH, BYTES = 20, 8192, 2
WEIGHTS = LAYERS * WIDTH * WIDTH * BYTES
MODEL = "toy/decode"
CAPACITY = 16384  # tokens of the KV cache that the loop's scheduler keeps account of
LIFE_S = 240  # the child ends by itself


# ---- the child ----

class Histogram:
    def __init__(self, bounds):
        self.bounds, self.counts, self.sum = bounds, [0] * (len(bounds) + 1), 0.0

    def observe(self, v):
        self.counts[bisect.bisect_left(self.bounds, v)] += 1
        self.sum += v

    def lines(self, name, labels):
        total = 0
        for bound, n in zip([*map(str, self.bounds), "+Inf"], self.counts):
            total += n
            yield f'{name}_bucket{{{labels},le="{bound}"}} {total}'
        yield f"{name}_count{{{labels}}} {total}"
        yield f"{name}_sum{{{labels}}} {self.sum!r}"


class Loop:
    """The scheduler and its counts: a request reserves its part of the cache, and waits when there is none."""

    def __init__(self, step):
        self.step, self.lock, self.change = step, threading.Lock(), threading.Condition()
        self.tokens = self.prompt = self.reserved = self.waiting = 0
        self.running = False
        self.arrived = None
        self.between = Histogram([0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0])
        self.first = Histogram([0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0])
        self.started = time.time()

    def set_phase(self, phase):
        with self.change:
            reserve, others = {"one": (CAPACITY // 8, 0), "idle": (0, 0), "full": (CAPACITY, 4)}[phase]
            with self.lock:
                if reserve:
                    self.arrived = time.perf_counter()
                    self.prompt += 1
                self.running, self.reserved = reserve > 0, reserve
                # a request wants an eighth of the cache: it waits when that is not free
                self.waiting = others if CAPACITY - reserve < CAPACITY // 8 else 0
            self.change.notify()

    def run(self):
        last = None
        while True:
            with self.change:
                while not self.running:
                    last = None
                    self.change.wait()
            self.step()
            now = time.perf_counter()
            with self.lock:
                self.tokens += 1
                if self.arrived is not None:
                    self.first.observe(now - self.arrived)
                    self.arrived = None
                elif last is not None:
                    self.between.observe(now - last)
            last = now

    def text(self):
        labels = f'engine="0",model_name="{MODEL}"'
        with self.lock:
            values = [("gauge", "num_requests_running", int(self.running)), ("gauge", "num_requests_waiting", self.waiting),
                      ("gauge", "kv_cache_usage_perc", self.reserved / CAPACITY), ("counter", "prompt_tokens_total", self.prompt),
                      ("counter", "generation_tokens_total", self.tokens)]
            lines = [f"# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {self.started!r}"]
            lines += [f"# TYPE vllm:{n} {kind}\nvllm:{n}{{{labels}}} {float(v)!r}" for kind, n, v in values]
            for name, h in (("inter_token_latency_seconds", self.between), ("time_to_first_token_seconds", self.first)):
                lines += [f"# TYPE vllm:{name} histogram", *h.lines("vllm:" + name, labels)]
        return "\n".join(lines) + "\n"


def make_step():
    """One token: every weight is read once."""
    import torch
    torch.cuda.set_device(0)
    weights = [torch.randn(WIDTH, WIDTH, device="cuda", dtype=torch.bfloat16) / WIDTH ** 0.5 for _ in range(LAYERS)]
    x = torch.randn(1, WIDTH, device="cuda", dtype=torch.bfloat16)

    def layers():
        y = x
        for w in weights:
            y = torch.nn.functional.linear(y, w)
        return y

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            layers()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        layers()

    def step():
        graph.replay()
        torch.cuda.synchronize()

    step.keep = (weights, x)  # the graph does not hold them
    for _ in range(20):
        step()
    return step


def serve(cpu):
    threading.Thread(target=lambda: (time.sleep(LIFE_S), os._exit(3)), daemon=True).start()
    loop = Loop((lambda: time.sleep(0.005)) if cpu else make_step())

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version, timeout = "HTTP/1.1", 30

        def do_GET(self):
            content = loop.text().encode() if self.path == "/metrics" else b""
            self.send_response(200 if content else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = None
    for port in PORTS:
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
            break
        except OSError:
            continue
    if not server:
        sys.exit("every usual port is taken")
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=loop.run, daemon=True).start()
    say = threading.Lock()

    def tell(**what):
        with say:
            print(json.dumps(what), flush=True)

    def count():
        while True:
            with loop.lock:
                tokens, total, n = loop.tokens, loop.between.sum, sum(loop.between.counts)
            tell(t=time.time(), tokens=tokens, between_s=total, between_n=n)
            time.sleep(0.05)

    tell(port=server.server_port)
    threading.Thread(target=count, daemon=True).start()
    for line in sys.stdin:  # ends with the parent
        loop.set_phase(line.strip())
    os._exit(0)


# ---- what came of it ----

class Child:
    def __init__(self, cpu, out):
        self.log = open(out / "server.err", "w")
        self.process = subprocess.Popen([sys.executable, __file__, "--serve"] + (["--cpu"] if cpu else []), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.port, self.counts, self.lock = None, [], threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()
        until = time.time() + 120
        while self.port is None and self.process.poll() is None and time.time() < until:
            time.sleep(0.05)

    def read(self):
        for line in self.process.stdout:
            told = json.loads(line)
            if "port" in told:
                self.port = told["port"]
            else:
                with self.lock:
                    self.counts.append(told)

    def set_phase(self, phase):
        self.process.stdin.write(phase + "\n")
        self.process.stdin.flush()

    def between(self, key, t0, t1):
        """How much a count grew from t0 to t1 (UNIX time), between the lines interpolated."""
        with self.lock:
            counts = list(self.counts)

        def at(t):
            i = bisect.bisect_left([c["t"] for c in counts], t)
            if i == 0 or i == len(counts):
                raise ValueError("the loop did not count then")
            a, b = counts[i - 1], counts[i]
            return a[key] + (b[key] - a[key]) * (t - a["t"]) / (b["t"] - a["t"])
        return at(t1) - at(t0)

    def end(self):
        self.process.kill()
        self.process.wait(10)
        self.log.close()


def run_smeff(smeff, out, name, *arguments):
    r = subprocess.run([smeff, *arguments, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
    (out / f"{name}.json").write_text(r.stdout)
    (out / f"{name}.err").write_text(r.stderr)
    if r.returncode != 0:
        raise RuntimeError(f"smeff {' '.join(arguments)}: exit {r.returncode}: {r.stderr.strip()[:300]}")
    return json.loads(r.stdout)


def find(report, key, port):
    mine = [s for s in report["servers"] if s["url"] == f"http://127.0.0.1:{port}/metrics"]
    if len(mine) != 1 or mine[0]["state"] != "ok" or mine[0][key] != "vllm":
        raise RuntimeError(f"the server at port {port} was not found: {json.dumps(report['servers'])[:300]}")
    return mine[0]


rows, failed = [], False


def row(phase, what, got, wanted, ok):
    global failed
    failed |= not ok
    rows.append((phase, what, got, wanted, "ok" if ok else "OFF"))


def number(v, digits=4):
    return "none" if v is None else f"{v:.{digits}g}"


def compare(phase, what, got, own, tolerance):
    ratio = got / own if got is not None and own else None
    row(phase, what, number(got), f"{number(own)} within {100 * tolerance:g} %", ratio is not None and abs(ratio - 1) <= tolerance)


def server_window(evidence, port):
    """What the last answer's rates cover, by the events that --out keeps."""
    events = [json.loads(line) for line in (evidence / "events.jsonl").read_text().splitlines()]
    last = [e for e in events if e["event"] == "server" and e["url"] == f"http://127.0.0.1:{port}/metrics"][-1]
    return last["t0_ns"] * 1e-9, last["t1_ns"] * 1e-9


def check_numbers(phase, child, gpu, server, evidence, cpu):
    """The loop's own count over just the seconds that the server's rates cover."""
    t0, t1 = server_window(evidence, child.port)
    tokens = child.between("tokens", t0, t1)
    m, d = server["metrics"], server["derived"]
    compare(phase, "tokens/s: smeff, own count", m["output_tokens_per_second"]["value"], tokens / (t1 - t0), 0.03)
    steps = child.between("between_n", t0, t1)
    compare(phase, "time per token, s: smeff, own", m["tpot"]["value"], child.between("between_s", t0, t1) / steps if steps else None, 0.03)
    if cpu:
        return
    compare(phase, "DRAM bytes per token, weights", d["bytes_per_output_token"]["value"], WEIGHTS, 0.06)
    energy = gpu["metrics"]["energy"]["value"]
    share = (t1 - t0) / gpu["window_s"]  # the energy is that of the counters' window, which ends a moment before or after
    compare(phase, "joules per token: smeff, own", d["joules_per_output_token"]["value"], share * energy / tokens if energy and tokens else None, 0.05)


def check_gauges(phase, signals, running, waiting, kv):
    for key, wanted in (("running", running), ("waiting", waiting), ("kv_usage", kv)):
        s = signals[key]
        row(phase, key, f"{number(s['value'])} {s['state']}", f"{wanted} ok", s["state"] == "ok" and s["value"] == wanted)


def said(gpu, text):
    v = gpu["verdict"]
    return next((line for line in v["evidence"] + v["advice"] if text in line), None)


def check_words(phase, gpu, cpu):
    kind = gpu["verdict"]["kind"]
    wanted = {"one": ["memory_bound"], "idle": ["idle", "starved"], "full": ["memory_bound"]}[phase]
    texts = {"one": ["Raise concurrency", "of the time per token"], "idle": ["no request ran or waited"], "full": ["KV cache is the limit"]}[phase]
    if not cpu:
        row(phase, "verdict", kind, " or ".join(wanted), kind in wanted)
        for text in texts:
            row(phase, "said", (said(gpu, text) or "nothing")[:70], text, said(gpu, text) is not None)
    elif phase == "full":  # of the server alone
        row(phase, "said", (said(gpu, texts[0]) or "nothing")[:70], texts[0], said(gpu, texts[0]) is not None)


def check_phase(phase, child, smeff, out, cpu):
    child.set_phase(phase)
    time.sleep(2)
    report = run_smeff(smeff, out, f"measure-{phase}", "measure", "5", "--gpu", "all", "--out", str(out / f"evidence-{phase}"))
    time.sleep(0.2)  # the loop's next counts
    gpu, server = report["gpus"][0], find(report, "kind", child.port)
    row(phase, "its GPU", str(server["gpus"]), "[0]", 0 in server["gpus"])
    running, waiting, kv = {"one": (1, 0, 0.125), "idle": (0, 0, 0), "full": (1, 4, 1)}[phase]
    check_gauges(phase, server["metrics"], running, waiting, kv)
    if phase == "idle":
        tokens = server["metrics"]["output_tokens_per_second"]
        row(phase, "tokens/s", number(tokens["value"]), "0", tokens["value"] == 0)
        row(phase, "bytes per token", number(server["derived"]["bytes_per_output_token"]["value"]), "none",
            server["derived"]["bytes_per_output_token"]["value"] is None)
    else:
        check_numbers(phase, child, gpu, server, out / f"evidence-{phase}", cpu)
    check_words(phase, gpu, cpu)
    alone = find(run_smeff(smeff, out, f"servers-{phase}", "servers"), "server", child.port)
    check_gauges(phase + ", servers", alone["signals"], running, waiting, kv)
    if not cpu:  # one that holds no GPU is no process of interest
        row(phase + ", servers", "its process", str(alone["pid"]), str(child.process.pid), alone["pid"] == child.process.pid)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--cpu"]
    cpu = "--cpu" in sys.argv
    if len(arguments) != 1 or "SMEFF" not in os.environ:
        sys.exit(__doc__)
    out = pathlib.Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    child = Child(cpu, out)
    global failed
    try:
        if child.port is None:
            print(f"skipped: no server: {(out / 'server.err').read_text().strip()[-300:]}")
            return 77
        for phase in ("one", "idle", "full"):
            try:
                check_phase(phase, child, os.environ["SMEFF"], out, cpu)
            except (RuntimeError, ValueError, KeyError, IndexError, OSError, TypeError, subprocess.TimeoutExpired) as e:
                row(phase, "the phase", f"{type(e).__name__}: {e}"[:160], "an end", False)
    finally:
        child.end()
    table = [("phase", "what", "got", "wanted", ""), *rows]
    widths = [max(len(r[i]) for r in table) for i in range(4)]
    text = "\n".join("  ".join([*(c.ljust(w) for c, w in zip(r, widths)), r[4]]).rstrip() for r in table)
    text += f"\n{len(rows) - sum(r[4] == 'OFF' for r in rows)} as wanted, {sum(r[4] == 'OFF' for r in rows)} off\n"
    (out / "serving.txt").write_text(text)
    print(text, end="")
    return 1 if failed else 0


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve("--cpu" in sys.argv)
    else:
        sys.exit(main())
