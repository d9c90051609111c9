"""A service behind one port of the loopback interface.

Each request is read whole, is answered in a thread of its own, and is sent what a service's `reply`
returns: a body, a stream of pieces, or nothing at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from reward_functions.aws.emulator_record import LOOPBACK
from reward_functions.core.http_server.bounded import (
    IDLE_SECONDS,
    PIECE,
    BoundedHandler,
    BoundedServer,
)
from reward_functions.local.loopback_service.requests import (
    BODY_SECONDS,
    CONNECTIONS,
    LARGE_AT_ONCE,
    SMALL,
    Refused,
    Request,
    invalid,
    length_of,
    require_neighbour,
)

if TYPE_CHECKING:
    import socket

Reply: TypeAlias = tuple[int, dict[str, str], bytes | Iterable[bytes]]
"""Status, headers and body. Pieces of a body are sent one by one, as they come."""

MESSAGE: Final = 32 * SMALL
"""Bytes of a request at most: Converse takes 25 MB."""

POLL_SECONDS: Final = 0.01
"""Between two looks at whether a server is to end: what a test waits for at its end."""


class LoopbackServer(BoundedServer):
    """A server of one service; a service overrides `reply`, and what else is different.

    `connections` is how many there may be at a time.

    Args:
        listening: a socket that listens already; a free port where not given.
        port: where it listens; a free one where 0.

    Raises:
        OSError: something else listens there.
    """

    connections: ClassVar[int] = CONNECTIONS

    def __init__(self, listening: socket.socket | None = None, *, port: int = 0) -> None:
        super().__init__(
            (LOOPBACK, port),
            self.handler,
            bind_and_activate=listening is None,
            connections=self.connections,
        )
        if listening is not None:
            self.socket.close()
            self.socket = listening
            self.server_address = listening.getsockname()
        self._large = BoundedSemaphore(LARGE_AT_ONCE)

    @property
    def handler(self) -> type[Handler]:
        """What reads requests; a service of other methods has its own."""
        return Handler

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://{LOOPBACK}:{self.server_address[1]}"

    def reply(self, request: Request) -> Reply | None:
        """The answer to a request; None closes the connection without one."""
        raise NotImplementedError

    def refusal(self, request: Request, refused: Refused) -> Reply:
        """The answer to a request that is not served, as its clients read it."""
        raise NotImplementedError

    @contextmanager
    def room(self, request: Request) -> Iterator[int]:
        """Room for the body of a request, and its length.

        Raises:
            Refused: it is longer than a request may be.
        """
        length = length_of(request, MESSAGE)
        if length <= SMALL:
            yield length
            return
        with self.large():
            yield length

    @contextmanager
    def large(self) -> Iterator[None]:
        """Room for a large body.

        Raises:
            Refused: there is none for as long as a connection may wait.
        """
        if not self._large.acquire(timeout=IDLE_SECONDS):
            raise Refused("ThrottlingException", "too many large requests are being read")
        try:
            yield
        finally:
            self._large.release()

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Serve for a block, in a thread; the port is closed at its end."""
        thread = Thread(target=self.serve_forever, args=(POLL_SECONDS,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


class Handler(BoundedHandler):
    """One connection."""

    timeout = IDLE_SECONDS
    """Between two pieces of what is sent, in seconds."""

    server: LoopbackServer

    def handle_one_request(self) -> None:
        """One request of a connection."""
        self.timed.until = monotonic() + self.timeout
        super().handle_one_request()

    def do_GET(self) -> None:  # noqa: N802 - http.server calls them so
        """Answer, whatever the method is."""
        internal = json.dumps({"message": "simulation: an internal error; see the log"}).encode()
        reply: Reply | None = (HTTPStatus.INTERNAL_SERVER_ERROR, {}, internal)
        try:
            reply = self._replied()
        finally:
            # Also where the double itself fails: a client should not wait for a broken connection.
            if reply is None:
                self.close_connection = True
            else:
                self._send(*reply)

    do_POST = do_PATCH = do_DELETE = do_PUT = do_GET  # noqa: N815

    def _send(self, status: int, headers: dict[str, str], body: bytes | Iterable[bytes]) -> None:
        self.connection.settimeout(self.timeout)
        if not isinstance(body, bytes) and self.request_version != self.protocol_version:
            self.close_connection = True  # pieces end with it: this client knows no chunks
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        if isinstance(body, bytes):
            self.send_header("Content-Length", str(len(body)))
        elif not self.close_connection:
            self.send_header("Transfer-Encoding", "chunked")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        if isinstance(body, bytes):
            self.wfile.write(body)
        else:
            self._send_pieces(body, chunked=not self.close_connection)

    def _send_pieces(self, pieces: Iterable[bytes], *, chunked: bool) -> None:
        for piece in pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _replied(self) -> Reply | None:
        path, _, query = self.path.partition("?")
        request = Request(self.command, path, query, tuple(self.headers.items()), b"")
        try:
            require_neighbour(request, self.server.server_address)
            with self.server.room(request) as length:
                body = self._body(length)
        except Refused as refused:
            # What follows on this connection would be the body that nobody has read.
            self.close_connection = True
            return self.server.refusal(request, refused)
        return self.server.reply(request._replace(body=body))

    def _body(self, length: int) -> bytes:
        pieces: list[bytes] = []
        late = monotonic() + BODY_SECONDS
        while length:
            self.timed.until = min(late, monotonic() + self.timeout)
            try:
                piece = self.rfile.read1(min(length, PIECE))
            except TimeoutError:
                piece = b""
            if not piece:
                raise invalid("the body of the request does not come")
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server refuses itself, such as a line that is no request: JSON, too."""
        self.close_connection = True
        text = message or explain or HTTPStatus(code).phrase
        self._send(code, {}, json.dumps({"message": text}).encode())
