"""A request as it came, and the JSON in it.

How a service refuses: the code and the sentence that a client of AWS or of OpenAI reads.

What a double asks of a request beyond `core.local_requests`, which keeps web pages out.

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
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from reward_functions.core.jsons import no_constant
from reward_functions.core.local_requests import refusal_of

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
