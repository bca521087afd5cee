# SPDX-License-Identifier: MIT
"""The live page in a real headless Chromium: test_page.py SMEFF SOURCE_TREE FAKES_DIR

Against real daemons (a recording, fake GPUs); against mock.py only for what those do not do."""
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import browser
import mock

SMEFF, ROOT, FAKES = sys.argv[1:4]
HERE = tempfile.mkdtemp(prefix="smeff-page-test-")
failures = []


def fail(what, found=""):
    print("FAILED: %s%s" % (what, ": %s" % (found,) if found != "" else ""), flush=True)
    failures.append(what)


def true(what, found, shown=None):
    if not found:
        fail(what, found if shown is None else shown)


def equal(what, found, expected):
    if found != expected:
        fail(what, "got %r, expected %r" % (found, expected))


@contextlib.contextmanager
def part(name):
    """One part that breaks does not hide the others."""
    begin = time.monotonic()
    try:
        yield
    except (browser.Failed, OSError, KeyError, TypeError, ValueError, AssertionError) as error:
        fail(name, repr(error))
    if os.environ.get("VERBOSE"):
        print("%5.1f s  %s" % (time.monotonic() - begin, name), flush=True)


# ---- daemons ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    all = []

    def __init__(self, name, *arguments, port=None, script=None):
        Daemon.all.append(self)
        self.process, self.stopped = None, []
        self.port = port or free_port()
        self.url = "http://127.0.0.1:%d/" % self.port
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SMEFF_") and k not in ("CUDA_VISIBLE_DEVICES", "NOTIFY_SOCKET")}
        environment.update(ASAN_OPTIONS="detect_leaks=0", SMEFF_STATE=HERE + "/state", SMEFF_SERVER="none")
        if script is not None:
            with open(HERE + "/script", "w") as file:
                file.write(script)
            environment.update(FAKE_GPU=HERE + "/script", LD_LIBRARY_PATH=":".join(FAKES + "/" + d for d in ("nvml", "cuda", "cupti")))
        self.log = open("%s/%s.log" % (HERE, name), "ab")
        self.process = subprocess.Popen([SMEFF, "daemon", "run", "--run-dir", "%s/%s" % (HERE, name), "--listen", "127.0.0.1:%d" % self.port, *arguments],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment, start_new_session=True)
        self.began = time.monotonic()

    def get(self, path):
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.url + path, timeout=10) as answer:
            return answer.read(), answer.headers

    def ready(self):
        until = time.monotonic() + 20
        while True:
            try:
                status = json.loads(self.get("status.json")[0])
                if status["gpus"] and status["gpus"][0]["source"]["samples"]:
                    return status
            except (OSError, ValueError):
                pass
            if time.monotonic() > until or self.process.poll() is not None:
                with open(self.log.name) as file:
                    raise AssertionError("no daemon: " + file.read()[-600:])
            time.sleep(0.1)

    def children(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError, IndexError):
                with open("/proc/%s/stat" % pid) as file:
                    if file.read().rsplit(")", 1)[1].split()[1] == str(self.process.pid):
                        found.append(int(pid))
        return found

    def freeze(self, *pids):
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
            self.stopped.append(pid)

    def thaw(self):
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.stopped = []

    def kill(self):
        self.thaw()
        self.process.kill()
        self.process.wait()

    def close(self):
        if not self.process:
            return
        self.thaw()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                fail("the daemon does not end")
                self.process.kill()
                self.process.wait()
        self.log.close()


# ---- what the page must show, by the numbers of the JSON and the formatter of the terminal ----

