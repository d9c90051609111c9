"""The body of an HTTP response of somebody who may send too much, or for too long."""

from __future__ import annotations

from time import monotonic
from typing import Any


def body_of(response: Any, most: int, end: float) -> bytes:
    """As much of a body as is wanted, in the time there is.

    A timeout of a socket begins anew with each byte; this one does not.

    Args:
        response: of urllib3, its body not read yet.
        most: bytes that are read.
        end: when no more is waited for, in monotonic seconds.

    Raises:
        urllib3.exceptions.HTTPError: the body breaks off, or cannot be decoded.
    """
    content = bytearray()
    while len(content) < most and monotonic() < end:
        piece = response.read1(most - len(content))
        if not piece:
            break
        content += piece
    return bytes(content)
