"""Identify the caller: the local AWS emulator checks the signature, and says whose it is.

A signature covers the method, the path, the query, some headers and the body, so a request can be
shown to the emulator as it came, with one unsigned header beside it:

    X-Amz-Target: AWSOrganizationsV20161128.WhoAsks

    refused for its signature    → refused here, in the same words
    "User: ARN is not authorized to perform: organizations:WhoAsks"    → the caller is ARN
    an operation it does not know    → somebody who may do that; it is shown once more

    X-Amz-Target: AWSSecurityTokenServiceV20110615.GetCallerIdentity

which everybody may, and which answers with the ARN. STS reads either a body that is JSON by its
type, or a form that is posted. The emulator (ministack 1.5.33) takes the digest of the body that
was signed for that of any other, which comes in useful. It authorises by the target before it looks
for an operation. A caller that is known once by an access key is known again.

SageMaker's requests have a signed target of their own, and so are shown as they came:

    refused for its signature    → refused here, in the same words
    "Unsupported service: sagemaker"    → it is in order, and IAM says whose the access key is

The signature of root the emulator does not check. Its secret is published: the signature is made
again here, by botocore's own signer, and compared. A Bedrock API key is a presigned URL in base64,
and is shown to the emulator as that URL. An emulator that does not enforce permissions takes
everybody for root, and so does the double.

Not seen: who sends a PATCH with a signed type and may do anything, unless by an access key that has
asked for something else before. A key is shown once, within the five minutes in which the emulator
takes a signed moment for now, and is remembered until it expires.
"""

from __future__ import annotations

