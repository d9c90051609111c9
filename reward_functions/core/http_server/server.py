"""HTTP/1.1 on the standard library: bounded in size, in time and in places.

A request reaches a route whole, or is refused with JSON and one sentence:

| request | answer |
| --- | --- |
| another path or method | 404 |
| no length, and not in chunks | 411 |
| a line of its head that is no header, or goes on in the next one | 400 |
| a length that is said twice, or in two ways; chunks that cannot be read | 400 |
| another encoding of the body than chunks | 501 |
| a body over the limit | 413, before it is read |
| a body that does not come in time | 408 |
| from a page of the web (`core.local_requests`) | 400, 403 |
| no place is free | 503 |

One thread accepts connections and reads heads. A connection has a place, which is a thread of its
own, once its head is whole and `admit` has nothing against it. A refused caller, and a caller of a
route of `anybody`, gets an answer without one. Neither takes what a caller with a key needs. Until
then it costs a descriptor and what it has sent. Of these there are so many at a time: the oldest
one goes for a new one.

| a connection | becomes of it |
| --- | --- |
| silent for `idle_seconds`, or no whole head within `request_seconds` | closed |
| a head of more than 64 KiB | refused |
| one that waits, where too many wait or no descriptor is left | the oldest is closed |

A reply is JSON, or a body in pieces that are sent as they come.
"""

from __future__ import annotations

import errno
import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import errors
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from selectors import EVENT_READ, BaseSelector, DefaultSelector
from socket import AF_INET, AF_INET6, MSG_PEEK, SHUT_WR
from socketserver import TCPServer
from threading import BoundedSemaphore, Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.http_server.messages import Refused, Reply, Request
from reward_functions.core.local_requests import refusal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping
    from socket import socket

CONNECTIONS: Final = 512
"""Places, each a connection with a thread of its own; an answer at once takes milliseconds."""

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

POLL_SECONDS: Final = 0.02
"""Between two looks at whether a server is to end."""

LINE: Final = 1024
"""Bytes of the line before a chunk."""

TRAILERS: Final = 100
"""Lines behind the last chunk."""

FOLD: Final = re.compile(r"[\r\n]")
"""A header that goes on in the next line (RFC 9112, section 5.2)."""

OF_A_FORM: Final = (errors.StartBoundaryNotFoundDefect, errors.MultipartInvariantViolationDefect)
"""What the standard library finds wrong with the head of a form: it looks for the body there."""


def error_of(_: str, __: int, sentence: str) -> Any:
    """The JSON of a refusal, where a server has no other."""
    return {"error": sentence}


@dataclass(slots=True, eq=False)
class _Waiting:
    """A connection without a place; once it is answered, what it still sends is thrown away."""

    connection: socket
    address: Any
    until: float
    head: bytearray = field(default_factory=bytearray)
    answered: bool = False


