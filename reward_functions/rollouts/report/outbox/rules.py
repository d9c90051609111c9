"""What every outbox does alike: how large an intent may be, its next state, how long it is kept.

| state | kept for | because |
| --- | --- | --- |
| pending | as long as it takes | it is what an outbox is for |
| delivered | 7 days, less on a full disk | a request that comes again is answered "reported" |
| refused, expired | 30 days | somebody may want to know, and to replay it |

Days count from the report. An episode that nobody reported goes 30 days behind its window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.request.errors import ConflictingReport, IntentTooLarge
from reward_functions.rollouts.request.outcomes import Expired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.rollouts.report.intents import Intent, State, Stored
    from reward_functions.rollouts.report.outbox import Episode
    from reward_functions.rollouts.request.outcomes import Outcome

LARGEST: Final = 350_000
"""Bytes of an intent, or of an episode's payload: DynamoDB takes 400 KB, names included."""

DETAIL: Final = 500
"""Characters that are kept of an outcome's detail."""

LONGEST: Final = 600.0
"""Seconds from now until which a report waits, or a lease lasts, at most. What lies further ahead
was written by another clock, and is due now, or over."""

DAY: Final = 86_400.0

STATES: Final[tuple[State, ...]] = ("pending", "delivered", "refused", "expired")

KEPT: Final[dict[State, float]] = {"delivered": 7 * DAY, "refused": 30 * DAY, "expired": 30 * DAY}
"""Seconds; what is not here is never forgotten."""

EPISODE_KEPT: Final = 30 * DAY


def size(intent: Intent) -> int:
    """Bytes of all that an intent says."""
    target = intent.target
    texts = (*intent.key, target.endpoint, target.region, target.transport, intent.body)
    return sum(len(text.encode()) for text in texts)


def require_storable(intents: Sequence[Intent]) -> None:
    """Nothing, where the intents can be kept together.

    Raises:
        IntentTooLarge: one is over the bound.
        ValueError: they are of two rollouts.
    """
    if len({intent.key[:2] for intent in intents}) > 1:
        raise ValueError("intents of two rollouts are added one after the other")
    for intent in intents:
        if (found := size(intent)) > LARGEST:
            raise IntentTooLarge(
                f"the {intent.operation} report has {found:,} bytes, and an outbox takes "
                f"{LARGEST:,}: report one reward for the rollout instead of one for each turn"
            )


def conflicting(intent: Intent) -> ConflictingReport:
    """The error of an intent whose place another one has."""
    return ConflictingReport(
        f"another {intent.operation} report of rollout {intent.target.trajectory_id[:256]!r} is "
        "durable already: the first one counts"
    )


def storable_payload(episode: Episode) -> str:
    """The payload of an episode; "" where it is too large to be kept."""
    return episode.payload if len(episode.payload.encode()) <= LARGEST else ""


def state_after(outcome: Outcome) -> State:
    """What an intent becomes with an outcome."""
    if outcome.delivered:
        return "delivered"
    if outcome.retryable:
        return "pending"
    return "expired" if isinstance(outcome, Expired) else "refused"


def changeable(state: State) -> tuple[State, ...]:
    """The states from which an outcome may lead to this one."""
    return ("pending", "refused", "expired") if state == "delivered" else ("pending",)


def age(stored: Stored) -> tuple[float, str, str]:
    """What sorts intents by age; equal ones in the same order everywhere."""
    intent = stored.intent
    return intent.created, intent.target.trajectory_id, intent.operation
