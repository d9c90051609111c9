"""What stands between a double and whoever else reaches the loopback interface.

| wall | what it keeps out |
| --- | --- |
| a Host that is this address | a page of the web whose name leads here: DNS rebinding |
| no Origin, no Sec-Fetch-Site of another site | a page of the web that sends requests |
| a target that is a path, headers that are there once | a request that is read in two ways |
| a length, before a byte of the body is read | what fills the memory |
| so many connections, a time for each | what holds every thread |

Not kept out: another user of this machine, who may open every connection there is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.tools.local_aws.environment import LOOPBACK
from reward_functions.tools.loopback_service.refusals import Refused, invalid

if TYPE_CHECKING:
    from reward_functions.tools.loopback_service.requests import Request

CONNECTIONS: Final = 256
"""At a time, each with a thread of its own."""

IDLE_SECONDS: Final = 30.0
"""How long a connection may say nothing."""

BODY_SECONDS: Final = 60.0
"""How long a body may take."""

LINGER_SECONDS: Final = 2.0
"""How long what a client still sends is thrown away, once it is answered."""

SMALL: Final = 1024 * 1024
"""Bytes of a body that anybody may send, and of a form beside its file."""

LARGE_AT_ONCE: Final = 4
"""Bodies larger than that which are read at a time; others wait."""

NAMES: Final = (LOOPBACK, "localhost", "[::1]")

ONCE: Final = ("host", "authorization", "content-length", "x-amz-date", "x-amz-content-sha256")

OWN_SITE: Final = ("", "none", "same-origin")
"""What a browser says of an address that was typed, or of a link of a double's own page."""

PATH: Final = re.compile(r"/(?!/)[!-~]*")
QUERY: Final = re.compile(r"[!-~]*")


def require_neighbour(request: Request, port: int) -> None:
    """Nothing, where a request is one of this machine's own programs.

    Args:
        request: its body not read yet.
        port: of the service.

    Raises:
        Refused: it is not, or can be read in two ways.
    """
    names = [name.lower() for name, _ in request.headers]
    for name in ONCE:
        if names.count(name) > 1:
            raise invalid(f"the header {name} is there more than once")
    if request.header("host").lower() not in {f"{name}:{port}" for name in NAMES}:
        raise Refused("AccessDeniedException", f"Host is not {LOOPBACK}:{port}")
    if "origin" in names or request.header("sec-fetch-site") not in OWN_SITE:
        raise Refused("AccessDeniedException", "a page of another site has sent this request")
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