def texts(items):
    """[(unit, value, resolution)] → what the terminal would print."""
    lines = "".join("%s %r %r\n" % (unit, float(value), float(resolution or 0)) for unit, value, resolution in items)
    out = subprocess.run([FAKES + "/unit_texts"], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    return out.splitlines()


def wanted(metrics):
    """{key: {"value", "p50", "p95", "max", "state"} or {"reason"}} of the metrics of a status."""
    plan, result = [], {}
    for key, m in metrics.items():
        words = m["state"].replace("_", " ")
        if m["value"] is None:
            result[key] = {"reason": "%s: %s" % (words, m["reason"])}
            continue
        several = m["samples"] > 1
        result[key] = {"state": ("ok" if several else "ok, one reading") if m["state"] == "ok" else "%s: %s" % (words, m["reason"])}
        for name in ("value", "p50", "p95", "max"):
            result[key][name] = "–"
            if name == "value" or several and m[name] is not None:
                plan.append((key, name, m["unit"], m[name], m.get("resolution")))
    for (key, name, *_), text in zip(plan, texts([p[2:] for p in plan])):
        m = metrics[key]
        if name == "value":
            text = ("~" if m["state"] == "stale" else "") + m.get("words", text) + ("?" if m["state"] == "suspect" else "")
        result[key][name] = text
    return result


ROWS = """Object.fromEntries([...document.querySelectorAll('tr[data-metric]')].map((row) => {
  const cell = (c) => { const e = row.querySelector(c); return e && !e.hidden ? e.textContent : null; };
  const cells = [...row.querySelectorAll('td.n')].map((e) => e.textContent);
  const reason = cell('td.reason');
  return [row.dataset.metric, reason !== null ? { reason } : { value: cells[0], p50: cells[1], p95: cells[2], max: cells[3], state: cell('td.state') }];
}))"""
LANES = """Object.fromEntries([...document.querySelectorAll('.lane')].filter((l) => !l.hidden).map((l) => [l.dataset.metric, {
  value: l.classList.contains('no-number') ? null : l.querySelector('.number').textContent,
  reason: l.classList.contains('no-number') || l.classList.contains('doubt') ? l.querySelector('.lane-reason').textContent : null,
  meter: l.querySelector('[role=meter]') && l.querySelector('[role=meter]').getAttribute('aria-valuenow'),
}]))"""


def together(b, what):
    """The status that the page shows, and what it shows of it."""
    found = b.run("""(async () => {
      for (let i = 0; i < 60; i++) {
        const status = await (await fetch('status.json')).json();
        if (status.time === document.documentElement.dataset.time) return [status, %s];
        await new Promise((go) => setTimeout(go, 70));
      }
      return null;
    })()""" % what)
    assert found, "the page never showed the status of /status.json"
    return found


STATE = "document.getElementById('state').dataset.kind"
STATE_TEXT = "document.getElementById('state').textContent"
MAIN = "document.getElementById('main').innerText"

# Of a lane's chart: which share of the height the band's top, the line and the body's top have, and
# how many of the columns have a line at all. Colours tell the drawing from the grid.
CHART = """((key) => {
  const canvas = document.querySelector(`.lane[data-metric="${key}"] canvas`);
  const { width, height } = canvas, data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  const probe = document.createElement('i');
  probe.className = 'role-' + canvas.parentElement.className.match(/role-(\\w+)/)[1];
  probe.style.color = 'var(--role)';
  document.body.append(probe);
  const rgb = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  const tops = { line: [], band: [], body: [] };
  let hash = 0, edge = 0; // edge: of the newest tenth
  for (let x = 0; x < width; x++) {
    const top = {};
    for (let y = 0; y < height; y++) {
      const i = 4 * (y * width + x), alpha = data[i + 3];
      hash = (hash * 31 + data[i] + alpha) | 0;
      if (!alpha || Math.max(...rgb.map((v, k) => Math.abs(v - data[i + k]))) > 12) continue;
      const kind = alpha > 180 ? 'line' : alpha > 43 && alpha < 60 ? 'band' : alpha > 78 && alpha < 96 ? 'body' : '';
      if (kind && !(kind in top)) top[kind] = 1 - (y + 0.5) / height;
    }
    for (const kind in top) tops[kind].push(top[kind]);
    if ('line' in top && x >= 0.9 * width) edge += 10 / width;
  }
  return { hash, width, edge, filled: tops.line.length / width, line: median(tops.line), band: median(tops.band), body: median(tops.body), bands: tops.band.length / width };
})"""


def chart(b, key):
    return b.run("%s(%s)" % (CHART, json.dumps(key)))


# ---- the parts ----

def test_file(d):
    body, headers = d.get("")
    policy, html = headers["Content-Security-Policy"], body.decode()
    true("below 100 KB", len(body) < 100000, len(body))
    for rule in ("default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "connect-src 'self'", "img-src data:", "base-uri 'none'",
                 "form-action 'none'", "frame-ancestors 'none'"):
        true("the policy has " + rule, rule in policy, policy)
    true("nothing unsafe in it", "unsafe" not in policy, policy)
    true("no style attribute", not re.search(r"<[^>]* style=", html))
    true("no handler attribute", not re.search(r"<[^>]* on[a-z]+=", html))
    true("it needs nothing else", not re.findall(r"""(?:src|href)=["'](?!data:|#|status\.json|metrics)[^"']*""", html))
    true("no way to make elements of text", not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", html))
    return body, policy


def test_numbers(b):
    """format.js against unit_format."""
    random.seed(8)
    units = ["ratio", "bytes", "bytes_per_second", "hertz", "watts", "joules", "celsius", "seconds", "count", "flags", "tokens_per_second",
             "bytes_per_token", "joules_per_token"]
    items = [(u, v, r) for u in units for v in (0, 1, -1, 0.5, 0.999, 0.9996, 9.994, 9.996, 99.95, 999.4, 999.6, 1023.96, 1024, 1e6, 1e12, 1e15, 1e-9, 3e-4, 12.5, 127)
             for r in (0, 0.01, 1)]
    items += [(random.choice(units), random.choice((1, -1)) * 10 ** random.uniform(-7, 14), random.choice((0, 0, 0.01, 0.1, 1e6, 10 ** random.uniform(-4, 4)))) for _ in range(4000)]
    with open(ROOT + "/web/format.js") as file:
        source = file.read()
    shown = b.run("(() => { %s; return %s.map(([u, v, r]) => format(u, v, r)); })()" % (source, json.dumps(items)))
    wrong = [(item, got, want) for item, got, want in zip(items, shown, texts(items)) if got != want]
    true("numbers are those of the terminal (%d of %d are not)" % (len(wrong), len(items)), not wrong, wrong[:5])


def test_values(b, d):
    b.run("location.hash = '#/metrics/0'")
    b.wait("document.querySelectorAll('tr[data-metric]').length > 40")
    status, rows = together(b, ROWS)
    want = wanted(status["gpus"][0]["metrics"])
    equal("every metric is listed", sorted(rows), sorted(want))
    wrong = {key: (rows.get(key), want[key]) for key in want if rows.get(key) != want[key]}
    true("the list equals /status.json", not wrong, wrong)
    true("some have a number, some a reason", {len(r) for r in rows.values()} == {1, 5}, rows)
    catalogue = subprocess.run([SMEFF, "metrics", "--json"], stdout=subprocess.PIPE, check=True).stdout.splitlines()
    labels = {m["key"]: m["label"] for m in map(json.loads, catalogue)}
    shown = b.run("Object.fromEntries([...document.querySelectorAll('tr[data-metric]')].map((r) => [r.dataset.metric, r.querySelector('th').firstChild.data]))")
    equal("labels are those of the catalogue", shown, {k: labels[k] for k in shown})

    b.run("location.hash = '#/gpu/0'")
    b.wait("document.querySelectorAll('.lane').length > 10")
    status, (lanes, text) = together(b, "[%s, %s]" % (LANES, MAIN))
    gpu = status["gpus"][0]
    want = wanted(gpu["metrics"])
    for key, lane in lanes.items():
        equal("the lane of " + key, lane["value"], want[key].get("value"))
        if lane["value"] is None:
            equal("why %s has no number" % key, lane["reason"], want[key]["reason"])
        elif gpu["metrics"][key]["unit"] == "ratio":
            true("the meter of " + key, abs(float(lane["meter"]) - 100 * gpu["metrics"][key]["value"]) < 0.06, lane)
    for key in ("gpu_util", "gr_active", "sm_active", "sm_issue", "tensor_active", "occupancy", "dram_throughput", "pcie_rx", "power", "gpc_clock", "temperature"):
        true("there is a lane of " + key, key in lanes, sorted(lanes))
    verdict = gpu["verdict"]
    for line in [verdict["kind"], verdict["text"], verdict["limits"][0], verdict["advice"][0], want["gpu_util"]["value"],
                 "%s of %s" % (want["mem_used"]["value"], want["mem_total"]["value"]), gpu["name"], "pm 50 Hz", " % covered", "processes are not known",
                 "no inference server was found or named", "of the time a kernel was there"]:
        true("the view says " + line, line in text, text[:1500])
    equal("what led to the verdict", b.run("document.querySelectorAll('.evidence li').length"), len(verdict["evidence"]))
    true("it says that a recording is played", b.wait("document.getElementById('replay').textContent === 'replay bursty.jsonl.gz'", 2))
    equal("live", b.run(STATE), "good")
    true("how old", re.search(r"live, \d\.\d s old", b.run(STATE_TEXT)), b.run(STATE_TEXT))


def test_charts(b, d):
    running = time.monotonic() - d.began
    b.open(d.url)
    b.wait("document.querySelectorAll('.lane').length > 10")
    for _ in range(4):
        b.key("+")
    true("30 s", b.wait("document.querySelector('.ruler-axis').textContent === '30 s ago15 s agonow'", 2), b.run("document.querySelector('.ruler-axis').textContent"))
    before = min(running - 2, 28) / 30
    true("the charts begin with what was before the page", b.wait("%s('gr_active').filled > %f" % (CHART, before), 5), chart(b, "gr_active"))
    c = chart(b, "gr_active")
    true("bursts are seen: the band reaches to the most", 0.83 < c["band"] < 0.93, c)
    true("the line is the mean", 0.2 < c["line"] < 0.42, c)
    true("the band is nearly everywhere", c["bands"] > 0.8 * c["filled"], c)
    steady = chart(b, "gpu_util")
    true("readings of each second hold until the next", steady["filled"] > 0.8 * c["filled"], (steady, c))
    true("what never changes has no band", steady["bands"] < 0.02 and abs(steady["line"] - 0.30) < 0.05, steady)
    words = b.run("document.querySelector('.lane[data-metric=gr_active] canvas').getAttribute('aria-label')")
    true("the chart in words", re.match(r"GPU 0 GR active, last 30 s: mean (2[4-9]|3\d)(\.\d+)? %, least 0\.00 %, most 9\d(\.\d+)? %, measured \d+ % of the time$", words), words)
    time.sleep(1.2)
    true("charts move", chart(b, "gr_active")["hash"] != c["hash"])
    for _ in range(4):
        b.key("-")
    true("10 min", b.wait("document.querySelector('.ruler-axis').textContent === '10 min ago5 min agonow'", 2))
    true("and then the same seconds are few", b.wait("%s('gr_active').filled < 0.2" % CHART, 2), chart(b, "gr_active"))
    true("but are there", chart(b, "gr_active")["filled"] > 0.01, chart(b, "gr_active"))
    box = b.run("(({left, top, width}) => [left, top, width])(document.querySelector('.lane[data-metric=gr_active] canvas').getBoundingClientRect())")
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + box[2] - 4, y=box[1] + 10)
    true("a pointer looks at that moment", b.wait("/^at \\d+:/.test(document.querySelector('.ruler-when').textContent)", 2))
    true("in all lanes", b.run("/%$/.test(document.querySelector('.lane[data-metric=sm_active] .number').textContent)"))
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=5, y=5)
    true("and lets go", b.wait("document.querySelector('.ruler-when').textContent === 'last second'", 2))


