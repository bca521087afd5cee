#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Serves one file as /metrics at N ports, keeping connections, for bench/llm.sh: prints the ports in one line.

llm_serve.py FILE N"""
import http.server
import sys
import threading

content = open(sys.argv[1], "rb").read()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(int(sys.argv[2]))]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(*[server.server_port for server in servers], flush=True)
threading.Event().wait()
