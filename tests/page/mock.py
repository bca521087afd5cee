# SPDX-License-Identifier: MIT
"""A server with the paths of the daemon's, for what is hard to make with a real one: hostile names,
every state, no GPU, refused streams. It gives whatever .status holds, once a second."""
import copy
import http.server
import json
import socketserver
import threading
import time
import urllib.parse


class Mock(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, page, policy, status):
        super().__init__(("127.0.0.1", 0), Handler)
        self.page, self.policy, self.status = page, policy, status
        self.refuse_events = 0  # a code to refuse /events with
        self.refuse_all = 0
        self.frame = None  # values of each frame, by GPU: [{"index":…, "values":…}]
        self.seen = []
        self.url = "http://127.0.0.1:%d/" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def now(self):
        """The status as of now."""
        status = copy.deepcopy(self.status)
        end = time.time() - 0.1
        stamp = lambda t: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) + ".%03dZ" % (t % 1 * 1000)
        status["time"] = stamp(end)
        for gpu in status["gpus"]:
            gpu["window_s"], gpu["start"] = 1.0, stamp(end - 1)
            gpu["source"]["age_ms"] = 100
        return status


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, kind, body, **headers):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        mock = self.server
        mock.seen.append(path)
        if mock.refuse_all and path != "/":
            self.answer(mock.refuse_all, "text/plain", b"no\n")
        elif path == "/":
            self.answer(200, "text/html; charset=utf-8", mock.page, Content_Security_Policy=mock.policy)
        elif path == "/status.json":
            self.answer(200, "application/json", json.dumps(mock.now()).encode())
        elif path == "/events" and not mock.refuse_events:
            self.events()
        else:
            self.answer(mock.refuse_events if path == "/events" else 404, "text/plain", b"no\n")

    def events(self):
        mock = self.server
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        number, wide = 0, 200000000
        try:
            while not mock.refuse_events and not mock.refuse_all:
                if number % 5 == 0:
                    self.wfile.write(("event: status\nid: %d\ndata: %s\n\n" % (number, json.dumps(mock.now()))).encode())
                t1 = int((time.time() - 0.1) * 1e9)
                frame = {"t0_ns": str(t1 - wide), "t1_ns": str(t1), "gpus": mock.frame or []}
                if number % 10 < 7:  # as of a busy server: now and then one that is late, and wide
                    self.wfile.write(("event: frame\ndata: %s\n\n" % json.dumps(frame)).encode())
                    wide = 0
                wide += 200000000
                number += 1
                time.sleep(0.2)
        except OSError:
            pass
