"""Who signed a request: SigV4 in a header or in a query, and presigned calls that serve as keys.

A key such as `bedrock-api-key-…` is a prefix and, in base64, the presigned URL of
`CallWithBearerToken` without its scheme; `&Version=1` is added after it was signed.

Sources: "Create a signed AWS API request" of the IAM user guide; aws-bedrock-token-generator, and
`token_generator` of sagemaker-core 2.27.
"""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from reward_functions.local.loopback_service.server import Refused

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.server import Request

SKEW: Final = timedelta(minutes=5)
"""How far from now a request may have been signed."""

HEADER: Final = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=(?P<credential>[^,\s]{1,256}), *"
    r"SignedHeaders=(?P<headers>[!-+\--~]{1,2048}), *Signature=(?P<value>[0-9a-f]{64})"
)
CREDENTIAL: Final = re.compile(
    r"(?P<key>[A-Za-z0-9_]{1,128})/(?P<day>[0-9]{8})/(?P<region>[a-z0-9-]{1,32})/"
    r"(?P<service>[a-z0-9-]{1,64})/aws4_request"
)
IN_QUERY: Final = re.compile(r"(?:^|&)(?:x-amz-|awsaccesskeyid=)", re.IGNORECASE)


class Signature(NamedTuple):
    """A signature and what it is of.

    Args:
        key: the access key's id.
        day: of the scope, such as "20261122".
        region: of the scope.
        headers: names of the headers that it covers.
        value: hexadecimal.
        moment: when it was made, such as "20261122T090000Z".
        service: of the scope, such as "bedrock".
    """

    key: str
    day: str
    region: str
    headers: tuple[str, ...]
    value: str
    moment: str
    service: str


def of_headers(request: Request, service: str) -> Signature:
    """The signature in a request's Authorization.

    Args:
        request: whole.
        service: the one that it has to be scoped to, such as "bedrock".

    Raises:
        Refused: the signature is missing, it is another service's, or it leaves the body out.
    """
    authorization = request.header("authorization")
    if not authorization:
        raise Refused("MissingAuthenticationTokenException", "Missing Authentication Token")
    found = HEADER.fullmatch(authorization)
    if found is None or IN_QUERY.search(request.query):
        raise Refused(
            "IncompleteSignatureException",
            "a request is signed in its Authorization header, by AWS4-HMAC-SHA256",
        )
    digest = request.header("x-amz-content-sha256")
    if digest and digest != sha256(request.body).hexdigest():
        raise Refused(
            "InvalidSignatureException", "x-amz-content-sha256 is not the digest of the body"
        )
    headers = tuple(found["headers"].split(";"))
    moment = request.header("x-amz-date")
    return _scoped(found["credential"], headers, found["value"], moment, service)


def _scoped(
    credential: str, headers: tuple[str, ...], value: str, moment: str, service: str
) -> Signature:
    scope = CREDENTIAL.fullmatch(credential)
    if scope is None:
        raise Refused(
            "IncompleteSignatureException", "the credential of the signature has no scope"
        )
    if scope["service"] != service:
        raise Refused(
            "InvalidSignatureException",
            f"Credential should be scoped to correct service: {service}",
        )
    return Signature(scope["key"], scope["day"], scope["region"], headers, value, moment, service)


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
    """The content of a bearer token, even after its time.

    Raises:
        Refused: it is no token of this kind.
    """
    words = f"the bearer token is not {kind.words}"
    unknown = Refused("UnrecognizedClientException", words)
    try:
        url = base64.b64decode(token.removeprefix(kind.prefix), validate=True).decode("ascii")
        parts = urlsplit(f"https://{url.removesuffix(ADDED_AFTER_SIGNING)}")
        fields = {name: value for name, (value,) in parse_qs(parts.query).items()}
        ours = (token[: len(kind.prefix)], parts.hostname, fields["Action"])
        life = min(max(int(fields["X-Amz-Expires"]), 0), LONGEST)
        names = ("Credential", "SignedHeaders", "Signature", "Date")
        credential, headers, value, date = (fields[f"X-Amz-{name}"] for name in names)
    except (ValueError, KeyError):
        raise unknown from None
    signed = moment_of(date)
    if signed is None or ours != (kind.prefix, kind.host, ACTION):
        raise unknown
    signature = _scoped(credential, tuple(headers.split(";")), value, date, kind.service)
    return Presigned(parts.query, signature, signed + timedelta(seconds=life))


def moment_of(text: str) -> datetime | None:
    """The moment of a signature; None for any other text."""
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
