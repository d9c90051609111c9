"""A service on one port of the loopback interface: requests, refusals, and what answers them.

It stands on `core.http_server`, which reads requests and keeps out pages of the web. A refusal has
the code and the sentence that a client of AWS or of OpenAI reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reward_functions.aws.emulator_record import LOOPBACK
from reward_functions.core.http_server import messages
from reward_functions.core.http_server.server import Server
from reward_functions.core.jsons import no_constant

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


class Request(messages.Request):
    """A request that has arrived; the names of its headers are in lower case."""

    def header(self, name: str) -> str:
        """A header, in any case; "" without one."""
        return self.headers.get(name.lower(), "")


def utf8_json(text: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is not JSON, or holds what JSON or UTF-8 does not have.
        RecursionError: it is nested too deeply.
    """
    value = json.loads(text, parse_constant=no_constant)
    # Half a surrogate pair has no UTF-8: whatever is to be sent or hashed would fail.
    json.dumps(value, ensure_ascii=False).encode()
    return value


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a request.

    Raises:
        Refused: it is something else.
    """
    try:
        value = utf8_json(body)
    except (ValueError, RecursionError):
        raise invalid("the request body is not JSON") from None
    if not isinstance(value, dict):
        raise invalid("the request body is not a JSON object")
    return value


SMALL: Final = 1024 * 1024
"""Bytes of a report, and of a form beside its file."""

MESSAGE: Final = 32 * SMALL
"""Bytes of a request at most: Converse takes 25 MB."""

POLL_SECONDS: Final = 0.01
"""Between two looks at whether a server is to end: what a test waits for at its end."""

CODES: Final = {
    HTTPStatus.FORBIDDEN: "AccessDeniedException",
    HTTPStatus.INTERNAL_SERVER_ERROR: "InternalServerException",
}
"""What the server refuses by itself; anything else is no request that the service would take."""

Reply: TypeAlias = tuple[int, dict[str, str], bytes | Iterable[bytes]]
"""Status, headers and body. Pieces of a body are sent one by one, as they come."""


class LoopbackServer(Server):
    """A server of one service; a service overrides `answer` and `denial`.

    Args:
        listening: a socket that listens already; a free port where not given.
        port: where it listens; a free one where 0.
        largest: bytes of a request.

    Raises:
        OSError: something else listens there.
    """

    def __init__(
        self, listening: socket.socket | None = None, *, port: int = 0, largest: int = MESSAGE
    ) -> None:
        super().__init__(
            (LOOPBACK, port),
            self._reply,
            lambda _: None,
            largest=largest,
            refusal=self._refusal,
        )
        if listening is not None:
            self.socket.close()
            self.socket = listening
            self.server_address = listening.getsockname()

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://{LOOPBACK}:{self.server_address[1]}"

    def answer(self, request: Request) -> Reply | None:
        """The answer to a request; None closes the connection without one."""
        raise NotImplementedError

    def denial(self, request: Request, refused: Refused) -> Reply:
        """The answer to a request that is not served, as its clients read it."""
        raise NotImplementedError

    def _reply(self, asked: messages.Request) -> messages.Reply:
        request = Request(*asked)
        try:
            answered = self.answer(request)
        except Refused as refused:
            answered = self.denial(request, refused)
        if answered is None:
            return messages.Reply(0, None)
        status, headers, body = answered
        if isinstance(body, bytes):
            headers = {"Content-Length": str(len(body)), **headers}
            body = [body]
        return messages.Reply(status, iter(body), headers)

    def _refusal(self, path: str, status: int, sentence: str) -> Any:
        """What the server itself refuses, in the form of the path's API."""
        code = CODES.get(HTTPStatus(status), "ValidationException")
        _, _, body = self.denial(Request("", path, "", {}), Refused(code, sentence))
        return json.loads(b"".join([body] if isinstance(body, bytes) else body))

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