def overflow(b):
    return b.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_sizes(b):
    for width, height, mobile in ((360, 740, True), (768, 1024, False), (1920, 1080, False), (1280, 800, False)):
        b.size(width, height, mobile)
        for view in ("overview", "gpu/0", "metrics/0", "processes"):
            b.run("location.hash = '#/%s'" % view)
            b.wait("document.querySelector('.view.%s')" % view.split("/")[0])
            true("%s at %d: nothing beside the screen" % (view, width), overflow(b) <= 0, overflow(b))
            wide = b.run("[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className).slice(0, 5)")
            equal("%s at %d: every part on the screen" % (view, width), wide, [])
    b.run("location.hash = '#/gpu/0'")
    b.wait("document.querySelectorAll('.lane').length > 10")
    true("charts are as large as their place", b.wait("(() => { const c = document.querySelector('.lane canvas'); return Math.abs(c.width - c.clientWidth * devicePixelRatio) < 2; })()", 2))


CONTRAST = """(() => {
  const style = getComputedStyle(document.documentElement);
  const rgb = (name) => style.getPropertyValue(name).trim().match(/[0-9a-f]{2}/gi).map((h) => parseInt(h, 16) / 255);
  const light = (name) => rgb(name).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const poor = [];
  for (const ground of ['--bg', '--card'])
    for (const ink of ['--text', '--dim', '--claim', '--real', '--memory', '--link', '--bad', '--good']) {
      const [a, b] = [light(ground), light(ink)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) poor.push([ground, ink, ratio]);
    }
  return poor;
})()"""


