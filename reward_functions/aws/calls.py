"""Calls of AWS: clients, answers, pages, and waiting until something is so.

    client("bedrock", region, session)                       botocore's retries, connections kept
    answer("starting NAME", client.create_job, Name=name)    or `AwsFailed`
    pages("listing jobs", client.list_jobs, "Jobs")          every item of every page
    wait(look, done, seconds=60)                             the one loop that looks again

An answer is the service's own: its client has read it, and it came over TLS. An answer that no AWS
service gives comes from something else at its address, and one sentence says so.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boto3.session import Session

Found = TypeVar("Found")

ATTEMPTS: Final = 8
"""How often a call is made that AWS throttles: control planes answer few calls a second."""

CONNECTIONS: Final = 64
"""That a client keeps, for threads which call side by side."""

FOREIGN: Final = "the answer is not one of this API's; is something else at its address?"

NO_ANSWER: Final = (
    *(ValueError, TypeError, AttributeError, RuntimeError),
    *(OverflowError, LookupError),  # a time in a number of 400 digits; a member that is no object
)
"""What botocore's parsers raise for an answer of something else than the service."""

OF_SERVICES: Final = {
    "ThrottlingException": "throttled ({message}); nothing is lost: try again in a minute, a "
    "repeat is the same job",
    "ServiceQuotaExceededException": "a quota of the account is used up ({message}); wait for "
    "another job to end, or ask for more in Service Quotas",
    "ResourceLimitExceeded": "a limit of the account is used up ({message}); wait for another job "
    "to end, or ask for more in Service Quotas",
    "ResourceNotFoundException": "not found: {message}",
    "ResourceNotFound": "not found: {message}",
    "ConflictException": "in conflict with what is there: {message}",
    "ResourceInUse": "in conflict with what is there: {message}",
    "TooManyTagsException": "more tags than a resource may have: {message}",
    "ValidationException": "refused: {message}",
    "InternalServerException": "the service failed ({message}); try again, a repeat is the same "
    "job",
}
"""What the errors of services that run jobs mean (botocore's models of Bedrock and SageMaker)."""


def client(
    service: str,
    region: str | None,
    session: Session | None = None,
    *,
    attempts: int | None = None,
    seconds: float = 60.0,
) -> Any:
    """A boto3 client.

    Args:
        service: as boto3 names it.
        region: of the service; the session's where None.
        session: boto3's; the caller's own where not given.
        attempts: how often a call is made that AWS throttles; 1 shows the first throttle, None
            stands for `ATTEMPTS`.
        seconds: for an answer.

    Raises:
        AwsFailed: the configuration cannot be read.
    """
    from botocore.config import Config  # noqa: PLC0415 - 100 ms

    config = Config(
        read_timeout=seconds,
        retries={"mode": "standard", "total_max_attempts": attempts or ATTEMPTS},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,  # a gateway forgets a connection that is silent for some minutes
    )
    with in_words(f"connecting to {service}"):
        return (session or aws_session()).client(service, region_name=region, config=config)


def answer(
    what: str,
    call: Callable[..., Any],
    *,
    remedies: Mapping[str, str] = OF_SERVICES,
    **arguments: Any,
) -> dict[str, Any]:
    """The answer to one call of a boto3 client.

    Args:
        what: is tried, such as "starting NAME".
        call: a method of a client.
        remedies: as `in_words` takes them.
        arguments: of the call.

    Raises:
        AwsFailed: the service refused, failed, was not reached, or answered something else.
    """
    from botocore.exceptions import ParamValidationError  # noqa: PLC0415 - 100 ms
    from botocore.parsers import ResponseParserError  # noqa: PLC0415

    with in_words(what, remedies):
        try:
            found: dict[str, Any] = call(**arguments)
        except ParamValidationError as error:
            reason = " ".join(str(error.kwargs.get("report", "")).split())
            raise AwsFailed(
                f"{what}: not a request that the service takes: {reason}", kind="invalid"
            ) from None
        except (ResponseParserError, *NO_ANSWER):
            raise AwsFailed(f"{what}: {FOREIGN}") from None
    return found


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
        if error.missing:
            return None
        words = str(error).removeprefix(what).lower()
        if error.kind == "invalid" and any(each in words for each in ABSENT):
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
        raise AwsFailed(f"reading {what}: {FOREIGN}") from None


def pages(
    what: str,
    call: Callable[..., Any],
    member: str,
    *,
    marker: str = "nextToken",
    remedies: Mapping[str, str] = OF_SERVICES,
    **arguments: Any,
) -> Iterator[Any]:
    """Every item of a list that comes in pages.

    Args:
        what: is tried.
        call: a method of a client.
        member: of the answer, that holds the items.
        marker: the member that leads to the next page, in answers and requests.
        remedies: as `in_words` takes them.
        arguments: of the call.

    Raises:
        AwsFailed: as `answer`; or the answer holds no list.
    """
    following: dict[str, str] = {}
    while True:
        page = answer(what, call, remedies=remedies, **arguments, **following)
        if page.get(member) is None:  # botocore reads a proxy's page of HTML as an empty answer
            raise AwsFailed(f"{what}: {FOREIGN}")
        yield from page[member]
        if not page.get(marker):
            return
        following = {marker: page[marker]}


def wait(
    look: Callable[[], Found],
    done: Callable[[Found], bool],
    *,
    seconds: float = inf,
    pause: float = 2.0,
    longest: float = 0.0,
    progress: Callable[[Found], object] = lambda _: None,
    sleep: Callable[[float], object] = sleep,
    clock: Callable[[], float] = monotonic,
) -> Found:
    """The result of the last look: it is done, the time is over, or the pause was ended.

    Args:
        look: reads it.
        done: whether there is nothing to wait for.
        seconds: to wait at most; a look follows the last pause.
        pause: between two looks, in seconds.
        longest: that a pause may grow to, doubled after each look; 0 where it stays as it is.
        progress: is called with what each look found.
        sleep: pauses; `Event.wait` of what announces a shutdown ends the loop once that is set.
        clock: for `seconds`.
    """
    end = clock() + seconds
    while True:
        found = look()
        progress(found)
        left = end - clock()
        if done(found) or left <= 0 or sleep(min(pause, left)) is True:
            return found
        pause = max(pause, min(2 * pause, longest))
