"""An object of S3, whole: to a limit of bytes and of time, each failure a sentence.

A client's timeouts are between two pieces; what drips has the time of the whole besides.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.failures import answer

CHUNK: Final = 65_536

LONGEST: Final = 120.0
"""Seconds that an object takes at most."""


def whole_object(client: Any, bucket: str, key: str, most: int, what: str) -> bytes:
    """The content of an object.

    Args:
        client: of S3.
        bucket: of the object.
        key: of the object.
        most: bytes.
        what: is tried, for messages.

    Raises:
        AwsFailed: S3 refused or was not reached; the object is larger; it broke off, or was late.
    """
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - 100 ms
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    body = answer(what, client.get_object, Bucket=bucket, Key=key)["Body"]
    end, found = monotonic() + LONGEST, bytearray()
    try:
        while len(found) <= most and (chunk := body.read(CHUNK)):
            found += chunk
            if monotonic() >= end:
                raise AwsFailed(f"{what}: it took over {LONGEST:.0f} seconds; try again")
    except (BotoCoreError, HTTPError, OSError):
        raise AwsFailed(f"{what}: the connection broke off; try again") from None
    finally:
        body.close()
    if len(found) > most:
        raise AwsFailed(f"{what}: it has more than {most:,} bytes")
    return bytes(found)
