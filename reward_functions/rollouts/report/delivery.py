"""One intent, sent until it is settled or its time is over.

A reply becomes an outcome by its error type, and by its status where the type is not known:

| error type | status | outcome |
| --- | --- | --- |
| | 2xx | `Reported` |
| | 3xx: a redirect, which is never followed | `Rejected` |
| ValidationException | 400, any other 4xx | `Rejected` |
| AccessDeniedException, an expired token, a signature or a clock that is not right | 401, 403 | `Unauthorized`, after it was signed again once |
| ServiceQuotaExceededException | 402 | `QuotaExceeded` |
| ResourceNotFoundException | 404 | `NotFound` |
| ConflictException | 409 | `Conflict`; `RewardOfFailed` of a failed rollout's reward; `AlreadyReported` where an earlier attempt may have arrived |
| ThrottlingException and its kin | 429 | `Throttled` |
| InternalServiceError and its kin | 408, any other 5xx | `ServiceFailed` |

The type comes first: services of AWS send ThrottlingException and ExpiredTokenException with 400
too. Source: botocore's model of `sagemakerjobruntime`, and "Common error types" of the references
of AWS's APIs.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.record import spans
from reward_functions.rollouts.report.credentials import NoReply
from reward_functions.rollouts.report.transports import SHORTEST
from reward_functions.rollouts.request.errors import (
    BadRequest,
    UnsupportedReport,
    UntrustedEndpoint,
)
from reward_functions.rollouts.request.outcomes import (
    AlreadyReported,
    Conflict,
    Expired,
    NotFound,
    NotSent,
    QuotaExceeded,
    Rejected,
    Reported,
    RewardOfFailed,
    ServiceFailed,
    Throttled,
    Unauthorized,
    Unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.report.intents import Intent
    from reward_functions.rollouts.report.transports import Reply, Transport
    from reward_functions.rollouts.request.outcomes import Outcome

logger = logging.getLogger("reward_functions.rollouts")

ATTEMPT: Final = 10.0
"""Seconds of one attempt: two fit into a client's patience, and a report is one small write."""

BASE: Final = 0.25
"""Seconds that the first pause takes at most; each further one twice as long."""

LAST: Final = 1.0
"""Seconds before a rollout's window closes at which it is tried a last time, whatever the service
asks for: nobody can try later."""

CAP: Final = 20.0
"""Seconds that a pause takes at most: botocore's own limit, `MAX_BACKOFF` of its standard mode."""

BY_TYPE: Final[dict[str, type[Outcome]]] = {
    "ValidationException": Rejected,
    "AccessDeniedException": Unauthorized,
    "ServiceQuotaExceededException": QuotaExceeded,
    "ResourceNotFoundException": NotFound,
    "ConflictException": Conflict,
    "ThrottlingException": Throttled,
    "InternalServiceError": ServiceFailed,
    # what stands before any service of AWS
    "ExpiredToken": Unauthorized,
    "ExpiredTokenException": Unauthorized,
    "IncompleteSignature": Unauthorized,
    "InvalidClientTokenId": Unauthorized,
    "InvalidSignatureException": Unauthorized,
    "MissingAuthenticationTokenException": Unauthorized,
    "NotAuthorized": Unauthorized,
    "RequestExpired": Unauthorized,
    "RequestTimeTooSkewed": Unauthorized,
    "UnrecognizedClientException": Unauthorized,
    "Throttling": Throttled,
    "ThrottledException": Throttled,
    "TooManyRequestsException": Throttled,
    "RequestLimitExceeded": Throttled,
    "SlowDown": Throttled,
    "InternalFailure": ServiceFailed,
    "InternalServerException": ServiceFailed,
    "RequestTimeout": ServiceFailed,
    "RequestTimeoutException": ServiceFailed,
    "ServiceUnavailable": ServiceFailed,
    "ServiceUnavailableException": ServiceFailed,
}
BY_STATUS: Final[dict[int, type[Outcome]]] = {
    401: Unauthorized,
    402: QuotaExceeded,
    403: Unauthorized,
    404: NotFound,
    408: ServiceFailed,
    409: Conflict,
    429: Throttled,
}
BY_CLASS: Final[dict[int, type[Outcome]]] = {2: Reported, 3: Rejected, 4: Rejected}

UNSENDABLE: Final[dict[type[Exception], type[Outcome]]] = {
    # Another process, or this one with another setting, may be allowed to send it there.
    UntrustedEndpoint: NotSent,
    UnsupportedReport: Rejected,
    BadRequest: Rejected,
}
WITHOUT_REPLY: Final[tuple[type[Exception], ...]] = (NoReply, *UNSENDABLE)


