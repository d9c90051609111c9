"""The exceptions of AWS's SDK, as one sentence with the remedy, and classified once.

| kind | what happened |
| --- | --- |
| denied | the caller lacks a permission |
| missing | what was asked for does not exist |
| throttled | AWS took no more calls |
| expired, credentials | the login has ended; AWS does not know who asks |
| clock | a signature was too old or too early |
| network | nobody answered |
| conflict, limit, invalid, service | as AWS's own names of errors say |

Only what a user can act on is translated. Anything else keeps AWS's own words after the name of the
call.
"""

from __future__ import annotations

from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from reward_functions.aws.written_stages import emulator_hint
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from botocore.exceptions import BotoCoreError, ClientError

Kind = Literal[
    "denied",
    "missing",
    "throttled",
    "expired",
    "credentials",
    "clock",
    "network",
    "conflict",
    "limit",
    "invalid",
    "service",
    "other",
]

CODES: Final[dict[Kind, str]] = {
    "denied": "AccessDenied AccessDeniedException UnauthorizedOperation 403",
    "missing": "ResourceNotFoundException ResourceNotFound ParameterNotFound NoSuchBucket",
    "throttled": "TooManyRequestsException ThrottlingException Throttling EC2ThrottledException",
    "expired": "ExpiredToken ExpiredTokenException RequestExpired",
    "credentials": "InvalidClientTokenId InvalidAccessKeyId UnrecognizedClientException"
    " InvalidSignatureException SignatureDoesNotMatch MissingAuthenticationToken",
    "clock": "RequestTimeTooSkewed RequestInTheFuture",
    "conflict": "ConflictException ResourceInUse ResourceConflictException",
    "limit": "ServiceQuotaExceededException ResourceLimitExceeded TooManyTagsException",
    "invalid": "ValidationException",
    "service": "InternalServerException ServiceException ServiceUnavailableException",
}

KINDS: Final[dict[str, Kind]] = {code: kind for kind, row in CODES.items() for code in row.split()}
"""By AWS's own names of errors."""

UNTIMELY: Final = ("Signature expired", "Signature not yet current")
"""How AWS begins the message where the clock, and no key, is wrong."""

NO_CREDENTIALS: Final = "no AWS credentials; log in, or set AWS_PROFILE{local}"

NOT_SENT: Final[dict[str, tuple[Kind, str]]] = {
    "NoCredentialsError": ("credentials", NO_CREDENTIALS),
    "PartialCredentialsError": ("credentials", "{error}; log in, or set AWS_PROFILE"),
    "CredentialRetrievalError": ("credentials", NO_CREDENTIALS),
    "TokenRetrievalError": ("expired", "the AWS login has expired; {login}"),
    "SSOTokenLoadError": ("expired", "the AWS login has expired; {login}"),
    "UnauthorizedSSOTokenError": ("expired", "the AWS login has expired; {login}"),
    "ProfileNotFound": ("credentials", "{error}; check AWS_PROFILE"),
    "NoRegionError": ("invalid", "{region}"),
    "EndpointConnectionError": ("network", "nobody answers: {error}{ended}"),
    "ConnectTimeoutError": ("network", "nobody answers: {error}{ended}"),
    "ProxyConnectionError": ("network", "nobody answers: {error}{ended}"),
    "ConnectionClosedError": ("network", "{error}"),
    "ResponseStreamingError": ("network", "{error}"),
    "SSLError": ("network", "{error}{untrusted}"),
    "ReadTimeoutError": ("network", "no answer within the function's longest time"),
}
"""By the SDK's own exceptions: nobody answered, or it could not even ask."""

LOGIN: Final = "log in again, such as with `aws sso login`"

ENDED: Final = (
    "that is a local AWS emulator which has ended: `reward local status` shows those that run, "
    "`reward local up` starts one"
)
UNTRUSTED: Final = (
    "that is a local AWS emulator whose certificate this shell does not know: evaluate `reward "
    "local up --print-env` again, with the options that it was started with"
)
"""What to do about an address of this machine."""

NO_REGION: Final = "no AWS region: export AWS_REGION={place}, or write it into the profile"

