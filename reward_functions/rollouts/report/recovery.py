"""What a process holds for an outbox that it can read and cannot write, as on a full disk.

| what cannot be written | meanwhile | when it can be written again |
| --- | --- | --- |
| a claim of what is due | it is copied to memory, and sent, at most once a lease | it is claimed |
| what became of a report | it is remembered: this process sends it no more | it is recorded |
| a report itself | it is in memory, and sent from there | it is made durable, if it is pending |
| the end of an episode | it is remembered: it is not run again here | it ends |

Another process that reads the same outbox sends the same bytes with the same token: the service
counts them once.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.request.errors import ConflictingReport, OutboxUnavailable

if TYPE_CHECKING:
    from reward_functions.rollouts.report.intents import Intent, Target
    from reward_functions.rollouts.report.outbox import Outbox
    from reward_functions.rollouts.request.outcomes import Outcome

MOST: Final = 100_000
"""Reports that are read of an outbox at a time."""


class Recovery:
    """What is held for an outbox; shared by the threads of a process.

    Args:
        outbox: the durable store.
        spare: where reports are that it did not take.

    Attributes:
        copies: reports that lie in the outbox, and are sent from memory.
    """

    def __init__(self, outbox: Outbox, spare: MemoryOutbox) -> None:
        self.copies = MemoryOutbox()
        self._outbox = outbox
        self._spare = spare
        self._outcomes: dict[str, tuple[Intent, Outcome, float | None]] = {}
        self._ended: dict[tuple[str, str], Target] = {}
        self._lock = Lock()

    def read(self) -> None:
        """Copy what is pending in the outbox, due when it is due there.

        Raises:
            OutboxUnavailable: it cannot be read either, or memory is full.
        """
        for stored in self._outbox.list(["pending"], MOST):
            with suppress(ConflictingReport):
                self.copies.add([stored.intent], due=stored.due)

    def settled(self, intent: Intent, outcome: Outcome, due: float | None) -> None:
        """Remember what became of a report that lies in the outbox.

        Args:
            intent: the report.
            outcome: that could not be recorded.
            due: when it is sent again, where it is.
        """
        with self._lock:
            self._outcomes[intent.token] = intent, outcome, due
        with suppress(ConflictingReport, OutboxUnavailable):
            self.copies.add([intent])
            self.copies.settle(intent, outcome, due=due)

    def has_settled(self, intent: Intent) -> bool:
        """Whether the outcome of a report is held here, and is the last one."""
        with self._lock:
            _, outcome, _ = self._outcomes.get(intent.token, (None, None, None))
        return outcome is not None and not outcome.retryable

    def ended(self, target: Target) -> None:
        """Remember that an episode has ended, whatever the outbox says."""
        with self._lock:
            self._ended[target.job_arn, target.trajectory_id] = target

    def has_ended(self, target: Target) -> bool:
        """Whether that is remembered."""
        with self._lock:
            return (target.job_arn, target.trajectory_id) in self._ended

    def write(self) -> bool:
        """Write down all that is held, and say whether there was any; what fails is kept.

        Raises:
            OutboxUnavailable: it still cannot be written.
        """
        with self._lock:
            outcomes, ended = list(self._outcomes.values()), list(self._ended.items())
        pending = self._spare.list(["pending"], MOST)
        for stored in pending:
            with suppress(ConflictingReport):
                self._outbox.add([stored.intent], due=stored.due)
                self._spare.forget(stored.intent)
        for intent, outcome, due in outcomes:
            self._outbox.settle(intent, outcome, due=due)
            self.copies.forget(intent)
            with self._lock:
                self._outcomes.pop(intent.token, None)
        for key, target in ended:
            self._outbox.end(target)
            with self._lock:
                self._ended.pop(key, None)
        return bool(pending or outcomes or ended)
