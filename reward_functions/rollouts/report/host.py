"""What the background of a reporter needs of it: its clock, its stores and its transports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from reward_functions.rollouts.report.delivery import ATTEMPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.report.intents import Intent, Target
    from reward_functions.rollouts.report.outbox import Episode, Outbox
    from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
    from reward_functions.rollouts.report.settings import RolloutSettings
    from reward_functions.rollouts.report.transports import Transport
    from reward_functions.rollouts.request.errors import OutboxUnavailable
    from reward_functions.rollouts.request.outcomes import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When a process looks, and for how long it holds what it has; in seconds but for two.

    Args:
        poll: between two looks for what is due.
        hold: for which another process leaves a report to the one that is sending it. Where an
            attempt takes longer, it is sent twice with one token, which the service counts once.
        own: for which the drainer leaves a report to the thread of its process that is sending it.
        attempt: that one attempt takes at most.
        lease: for which a process counts as living without a sign of life.
        renew: between two signs of life, and between two looks for orphans.
        sweep: between two looks for what has been settled for long enough to be forgotten.
        senders: reports that are sent at once.
        reruns: episodes that are run again at once.
    """

    poll: float = 1.0
    hold: float = 5.0
    own: float = 30.0
    attempt: float = ATTEMPT
    lease: float = 30.0
    renew: float = 10.0
    sweep: float = 3600.0
    senders: int = 8
    reruns: int = 64


class Host(Protocol):
    """What a drainer needs of the `Reporter` that it works for."""

    settings: RolloutSettings
    owner: str
    timing: Timing
    clock: Callable[[], float]
    rerun: Callable[[Episode], None] | None

    @property
    def stores(self) -> tuple[Outbox, MemoryOutbox, MemoryOutbox]:
        """Where intents are: the durable one, this process's memory, and copies of the former."""

    def transport(self, kind: str) -> Transport:
        """The transport of a kind."""

    def sending(self, intent: Intent) -> bool:
        """Whether a thread of this process is sending an intent itself."""

    def held(self, target: Target) -> bool:
        """Whether this process has a rollout in memory, whatever the outbox says of it."""

    def copy(self) -> None:
        """Take to memory what is pending in an outbox that cannot be written."""

    def recover(self) -> None:
        """Write down what an outbox that failed has not taken."""

    def settle(self, intent: Intent, outcome: Outcome) -> None:
        """Count and record an outcome."""

    def unavailable(self, error: OutboxUnavailable) -> None:
        """Say that a store fails, once for each cause."""


def over(since: float, seconds: float, now: float) -> bool:
    """Whether a time is over; it is where the clock was set back behind its beginning, too."""
    return not since <= now < since + seconds


def raised(work: Callable[[], object]) -> Exception | None:
    """What somebody else's code raised: of a transport, or of an agent that runs again."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - a thread that ends would end all reports
        return error
    return None