def test_themes(b):
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for theme in ("dark", "light"):
        b.media(prefers_color_scheme=theme)
        true("as the system: " + theme, b.wait("document.documentElement.dataset.theme === '%s'" % theme, 2))
        seen[theme] = b.run(ground)
        equal("%s can be read" % theme, b.run(CONTRAST), [])
    true("dark is not light", seen["dark"] != seen["light"], seen)
    b.key("t")
    equal("t: dark", b.run(ground), seen["dark"])
    equal("and says so", b.run("document.getElementById('theme').getAttribute('aria-label')"), "Colours: dark")
    b.call("Page.reload")
    true("it is remembered", b.wait("document.readyState === 'complete' && document.documentElement.dataset.theme === 'dark' && document.getElementById('theme').textContent === 'Dark'", 5))
    b.wait("document.querySelector('.view')")
    b.key("t")
    equal("t: light", b.run(ground), seen["light"])
    b.key("t")
    equal("t: as the system", b.run("document.getElementById('theme').textContent"), "Auto")


def test_keys(b):
    view = "document.querySelector('.view').className"
    b.run("location.hash = '#/gpu/0'")
    b.wait("document.querySelector('.view.gpu')")
    for key, name in (("m", "view metrics"), ("m", "view gpu"), ("p", "view processes"), ("Escape", "view gpu"), ("o", "view overview"), ("1", "view gpu"), ("0", "view overview")):
        b.key(key)
        true("%s: %s" % (key, name), b.wait("%s === '%s'" % (view, name), 2), b.run(view))
    b.key("ArrowDown")
    true("arrows: a card has the focus", b.wait("document.activeElement.className === 'card'", 2))
    b.key("Enter", "\r")
    true("Enter opens it", b.wait("%s === 'view gpu'" % view, 2))
    b.key("?")
    true("? help", b.wait("document.getElementById('help').open", 2))
    b.key("Escape")
    true("Esc ends it", b.wait("!document.getElementById('help').open", 2))
    b.key("m")
    b.wait("%s === 'view metrics'" % view)
    b.key("/")
    for letter in "dram":
        b.key(letter)
    true("a filter", b.wait("(() => { const rows = [...document.querySelectorAll('tr[data-metric]')].filter((r) => !r.hidden); return rows.length > 2 && rows.length < 10 && rows.every((r) => /dram/i.test(r.textContent)); })()", 2))
    b.key("Escape")
    b.key("Escape")
    true("and out again", b.wait("%s === 'view gpu'" % view, 2), b.run(view))

    b.key(" ")
    true("space freezes", b.wait("/^Frozen at/.test(document.getElementById('notice').textContent)", 2))
    shown = "[...document.querySelectorAll('.lane .number, .hero-value')].map((e) => e.textContent).join()"
    frozen = b.run(shown)
    b.wait("false", 1.3)
    equal("what is frozen stands still", b.run(shown), frozen)
    b.key("ArrowLeft")
    true("the past", b.wait("/^Past at/.test(document.getElementById('notice').textContent)", 2), b.run("document.getElementById('notice').textContent"))
    true("values of then", b.wait("/^at /.test(document.querySelector('.ruler-when').textContent)", 2))
    true("a number of then", b.run("/%$/.test(document.querySelector('.lane[data-metric=gr_active] .number').textContent)"))
    equal("what is not kept says so", b.run("document.querySelector('.fact[data-metric=throttle] dd').textContent"), "unsupported")
    b.key("End")
    true("End: now", b.wait("document.getElementById('notice').hidden && document.querySelector('.ruler-when').textContent === 'last second'", 2))


