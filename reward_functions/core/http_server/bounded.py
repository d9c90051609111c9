"""A server of the standard library whose places are for those who have sent a whole head.

One thread accepts connections and reads heads. A connection has a place, which is a thread of its
own, once its head is whole and `turn_away` has nothing against it. Until then it costs a descriptor
and what it has sent. Of these there are so many at a time: the oldest one goes for a new one.

| a connection | becomes of it |
| --- | --- |
| silent for `idle_seconds`, or no whole head within `request_seconds` | closed |
| a head of more than 64 KiB | refused |
| a head that `turn_away` answers | answered, and closed |
| any other head, and there is a place | a thread of its own, until it is closed |
| any other head, and there is no place | 503 |
| one that waits, where too many wait or no descriptor is left | the oldest is closed |
"""

from __future__ import annotations

import errno
import io
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from selectors import EVENT_READ, BaseSelector, DefaultSelector
from socket import SHUT_WR
from threading import BoundedSemaphore, Event
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from socket import socket

WAITING: Final = 4096
"""Connections without a whole head; a quarter of the descriptors where those are fewer."""

HEAD: Final = 64 * 1024
"""Bytes of a head."""

HELD: Final = 64 * 1024 * 1024
"""Bytes of all heads that are not whole."""

ACCEPTED_AT_ONCE: Final = 64
"""Connections that are accepted before heads are read again."""

IDLE_SECONDS: Final = 30.0
"""How long a connection may stay without a request."""

REQUEST_SECONDS: Final = 60.0
"""How long a request may take to arrive, head and body."""

LINGER_SECONDS: Final = 2.0
"""How long what a refused client still sends is thrown away, so that it can read the refusal."""

LOOK_SECONDS: Final = 0.05
"""Between two looks for connections whose time is over."""

PIECE: Final = 64 * 1024

END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
LONGEST_END: Final = 3

NO_DESCRIPTOR: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

CLOSING: Final = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
BUSY: Final = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n" + CLOSING
TOO_LARGE: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + CLOSING


@dataclass(slots=True, eq=False)
class _Waiting:
    """A connection without a place; once it is answered, what it still sends is thrown away."""

    connection: socket
    address: Any
    until: float
    head: bytearray = field(default_factory=bytearray)
    answered: bool = False