class Server(ThreadingHTTPServer):
    """A server of some routes.

    Args:
        address: host and port; 0 for a free one.
        reply: answers a request that has arrived, or raises `Refused`.
        admit: looks at a request before its body is read, and may raise `Refused`. It waits for
            nothing: all heads are read by one thread.
        largest: bytes of a body.
        anybody: methods and paths that are answered without a place and without a body, and after
            which the connection is closed. `reply` waits for nothing there.
        refusal: the JSON of a refusal, of a path, a status and a sentence.
        connections: places.
        waiting: connections that may wait for their heads; None for what descriptors allow.
        idle_seconds: that a connection may stay without a request.
        request_seconds: that a request may take to arrive.
    """

    daemon_threads = True
    request_queue_size = 1024

    def __init__(
        self,
        address: tuple[str, int],
        reply: Callable[[Request], Reply],
        admit: Callable[[Request], object],
        *,
        largest: int,
        anybody: Container[tuple[str, str]] = (),
        refusal: Callable[[str, int, str], Any] = error_of,
        connections: int = CONNECTIONS,
        waiting: int | None = None,
        idle_seconds: float = IDLE_SECONDS,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self.reply = reply
        self.admit = admit
        self.largest = largest
        self.anybody = anybody
        self.refusal = refusal
        self.idle_seconds = idle_seconds
        self.request_seconds = request_seconds
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        self._places = BoundedSemaphore(connections)
        self._most = waiting or min(WAITING, descriptors() // 4)
        # Who has sent nothing yet is kept for no longer than any server keeps him.
        self._silent_seconds = min(IDLE_SECONDS, idle_seconds)
        self._waiting: dict[int, _Waiting] = {}  # by descriptor, the oldest first
        self._held = 0
        self._looked = 0.0
        self._selector: BaseSelector
        self._asked, self._ended = Event(), Event()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind; the base class would ask a name server for this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    @property
    def url(self) -> str:
        """Where it is found."""
        host = self.server_name
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}"

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve for a block, in a thread: the URL. No server listens there."""
        thread = Thread(target=self.serve_forever, args=(POLL_SECONDS,), daemon=True)
        thread.start()
        try:
            yield self.url
        finally:
            self.shutdown()
            thread.join()
            self.server_close()

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
            waiting.until = monotonic() + self.request_seconds
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
            answer = _Door(self, head, whole=whole).answer
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
    """The bytes of a connection, read until a time; a byte a second does not hold a place for long.

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


class _Head(BaseHTTPRequestHandler):
    """The head of a request: read, looked at, and refused where it is to be."""

    server: Server

    protocol_version = "HTTP/1.1"
    # Head and body in one piece: two of them cost 40 ms, the wait of TCP's delayed acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    default_request_version = (
        "HTTP/1.0"  # a client that names no version is answered with a head, too
    )

    def version_string(self) -> str:
        """Of the Server header: it names no version, which would tell what holes there are."""
        return "reward-functions"

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base's own name
        """Nothing: requests hold prompts and keys."""

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

    def _answer(self) -> None:
        raise NotImplementedError

    def _request(self) -> Request:
        """The request, without its body.

        Raises:
            Refused: its head is wrong, a web page sent it, or the server does not admit it.
        """
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        # What one server takes for a header and the next one does not can hide a second request.
        defects = [each for each in self.headers.defects if not isinstance(each, OF_A_FORM)]
        if defects or FOLD.search("".join(headers.values())):
            raise Refused(HTTPStatus.BAD_REQUEST, "a line of the head is not a header")
        refusal = refusal_of(self.headers.items(), self.server.server_address)
        if refusal is not None:
            raise Refused(refusal.status, refusal.sentence)
        request = Request(self.command, path, query, headers)
        self.server.admit(request)
        return request

    def _refusal(self, status: int, sentence: str, headers: Mapping[str, str] = {}) -> Reply:
        path = getattr(self, "path", "").partition("?")[0]
        return Reply(status, self.server.refusal(path, status, sentence), headers)

    def _refused(self, refused: Refused) -> Reply:
        # What follows on this connection may be the body that nobody has read.
        self.close_connection = True
        return self._refusal(refused.status, str(refused), refused.headers)

    def _send(self, reply: Reply) -> None:
        body = json.dumps(reply.content).encode()
        self._send_head(reply.status, {**reply.headers, "Content-Length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | dict(headers)).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def send_error(self, code: int, *_: object) -> None:
        """What http.server refuses itself, such as a line that is no request: JSON, too."""
        self.close_connection = True
        self._send(self._refusal(code, HTTPStatus(code).phrase))


class _Door(_Head):
    """What a connection is answered that gets no place; its head is in memory.

    Attributes:
        answer: bytes, or None where the request has to have a place.
    """

    def __init__(self, server: Server, head: bytes, *, whole: bool) -> None:
        self.server, self._whole, self._admitted = server, whole, False
        self.rfile, self.wfile = io.BytesIO(head), io.BytesIO()
        self.handle_one_request()
        self.answer = None if self._admitted else self.wfile.getvalue()

    def parse_request(self) -> bool:
        """The head of a request, where all of it is here."""
        parsed = super().parse_request()
        if parsed and not self._whole:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        return parsed and self._whole

    def handle_expect_100(self) -> bool:
        """Nothing: who is answered here is not asked for a body."""
        return True

    def _answer(self) -> None:
        try:
            request = self._request()
            if (request.method, request.path) not in self.server.anybody:
                self._admitted = True
                return
            reply = self.server.reply(request)
        except Refused as refused:
            reply = self._refused(refused)
        self.close_connection = True
        self._send(reply)


class _Handler(_Head):
    """A connection that has a place: its head has come; what follows is read through a clock."""

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

    def handle_one_request(self) -> None:
        """One request of a connection."""
        self.timed.until = monotonic() + self.server.idle_seconds
        super().handle_one_request()

    def parse_request(self) -> bool:
        """The head of a request."""
        self.timed.until = monotonic() + self.server.request_seconds
        return super().parse_request()

    def handle_expect_100(self) -> bool:
        """Say at once that the body may come: its sender waits."""
        expected = super().handle_expect_100()
        self.wfile.flush()
        return expected

    def _answer(self) -> None:
        internal = "the server failed; its log says more"
        reply = self._refusal(HTTPStatus.INTERNAL_SERVER_ERROR, internal)
        try:
            request = self._request()
            reply = self.server.reply(request._replace(body=self._body(), gone=self._gone))
        except Refused as refused:
            reply = self._refused(refused)
        finally:
            # Also where the server itself fails: a client does not wait for a broken connection.
            self._send(reply)

    def _gone(self) -> bool:
        """Whether the client has closed the connection, seen without waiting."""
        self.connection.setblocking(False)
        try:
            return not self.connection.recv(1, MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(self.server.request_seconds)

    def _body(self) -> bytes:
        lengths = self.headers.get_all("Content-Length") or []
        encodings = self.headers.get_all("Transfer-Encoding") or []
        if len(lengths) + len(encodings) > 1:
            raise Refused(HTTPStatus.BAD_REQUEST, "the length of the body is said more than once")
        try:
            if encodings:
                return self._chunks(encodings[0])
            if lengths:
                return self._read(self._length(lengths[0], "[0-9]{1,15}", 10))
        except TimeoutError:
            raise Refused(HTTPStatus.REQUEST_TIMEOUT, "the body did not come in time") from None
        if self.command == "POST":
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request has no Content-Length")
        return b""

    def _chunks(self, encoding: str) -> bytes:
        """A body in chunks (RFC 9112, section 7.1)."""
        if encoding.strip().lower() != "chunked" or self.request_version == "HTTP/1.0":
            raise Refused(HTTPStatus.NOT_IMPLEMENTED, "a body comes whole, or in chunks alone")
        pieces: list[bytes] = []
        total = 0
        while size := self._length(
            self._line().partition(";")[0].strip(" \t"), "[0-9A-Fa-f]{1,8}", 16
        ):
            total += size
            self._require_small(total)
            pieces.append(self._read(size))
            if self._line():
                raise Refused(HTTPStatus.BAD_REQUEST, "a chunk is longer than it says")
        for _ in range(TRAILERS):
            if not self._line():
                return b"".join(pieces)
        raise Refused(HTTPStatus.BAD_REQUEST, "there is too much after the last chunk")

    def _line(self) -> str:
        line = self.rfile.readline(LINE)
        if not line.endswith(b"\r\n"):
            raise Refused(HTTPStatus.BAD_REQUEST, "the body is not in chunks")
        return line[:-2].decode("latin-1")

    def _length(self, written: str, form: str, base: int) -> int:
        if not re.fullmatch(form, written):
            raise Refused(HTTPStatus.BAD_REQUEST, "the length of the body is not a number")
        length = int(written, base)
        self._require_small(length)
        return length

    def _require_small(self, length: int) -> None:
        if length > self.server.largest:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a request has {self.server.largest} bytes at most",
            )

    def _read(self, length: int) -> bytes:
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refused(HTTPStatus.BAD_REQUEST, "the body is shorter than its length says")
        return body

    def _send(self, reply: Reply) -> None:
        self.connection.settimeout(self.server.request_seconds)
        if not reply.status:
            self.close_connection = True
        elif isinstance(reply.content, Iterator):
            self._send_pieces(reply, reply.content)
        else:
            super()._send(reply)

    def _send_pieces(self, reply: Reply, pieces: Iterator[bytes]) -> None:
        """A body in chunks; of a client that knows none, until the end of the connection."""
        old = self.request_version == "HTTP/1.0"
        chunked = not old and "Content-Length" not in reply.headers
        coding = {"Transfer-Encoding": "chunked"} if chunked else {}
        self.close_connection |= old
        stays = not self.close_connection
        try:
            self._send_head(reply.status, {**reply.headers, **coding})
            self.close_connection = True  # until all of it is sent
            for piece in pieces:
                if piece:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                    self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n" if chunked else b"")
            self.wfile.flush()  # here, where the pieces can still be closed
            self.close_connection = not stays
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()


def descriptors() -> int:
    """How many files and sockets this process may have open; as good as any where nobody says."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit  # noqa: PLC0415
    except ImportError:  # Windows has none
        return 4 * WAITING
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return 4 * WAITING if soft == RLIM_INFINITY else soft