def test_listeners(b):
    """Screen readers, and calm."""
    b.run("location.hash = '#/gpu/0'")
    b.wait("document.querySelector('.view.gpu')")
    tree = b.call("Accessibility.getFullAXTree")["nodes"]
    value = lambda node, name: node.get(name, {}).get("value")
    roles = {}
    for node in tree:
        if not node.get("ignored"):
            roles.setdefault(value(node, "role"), []).append(node)
    for role in ("button", "link", "meter", "image", "complementary"):
        nameless = [n for n in roles.get(role, []) if not value(n, "name")]
        true("every %s has a name" % role, role in roles and not nameless, nameless[:2])
    for role in ("main", "navigation", "status", "heading", "banner"):
        true("there is a %s" % role, role in roles, sorted(map(str, roles)))
    dumb = b.run("[...document.querySelectorAll('[role=meter]')].filter((m) => m.getAttribute('aria-valuetext') !== m.parentElement.querySelector('.number').textContent).length")
    true("meters speak in words", len(roles["meter"]) >= 8 and dumb == 0, (len(roles["meter"]), dumb))
    found = b.run("""new Promise((done) => {
      let said = 0, moved = 0;
      new MutationObserver((list) => { said += list.length; }).observe(document.getElementById('announce'), { childList: true, characterData: true, subtree: true });
      new PerformanceObserver((list) => { for (const e of list.getEntries()) moved += e.value; }).observe({ type: 'layout-shift' });
      setTimeout(() => done([said, moved]), 3200);
    })""")
    equal("nothing is said while nothing changes", found[0], 0)
    true("nothing jumps", found[1] < 0.01, found[1])