class BoundedServer(ThreadingHTTPServer):
    """A server with so many places, each a connection with a thread of its own.

    Args:
        arguments: as the base class takes them; the handler is a `BoundedHandler`.
        connections: places.
        waiting: connections that may wait for their heads; None for what descriptors allow.
        idle_seconds: that a connection may be silent before its first request.
        request_seconds: that a head may take to arrive.
        options: as the base class takes them.
    """

    daemon_threads = True
    request_queue_size = 1024

    def __init__(
        self,
        *arguments: Any,
        connections: int,
        waiting: int | None = None,
        idle_seconds: float = IDLE_SECONDS,
        request_seconds: float = REQUEST_SECONDS,
        **options: Any,
    ) -> None:
        self._places = BoundedSemaphore(connections)
        self._most = waiting or min(WAITING, descriptors() // 4)
        # Who has sent nothing yet is kept for no longer than any server keeps him.
        self._silent_seconds = min(IDLE_SECONDS, idle_seconds)
        self._head_seconds = request_seconds
        self._waiting: dict[int, _Waiting] = {}  # by descriptor, the oldest first
        self._held = 0
        self._looked = 0.0
        self._selector: BaseSelector
        self._asked, self._ended = Event(), Event()
        super().__init__(*arguments, **options)

    def turn_away(self, head: bytes, *, whole: bool) -> bytes | None:
        """The answer to a connection that gets no place; None where it gets one.

        Called in the thread that reads all heads: it waits for nothing.

        Args:
            head: what has come, and perhaps the beginning of a body.
            whole: whether the head is; else it is too large.
        """
        del head
        return None if whole else TOO_LARGE

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        """Serve until `shutdown`.

        Args:
            poll_interval: seconds between two looks at whether to end.
        """
        self.socket.setblocking(False)
        with DefaultSelector() as self._selector:
            self._selector.register(self.socket, EVENT_READ)
            try:
                while not self._asked.is_set():
                    self._serve_once(poll_interval)
            finally:
                while self._close_oldest():
                    pass
                self._ended.set()

    def shutdown(self) -> None:
        """End `serve_forever`, which another thread runs, and wait for its end."""
        self._asked.set()
        self._ended.wait()

    def _serve_once(self, poll_interval: float) -> None:
        for key, _ in self._selector.select(poll_interval):
            waiting = self._waiting.get(key.fd)
            if key.data is None:
                self._accept()
            elif waiting is not None and waiting is key.data:  # else it was closed in this round
                self._read(waiting)
        now = monotonic()
        if now - self._looked >= min(LOOK_SECONDS, poll_interval):
            self._looked = now
            for each in [each for each in self._waiting.values() if each.until <= now]:
                self._close(each)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, address = self.get_request()
            except OSError as error:
                if error.errno in NO_DESCRIPTOR and not self._close_oldest():
                    sleep(LOOK_SECONDS)  # all of them have places; who comes waits in the backlog
                return
            connection.setblocking(False)
            late = monotonic() + self._silent_seconds
            self._waiting[connection.fileno()] = waiting = _Waiting(connection, address, late)
            self._selector.register(connection, EVENT_READ, waiting)
            if len(self._waiting) > self._most:
                self._close_oldest()

    def _read(self, waiting: _Waiting) -> None:
        try:
            piece = waiting.connection.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._close(waiting)
        elif not waiting.answered:
            self._read_head(waiting, piece)

    def _read_head(self, waiting: _Waiting, piece: bytes) -> None:
        head = waiting.head
        if not head:
            waiting.until = monotonic() + self._head_seconds
        searched = max(0, len(head) - LONGEST_END)
        head += piece
        self._held += len(piece)
        end = END_OF_HEAD.search(head, searched)
        whole = end is not None and end.end() <= HEAD
        if whole or len(head) > HEAD:
            self._decide(waiting, whole=whole)
        while self._held > HELD:
            self._close_oldest()

    def _decide(self, waiting: _Waiting, *, whole: bool) -> None:
        """Answer a connection, or give it a place."""
        head = bytes(waiting.head)
        try:
            answer = self.turn_away(head, whole=whole)
        except Exception:  # noqa: BLE001 - the thread that gets it fails like this, and says so
            answer = None
        if answer is None:
            if self._places.acquire(blocking=False):
                self._forget(waiting)
                waiting.connection.setblocking(True)
                self.process_request((head, waiting.connection), waiting.address)
                return
            answer = BUSY
        with suppress(OSError):
            waiting.connection.send(answer)
            waiting.connection.shutdown(SHUT_WR)
        self._held -= len(waiting.head)
        waiting.head.clear()
        waiting.answered, waiting.until = True, monotonic() + LINGER_SECONDS

    def _close_oldest(self) -> bool:
        """Close the connection that has waited longest; whether there was one."""
        oldest = next(iter(self._waiting.values()), None)
        if oldest is not None:
            self._close(oldest)
        return oldest is not None

    def _close(self, waiting: _Waiting) -> None:
        self._forget(waiting)
        waiting.connection.close()

    def _forget(self, waiting: _Waiting) -> None:
        self._selector.unregister(waiting.connection)
        del self._waiting[waiting.connection.fileno()]
        self._held -= len(waiting.head)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection that has a place, in a thread."""
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the machine has no thread left
            self._places.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The life of a connection that has a place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def shutdown_request(self, request: Any) -> None:
        """Close a connection: what came of it, and its socket."""
        _, connection = request
        super().shutdown_request(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write to the log what went wrong, unless the client has just gone away."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class TimedReader(io.RawIOBase):
    """What a connection sends, until a time; a byte a second does not hold a place for long.

    Args:
        connection: whose socket's timeout is set before each read.
        first: bytes that have come already.

    Attributes:
        until: when reading ends with a TimeoutError, in monotonic seconds.
    """

    def __init__(self, connection: socket, first: bytes) -> None:
        self._connection, self._first = connection, memoryview(first)
        self.until = 0.0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what is there, or with the next bytes that come."""
        if self._first:
            size = min(len(buffer), len(self._first))
            buffer[:size], self._first = self._first[:size], self._first[size:]
            return size
        left = self.until - monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return int(self._connection.recv_into(buffer))


class BoundedHandler(BaseHTTPRequestHandler):
    """A connection that has a place: its head has come, and what follows is read through a clock.

    Attributes:
        timed: what it sends. A handler sets `timed.until` before it reads.
    """

    protocol_version = "HTTP/1.1"
    # Head and body in one piece: two of them cost 40 ms, the wait of TCP's delayed acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    default_request_version = (
        "HTTP/1.0"  # a client that names no version is answered with a head, too
    )

    def setup(self) -> None:
        """Begin with what has come."""
        first, self.request = self.request
        super().setup()
        self.timed = TimedReader(self.connection, first)
        self.rfile.close()
        self.rfile = io.BufferedReader(self.timed)

    def finish(self) -> None:
        """Close; who is still sending may read the answer first, which a reset would take away."""
        self.timed.until = monotonic() + LINGER_SECONDS
        with suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(SHUT_WR)
            while self.rfile.read1(PIECE):
                pass
        super().finish()

    def version_string(self) -> str:
        """Of the Server header: it names no version, which would tell what holes there are."""
        return "reward-functions"

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base's own name
        """Nothing: requests hold prompts and keys."""


def descriptors() -> int:
    """How many files and sockets this process may have open; as good as any where nobody says."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit  # noqa: PLC0415
    except ImportError:  # Windows has none
        return 4 * WAITING
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return 4 * WAITING if soft == RLIM_INFINITY else soft
