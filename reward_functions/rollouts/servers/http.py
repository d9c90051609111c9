"""HTTP/1.1 for an agent, on the standard library: bounded in size, in time and in connections.

A request reaches a route whole, or is refused with JSON and one sentence:

| request | answer |
| --- | --- |
| another path or method | 404 |
| no length, and not in chunks | 411 |
| a line of its head that is no header, or goes on in the next one | 400 |
| a length that is said twice, or in two ways; chunks that are none | 400 |
| another encoding of the body than chunks | 501 |
| a body over the limit | 413, before it is read |
| a body that does not come in time | 408 |
| from a page of the web: it has an Origin | 403 |
| more connections than there are places | 503 |

A reply is JSON, or a body in pieces that are sent as they come.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socket import AF_INET, AF_INET6, MSG_PEEK, SHUT_WR
from socketserver import TCPServer
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.rollouts.servers.bounded import BoundedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CONNECTIONS: Final = 512
"""At a time, each with a thread of its own; an answer at once takes milliseconds."""

IDLE_SECONDS: Final = 30.0
"""How long a connection may stay without a request."""

REQUEST_SECONDS: Final = 60.0
"""How long a request may take to arrive, head and body."""

LINGER_SECONDS: Final = 2.0
"""How long what a refused client still sends is thrown away, so that it can read the refusal."""

LINE: Final = 1024
"""Bytes of the line before a chunk."""

TRAILERS: Final = 100
"""Lines behind the last chunk."""

FOLD: Final = re.compile(r"[\r\n]")
"""A header that goes on in the next line (RFC 9112, section 5.2)."""

PIECE: Final = 64 * 1024


class Request(NamedTuple):
    """A request that has arrived.

    Args:
        method: "GET" or "POST".
        path: without the query.
        query: without its question mark.
        headers: names in lower case.
        body: empty of a GET.
        gone: whether its sender has closed the connection since.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = b""
    gone: Callable[[], bool] = lambda: False


class Reply(NamedTuple):
    """What is answered: JSON, or a body in pieces.

    Args:
        status: of HTTP.
        content: JSON data; or an iterator of bytes, each sent as it is there. A generator is closed
            where its receiver goes away. One that raises cuts the connection, so that nobody takes
            what was sent for the whole.
        headers: further ones; pieces go in chunks unless there is a Content-Length.
    """

    status: int
    content: Any
    headers: Mapping[str, str] = {}


class Refused(Exception):
    """A request that is not served. The message is one sentence for its sender.

    Args:
        status: of HTTP.
        message: the sentence.
        headers: further ones.
    """

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def error_of(_: str, __: int, sentence: str) -> Any:
    """The JSON of a refusal, where a server has no other."""
    return {"error": sentence}


class Server(BoundedServer):
    """A server of some routes.

    Args:
        address: host and port; 0 for a free one.
        reply: answers a request that has arrived, or raises `Refused`.
        admit: looks at a request before its body is read, and may raise `Refused`.
        largest: bytes of a body.
        refusal: the JSON of a refusal, of a path, a status and a sentence.
    """

    def __init__(
        self,
        address: tuple[str, int],
        reply: Callable[[Request], Reply],
        admit: Callable[[Request], None],
        *,
        largest: int,
        refusal: Callable[[str, int, str], Any] = error_of,
        connections: int = CONNECTIONS,
        idle_seconds: float = IDLE_SECONDS,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self.reply = reply
        self.admit = admit
        self.largest = largest
        self.refusal = refusal
        self.idle_seconds = idle_seconds
        self.request_seconds = request_seconds
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        super().__init__(address, _Handler, connections=connections)

    def server_bind(self) -> None:
        """Bind; the base class would ask a name server for this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    @property
    def url(self) -> str:
        """Where it is found."""
        host = self.server_name
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}"


class _Timed(io.RawIOBase):
    """What a connection sends, until a time; a byte a second does not hold a place for long."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.until = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.until - monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return int(self._connection.recv_into(buffer))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one piece: two of them cost 40 ms, the wait of TCP's delayed acknowledgement.
    wbufsize = -1
    default_request_version = "HTTP/1.0"  # whoever names no version is answered with a head, too
    server: Server

    def setup(self) -> None:
        """Read through a clock."""
        super().setup()
        self._timed = _Timed(self.connection)
        self.rfile.close()
        self.rfile = io.BufferedReader(self._timed)
        # Who has sent nothing yet holds a place for no longer than any server lets him.
        self._idle_seconds = min(IDLE_SECONDS, self.server.idle_seconds)

    def handle_one_request(self) -> None:
        """One request of a connection."""
        self._timed.until = monotonic() + self._idle_seconds
        super().handle_one_request()
        self._idle_seconds = self.server.idle_seconds

    def parse_request(self) -> bool:
        """The head of a request."""
        self._timed.until = monotonic() + self.server.request_seconds
        return super().parse_request()

    def handle_expect_100(self) -> bool:
        """Say at once that the body may come: its sender waits."""
        expected = super().handle_expect_100()
        self.wfile.flush()
        return expected

    def do_GET(self) -> None:  # http.server calls it so
        self._answer()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

    def _answer(self) -> None:
        internal = "the server failed; its log says more"
        reply = self._refusal(HTTPStatus.INTERNAL_SERVER_ERROR, internal)
        try:
            reply = self._replied()
        except Refused as refused:
            # What follows on this connection may be the body that nobody has read.
            self.close_connection = True
            reply = self._refusal(refused.status, str(refused), refused.headers)
        finally:
            # Also where the server itself fails: a client does not wait for a broken connection.
            self._send(reply)

    def _refusal(self, status: int, sentence: str, headers: Mapping[str, str] = {}) -> Reply:
        path = getattr(self, "path", "").partition("?")[0]
        return Reply(status, self.server.refusal(path, status, sentence), headers)

    def _replied(self) -> Reply:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        # What one server takes for a header and the next one does not can hide a second request.
        if self.headers.defects or FOLD.search("".join(headers.values())):
            raise Refused(HTTPStatus.BAD_REQUEST, "a line of the head is not a header")
        request = Request(self.command, path, query, headers)
        if "origin" in headers:
            raise Refused(HTTPStatus.FORBIDDEN, "a page of the web has sent this request")
        self.server.admit(request)
        return self.server.reply(request._replace(body=self._body(), gone=self._gone))

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
        raise Refused(HTTPStatus.BAD_REQUEST, "there is too much behind the last chunk")

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
        if isinstance(reply.content, Iterator):
            self._send_pieces(reply, reply.content)
            return
        body = json.dumps(reply.content).encode()
        self._send_head(reply.status, {**reply.headers, "Content-Length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

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

    def _send_head(self, status: int, headers: Mapping[str, str]) -> None:
        self.connection.settimeout(self.server.request_seconds)
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

    def finish(self) -> None:
        """Close; who is still sending may read the answer first, which a reset would take away."""
        self._timed.until = monotonic() + LINGER_SECONDS
        with suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(SHUT_WR)
            while self.rfile.read1(PIECE):
                pass
        super().finish()

    def version_string(self) -> str:
        """Of the Server header: no versions for whoever looks for holes."""
        return "reward-functions"

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base's own name
        """Nothing: requests hold prompts and keys."""
