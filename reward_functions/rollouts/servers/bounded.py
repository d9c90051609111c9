"""A server of the standard library with so many connections at a time, and no more."""

from __future__ import annotations

import sys
from contextlib import suppress
from http.server import ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, Final

BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


class BoundedServer(ThreadingHTTPServer):
    """A server whose connections have a thread each; those beyond its places are refused at once.

    Args:
        arguments: as the base class takes them.
        connections: how many there may be at a time.
        options: as the base class takes them.
    """

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, *arguments: Any, connections: int, **options: Any) -> None:
        self._places = BoundedSemaphore(connections)
        super().__init__(*arguments, **options)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread; at once, where there is no place left."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The life of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write to the log what went wrong, unless the client has just gone away."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)