BEARER: Final = (
    "a Bedrock API key is sent over https alone: unset AWS_BEARER_TOKEN_BEDROCK, for the training "
    "double takes your AWS credentials"
)

GENERAL: Final[dict[Kind, str]] = {
    "expired": f"the AWS credentials have expired; {LOGIN}",
    "credentials": "AWS does not know these credentials ({code}); check AWS_PROFILE and the keys",
    "clock": "this machine's clock differs from AWS's, which refuses the signature ({message}): "
    "set the clock, such as with `sudo timedatectl set-ntp true`",
    "denied": "not allowed: {message}",
    "throttled": "AWS takes no more of these calls for now ({message}); try again in a minute",
}

OF_FUNCTIONS: Final = {
    **dict.fromkeys(
        CODES["throttled"].split(),
        "throttled ({message}): the function's concurrency is used up; try again, or raise its "
        "reserved concurrency and the trainer's limit together",
    ),
    **dict.fromkeys(
        ("RequestTooLargeException", "RequestEntityTooLargeException"),
        "the request is over Lambda's 6 MB: send smaller batches ({message})",
    ),
    "ResourceNotFoundException": "there is no such function, alias or version here: {message}",
}
"""What Lambda's errors mean, by their names."""

NOTHING_SPECIAL: Final[Mapping[str, str]] = MappingProxyType({})


class AwsFailed(ConfigurationError):
    """A call to AWS failed before any function ran. The message says what to do.

    Args:
        message: one sentence.
        code: AWS's own name for it; empty where no answer came.
        kind: what it is, where no code says so.
    """

    def __init__(self, message: str, code: str = "", kind: Kind | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.kind: Kind = kind or KINDS.get(code, "other")

    @property
    def denied(self) -> bool:
        """Whether the caller lacks a permission."""
        return self.kind == "denied"

    @property
    def missing(self) -> bool:
        """Whether what was asked for does not exist."""
        return self.kind == "missing"

    @property
    def passes(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self.kind in ("throttled", "network", "service")

    @property
    def lasts(self) -> bool:
        """Whether no later call will succeed, until somebody mends what is wrong."""
        return self.kind in ("denied", "missing", "expired", "credentials", "clock", "invalid")

    @property
    def throttled(self) -> bool:
        """Whether AWS took no more calls."""
        return self.kind == "throttled"


@contextmanager
def in_words(what: str, remedies: Mapping[str, str] = NOTHING_SPECIAL) -> Iterator[None]:
    """Raise what the SDK raises in this block as a sentence.

    Args:
        what: was tried, such as "invoking NAME".
        remedies: what a service's errors mean, by their names, with `{message}` and `{code}`, as
            `OF_FUNCTIONS` for Lambda; they come before what holds for any service.

    Raises:
        AwsFailed: instead of the SDK's exceptions.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 100 ms

    try:
        yield
    except ClientError as error:
        raise _refused(what, error, remedies) from None
    except BotoCoreError as error:
        raise _not_sent(what, error) from None


def _refused(what: str, error: ClientError, remedies: Mapping[str, str]) -> AwsFailed:
    details = error.response.get("Error", {})
    code, message = str(details.get("Code", "")), str(details.get("Message", ""))
    kind = "clock" if message.startswith(UNTIMELY) else KINDS.get(code, "other")
    other = "{message} ({code})" if message else "{code}"
    words = remedies.get(code) or GENERAL.get(kind, other)
    return AwsFailed(f"{what}: {words.format(message=message or code, code=code)}", code, kind)


def _not_sent(what: str, error: BotoCoreError) -> AwsFailed:
    here = is_loopback(str(getattr(error, "kwargs", {}).get("endpoint_url", "")))
    kind, words = NOT_SENT.get(type(error).__name__, ("other", "{error}"))
    if type(error).__name__ == "InvalidEndpointConfigurationError" and "Bearer" in str(error):
        kind, words = "credentials", BEARER
    reason = words.format(
        error=error,
        login=LOGIN,
        region=NO_REGION.format(place="us-east-1"),
        ended=f"; {ENDED}" * here,
        untrusted=f"; {UNTRUSTED}" * here,
        local=emulator_hint() if kind == "credentials" else "",
    )
    return AwsFailed(f"{what}: {reason}", kind=kind)
