# SPDX-License-Identifier: MIT
"""Headless Chromium over the pipe of its DevTools protocol: nothing but Python's own library."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class Failed(Exception):
    pass


class Browser:
    """One tab. What it complains of is kept in .complaints, what it asked for in .requests."""

    def __init__(self, path):
        self.home = tempfile.mkdtemp(prefix="smeff-page-")
        to_it, ours_out = os.pipe()
        ours_in, from_it = os.pipe()
        environment = dict(os.environ, HOME=self.home, TMPDIR=self.home)
        # the browser reads descriptor 3 and writes descriptor 4
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$0" "$@" 3<&%d 4>&%d' % (to_it, from_it), path, "--headless=new", "--remote-debugging-pipe",
             "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server",
             "--user-data-dir=%s/profile" % self.home, "about:blank"],
            pass_fds=(to_it, from_it), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=environment, start_new_session=True)
        os.close(to_it)
        os.close(from_it)
        self.out, self.inp = ours_out, ours_in
        self.pending, self.number, self.events = b"", 0, []
        self.complaints, self.requests, self.session = [], [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            self.call(domain + ".enable")

    def close(self):
        for descriptor in (self.out, self.inp):
            os.close(descriptor)
        os.killpg(self.process.pid, signal.SIGKILL)  # all of its processes: a session of its own
        self.process.wait()
        for _ in range(20):  # the last of them may still write
            shutil.rmtree(self.home, ignore_errors=True)
            if not os.path.exists(self.home):
                break
            time.sleep(0.1)

    # ---- the protocol ----

    def _note(self, message):
        method, params = message.get("method", ""), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append("console: " + json.dumps(params["args"])[:300])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            # a server that is gone is a part of the test, and so is the reading of charts
            if entry["source"] != "network" and not entry["text"].startswith("Canvas2D"):
                self.complaints.append("log: " + entry["text"])
        elif method == "Audits.issueAdded" and params["issue"]["code"] == "ContentSecurityPolicyIssue":
            self.complaints.append("policy: " + json.dumps(params["issue"]["details"])[:300])

    def _read(self, until):
        while b"\0" not in self.pending:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                raise Failed("the browser does not answer")
            part = os.read(self.inp, 1 << 20)
            if not part:
                raise Failed("the browser is gone")
            self.pending += part
        line, self.pending = self.pending.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session and not method.startswith("Target."):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        until = time.monotonic() + 20
        while True:
            answer = self._read(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self._note(answer)

    # ---- what a test does ----

    def run(self, script):
        """The value of an expression of the page; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]) + " in " + script[:200])
        return result["result"].get("value")

    def wait(self, script, seconds=10):
        """Until the expression is true. Says whether it ever was."""
        until = time.monotonic() + seconds
        while True:
            value = self.run("Boolean(%s)" % script)
            if value or time.monotonic() > until:
                return value
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def size(self, width, height, mobile=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def media(self, **features):
        self.call("Emulation.setEmulatedMedia", features=[{"name": n.replace("_", "-"), "value": v} for n, v in features.items()])

    def key(self, key, text=None):
        code = {" ": "Space"}.get(key, key)
        text = text if text is not None else (key if len(key) == 1 else "")
        number = {"Escape": 27, "Enter": 13}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number, **({"text": text} if kind == "keyDown" else {}))

    def picture(self, path, full=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
