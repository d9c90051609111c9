"""Whether a call carries a credential as the service asks for, and that its time is not over.

A double does not know the secrets of its callers, so what a signature is worth is not checked: its
form and its scope are, and that it covers the host, its moment and whatever it says it covers.

Source: SigV4, and the bearer token of sagemaker-core 2.27's `token_generator`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from reward_functions.local.loopback_service.bearer_tokens import TokenKind, presigned
from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.loopback_service.signatures import SKEW, of_headers

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request

SERVICE: Final = "sagemaker"
"""That requests and tokens are signed for: the model's `signingName`."""

TOKEN: Final = TokenKind(
    "sagemaker-api-key-", "sagemaker.amazonaws.com", SERVICE, "a SageMaker API key"
)
BEARER: Final = "Bearer "

Credential: TypeAlias = Literal["sigv4", "bearer"]

EXPIRED: Final = "The security token included in the request is expired"

COVERED: Final = frozenset({"host", "x-amz-date"})


def credential_of(request: Request, now: float) -> Credential:
    """Which kind of credential a call carries.

    Args:
        request: whole.
        now: seconds since the epoch.

    Raises:
        Refused: none, one that is not well-formed, or one whose time is over.
    """
    moment = datetime.fromtimestamp(now, UTC)
    authorization = request.header("authorization")
    if authorization.startswith(BEARER):
        token = presigned(authorization.removeprefix(BEARER).strip(), TOKEN)
        if moment >= token.expires:
            raise Refused("ExpiredTokenException", EXPIRED)
        return "bearer"
    signature = of_headers(request, SERVICE)
    names = {name.lower() for name, _ in request.headers}
    if not set(signature.headers) >= COVERED or not names >= set(signature.headers):
        raise Refused(
            "IncompleteSignatureException",
            "SignedHeaders names host, x-amz-date and headers of the request",
        )
    if not _is_now(signature.moment, signature.day, moment):
        raise Refused("InvalidSignatureException", "Signature expired, or of another day")
    return "sigv4"


def _is_now(stated: str, day: str, now: datetime) -> bool:
    try:
        signed = datetime.strptime(stated, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return False
    return stated.startswith(day) and abs(now - signed) <= SKEW
