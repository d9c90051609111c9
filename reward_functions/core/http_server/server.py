"""HTTP/1.1 on the standard library: bounded in size, in time and in places.

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
| from a page of the web (`core.local_requests`) | 400, 403 |
| no place is free | 503 |

A place is taken by a request that passes `admit`. Who is refused by `admit`, or asks a route of
`anybody`, is answered without one: neither holds what those with a key need.

A reply is JSON, or a body in pieces that are sent as they come.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from email import errors
from http import HTTPStatus
from socket import AF_INET, AF_INET6, MSG_PEEK
from socketserver import TCPServer
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.http_server.bounded import (
    IDLE_SECONDS,
    REQUEST_SECONDS,
    BoundedHandler,
    BoundedServer,
)
from reward_functions.core.http_server.messages import Refused, Reply, Request
from reward_functions.core.local_requests import refusal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

CONNECTIONS: Final = 512
"""Places, each a connection with a thread of its own; an answer at once takes milliseconds."""

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


class Server(BoundedServer):
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
        waiting: as `BoundedServer` takes it.
        idle_seconds: that a connection which has a place may stay without a request.
        request_seconds: that a request may take to arrive.
    """

    def __init__(
        self,
        address: tuple[str, int],
        reply: Callable[[Request], Reply],
        admit: Callable[[Request], None],
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
        super().__init__(
            address,
            _Handler,
            connections=connections,
            waiting=waiting,
            idle_seconds=idle_seconds,
            request_seconds=request_seconds,
        )

    def turn_away(self, head: bytes, *, whole: bool) -> bytes | None:
        """The answer to a client that is refused, or that asks what anybody may ask."""
        return _Door(self, head, whole=whole).answer

    def server_bind(self) -> None:
        """Bind; the base class would ask a name server for this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    @property
    def url(self) -> str:
        """Where it is found."""
        host = self.server_name
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}"


class _Head(BoundedHandler):
    """The head of a request: read, looked at, and refused where it is to be."""

    server: Server

    def do_GET(self) -> None:  # noqa: N802 - http.server calls it so
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
    """A connection that has a place."""

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