def test_breaks(b, d):
    """Silence, death and return."""
    name = b.run("document.title")
    for _ in range(4):
        b.key("+")
    true("readings hold while they come, too", b.wait("%s('gpu_util').edge > 0.9" % CHART, 3), chart(b, "gpu_util"))
    true("no column is left out", b.wait("%s('gr_active').edge > 0.97" % CHART, 3), chart(b, "gr_active"))
    child = d.children()
    true("the HTTP side is a process of its own", len(child) >= 1, child)
    d.freeze(d.process.pid)
    true("no new samples: stale", b.wait("/stale: connected, but no new samples, [\\d.]+ s old/.test(%s)" % STATE_TEXT, 8), b.run(STATE_TEXT))
    equal("in colour, too", b.run(STATE), "bad")
    d.freeze(*child)
    true("nothing comes: stale", b.wait("/stale: connected, but nothing comes/.test(%s)" % STATE_TEXT, 8), b.run(STATE_TEXT))
    d.thaw()
    true("goes on", b.wait("%s === 'good'" % STATE, 8), b.run(STATE_TEXT))
    d.kill()
    true("connection lost", b.wait("/connection lost.*trying again in \\d+ s, [\\d.]+ s old/.test(%s)" % STATE_TEXT, 8), b.run(STATE_TEXT))
    true("it is said once", b.wait("document.getElementById('announce').textContent.startsWith('connection lost')", 2))
    equal("values are still shown, as old ones", b.run("document.body.classList.contains('is-old') && document.querySelectorAll('.lane').length > 10"), True)
    again = Daemon("replay", "--replay", ROOT + "/data/h200/live/decode.jsonl.gz", "--loop", port=d.port)
    again.ready()
    true("returns by itself", b.wait("%s === 'good'" % STATE, 12), b.run(STATE_TEXT))
    true("with the values of now", b.wait("document.querySelector('.verdict .kind').textContent === 'memory_bound'", 8), b.run(MAIN)[:400])
    equal("the same page", b.run("document.title"), name)


def test_two(b, d):
    b.open(d.url)
    true("two GPUs: all of them", b.wait("document.querySelectorAll('.card').length === 2", 10))
    status, cards = together(b, "[...document.querySelectorAll('.card')].map((c) => c.innerText)")
    for gpu, card in zip(status["gpus"], cards):
        want = wanted(gpu["metrics"])
        for text in (gpu["name"], want["gpu_util"]["value"], want["sm_active"]["value"], want["power"]["value"], want["mem_used"]["value"], "GPU-Util", "SM active"):
            true("the card of GPU %d has %s" % (gpu["index"], text), text in card, card)
    equal("they differ", len(set(cards)), 2)
    b.key("2")
    true("2: the second one", b.wait("/^GPU 1/.test(document.querySelector('h2').textContent)", 3))
    status, lanes = together(b, LANES)
    want = wanted(status["gpus"][1]["metrics"])
    equal("its values", {k: v["value"] for k, v in lanes.items()}, {k: want[k].get("value") for k in lanes})
    b.key("ArrowUp")
    true("up: the first one", b.wait("/^GPU 0/.test(document.querySelector('h2').textContent)", 3))
    b.key("p")
    true("processes", b.wait("/4242\\t1.0 GiB\\t97 %%/.test(%s)" % MAIN, 3), b.run(MAIN))
    b.key("o")
    b.key("s")
    b.key("s")
    b.key("s")
    true("sorted by power", b.wait("/^1 /.test((document.querySelector('.card') || {}).innerText)", 3), b.run("(document.querySelector('.card') || {}).innerText"))


HOSTILE = "<img src=x onerror=\"window.hacked=1\"></script><script>window.hacked=1</script>"


def server(**changes):
    number = lambda v, unit, **more: dict({"value": v, "unit": unit, "state": "ok"}, **more)
    metrics = {"output_tokens_per_second": number(177.6, "tokens_per_second"), "tpot": number(0.0112, "seconds"), "running": number(2, "count"),
               "ttft": {"value": None, "unit": "seconds", "state": "warming", "reason": "no request got its first token"},
               "waiting": number(7, "count", state="suspect", reason="estimated"), "kv_usage": number(0.45, "ratio"),
               "prompt_tokens_per_second": {"value": None, "unit": "tokens_per_second", "state": "unsupported", "reason": "the server does not have it"}}
    return dict({"url": "http://127.0.0.1:8000/metrics", "kind": "vllm", "model": "some/model", "pid": 1, "gpus": [0], "state": "ok", "reason": None, "window_s": 5,
                 "metrics": metrics, "derived": {"bytes_per_output_token": number(21.8e9, "bytes_per_token"),
                                                 "joules_per_output_token": {"value": None, "unit": "joules_per_token", "state": "unsupported", "reason": "where several servers use one GPU"}}}, **changes)


