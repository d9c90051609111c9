"""Addresses that a key or data are sent to, as the library that connects reads them.

refused                                          because
a backslash, a space, a control character        two parsers find two hosts in it
a name or a password before the host             it would stand in messages
another host for `urllib3` than for Python       the check would be of one, the call to the other
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import AMBIGUOUS, is_loopback

FORM: Final = "https://HOST or http://HOST:PORT"

SCHEMES: Final = frozenset({"http", "https"})


class BadAddress(ConfigurationError):
    """An address that nothing is sent to. The message does not show it: it may hold a password."""


def host_of(url: str, called: str = "an endpoint") -> str:
    """The host and port that a URL leads to.

    Args:
        url: of an endpoint.
        called: what it is called in a message, such as the variable that holds it.

    Raises:
        BadAddress: it has none, or not the same to every parser.
    """
    from urllib3.exceptions import LocationParseError  # noqa: PLC0415 - 50 ms
    from urllib3.util import parse_url  # noqa: PLC0415

    try:
        read, ours = parse_url(url), urlsplit(url)
        same = (read.host or "").strip("[]").lower() == (ours.hostname or "").lower()
        port = ours.port
    except (LocationParseError, ValueError):
        raise BadAddress(f"{called} is no URL: write {FORM}") from None
    if AMBIGUOUS.search(url) or read.auth is not None or "@" in ours.netloc:
        raise BadAddress(
            f"{called} has a backslash, a space, a control character or a password in it: write "
            f"{FORM}"
        )
    if not (read.host and same and read.port == port and read.scheme in SCHEMES):
        raise BadAddress(f"{called} is no URL: write {FORM}")
    return ours.netloc


def require_private(url: str) -> str:
    """The host and port of an address that a key may be sent to: over https, or to this machine.

    Raises:
        BadAddress: it is none, or the key would travel in the clear.
    """
    host = host_of(url)
    if urlsplit(url).scheme != "https" and not is_loopback(f"http://{host}"):
        raise BadAddress(f"{host}: a key travels over https, or to this machine")
    return host
