"""Whether a URL leads to this machine alone, as that of a local AWS emulator does.

A name does where all of its addresses do. A URL in which two parsers may find two hosts does not.
"""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from reward_functions.core.looking import Looks

AWS: Final = (".amazonaws.com", ".amazonaws.com.cn", ".aws")
"""What AWS's own names end with: they lead to no machine of ours."""

AMBIGUOUS: Final = re.compile(r"[\\\s\x00-\x20\x7f-\x9f]")
"""A backslash ends the host for one parser and not for another; others pass over white space."""

RESOLVES_WITHIN: Final = 2.0
"""Seconds; a name that leads here is in the machine's own files, or in a public zone."""


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine alone."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host = parts.hostname or ""
    except ValueError:
        return False
    if "@" in parts.netloc or AMBIGUOUS.search(url):
        return False
    host = host.rstrip(".")
    if not host or host.endswith(AWS):
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    found = _addresses(host)
    return bool(found) and all(map(_is_here, found))


def _is_here(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is this machine's alone; that of no machine in particular leads here."""
    within = getattr(address, "ipv4_mapped", None) or address
    return bool(within.is_loopback or within.is_unspecified)


def _addresses(host: str) -> list[IPv4Address | IPv6Address]:
    """The addresses of a host: written out, in the short forms of old, or found by its name."""
    try:
        return [ip_address(host)]
    except ValueError:
        pass
    try:
        return [IPv4Address(socket.inet_aton(host))]
    except OSError:
        pass

    def resolved() -> list[IPv4Address | IPv6Address]:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return [ip_address(str(address[0]).partition("%")[0]) for *_, address in found]

    return Looks(RESOLVES_WITHIN).at(resolved, otherwise=[])
