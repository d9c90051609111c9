"""The double on the loopback interface: one port for both APIs and for its own controls.

Each request is read whole, its caller is identified, and it is answered in a thread of its own.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socket import SHUT_WR
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.tools.local_aws.environment import LOOPBACK
from reward_functions.tools.training_double import aws_api, control, openai_api
from reward_functions.tools.training_double.clients import Clients
from reward_functions.tools.training_double.datafiles import LONGEST
from reward_functions.tools.training_double.errors import Refused, invalid
from reward_functions.tools.training_double.identity import Callers
from reward_functions.tools.training_double.prompts import Prompts
from reward_functions.tools.training_double.rights import Rights
from reward_functions.tools.training_double.runs import Runs
from reward_functions.tools.training_double.service import Service
from reward_functions.tools.training_double.settings import SETTINGS
from reward_functions.tools.training_double.state import State
from reward_functions.tools.training_double.walls import (
    BODY_SECONDS,
    IDLE_SECONDS,
    LARGE_AT_ONCE,
    LINGER_SECONDS,
    SMALL,
    BoundedServer,
    length_of,
    require_neighbour,
)
from reward_functions.tools.training_double.wire import Request

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from reward_functions.tools.local_aws import LocalAws
    from reward_functions.tools.training_double.settings import SimulationSettings

    Reply = tuple[int, dict[str, str], bytes]

MESSAGE: Final = 32 * SMALL
"""Bytes of a request that is not a file: Converse takes 25 MB."""

PIECE: Final = 64 * 1024

POLL_SECONDS: Final = 0.05


class Double(BoundedServer):
    """A server of one double.

    Args:
        aws: the emulator beside it.
        listening: a socket that listens already; a free port where not given.
        settings: of the simulation.
    """

    def __init__(
        self,
        aws: LocalAws,
        listening: socket.socket | None = None,
        settings: SimulationSettings = SETTINGS,
    ) -> None:
        super().__init__((LOOPBACK, 0), _Handler, bind_and_activate=listening is None)
        if listening is not None:
            self.socket.close()
            self.socket = listening
            self.server_address = listening.getsockname()
        clients, state = Clients(aws), State()
        prompts = Prompts(clients)
        runs = Runs(state, clients, prompts, settings)
        self.callers = Callers(aws)
        self._large = BoundedSemaphore(LARGE_AT_ONCE)
        self.service = Service(clients, Rights(clients), state, prompts, runs)

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://{LOOPBACK}:{self.server_address[1]}"

    def reply(self, request: Request) -> Reply:
        """The status, the headers and the body of the answer to a request."""
        try:
            if request.path.startswith(control.PREFIX):
                if request.method != "GET":
                    self._require_root(request)
                kind, body = control.answer(self.service, request)
                return HTTPStatus.OK, {"Content-Type": kind}, body
            caller = self.callers.of(request)
            if request.path.startswith(f"{openai_api.PREFIX}/"):
                return HTTPStatus.OK, {}, openai_api.answer(self.service, caller, request)
            status, body = aws_api.answer(self.service, caller, request)
        except Refused as refused:
            return self.refusal(request, refused)
        return status, {}, body

    def refusal(self, request: Request, refused: Refused) -> Reply:
        """The answer to a request that is not served, as its clients read it."""
        openai = request.path.startswith(f"{openai_api.PREFIX}/")
        return openai_api.refusal(refused) if openai else aws_api.refusal(refused)

    def _require_root(self, request: Request) -> None:
        caller = self.callers.of(request)
        if not caller.unrestricted:
            raise Refused("AccessDeniedException", f"{caller.arn} is not the root of the account")

    @contextmanager
    def room(self, request: Request) -> Iterator[int]:
        """Room for the body of a request, and its length.

        A large one has to come from somebody with a signature, and a file from somebody who is
        known before it is read: by an API key, or since everybody is root.

        Raises:
            Refused: it is longer than whoever sends it may send.
        """
        if length_of(request, LONGEST + SMALL) <= SMALL:
            yield length_of(request, SMALL)
            return
        known = not self.callers.enforcing or not request.header("authorization").startswith("AWS4")
        if known:
            self.callers.of(request)
        file = known and request.path == f"{openai_api.PREFIX}/files"
        length = length_of(request, LONGEST + SMALL if file else MESSAGE)
        if not self._large.acquire(timeout=IDLE_SECONDS):
            raise Refused("ThrottlingException", "too many large requests are being read")
        try:
            yield length
        finally:
            self._large.release()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one piece: two of them cost 40 ms, the wait of TCP's delayed acknowledgement.
    wbufsize = -1
    default_request_version = "HTTP/1.0"  # whoever names no version is answered with a head, too
    timeout = IDLE_SECONDS
    server: Double

    def do_GET(self) -> None:  # http.server calls them so
        self._answer()

    do_POST = do_PATCH = do_DELETE = do_PUT = do_GET  # noqa: N815

    def _answer(self) -> None:
        internal = json.dumps({"message": "simulation: an internal error; see the log"}).encode()
        reply: Reply = (HTTPStatus.INTERNAL_SERVER_ERROR, {}, internal)
        try:
            reply = self._replied()
        finally:
            # Also where the double itself fails: a client should not wait for a broken connection.
            self._send(*reply)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _replied(self) -> Reply:
        path, _, query = self.path.partition("?")
        request = Request(self.command, path, query, tuple(self.headers.items()), b"")
        try:
            require_neighbour(request, self.server.server_address[1])
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
            try:
                piece = self.rfile.read1(min(length, PIECE))
            except TimeoutError:
                piece = b""
            if not piece or monotonic() > late:
                raise invalid("the body of the request does not come")
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def finish(self) -> None:
        """Close; who is still sending may read the answer first, which a reset would take away."""
        late = monotonic() + LINGER_SECONDS
        with suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(SHUT_WR)
            self.connection.settimeout(LINGER_SECONDS)
            while self.rfile.read1(PIECE) and monotonic() < late:
                pass
        super().finish()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server refuses itself, such as a line that is no request: JSON, too."""
        self.close_connection = True
        text = message or explain or HTTPStatus(code).phrase
        self._send(code, {}, json.dumps({"message": text}).encode())

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base's own name
        """Nothing: requests hold prompts and keys."""


@contextmanager
def serving(aws: LocalAws, settings: SimulationSettings = SETTINGS) -> Iterator[Double]:
    """A double beside an emulator for a block, on a free port; its jobs are stopped at the end."""
    double = Double(aws, settings=settings)
    thread = Thread(target=double.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield double
    finally:
        double.shutdown()
        double.service.runs.close()
        double.callers.close()
        double.server_close()
        thread.join()
