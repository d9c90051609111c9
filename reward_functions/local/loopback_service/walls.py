"""What a double asks of a request beyond `core.local_requests`, which keeps web pages out.

| wall | what it keeps out |
| --- | --- |
| a target that is a path, headers that are there once | a request that is read in two ways |
| a length, before a byte of the body is read | what fills the memory |
| so many places, a time for each | what holds every thread |

Not kept out: another user of this machine, who may take every place there is.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.local_requests import refusal_of
from reward_functions.local.loopback_service.refusals import Refused, invalid

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request

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
