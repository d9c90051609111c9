"""The exceptions of AWS's SDK, as one sentence with the remedy.

Only what a user can act on is translated. Anything else keeps AWS's own words behind the name of
the call.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.exceptions import BotoCoreError, ClientError

EXPIRED: Final = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired"})

UNKNOWN_KEY: Final = frozenset(
    {
        "InvalidClientTokenId",
        "InvalidAccessKeyId",
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "MissingAuthenticationToken",
    }
)

DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})

THROTTLED: Final = frozenset({"TooManyRequestsException", "ThrottlingException", "Throttling"})

MISSING: Final = frozenset({"ResourceNotFoundException", "ResourceNotFound", "ParameterNotFound"})

TOO_LARGE: Final = frozenset({"RequestTooLargeException", "RequestEntityTooLargeException"})


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


class AwsFailed(ConfigurationError):
    """A call to AWS failed before any function ran. The message says what to do.

    Args:
        message: one sentence.
        code: AWS's own name for it; empty where no answer came.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code

    @property
    def denied(self) -> bool:
        """Whether the caller lacks a permission."""
        return self.code in DENIED

    @property
    def missing(self) -> bool:
        """Whether what was asked for does not exist."""
        return self.code in MISSING

    @property
    def throttled(self) -> bool:
        """Whether AWS took no more calls."""
        return self.code in THROTTLED


@contextmanager
def in_words(what: str) -> Iterator[None]:
    """Raise what the SDK raises in this block as a sentence.

    Args:
        what: what was tried, such as "invoking NAME".

    Raises:
        AwsFailed: instead of the SDK's exceptions.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 100 ms

    try:
        yield
    except ClientError as error:
        raise _refused(what, error) from None
    except BotoCoreError as error:
        raise AwsFailed(f"{what}: {_unreached(error)}") from None


def _refused(what: str, error: ClientError) -> AwsFailed:
    details = error.response.get("Error", {})
    code, message = str(details.get("Code", "")), str(details.get("Message", ""))
    return AwsFailed(f"{what}: {_remedy(code, message)}", code)


def _remedy(code: str, message: str) -> str:
    if code in EXPIRED:
        return "the AWS credentials have expired; log in again, such as with `aws sso login`"
    if code in UNKNOWN_KEY:
        return f"AWS does not know these credentials ({code}); check AWS_PROFILE and the keys"
    if code in DENIED:
        return f"not allowed: {message or code}"
    if code in THROTTLED:
        return (
            f"throttled ({message or code}): the function's concurrency is used up; try again, or "
            "raise its reserved concurrency and the trainer's limit together"
        )
    if code in TOO_LARGE:
        return f"the request is over Lambda's 6 MB: send smaller batches ({message})"
    if code == "ResourceNotFoundException":
        return f"there is no such function, alias or version here: {message}"
    return f"{message} ({code})" if message else code


def _unreached(error: BotoCoreError) -> str:
    """The SDK's own failures: nobody answered, or it could not even ask."""
    match type(error).__name__:
        case "NoCredentialsError" | "PartialCredentialsError" | "CredentialRetrievalError":
            return "no AWS credentials; log in, or set AWS_PROFILE"
        case "TokenRetrievalError" | "SSOTokenLoadError" | "UnauthorizedSSOTokenError":
            return "the AWS login has expired; log in again, such as with `aws sso login`"
        case "ProfileNotFound":
            return f"{error}; check AWS_PROFILE"
        case "NoRegionError":
            return NO_REGION.format(place="us-east-1")
        case "EndpointConnectionError" | "ConnectTimeoutError" | "ProxyConnectionError":
            return f"nobody answers: {error}{_of_emulator(error, ENDED)}"
        case "InvalidEndpointConfigurationError" if "Bearer" in str(error):
            return (
                "a Bedrock API key is sent over https alone: unset AWS_BEARER_TOKEN_BEDROCK, for "
                "the training double takes your AWS credentials"
            )
        case "SSLError":
            return f"{error}{_of_emulator(error, UNTRUSTED)}"
        case "ReadTimeoutError":
            return "no answer within the function's longest time"
        case _:
            return str(error)


def _of_emulator(error: BotoCoreError, remedy: str) -> str:
    """The remedy, where it was this machine that did not answer; "" for AWS."""
    here = is_loopback(str(getattr(error, "kwargs", {}).get("endpoint_url", "")))
    return f"; {remedy}" if here else ""
