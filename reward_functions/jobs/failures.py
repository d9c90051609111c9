"""One call of a service that runs jobs, and whatever goes wrong with it as one sentence.

the services' errors      `REMEDIES`: what happened, and what to do
those of any AWS service  as `aws.failures` words them
an answer that is none    botocore's parsers raise errors of Python there, which are no bug here
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed, in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_MESSAGE: Final = 1_000
"""Characters of a service's message that are kept."""

MAX_PAGES: Final = 1_000
"""Pages of one list that are read; a service that never ends is not followed."""

UNREADABLE: Final = "the answer is not one of this API's; is something else at its address?"

NO_ANSWER: Final = (
    *(ValueError, TypeError, AttributeError, RuntimeError),
    *(OverflowError, LookupError),  # a time in a number of 400 digits; a member that is no object
)
"""What botocore's parsers raise for an answer that is none of the service's."""

REMEDIES: Final = {
    "ThrottlingException": (
        "throttled ({message}); nothing is lost: try again in a minute, a repeat is the same job"
    ),
    "ServiceQuotaExceededException": (
        "a quota of the account is used up ({message}); wait for another job to end, or ask for "
        "more in Service Quotas"
    ),
    "ResourceNotFoundException": "not found: {message}",
    "ConflictException": "in conflict with what is there: {message}",
    "ResourceNotFound": "not found: {message}",
    "ResourceInUse": "in conflict with what is there: {message}",
    "ResourceLimitExceeded": (
        "a limit of the account is used up ({message}); wait for another job to end, or ask for "
        "more in Service Quotas"
    ),
    "TooManyTagsException": "more tags than a resource may have: {message}",
    "ValidationException": "refused: {message}",
    "InternalServerException": (
        "the service failed ({message}); try again, a repeat is the same job"
    ),
}
"""By the services' names of errors (botocore's models of Bedrock and of SageMaker)."""


def answer(what: str, call: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """The answer to one call of a boto3 client.

    Args:
        what: is tried, such as "starting NAME".
        call: a method of a client.
        arguments: of the call.

    Raises:
        AwsFailed: the service refused, failed, was not reached, or answered something else.
    """
    from botocore.exceptions import ClientError, ParamValidationError  # noqa: PLC0415 - 100 ms
    from botocore.parsers import ResponseParserError  # noqa: PLC0415

    with in_words(what):
        try:
            found: dict[str, Any] = call(**arguments)
        except ClientError as error:
            details = error.response.get("Error", {})
            code, message = str(details.get("Code", "")), str(details.get("Message", ""))
            if code not in REMEDIES:
                raise
            reason = REMEDIES[code].format(message=message[:MAX_MESSAGE] or code)
            raise AwsFailed(f"{what}: {reason}", code) from None
        except ParamValidationError as error:
            reason = " ".join(str(error.kwargs.get("report", "")).split())
            raise AwsFailed(f"{what}: not a request that the service takes: {reason}") from None
        except (ResponseParserError, *NO_ANSWER):
            raise AwsFailed(f"{what}: {UNREADABLE}") from None
    return found


TAKEN: Final = frozenset({"ResourceInUse", "ConflictException"})
"""How a service refuses a name that something else has."""

ABSENT: Final = ("not found", "does not exist", "could not find")
"""What a `ValidationException` says of something that is not there: SageMaker has no code of its
own for it in older operations."""


def present(what: str, call: Callable[..., Any], **arguments: Any) -> dict[str, Any] | None:
    """The answer about something; None where it does not exist.

    Raises:
        AwsFailed: as `answer`.
    """
    try:
        return answer(what, call, **arguments)
    except AwsFailed as error:
        words = str(error).removeprefix(what)
        for asked in map(str, arguments.values()):
            words = words.replace(asked, "")
        stated = error.code == "ValidationException" and any(
            each in words.lower() for each in ABSENT
        )
        if error.missing or stated:
            return None
        raise


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raise one sentence where an answer lacks what its service always sends.

    Raises:
        AwsFailed: in place of what Python raises for it.
    """
    try:
        yield
    except NO_ANSWER:
        raise AwsFailed(f"reading {what}: {UNREADABLE}") from None


def pages(
    what: str,
    call: Callable[..., Any],
    member: str,
    *,
    marker: str = "nextToken",
    token: str = "",
    **arguments: Any,
) -> Iterator[dict[str, Any]]:
    """Every item of a list that comes in pages.

    Args:
        what: is tried.
        call: a method of a client.
        member: of the answer, that holds the items.
        marker: the member of answers that leads to the next page.
        token: the member of requests that takes it; the same where not given.
        arguments: of the call.

    Raises:
        AwsFailed: as `answer`; or the answer holds no list, or the list has no end.
    """
    next_page: dict[str, str] = {}
    for _ in range(MAX_PAGES):
        page = answer(what, call, **arguments, **next_page)
        items = page.get(member)
        # A proxy's page of HTML is an empty answer to botocore.
        if not (isinstance(items, list) and all(isinstance(each, dict) for each in items)):
            raise AwsFailed(f"{what}: {UNREADABLE}")
        yield from items
        following = page.get(marker)
        if not following or {token or marker: following} == next_page:
            return
        next_page = {token or marker: following}
    raise AwsFailed(f"{what}: the list has over {MAX_PAGES:,} pages")