def outcome_type(reply: Reply, *, maybe_sent: bool, of_failed: bool = False) -> type[Outcome]:
    """Read a reply to a report that may have been sent before, or is of a failed rollout."""
    by_class = BY_CLASS.get(reply.status // 100, ServiceFailed)
    if by_class is Reported:
        return Reported
    known = BY_TYPE.get(reply.error_type) or BY_STATUS.get(reply.status) or by_class
    if known is not Conflict:
        return known
    if of_failed:
        return RewardOfFailed
    return AlreadyReported if maybe_sent else Conflict


def attempt(
    intent: Intent, transport: Transport, *, before: int, maybe_sent: bool, timeout: float
) -> Outcome:
    """Send an intent once, and once more, signed again, where the credential was refused.

    Args:
        intent: the report.
        transport: carries it.
        before: how often it was sent before.
        maybe_sent: whether one of those may have arrived, so that a conflict is with itself.
        timeout: seconds, of both together.
    """
    end = monotonic() + timeout
    outcome = _sent(intent, transport, before + 1, timeout, maybe_sent=maybe_sent)
    if not isinstance(outcome, Unauthorized):
        return outcome
    transport.renew()
    left = max(SHORTEST, end - monotonic())
    return _sent(intent, transport, before + 2, left, maybe_sent=maybe_sent)


def pause(attempts: int, *, retry_after: float, random: Callable[[], float]) -> float:
    """Seconds to wait after some attempts: full jitter, and never less than the service asks for.

    Source: "Exponential backoff and jitter", AWS Architecture Blog.

    Args:
        attempts: 1 or more.
        retry_after: seconds that the service asks for; 0.0 where it does not.
        random: a number of 0 or more and less than 1.
    """
    longest = min(CAP, BASE * 2.0 ** min(attempts - 1, 30))
    return max(retry_after, random() * longest)


def deliver(
    intent: Intent,
    transport: Transport,
    *,
    until: float,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
    random: Callable[[], float],
    maybe_sent: bool = False,
    shared: bool = False,
) -> Outcome:
    """Send an intent until it is settled, or until no other attempt fits.

    A pause that reaches beyond `until` ends it, for the outbox to go on. One that reaches beyond
    the rollout's window is cut short, for a last attempt.

    Args:
        intent: the report.
        transport: carries it.
        until: when to stop, on the clock; the intent's own end where that comes first.
        clock: seconds since the epoch.
        sleep: waits for some seconds.
        random: a number of 0 or more and less than 1.
        maybe_sent: whether it may have arrived before.
        shared: whether an outbox may send it during a pause, so that a conflict after one is with
            itself.

    Returns:
        The last attempt's outcome; `Expired` where the rollout's window has closed, and `NotSent`
        where there was no time for an attempt.
    """
    end = min(until, intent.expires)
    outcome: Outcome = unsent(NotSent, intent, detail="no time is left")
    while (left := end - clock()) >= SHORTEST:
        outcome = attempt(
            intent,
            transport,
            before=outcome.attempts,
            maybe_sent=maybe_sent,
            timeout=min(ATTEMPT, left),
        )
        if not outcome.retryable:
            return outcome
        maybe_sent = maybe_sent or shared or outcome.ambiguous
        wait = pause(outcome.attempts, retry_after=outcome.retry_after, random=random)
        most = end - clock() - LAST
        if wait > most and (end < intent.expires or most <= 0):
            break
        sleep(min(wait, most))
    if clock() + SHORTEST > intent.expires:
        return unsent(Expired, intent, outcome.attempts, detail=outcome.detail)
    return outcome


def log_outcome(outcome: Outcome, *, level: int | None = None) -> None:
    """One line for what became of a report.

    Args:
        outcome: delivered, or a refusal that was expected (information), to be sent again (a
            warning), or given up (an error).
        level: of `logging`; another one than those.
    """
    usual = logging.ERROR
    if outcome.pending or isinstance(outcome, AlreadyReported):
        usual = logging.WARNING
    elif outcome.delivered or isinstance(outcome, RewardOfFailed):
        usual = logging.INFO
    logger.log(usual if level is None else level, "%s", outcome.sentence)


def _sent(
    intent: Intent, transport: Transport, attempts: int, timeout: float, *, maybe_sent: bool
) -> Outcome:
    """What became of one request, within a span of its own."""
    which = {
        "rollout.job": intent.target.job_arn,
        "rollout.trajectory": intent.target.trajectory_id,
        "rollout.attempt": attempts,
    }
    with spans.span(f"feedback.{intent.operation}", which) as span:
        try:
            reply = transport.send(intent, timeout=timeout)
        except WITHOUT_REPLY as error:
            lost = Unreachable if getattr(error, "sent", False) else NotSent
            known = (kind for each, kind in UNSENDABLE.items() if isinstance(error, each))
            outcome = unsent(next(known, lost), intent, attempts, type(error).__name__, str(error))
        else:
            kind = outcome_type(reply, maybe_sent=maybe_sent, of_failed=intent.of_failed)
            outcome = unsent(kind, intent, attempts, reply.error_type, reply.detail)
            outcome = replace(outcome, status=reply.status, retry_after=reply.retry_after)
        status = {"http.response.status_code": outcome.status}
        span.set(status | {"rollout.status": type(outcome).__name__})
    if attempts > 1:
        spans.add("rollout.feedback.retries", 1, {"rollout.operation": intent.operation})
    return outcome


def unsent(
    kind: type[Outcome],
    intent: Intent,
    attempts: int = 0,
    error_type: str = "",
    detail: str = "",
    *,
    pending: bool = False,
) -> Outcome:
    """An outcome without a reply."""
    return kind(
        operation=intent.operation,
        trajectory_id=intent.target.trajectory_id,
        attempts=attempts,
        status=None,
        error_type=error_type,
        detail=detail,
        pending=pending,
    )
