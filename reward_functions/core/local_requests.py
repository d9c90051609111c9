"""The requests that a server of this machine refuses by their head: web pages can cause them.

A page of the web reaches loopback through its visitor's browser. The headers of a browser show it:

| header | of a server bound to loopback | of one bound elsewhere |
| --- | --- | --- |
| Host | one, with a name of loopback and the server's port: else DNS rebinding | any |
| Origin | none | none |
| Sec-Fetch-Site | none, "none" (a typed address) or "same-origin" | the same |

A server that is bound elsewhere has a proxy or a load balancer in front, which chooses the Host. It
asks for its key, or relies on the signature that its host, such as AgentCore, asks for.

Not kept out: another program or user of this machine. Against those there are keys.
"""

from __future__ import annotations

from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
"""Of loopback. A page cannot have one of them, so none of them is rebound."""

OWN_SITE: Final = ("", "none", "same-origin")
"""What a browser says of an address that was typed, or of a link of the server's own page."""

HTTP_PORT: Final = 80
"""The port that a Host need not name."""


class Refusal(NamedTuple):
    """Why a request is refused.

    Args:
        status: of HTTP, 400 or 403.
        sentence: for the client. It quotes nothing of the request.
    """

    status: int
    sentence: str


def is_loopback_address(host: str) -> bool:
    """Whether a server that is bound to this address is reached by this machine alone.

    Args:
        host: an IP address, as `socket.getsockname` has it; anything else is not loopback.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def refusal_of(headers: Iterable[tuple[str, str]], bound: Any) -> Refusal | None:
    """Why a server refuses a request by its head; None where it does not.

    Args:
        headers: all of them, in any case; one that is there twice is there twice.
        bound: where the server listens, as `socket.getsockname` has it: a host, a port, and more.
    """
    found = [(name.lower(), value.strip()) for name, value in headers]
    if is_loopback_address(bound[0]):
        hosts = [value.lower() for name, value in found if name == "host"]
        if len(hosts) > 1:
            return Refusal(HTTPStatus.BAD_REQUEST, "the header Host is there more than once")
        if not hosts or hosts[0] not in _names(bound[0], bound[1]):
            return Refusal(
                HTTPStatus.FORBIDDEN,
                f"Host is not {_written(bound[0])}:{bound[1]}: call the server by that address",
            )
    if any(map(_is_of_a_page, found)):
        return Refusal(HTTPStatus.FORBIDDEN, "a page of the web has sent this request")
    return None


def _is_of_a_page(header: tuple[str, str]) -> bool:
    name, value = header
    return name == "origin" or (name == "sec-fetch-site" and value.lower() not in OWN_SITE)


def _names(host: str, port: int) -> set[str]:
    names = {*NAMES, _written(host)}
    return {f"{name}:{port}" for name in names} | (names if port == HTTP_PORT else set())


def _written(host: str) -> str:
    """An address as a URL has it."""
    return f"[{host}]" if ":" in host else host
