"""What a reply says: its error type, its pause, and a message without what must not be logged."""

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.transports import Reply

if TYPE_CHECKING:
    from reward_functions.rollouts.report.transports.http import Answer

MULTIPLE: Final = 300
"""The first status that is not a success."""

LONGEST: Final = 200
"""Characters of a message."""

READ: Final = 2_000
"""Characters of a message that are looked at."""

SECRETS: Final = re.compile(
    r"sagemaker-api-key-[A-Za-z0-9+/=_-]*"
    r"|\bBearer [^\s\"',]*"
    r"|\b(?:X-Amz-[A-Za-z-]{1,40}|Signature|Credential)=[^&\s\"',]*",
    re.IGNORECASE,
)
"""Credentials, should an error quote the request."""

TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,99}")
SECONDS: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")


def read_reply(answer: Answer) -> Reply:
    """A reply, of which a success needs its status alone."""
    if answer.status < MULTIPLE:
        return Reply(answer.status)
    headers = {name.lower(): value for name, value in answer.headers.items()}
    body = _object(answer.body)
    named = headers.get("x-amzn-errortype") or body.get("__type") or body.get("code")
    return Reply(
        answer.status,
        error_type(named),
        _pause(headers.get("retry-after", "")),
        printable(body.get("Message") or body.get("message")),
    )


def error_type(named: Any) -> str:
    """`ThrottlingException` of `aws.protocol#ThrottlingException:http://…`; "" where it is none.

    Source: the REST JSON protocol of Smithy, "Operation error serialization".
    """
    bare = str(named or "").partition(":")[0].rpartition("#")[2].strip()
    return bare if TYPE.fullmatch(bare) else ""


def printable(message: Any) -> str:
    """A message on one line, at most 200 characters, without credentials."""
    if not isinstance(message, str):
        return ""
    bare = SECRETS.sub("[credential]", message[:READ])
    return "".join(each if each.isprintable() else " " for each in bare)[:LONGEST]


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _pause(given: str) -> float:
    """The seconds of a Retry-After header, a number or a date; 0.0 where it is neither."""
    if SECONDS.fullmatch(given):
        return float(given)
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - time())
    except (ValueError, OverflowError):
        return 0.0
