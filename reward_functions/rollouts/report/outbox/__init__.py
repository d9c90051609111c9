"""Where intents are durable before they are sent, and episodes before they begin.

Promise: an intent that `add` has returned for is delivered at least once with one token, unless its
window closes first or the service refuses it; the service counts a token once.

    begin ──→ add ──→ pending ──→ settle (delivered | refused | expired)
      ├─ there is nothing to report ──→ end
      └─ the process died ──→ orphans, of the next process

sqlite.py               a file: where the disk outlives the process; or this process's memory, for
                        tests, and where a durable one fails
sqlite_file.py          its connection: opened, read, written in groups, kept small
dynamodb.py             a table: where the disk dies with the machine
dynamodb_table.py       its definition, who may use it, and making it
dynamodb_requests.py    the requests that are made of it
opening.py              an outbox by its URL, and where it is by default
rules.py                what the three share: sizes, states, how long what is settled is kept
fields.py               an intent and an episode as fields of a row

A store has one time for all who share it. A process gives and gets times by its own clock,
`steady`; the store adds what it is ahead. A file counts from this start of the machine, as its
first process had it; a table has DynamoDB's time; memory is one process's. Where a restart hides
the difference, what is due or leased for longer than `rules.LONGEST` was written by another clock:
it is due now, or over.

What `begin`, `sampled`, `add` and `replay` returned for is on the disk, or in DynamoDB: it survives
a power cut. The rest survives the death of the process; a power cut may undo it, and then a report
is sent again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.rollouts.report.intents import Intent, OnFailure, Stored, Target
    from reward_functions.rollouts.request.outcomes import Outcome

Begun = Literal["new", "running", "reported"]
"""Of an episode: nobody had it; a live process has it; its report is durable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An episode that has begun.

    Args:
        target: where it is reported.
        began: seconds since the epoch.
        expires: when its window closes, likewise.
        minimum: the reward of the scale's minimum.
        payload: the request, as JSON, where it may be run again; "" where not. It holds the prompt,
            and sometimes the reference: an outbox is as confidential as the training data. One that
            is too large for the store is left out.
        sampled: whether the policy was called: its trajectory at the service is not empty.
        on_failure: what it is reported as if its process dies: "failed", or the "minimum".
    """

    target: Target
    began: float
    expires: float
    minimum: float = 0.0
    payload: str = field(default="", repr=False)
    sampled: bool = False
    on_failure: OnFailure = "failed"


class Outbox(Protocol):
    """A durable store of intents; safe to use from many threads, and from many processes at once.

    Every method raises OutboxUnavailable where the store cannot be read or written. Where it can be
    read and not written, as on a full disk, `find`, `list`, `counts`, `orphans`, and `due` without
    `hold`, work. Times are seconds since the epoch, by the clock of the process.
    """

    @property
    def name(self) -> str:
        """Its URL, without secrets, for people."""

    def begin(self, episode: Episode, *, owner: str, now: float) -> Begun:
        """Make durable that an owner runs an episode; whoever begins it second gets to know.

        An episode whose owner's lease is over counts as nobody's, and is taken over.
        """

    def sampled(self, target: Target) -> None:
        """Make durable that an episode called the policy: it is not run again after that.

        Once an episode, before its first call. Nothing happens where no such episode runs.
        """

    def end(self, target: Target) -> None:
        """Forget an episode of which nothing is reported; nothing happens where none runs."""

    def add(self, intents: Sequence[Intent], *, due: float | None = None) -> None:
        """Make intents of one rollout durable, all or none; the same ones again change nothing.

        Its episode is over with that, and what the store kept of it is gone.

        Args:
            intents: at most one an operation.
            due: from when on `due` returns them, which leaves the time before to whoever adds
                them; at once where None.

        Raises:
            ConflictingReport: another intent of the same rollout and operation is there.
            IntentTooLarge: one is larger than the store takes.
            ValueError: they are of two rollouts.
        """

    def find(self, target: Target) -> list[Stored]:
        """The intents of one rollout, its completion first: what any further report of it says."""

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> list[Stored]:
        """Pending intents that may be sent now, those first that have been due for longest.

        A reward is not due while the completion of the same rollout is pending. What is due later
        than `rules.LONGEST` from now is due now: another clock wrote it.

        Args:
            now: the time.
            limit: how many at most.
            hold: seconds for which nobody else gets them: whoever sends one settles it within them.
        """

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """Record what became of an intent; nothing happens where it is not there.

        What is delivered stays so, and what is refused or expired can only become delivered: of two
        senders of the same bytes, the one that got through is right.

        Args:
            intent: the one.
            outcome: delivered, refused or expired settle it; a retryable one leaves it pending.
            due: when a pending one is sent again; as before where None.
        """

    def lease(self, owner: str, until: float) -> None:
        """Say that a process lives until then, or longer if it says so again.

        A lease that ends later than `rules.LONGEST` from now is over: another clock wrote it.
        """

    def orphans(self, now: float, limit: int = 100) -> list[Episode]:
        """Episodes without an intent whose owner's lease is over."""

    def list(
        self, states: Sequence[str] = (), limit: int = 1000, *, newest: bool = False
    ) -> list[Stored]:
        """Intents in these states, or all: the oldest first, or the newest."""

    def counts(self) -> dict[str, int]:
        """How many intents are in each state; under "running", the episodes without one."""

    def replay(self, intent: Intent, *, now: float) -> None:
        """Make an intent pending and due again, whatever its state; its window counts no more."""

    def purge(self, states: Sequence[str], before: float) -> int:
        """Forget the intents in these states that were created before a time, and say how many."""

    def close(self) -> None:
        """Release what it holds."""
