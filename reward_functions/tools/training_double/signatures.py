"""Signatures of requests: what they must be, and whether the account's root made one.

The emulator checks every signature but that of root, whose secret is published; that one is made
again here, by botocore's own signer, and compared.

Source: "Create a signed AWS API request" of the IAM user guide.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qs

from reward_functions.tools.local_aws.environment import SECRET
from reward_functions.tools.training_double.errors import Refused

if TYPE_CHECKING:
    from reward_functions.tools.training_double.wire import Request

SERVICE: Final = "bedrock"
"""The one that botocore signs for, in both of its clients, and the one that API keys are of."""

SKEW: Final = timedelta(minutes=5)
"""How far from now a request may have been signed, as the emulator has it."""

HEADER: Final = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=(?P<credential>[^,\s]{1,256}), *"
    r"SignedHeaders=(?P<headers>[!-+\--~]{1,2048}), *Signature=(?P<value>[0-9a-f]{64})"
)
CREDENTIAL: Final = re.compile(
    r"(?P<key>[A-Za-z0-9_]{1,128})/(?P<day>[0-9]{8})/(?P<region>[a-z0-9-]{1,32})/"
    r"(?P<service>[a-z0-9-]{1,64})/aws4_request"
)
ROOT: Final = re.compile(r"[0-9]{12}|test")
"""Access keys that the emulator takes for the root of an account, without a look at the rest."""

IN_QUERY: Final = re.compile(r"(?:^|&)(?:x-amz-|awsaccesskeyid=)", re.IGNORECASE)

SIGNATURE: Final = "X-Amz-Signature="


class Signature(NamedTuple):
    """A signature and what it is of.

    Args:
        key: the access key's id.
        day: of the scope, such as "20261122".
        region: of the scope.
        headers: names of the headers that it covers.
        value: hexadecimal.
        moment: when it was made, such as "20261122T090000Z".
    """

    key: str
    day: str
    region: str
    headers: tuple[str, ...]
    value: str
    moment: str

    @property
    def by_root(self) -> bool:
        """Whether it claims to be of the root of an account."""
        return ROOT.fullmatch(self.key) is not None


def of_headers(request: Request) -> Signature:
    """The signature in a request's Authorization.

    Raises:
        Refused: there is none, it is another service's, or it leaves the body out.
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
    return _scoped(found["credential"], headers, found["value"], moment)


def of_query(query: str) -> Signature | None:
    """The signature in the query of a presigned URL; None where a part of it is not there once.

    Raises:
        Refused: it is another service's.
    """
    fields = parse_qs(query)
    names = ("Credential", "SignedHeaders", "Signature", "Date")
    parts = [fields.get(f"X-Amz-{name}", []) for name in names]
    if any(len(values) != 1 for values in parts):
        return None
    credential, headers, value, moment = (values[0] for values in parts)
    return _scoped(credential, tuple(headers.split(";")), value, moment)


def _scoped(credential: str, headers: tuple[str, ...], value: str, moment: str) -> Signature:
    scope = CREDENTIAL.fullmatch(credential)
    if scope is None:
        raise Refused(
            "IncompleteSignatureException", "the credential of the signature has no scope"
        )
    if scope["service"] != SERVICE:
        raise Refused(
            "InvalidSignatureException",
            f"Credential should be scoped to correct service: {SERVICE}",
        )
    return Signature(scope["key"], scope["day"], scope["region"], headers, value, moment)


def require_roots(signature: Signature, request: Request, now: datetime, life: timedelta) -> None:
    """Nothing, where whoever signed a request has the secret of root, and has just done so.

    Args:
        signature: of the request.
        request: as it was signed; of a presigned URL, a signature in the query is left out.
        now: the moment.
        life: how long it is good for.

    Raises:
        Refused: another secret, or another time.
    """
    if not compare_digest(_made_again(signature, request), signature.value.encode()):
        raise Refused(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided",
        )
    try:
        signed = datetime.strptime(signature.moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise Refused("IncompleteSignatureException", "X-Amz-Date is not a moment") from None
    if not (signature.moment.startswith(signature.day) and -SKEW <= now - signed <= life):
        raise Refused("InvalidSignatureException", f"Signature expired: {signature.moment}")


def _made_again(signature: Signature, request: Request) -> bytes:
    """The signature that root would give the same request."""
    from botocore.auth import SigV4Auth  # noqa: PLC0415 - a tenth of a second
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415
    from botocore.credentials import Credentials  # noqa: PLC0415

    query = "&".join(each for each in request.query.split("&") if not each.startswith(SIGNATURE))
    # Any host: the signer takes the one of the headers, where they have one.
    again = AWSRequest(request.method, f"http://-{request.path}?{query}", data=request.body)
    for name, text in request.headers:
        if name.lower() in signature.headers:
            again.headers[name] = text
    again.context["timestamp"] = signature.moment
    signer = SigV4Auth(Credentials(signature.key, SECRET), SERVICE, signature.region)
    to_sign = signer.string_to_sign(again, signer.canonical_request(again))
    made: str = signer.signature(to_sign, again)
    return made.encode()
