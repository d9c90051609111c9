"""The signature of the account's root, which the emulator does not check.

Its secret is published: the signature is made again here, by botocore's own signer, and compared.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from reward_functions.local.emulator.environment import SECRET
from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.loopback_service.signatures import SKEW

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.signatures import Signature

ROOT: Final = re.compile(r"[0-9]{12}|test")
"""Access keys that the emulator takes for the root of an account, without a look at the rest."""

SIGNATURE: Final = "X-Amz-Signature="


def by_root(signature: Signature) -> bool:
    """Whether a signature claims to be of the root of an account."""
    return ROOT.fullmatch(signature.key) is not None


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
    signer = SigV4Auth(Credentials(signature.key, SECRET), signature.service, signature.region)
    to_sign = signer.string_to_sign(again, signer.canonical_request(again))
    made: str = signer.signature(to_sign, again)
    return made.encode()
