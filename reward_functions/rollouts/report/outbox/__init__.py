"""Where intents are durable before they are sent, and episodes before they begin.

Promise: an intent that `add` has returned for is delivered at least once with one token, unless its
window closes first or the service refuses it; the service counts a token once.

    begin ──→ add ──→ pending ──→ settle (delivered | refused | expired)
      ├─ there is nothing to report ──→ end
      └─ the process died ──→ orphans, of the next process

sqlite.py     a file: where the disk outlives the process; or this process's memory, for tests, and
              where a durable one fails
dynamodb.py   a table: where the disk dies with the machine
opening.py    an outbox by its URL, and where it is by default

A store has one time for all who share it. A process gives and gets times by its own clock,
`steady`; the store adds what it is ahead. A file counts from this start of the machine, as its
first process had it; a table has DynamoDB's time; memory is one process's. Where a restart hides
the difference, what is due or leased for longer than `LONGEST` was written by another clock: it is
due now, or over.

Intents are on the disk, or in DynamoDB, once `begin`, `sampled`, `add` and `replay` return: they
survive a power cut. The rest survives the death of the process; a power cut may undo it, and then a
report is sent again.

| state | kept for | because |
| --- | --- | --- |
| pending | as long as it takes | it is what an outbox is for |
| delivered | 7 days, less on a full disk | a request that comes again is answered "reported" |
| refused, expired | 30 days | somebody may want to know, and to replay it |

Days count from the report. An episode that nobody reported goes 30 days after its window.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from reward_functions.rollouts.report.intents import Intent, Stored, Target
from reward_functions.rollouts.request.errors import ConflictingReport, IntentTooLarge
from reward_functions.rollouts.request.outcomes import Expired

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.rollouts.report.intents import OnFailure, State
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
        """Make durable that an owner runs an episode; a second owner gets to know.

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
            due: from when on `due` returns them, which leaves the time before to their writer; at
                once where None.

        Raises:
            ConflictingReport: another intent of the same rollout and operation is there.
            IntentTooLarge: one is larger than the store takes.
            ValueError: they are of two rollouts.
        """

    def find(self, target: Target) -> list[Stored]:
        """The intents of one rollout, its completion first: what any further report of it says."""

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> list[Stored]:
        """Pending intents that may be sent now, those first that have been due for longest.

        A reward is not due while the completion of the same rollout is pending. An intent that is
        due later than `LONGEST` from now is due now: another clock wrote it.

        Args:
            now: the time.
            limit: how many at most.
            hold: seconds for which nobody else gets them: their sender settles them within this
                time.
        """

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """Record what became of an intent; nothing happens where it is not there.

        A delivered intent stays so, and a refused or expired one can only become delivered: of two
        senders of the same bytes, the one that got through is right.

        Args:
            intent: the one.
            outcome: delivered, refused or expired settle it; a retryable one leaves it pending.
            due: when a pending one is sent again; as before where None.
        """

    def lease(self, owner: str, until: float) -> None:
        """Say that a process lives until then, or longer if it says so again.

        A lease that ends later than `LONGEST` from now is over: another clock wrote it.
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
        """Make an intent pending and due again, in any state; its window counts no more."""

    def purge(self, states: Sequence[str], before: float) -> int:
        """Forget the intents in these states that were created before a time, and say how many."""

    def close(self) -> None:
        """Release what it holds."""


def _size(intent: Intent) -> int:
    """Bytes of all that an intent says."""
    target = intent.target
    texts = (*intent.key, target.endpoint, target.region, target.transport, intent.body)
    return sum(len(text.encode()) for text in texts)


def require_storable(intents: Sequence[Intent]) -> None:
    """Refuse intents that cannot be kept together.

    Raises:
        IntentTooLarge: one is over the bound.
        ValueError: they are of two rollouts.
    """
    if len({intent.key[:2] for intent in intents}) > 1:
        raise ValueError("intents of two rollouts are added one after the other")
    for intent in intents:
        if (found := _size(intent)) > LARGEST:
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


def state_after(outcome: Outcome) -> State:
    """The state of an intent after an outcome."""
    if outcome.delivered:
        return "delivered"
    if outcome.retryable:
        return "pending"
    return "expired" if isinstance(outcome, Expired) else "refused"


def changes_by(outcome: Outcome) -> dict[str, Any]:
    """The fields of an intent's row that an outcome changes, beside its times."""
    return {
        "state": state_after(outcome),
        "attempts": outcome.attempts,
        "outcome": type(outcome).__name__,
        "detail": outcome.detail[:DETAIL],
    }


def changeable(state: State) -> tuple[State, ...]:
    """The states from which an outcome may lead to this one."""
    return ("pending", "refused", "expired") if state == "delivered" else ("pending",)


def age(stored: Stored) -> tuple[float, str, str]:
    """The key that sorts intents by age; equal ones in the same order everywhere."""
    intent = stored.intent
    return intent.created, intent.target.trajectory_id, intent.operation


TIMES: Final = ("created", "expires", "due", "began", "now", "latest", "until", "before")
"""The fields that are seconds since the epoch: of rows, and of questions about them."""

TARGET: Final = ("job_arn", "trajectory_id", "endpoint", "region", "transport")
INTENT: Final = ("operation", "created", "expires")
STORED: Final = ("state", "due", "outcome", "detail")
EPISODE: Final = ("began", "expires", "minimum", "on_failure")
"""What a row has as it is."""


def fields_of_target(target: Target) -> dict[str, Any]:
    """Of where a rollout is reported."""
    return {name: getattr(target, name) for name in TARGET}


def fields_of_intent(intent: Intent, due: float | None) -> dict[str, Any]:
    """Of an intent that nobody has sent."""
    return {
        **fields_of_target(intent.target),
        **{name: getattr(intent, name) for name in INTENT},
        "payload": intent.body,
        "token": intent.token,
        "of_failed": int(intent.of_failed),
        "state": "pending",
        "attempts": 0,
        "due": intent.created if due is None else due,
        "outcome": "",
        "detail": "",
    }


def fields_of_episode(episode: Episode, owner: str) -> dict[str, Any]:
    """Of an episode, and of who runs it; a payload that is too large to be kept is left out."""
    return {
        **fields_of_target(episode.target),
        **{name: getattr(episode, name) for name in EPISODE},
        "owner": owner,
        "payload": episode.payload if len(episode.payload.encode()) <= LARGEST else "",
        "sampled": int(episode.sampled),
    }


def stored_of(row: Mapping[str, Any]) -> Stored:
    """An intent from its row."""
    intent = Intent(
        target=_target(row),
        payload=json.loads(row["payload"]),
        of_failed=bool(row["of_failed"]),
        **{name: row[name] for name in INTENT},
    )
    kept = {name: row[name] for name in STORED}
    return Stored(intent=intent, attempts=int(row["attempts"]), **kept)


def episode_of(row: Mapping[str, Any]) -> Episode:
    """An episode from its row."""
    kept = {name: row[name] for name in (*EPISODE, "payload")}
    return Episode(target=_target(row), sampled=bool(row["sampled"]), **kept)


def later(fields: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
    """Fields whose times are so many seconds later: as another clock has them."""
    if not seconds:
        return fields
    names = fields.keys()
    times = {name: fields[name] for name in TIMES if name in names}
    moved = {name: time + seconds for name, time in times.items() if time is not None}
    return {name: fields[name] for name in names} | moved


def _target(fields: Mapping[str, Any]) -> Target:
    return Target(**{name: fields[name] for name in TARGET})
