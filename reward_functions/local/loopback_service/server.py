"""A service behind one port of the loopback interface: requests, refusals, and who is let in.

Each request is read whole, is answered in a thread of its own, and is sent what a service's `reply`
returns: a body, a stream of pieces, or nothing at all. A refusal has the code and the sentence that
a client of AWS or of OpenAI reads.

What a double asks of a request beyond `core.local_requests`, which keeps web pages out:

| wall | what it keeps out |
| --- | --- |
| a target that is a path, headers that are there once | a request that is read in two ways |
| a length, before a byte of the body is read | what fills the memory |
| so many places, a time for each | what holds every thread |

Not kept out: another user of this machine, who may take every place there is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from reward_functions.aws.emulator_record import LOOPBACK
from reward_functions.core.http_server.bounded import (
    IDLE_SECONDS,
    PIECE,
    BoundedHandler,
    BoundedServer,
)
from reward_functions.core.jsons import no_constant
from reward_functions.core.local_requests import refusal_of

if TYPE_CHECKING:
    import socket

STATUS: Final = {
    "ValidationException": HTTPStatus.BAD_REQUEST,
    "ServiceQuotaExceededException": HTTPStatus.PAYMENT_REQUIRED,
    "ConflictException": HTTPStatus.CONFLICT,
    "ResourceNotFoundException": HTTPStatus.NOT_FOUND,
    "ThrottlingException": HTTPStatus.TOO_MANY_REQUESTS,
    "InternalServerException": HTTPStatus.INTERNAL_SERVER_ERROR,
    "InternalServiceError": HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""As botocore's models of Bedrock and of the SageMaker job runtime have it; what they do not name
is a refusal of the caller."""


class Refused(Exception):
    """A request that is not served.

    Args:
        code: AWS's name for it, such as "ValidationException".
        message: one sentence, without the text of a prompt or of an answer.
        parameter: the field of an OpenAI request that is the cause; "" where none is.
    """

    def __init__(self, code: str, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.parameter = parameter

    @property
    def status(self) -> HTTPStatus:
        """The status of the response."""
        return STATUS.get(self.code, HTTPStatus.FORBIDDEN)


class BadAnswer(Exception):
    """A double was about to say something that its service cannot say: a fault of its own."""


def invalid(message: str, parameter: str = "") -> Refused:
    """A request that the service would not take."""
    return Refused("ValidationException", message, parameter)


def missing(message: str) -> Refused:
    """Something that does not exist."""
    return Refused("ResourceNotFoundException", message)


def conflict(message: str) -> Refused:
    """Something that exists already, or is in use."""
    return Refused("ConflictException", message)


class Request(NamedTuple):
    """An HTTP request as it came.

    Args:
        method: such as "POST".
        path: percent-encoded, without the query.
        query: without its question mark.
        headers: in their order, their names as they were sent.
        body: whole.
    """

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """The first header of this name, in whatever case; "" where there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")


def read_json(body: bytes) -> Any:
    """The JSON value of a request.

    Raises:
        Refused: it is not JSON, holds what JSON or UTF-8 does not have, or is nested too deeply.
    """
    try:
        value = json.loads(body, parse_constant=no_constant)
        # Half a surrogate pair has no UTF-8: whatever is to be sent or hashed would fail.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise invalid("the request body is not JSON") from None
    return value


CONNECTIONS: Final = 256
"""Places, each a connection with a thread of its own."""

BODY_SECONDS: Final = 60.0
"""How long a body may take."""

SMALL: Final = 1024 * 1024
"""Bytes of a body that anybody may send, and of a form beside its file."""

LARGE_AT_ONCE: Final = 4
"""Bodies larger than that which are read at a time; others wait."""

ONCE: Final = ("authorization", "content-length", "x-amz-date", "x-amz-content-sha256")

PATH: Final = re.compile(r"/(?!/)[!-~]*")
QUERY: Final = re.compile(r"[!-~]*")


def require_neighbour(request: Request, bound: Any) -> None:
    """Refuse a request that no program of this machine has sent.

    Args:
        request: its body not read yet.
        bound: where the service listens, as `socket.getsockname` has it.

    Raises:
        Refused: a page of a browser may have sent it, or it can be read in two ways.
    """
    refusal = refusal_of(request.headers, bound)
    if refusal is not None and refusal.status == HTTPStatus.BAD_REQUEST:
        raise invalid(refusal.sentence)
    if refusal is not None:
        raise Refused("AccessDeniedException", refusal.sentence)
    names = [name.lower() for name, _ in request.headers]
    for name in ONCE:
        if names.count(name) > 1:
            raise invalid(f"the header {name} is there more than once")
    if not PATH.fullmatch(request.path) or not QUERY.fullmatch(request.query):
        raise invalid("the target of a request is a path and a query, percent-encoded")


def length_of(request: Request, most: int) -> int:
    """Bytes of a request's body.

    Raises:
        Refused: it has no length, or more than it may.
    """
    length = request.header("content-length") or "0"
    known = re.fullmatch(r"[0-9]{1,15}", length) and not request.header("transfer-encoding")
    if not known or int(length) > most:
        raise invalid(f"a request has a length, of {most} bytes at most")
    return int(length)


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
