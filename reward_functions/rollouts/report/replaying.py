"""Reports of an outbox, sent now: whatever their state and their window, with the tokens they have.

The drainer sends what is due. This is for a person who has mended what was wrong: credentials, a
quota, a network. A report that the service has counted after all is answered as it was then.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.delivery import ATTEMPT, attempt
from reward_functions.rollouts.report.intents import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.rollouts.report.intents import Stored
    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.request.outcomes import Outcome

SENDERS: Final = 8
"""Rollouts that are sent at once."""


def replayed(
    reporter: Reporter, stored: Sequence[Stored], *, timeout: float = ATTEMPT
) -> Iterator[tuple[Stored, Outcome]]:
    """Send intents once each, those of a rollout in their order.

    A reward is not sent behind a completion that is still pending: it is left to the drainer.

    Args:
        reporter: whose outbox they are in; it counts and records the outcomes.
        stored: the intents.
        timeout: seconds of one attempt.

    Yields:
        What was sent and what became of it, as it comes.

    Raises:
        OutboxUnavailable: the outbox cannot be written.
    """
    ordered = sorted(stored, key=_place)
    rollouts = [list(group) for _, group in groupby(ordered, key=lambda each: each.intent.key[:2])]
    with ThreadPoolExecutor(SENDERS) as threads:
        sending = [threads.submit(_rollout, reporter, each, timeout) for each in rollouts]
        try:
            for done in as_completed(sending):
                yield from done.result()
        finally:
            for each in sending:
                each.cancel()


def _rollout(
    reporter: Reporter, stored: Sequence[Stored], timeout: float
) -> list[tuple[Stored, Outcome]]:
    done: list[tuple[Stored, Outcome]] = []
    for each in stored:
        reporter.outbox.replay(each.intent, now=reporter.clock())
    for each in stored:
        if done and done[-1][1].retryable:
            break
        outcome = attempt(
            each.intent,
            reporter.transport(each.intent.target.transport),
            before=each.attempts,
            maybe_sent=True,
            timeout=timeout,
        )
        reporter.settle(each.intent, outcome)
        done.append((each, outcome))
    return done


def _place(stored: Stored) -> tuple[str, str, int]:
    job, trajectory, _ = stored.intent.key
    return job, trajectory, OPERATIONS.index(stored.intent.operation)
