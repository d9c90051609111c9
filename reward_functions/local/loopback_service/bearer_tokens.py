"""Presigned calls that serve as keys: `bedrock-api-key-…`, `sagemaker-api-key-…`.

Such a token is the prefix and, in base64, the presigned URL of `CallWithBearerToken` without its
scheme; `&Version=1` is added after it was signed.

Source: aws-bedrock-token-generator, and `token_generator` of sagemaker-core 2.27.
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.loopback_service.signatures import Signature, of_query

ACTION: Final = "CallWithBearerToken"

LONGEST: Final = 12 * 3600
"""Seconds a short-term key lives at most: "Generate an Amazon Bedrock API key", the user guide."""

ADDED_AFTER_SIGNING: Final = "&Version=1"


class TokenKind(NamedTuple):
    """A kind of bearer token.

    Args:
        prefix: how it begins.
        host: that it is presigned for.
        service: that its signature is scoped to.
        words: for people, such as "a Bedrock API key".
    """

    prefix: str
    host: str
    service: str
    words: str


class Presigned(NamedTuple):
    """What a token is.

    Args:
        query: of its URL, without what was added after it was signed.
        signature: in that query.
        expires: when its time is over; the credentials that signed it may end before.
    """

    query: str
    signature: Signature
    expires: datetime


def presigned(token: str, kind: TokenKind) -> Presigned:
    """What a bearer token is, whether or not its time is over.

    Raises:
        Refused: it is no token of this kind.
    """
    query = _query(token, kind)
    fields = parse_qs(query)
    expires = _expiry(fields)
    signature = of_query(query, kind.service)
    if expires is None or signature is None or fields.get("Action") != [ACTION]:
        raise _unknown(kind)
    return Presigned(query, signature, expires)


def _query(token: str, kind: TokenKind) -> str:
    if not token.startswith(kind.prefix):
        raise _unknown(kind)
    try:
        url = base64.b64decode(token.removeprefix(kind.prefix), validate=True).decode("ascii")
        parts = urlsplit(f"https://{url.removesuffix(ADDED_AFTER_SIGNING)}")
    except (ValueError, binascii.Error):
        raise _unknown(kind) from None
    if parts.hostname != kind.host or "X-Amz-Signature=" not in parts.query:
        raise _unknown(kind)
    return parts.query


def _expiry(fields: dict[str, list[str]]) -> datetime | None:
    try:
        (moment,), (life,) = fields["X-Amz-Date"], fields["X-Amz-Expires"]
        signed = datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        return signed + timedelta(seconds=min(max(int(life), 0), LONGEST))
    except (KeyError, ValueError, OverflowError):
        return None


def _unknown(kind: TokenKind) -> Refused:
    return Refused("UnrecognizedClientException", f"the bearer token is not {kind.words}")
