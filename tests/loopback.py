"""Services on the loopback interface: a function that answers, behind HTTP.

A service may be told to fail: `faults` holds, by operation, what happens to its next calls.

    (503, {}, b"...")        this answer, and nothing is done
    LOST                     it is done, and the connection closes without an answer
    BEFORE                   the connection closes, and nothing is done
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

LOST, BEFORE = "lost", "before"


class Asked(NamedTuple):
    """One request; `path` keeps what is quoted in it apart, as parts."""

    method: str
    path: tuple
    query: dict
    headers: dict
    body: bytes


@dataclass
class Service:
    """What every double has.

    Args:
        faults: by operation, those of its next calls.
        asked: the operations, in their order.
    """

    faults: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    address: str = ""

    def empty(self):
        """Forget everything but the address."""
        self.__init__(address=self.address)

    def fail(self, operation, *faults):
        self.faults.setdefault(operation, []).extend(faults)

    def answer(self, asked):
        """(status, headers, body) of a request, or None where the connection is to close."""
        operation, do = self.operation(asked)
        self.asked.append(operation)
        waiting = self.faults.get(operation)
        fault = waiting.pop(0) if waiting else None
        if fault is None:
            return do()
        if fault == LOST:
            do()
        return fault if isinstance(fault, tuple) else None


class Server(ThreadingHTTPServer):
    """A server whose callers may hang up."""

    daemon_threads = True
    request_queue_size = 128  # 64 agents call at once

    def handle_error(self, request, address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, address)


@contextmanager
def served(service):
    """Serve it from an address of its own."""

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def handle_any(self):
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            query = {name: each[0] for name, each in parse_qs(url.query).items()}
            path = tuple(map(unquote, url.path.strip("/").split("/")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answered = service.answer(Asked(self.command, path, query, headers, body))
            if answered is None:
                self.close_connection = True
                return
            status, more, content = answered
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            if "Content-Length" not in more:
                self.send_header("Content-Length", str(len(content)))
            elif self.command != "HEAD":
                self.close_connection = True  # the answer may be shorter than announced
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def handle_expect_100(self):
            answered = super().handle_expect_100()
            self.wfile.flush()  # who sends a file waits for it
            return answered

        def log_message(self, *_):
            pass

    for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
        setattr(Api, f"do_{method}", Api.handle_any)
    server = Server(("127.0.0.1", 0), Api)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    service.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