import json
import re
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.emulator.emulator import ACCOUNT, REGION, SECRET
from reward_functions.local.loopback_service.server import Refused, Request, invalid
from reward_functions.local.loopback_service.signing import (
    LONGEST,
    SKEW,
    TokenKind,
    moment_of,
    of_headers,
    presigned,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPConnection

    from reward_functions.local.emulator import LocalAws
    from reward_functions.local.loopback_service.signing import Signature

ROOT: Final = re.compile(r"[0-9]{12}|test")
"""Access keys that the emulator takes for the root of an account, without a look at the rest."""

SIGNATURE: Final = "X-Amz-Signature="


def require_roots(signature: Signature, request: Request, now: datetime, life: timedelta) -> None:
    """Refuse a request, unless its signer has the secret of root, and has just signed it.

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
    signed = moment_of(signature.moment)
    if signed is None:
        raise Refused("IncompleteSignatureException", "X-Amz-Date is not a moment")
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
    for name in signature.headers:
        again.headers[name] = request.header(name)
    again.context["timestamp"] = signature.moment
    signer = SigV4Auth(Credentials(signature.key, SECRET), signature.service, signature.region)
    to_sign = signer.string_to_sign(again, signer.canonical_request(again))
    made: str = signer.signature(to_sign, again)
    return made.encode()


TARGET: Final = "X-Amz-Target"
WHO_ASKS: Final = "AWSOrganizationsV20161128.WhoAsks"
IDENTITY: Final = "AWSSecurityTokenServiceV20110615.GetCallerIdentity"
FORM: Final = b"Action=GetCallerIdentity&Version=2011-06-15"
JSON_TYPE: Final = "application/x-amz-json-1.1"
DIGEST: Final = "X-Amz-Content-Sha256"

NOT_FORWARDED: Final = frozenset(
    {TARGET.lower(), "content-length", "transfer-encoding", "connection", "expect"}
)
"""Of this connection and not of the request; and a target of the caller's own."""

MLFLOW: Final = "/api/2.0/mlflow/"
"""How the paths of MLflow's REST API begin."""

PATIENCE: Final = 30.0

NO_SERVICE: Final = b"Unsupported service: sagemaker"
"""What the emulator says of a service that it does not have, once the signature is in order."""

NOT_STATED: Final = (
    "simulation: the emulator does not say who sends this; ask for anything else first, with the "
    "same access key"
)

NAMED: Final = re.compile(r"User: (arn:\S{1,2048}) is not authorized to perform")
IDENTIFIED: Final = re.compile(rb'(?:<Arn>|"Arn": ?")(arn:[!#-;=-~]{1,2048})[<"]')

SCOPE: Final = re.compile(r"Credential=([^/,\s]{1,128})/[0-9]{8}/([a-z0-9-]{1,32})/")

BEDROCK: Final = "bedrock"
"""What botocore signs for in both of Bedrock's clients, and what API keys are of."""

SAGEMAKER: Final = "sagemaker"
"""What botocore signs for in SageMaker's clients, and what its MLflow apps take."""

KEY: Final = TokenKind("bedrock-api-key-", "bedrock.amazonaws.com", BEDROCK, "a Bedrock API key")

REMEMBERED: Final = 1_000
"""API keys, and access keys."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and where.

    Args:
        arn: of the user, of the role's session, or of the account's root.
        account: twelve digits.
        region: the one that the request was signed for.
        bearer: whether an API key was shown, and no signature.
    """

    arn: str
    account: str
    region: str
    bearer: bool = False

    @property
    def unrestricted(self) -> bool:
        """Whether no policy limits it."""
        return self.arn == f"arn:aws:iam::{self.account}:root"


class Callers:
    """Tells callers apart by asking an emulator.

    Args:
        aws: the emulator.
        now: a clock.
    """

    def __init__(
        self, aws: LocalAws, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._aws, self._now = aws, now
        self._keys: dict[str, tuple[Caller, datetime]] = {}
        self._arns: dict[str, str] = {}

    @property
    def enforcing(self) -> bool:
        """Whether anybody is less than root."""
        return self._aws.enforcing

    def of(self, request: Request) -> Caller:
        """Who sent a request.

        Raises:
            Refused: nobody that the emulator knows, or no longer.
        """
        authorization = request.header("authorization")
        if authorization.startswith("Bearer "):
            return self._of_key(authorization.removeprefix("Bearer ").strip())
        if self._aws.enforcing:
            return self._shown(request, of_headers(request, service_of(request)), SKEW)
        scope = SCOPE.search(authorization)
        return _root(*scope.groups() if scope else ("", REGION))

    def _of_key(self, key: str) -> Caller:
        """Whose API key it is; nothing of it is kept but its hash."""
        digest = sha256(key.encode()).hexdigest()
        if digest in self._keys:
            caller, expires = self._keys[digest]
            self._require_before(expires)
            return caller
        query, signature, expires = presigned(key, KEY)
        self._require_before(expires)
        if self._aws.enforcing:
            url = Request("POST", "/", query, {"host": KEY.host})
            caller = self._shown(url, signature, timedelta(seconds=LONGEST), bearer=True)
        else:
            caller = _root(signature.key, signature.region, bearer=True)
        _remember(self._keys, digest, (caller, expires))
        return caller

    def _require_before(self, expires: datetime) -> None:
        if self._now() >= expires:
            raise Refused("ExpiredTokenException", "the API key has expired: make a new one")

    def _shown(
        self, request: Request, signature: Signature, life: timedelta, *, bearer: bool = False
    ) -> Caller:
        """Who has signed a request."""
        if ROOT.fullmatch(signature.key):
            require_roots(signature, request, self._now(), life)
            return _root(signature.key, signature.region, bearer=bearer)
        arn = self._arn(request, signature)
        _remember(self._arns, signature.key, arn)
        return Caller(arn, arn.split(":")[4], signature.region, bearer)

    def _arn(self, request: Request, signature: Signature) -> str:
        if TARGET.lower() in signature.headers:
            status, body = self._forwarded(request, request.header(TARGET))
            return self._owner(signature.key, status, body)
        status, body = self._forwarded(request, WHO_ASKS)
        code, message = _error(body)
        if named := NAMED.match(message):
            return named[1]
        if code != "InvalidAction":
            raise _refused(status, body)
        if "content-type" not in signature.headers:
            status, body = self._forwarded(_replaced(request, b"{}", JSON_TYPE), IDENTITY)
        elif request.method == "POST":
            status, body = self._forwarded(_replaced(request, FORM), IDENTITY)
        if found := IDENTIFIED.search(body):
            return found[1].decode()
        if signature.key in self._arns:
            return self._arns[signature.key]
        raise Refused("AccessDeniedException", NOT_STATED)

    def _owner(self, key: str, status: int, body: bytes) -> str:
        """The ARN of the user whose access key has signed a request of SageMaker.

        Args:
            key: the access key.
            status: of what the emulator answered to the request.
            body: of that.

        Raises:
            Refused: the signature is not in order, or nobody knows whose session the key is.
        """
        if NO_SERVICE not in body:
            raise _refused(status, body)
        if key in self._arns:
            return self._arns[key]
        iam = self._aws.client("iam")
        with suppress(iam.exceptions.ClientError, KeyError):
            name = iam.get_access_key_last_used(AccessKeyId=key)["UserName"]
            return str(iam.get_user(UserName=name)["User"]["Arn"])
        raise Refused("AccessDeniedException", NOT_STATED)

    def _forwarded(self, request: Request, target: str) -> tuple[int, bytes]:
        """What the emulator answers to this very request, asked who sends it."""
        with closing(self._aws.connection(PATIENCE)) as connection:
            try:
                return _send(connection, request, target)
            except (OSError, HTTPException):
                raise Refused(
                    "InternalServerException", "the local AWS emulator does not answer"
                ) from None
            except ValueError:
                raise invalid("a header of the request cannot be read") from None


def _send(connection: HTTPConnection, request: Request, target: str) -> tuple[int, bytes]:
    path = f"{request.path}?{request.query}" if request.query else request.path
    connection.putrequest(request.method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in request.headers.items():
        if name not in NOT_FORWARDED:
            connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(request.body)))
    connection.putheader(TARGET, target)
    connection.endheaders(request.body)
    response = connection.getresponse()
    return response.status, response.read()


def service_of(request: Request) -> str:
    """The service that a request is signed for."""
    asked = request.header(TARGET).startswith("SageMaker.") or request.path.startswith(MLFLOW)
    return SAGEMAKER if asked else BEDROCK


def _replaced(request: Request, body: bytes, kind: str = "") -> Request:
    """The same with another body, and with another type where one is given."""
    changed = {DIGEST.lower(): sha256(request.body).hexdigest()}
    changed |= {"content-type": kind} if kind else {}
    return request._replace(headers={**request.headers, **changed}, body=body)


def _remember(known: dict[str, Any], key: str, value: object) -> None:
    while len(known) >= REMEMBERED:
        known.pop(next(iter(known)), None)
    known[key] = value


def _root(key: str, region: str, *, bearer: bool = False) -> Caller:
    account = key if re.fullmatch(r"[0-9]{12}", key) else ACCOUNT
    return Caller(f"arn:aws:iam::{account}:root", account, region, bearer)


def _refused(status: int, body: bytes) -> Refused:
    code, message = _error(body)
    words = message or f"refused with status {status}"
    return Refused(code or "AccessDeniedException", words)


def _error(body: bytes) -> tuple[str, str]:
    """The code and the message of a JSON error of AWS; both empty where it is something else."""
    try:
        error = json.loads(body)
    except ValueError:
        return "", ""
    if not isinstance(error, dict):
        return "", ""
    return str(error.get("__type", "")).rpartition("#")[2], str(error.get("message", ""))