def test_mock(b, page, policy, status):
    m = mock.Mock(page, policy, status)
    gpu = m.status["gpus"][0]
    gpu.update(name=HOSTILE, processes=[{"pid": 7, "name": HOSTILE, "gpu_memory": None, "sm_utilization": 0.5}, {"pid": 8, "name": None, "gpu_memory": 2 ** 30, "sm_utilization": None}])
    gpu["verdict"]["advice"] = [HOSTILE]
    m.status["host"] = HOSTILE
    m.status["notes"] = [{"level": "warning", "gpu": None, "time": None, "text": HOSTILE}]
    m.status["servers"] = [server(model=HOSTILE), server(kind=None, model=None, url="http://" + "x" * 300, state="failed", reason=HOSTILE, gpus=[])]
    states = {"stale": "sm_active", "suspect": "tensor_active", "warming": "occupancy", "busy": "dram_write", "failed": "power", "no_permission": "temperature", "unsupported": "pcie_rx"}
    for state, key in states.items():
        gpu["metrics"][key].update(state=state, reason="why %s <b>" % state)
        if state not in ("stale", "suspect"):
            gpu["metrics"][key]["value"] = None
    gpu["metrics"]["new_metric"] = dict(gpu["metrics"]["gr_active"], unit="furlongs", value=3)
    b.size(1280, 900)
    b.open(m.url)
    true("hostile: shown", b.wait("document.querySelectorAll('.lane').length > 10", 8))
    b.wait("document.querySelectorAll('.server').length === 1 && document.querySelector('.server').textContent.includes('src=x')", 3)
    status, lanes = together_mock(b, LANES)
    want = wanted({k: v for k, v in status["gpus"][0]["metrics"].items() if k != "new_metric"})
    for state, key in states.items():
        word = state.replace("_", " ")
        equal("%s in words" % state, lanes[key]["reason"], "%s: why %s <b>" % (word, state))
        equal("%s has its number, or none" % state, lanes[key]["value"], want[key].get("value"))
    true("stale and suspect are marked", lanes["sm_active"]["value"][0] == "~" and lanes["tensor_active"]["value"][-1] == "?", lanes)
    true("no element has neither number nor words", b.run("[...document.querySelectorAll('dd, .lane-reason, .number, .hero-value')].every((e) => !e.offsetParent || e.textContent.trim() !== '')"))
    text = b.run(MAIN)
    for words in (HOSTILE, "178 tokens/s", "11.2 ms", "7?", "45.0 %", "TTFT is warming: no request got its first token", "21.8 GB/token", "on GPU 0",
                  "1 server is not known to use this GPU", "Power is failed: why failed <b>", "not told", "(no name)"):
        true("a server, in words: " + words, words in text, text)
    equal("a name as it is", b.run("document.querySelector('.server-model').textContent"), HOSTILE)
    b.key("o")
    true("all servers", b.wait("document.querySelectorAll('.server').length === 2", 3))
    text = b.run(MAIN)
    true("one that failed", "failed: " + HOSTILE in text and "on no GPU that is known" in text and "model not told" in text, text)
    b.key("m")
    true("a metric that is newer than the page", b.wait("/new_metric/.test(%s) && /3/.test(%s)" % (MAIN, MAIN), 3))
    b.key("p")
    b.wait("document.querySelector('.view.processes')")
    true("processes as they are called", HOSTILE in b.run(MAIN), b.run(MAIN))
    for view in ("overview", "gpu/0", "metrics/0", "processes"):
        b.size(360, 740, True)
        b.run("location.hash = '#/%s'" % view)
        b.wait("document.querySelector('.view.%s')" % view.split("/")[0])
        true("long names fit a phone: " + view, overflow(b) <= 0, overflow(b))
    b.size(1280, 900)
    equal("nothing of it ran", b.run("[typeof window.hacked, document.images.length, document.scripts.length]"), ["undefined", 0, 1])
    true("nothing of it was asked for", "/x" not in m.seen, set(m.seen))

    m.status["gpus"] = []
    true("no GPU: in words", b.wait("/No GPU is known/.test(%s)" % MAIN, 4), b.run(MAIN))
    b.key("o")
    true("everywhere", b.wait("/No GPU is known/.test(%s) && /no sample yet/.test(%s)" % (MAIN, STATE_TEXT), 4), b.run(MAIN))
    m.status["gpus"] = [gpu]
    b.run("location.hash = '#/gpu/0'")
    true("one came", b.wait("document.querySelector('.view.gpu')", 4))

    m.frame = [{"index": 0, "values": {"sm_issue": [0.1, 0.2, 0.3]}}]
    for _ in range(4):
        b.key("+")
    true("a late frame fills the columns that it is of", b.wait("%s('sm_issue').edge > 0.95" % CHART, 8), chart(b, "sm_issue"))

    m.refuse_events = 503
    true("no event stream: asks once a second, and says so", b.wait("/live, asked once a second \\(the event stream is refused\\)/.test(%s)" % STATE_TEXT, 8), b.run(STATE_TEXT))
    gpu["metrics"]["sm_issue"]["value"] = 0.777
    true("and follows", b.wait("document.querySelector('.lane[data-metric=sm_issue] .number').textContent === '77.7 %'", 4))
    before = m.seen.count("/events")
    b.wait("false", 3)
    true("and does not knock at the stream all the time", m.seen.count("/events") - before <= 1, m.seen[-12:])
    m.refuse_all = 401
    true("no permission", b.wait("/wants a password or a token, trying again in/.test(%s)" % STATE_TEXT, 6), b.run(STATE_TEXT))
    m.refuse_all = m.refuse_events = 0
    b.run("document.getElementById('state').click()")
    true("a click tries now", b.wait("%s === 'good'" % STATE, 4), b.run(STATE_TEXT))

    equal("the policy was never broken", b.run("window.broken"), [])
    b.run("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">x</p>')")
    true("(it would have been seen)", b.wait("window.broken.length === 1", 3) and any("policy" in c or "Content Security" in c for c in b.complaints), b.complaints)
    b.complaints = [c for c in b.complaints if "Content Security" not in c and "policy" not in c]
    m.shutdown()


def together_mock(b, what):
    """As together(), where two answers are never of the same moment."""
    return b.run("(async () => [await (await fetch('status.json')).json(), %s])()" % what)


def test_calm(b, d):
    b.media(prefers_reduced_motion="reduce")
    b.requests = []
    b.open(d.url)
    true("who wants no motion gets one frame a second", b.wait("document.querySelector('.card, .lane')", 8) and d.url + "events?hz=1" in b.requests, b.requests)
    equal("and no transitions", b.run("getComputedStyle(document.querySelector('.bar .fill')).transitionProperty"), "none")


def main():
    path = browser.find()
    if not path:
        print("skipped: needs chromium")
        return 77
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(1))  # through what is at the end
    b = None
    try:
        d = Daemon("replay", "--replay", ROOT + "/data/h200/live/bursty.jsonl.gz", "--loop")
        script = "fail = nvmlDeviceGetGpuInstanceId:3\n[gpu]\nname = NVIDIA A\nfield.186 = 100000\n[gpu]\nname = NVIDIA B\nfield.186 = 200000\n" \
              "pm.sm__cycles_active = 42\nprocess = 4242 1073741824 97 40\n"
        two = Daemon("fakes", script=script)
        try:
            b = browser.Browser(path)
        except (OSError, browser.Failed, StopIteration) as error:
            print("skipped: %s does not start here (%r)" % (path, error))
            return 77
        b.call("Page.addScriptToEvaluateOnNewDocument", source="window.broken = []; addEventListener('securitypolicyviolation', (e) => window.broken.push(e.violatedDirective + ' ' + e.blockedURI));")
        b.media(prefers_color_scheme="dark")
        b.size(1280, 900)
        d.ready()
        with part("the file"):
            page, policy = test_file(d)
        b.open(d.url)
        b.wait("document.querySelector('.view')", 10)
        with part("numbers"):
            test_numbers(b)
        with part("values"):
            test_values(b, d)
        with part("sizes"):
            test_sizes(b)
        with part("keys"):
            test_keys(b)
        with part("charts"):
            test_charts(b, d)
        with part("dark and light"):
            test_themes(b)
        with part("listeners"):
            test_listeners(b)
        status = json.loads(d.get("status.json")[0])
        with part("breaks"):
            test_breaks(b, d)
        with part("two GPUs"):
            two.ready()
            test_two(b, two)
        equal("no violation of the policy", b.run("window.broken"), [])
        allowed = (d.url, two.url, "data:")
        equal("nothing from elsewhere", sorted({u for u in b.requests if not u.startswith(allowed)}), [])
        true("but from here", len(b.requests) > 10, b.requests)
        with part("the mock"):
            test_mock(b, page, policy, status)
        with part("less motion"):
            test_calm(b, two)
        equal("no complaint of the browser", b.complaints, [])
    finally:
        if b:
            b.close()
        for daemon in Daemon.all:
            daemon.close()
        shutil.rmtree(HERE, ignore_errors=True)
    print("%d failed" % len(failures) if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
