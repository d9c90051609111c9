"""How an episode ended, as what is reported of it: the table of failure attribution, as rows.

`errors` has the table with its reasons. An ending that is ours is reported as failed, or, where the
operator asked for it, as the minimum: then it is counted under a name of its own, because such an
outage of ours is a lesson for the policy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.rollouts.request.errors import (
    ContractViolation,
    EnvironmentFailure,
    EpisodeFailure,
    PolicyFailure,
)
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.results import Result
    from reward_functions.rollouts.report.deferred import DeferredRecord
    from reward_functions.rollouts.report.intents import OnFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is reported of an episode.

    Args:
        event: what happened, by the name that it is counted under.
        status: None where nothing is reported.
        rewards: None where there is none.
        error: what is reported as failed; its type is logged.
        record: what is written in place of a report.
    """

    event: str
    status: Literal["ready", "failed"] | None
    rewards: tuple[float, ...] | None = None
    error: BaseException | None = None
    record: DeferredRecord | None = None


class Failure(NamedTuple):
    """A row: what an agent raises, the name to count, and whether it may be a minimum."""

    raised: type[BaseException]
    event: str
    may_be_minimum: bool = True


FAILURES: Final = (
    Failure(ContractViolation, "contract_violation", may_be_minimum=False),
    Failure(EnvironmentFailure, "environment_failure"),
    Failure(Exception, "agent_failed"),
    Failure(BaseException, "interrupted"),  # KeyboardInterrupt, SystemExit, a cancelled task
)
"""What is ours, by the first row that holds."""

DEEPEST: Final = 16
"""Exceptions, each raised from the next, that are looked through."""

AS_MINIMUM: Final = "_as_minimum"
"""What the name of a failure ends with that is reported as the scale's minimum."""


def ending_of_failure(error: BaseException, *, minimum: float, on_failure: OnFailure) -> Ending:
    """The ending of an agent that raised.

    Args:
        error: what it raised; see `cause_of`.
        minimum: of the reward's scale.
        on_failure: what is reported where the failure is ours.

    Raises:
        InvalidReward: a `PolicyFailure` whose reward is not a finite number.
    """
    error = cause_of(error)
    if isinstance(error, PolicyFailure):
        reward = minimum if error.reward is None else error.reward
        return Ending(event="policy_failure", status="ready", rewards=rewards_of(reward, turns=1))
    row = FAILURES[_rank(error)]
    failed = Ending(event=row.event, status="failed", rewards=(minimum,), error=error)
    return _by_policy(failed, on_failure) if row.may_be_minimum else failed


def ending_of_result(result: Result, *, minimum: float, on_failure: OnFailure) -> Ending:
    """The ending of an agent that returned."""
    if result.status == "skipped":
        return Ending(event="skipped", status=None)
    if result.status == "deferred":
        return Ending(event="deferred", status=None, record=result.record)
    if result.status == "error":
        failed = Ending(
            event="returned_error", status="failed", rewards=(minimum,), error=result.error
        )
        return _by_policy(failed, on_failure)
    event = "unrewarded" if result.rewards is None else "rewarded"
    return Ending(event=event, status="ready", rewards=result.rewards)


def ending_at_deadline(minimum: float) -> Ending:
    """The ending of an agent whose time is over: the policy took too long."""
    return Ending(event="deadline", status="ready", rewards=(minimum,))


def cause_of(error: BaseException) -> BaseException:
    """What counts of an error that an agent raised.

    Of a group, as of `asyncio.TaskGroup`, what is ours before what is the policy's, and then the
    row of `FAILURES` that comes first. Of an exception that was raised `from` an `EpisodeFailure`,
    as a framework does it, that failure: Strands' `EventLoopException`, the Agents SDK's
    `UserError`, OpenAI's `APIConnectionError`.
    """
    if isinstance(error, BaseExceptionGroup):
        causes = map(cause_of, error.exceptions)
        return min(causes, key=lambda each: (isinstance(each, PolicyFailure), _rank(each)))
    cause: BaseException | None = error
    for _ in range(DEEPEST):
        if isinstance(cause, EpisodeFailure):
            return cause
        if not isinstance(cause, Exception):
            break  # what interrupts an agent is not explained away
        cause = cause.__cause__
    return error


def _rank(error: BaseException) -> int:
    """The first row of `FAILURES` that holds."""
    return next(at for at, row in enumerate(FAILURES) if isinstance(error, row.raised))


def _by_policy(failed: Ending, on_failure: OnFailure) -> Ending:
    if on_failure == "failed":
        return failed
    return replace(failed, event=failed.event + AS_MINIMUM, status="ready")
