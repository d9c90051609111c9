"""An outbox in one SQLite file: where the disk outlives the process.

`begin`, `sampled`, `add` and `replay` wait for the disk: they survive a power cut. The rest does
not wait: a settled intent that a power cut makes pending again is sent again, and its token makes
that harmless. What threads write at once is committed at once: `sqlite_file` says how.

The write-ahead log needs shared memory: the file has to be on a disk of this machine, which a
network file system is not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.report.outbox import sqlite_statements as statements
from reward_functions.rollouts.report.outbox.fields import (
    episode_of,
    fields_of_episode,
    fields_of_intent,
    fields_of_target,
    later,
    stored_of,
)
from reward_functions.rollouts.report.outbox.rules import (
    DAY,
    DETAIL,
    LONGEST,
    STATES,
    changeable,
    conflicting,
    require_storable,
    state_after,
)
from reward_functions.rollouts.report.outbox.sqlite_file import SqliteFile
from reward_functions.rollouts.request.clock import steady

if TYPE_CHECKING:
    import builtins
    import sqlite3
    from collections.abc import Mapping, Sequence

    from reward_functions.rollouts.report.intents import Intent, Stored, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode
    from reward_functions.rollouts.request.clock import Clock
    from reward_functions.rollouts.request.outcomes import Outcome


class SqliteOutbox:
    """The protocol `Outbox`, in a `SqliteFile`.

    Times in the file are its own: `SqliteFile.ahead` of this process's.

    Args:
        path: of the file, on a disk of this machine.
        clock: of the process: that of the times it gives and gets.
    """

    def __init__(self, path: str | Path, *, clock: Clock = steady) -> None:
        self.path = Path(path)
        self._file = SqliteFile(self.path, clock)

    @property
    def name(self) -> str:
        """Its URL."""
        return f"sqlite://{self.path}"

    def begin(self, episode: Episode, *, owner: str, now: float) -> Begun:
        """See `Outbox`."""
        fields = fields_of_episode(episode, owner)

        def work(database: sqlite3.Connection) -> Begun:
            if _one(database, statements.REPORTED, fields):
                return "reported"
            if before := _one(database, statements.BEGUN, fields):
                asked = {"owner": before["owner"], **self._moment(now)}
                if _one(database, statements.LIVES, asked):
                    return "running"
                fields["sampled"] |= before["sampled"]
            database.execute(statements.BEGIN, later(fields, self._file.ahead))
            return "new"

        begun: Begun = self._file.write(work, durable=True)
        return begun

    def sampled(self, target: Target) -> None:
        """See `Outbox`."""
        fields = fields_of_target(target)

        def work(database: sqlite3.Connection) -> None:
            database.execute(statements.SAMPLED, fields)

        self._file.write(work, durable=True)

    def end(self, target: Target) -> None:
        """See `Outbox`."""
        fields = fields_of_target(target)

        def work(database: sqlite3.Connection) -> None:
            database.execute(statements.END, fields)

        self._file.write(work)

    def add(self, intents: Sequence[Intent], *, due: float | None = None) -> None:
        """See `Outbox`."""
        require_storable(intents)
        rows = [(intent, fields_of_intent(intent, due)) for intent in intents]

        def work(database: sqlite3.Connection) -> None:
            new = []
            for intent, fields in rows:
                found = _one(database, statements.ADDED, fields)
                if found is None:
                    new.append(later(fields, self._file.ahead))
                elif found["token"] != intent.token:
                    raise conflicting(intent)
            database.executemany(statements.ADD, new)
            for _, fields in rows[:1]:
                database.execute(statements.END, fields)

        self._file.write(work, durable=True)

    def find(self, target: Target) -> builtins.list[Stored]:
        """See `Outbox`."""
        with self._file.reading() as database:
            return self._all(database, statements.FIND, fields_of_target(target))

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> builtins.list[Stored]:
        """See `Outbox`."""
        with self._file.reading() as database:
            wanted = {"limit": limit, **self._moment(now)}
            ready = self._all(database, statements.DUE, wanted)
        if not (ready and hold):
            return ready

        def work(database: sqlite3.Connection) -> builtins.list[Stored]:
            ready = self._all(database, statements.DUE, wanted)
            until = {"until": wanted["now"] + hold}
            held = [_report(each.intent) | until for each in ready]
            database.executemany(statements.HOLD, held)
            return ready

        held: builtins.list[Stored] = self._file.write(work)
        return held

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """See `Outbox`."""
        state = state_after(outcome)
        fields = _report(intent) | {
            "state": state,
            "attempts": outcome.attempts,
            "due": due,
            "outcome": type(outcome).__name__,
            "detail": outcome.detail[:DETAIL],
            "changeable": json.dumps(changeable(state)),
        }

        def work(database: sqlite3.Connection) -> None:
            database.execute(statements.SETTLE, later(fields, self._file.ahead))

        self._file.write(work)

    def lease(self, owner: str, until: float) -> None:
        """See `Outbox`; leases that were over a day before are forgotten."""

        def work(database: sqlite3.Connection) -> None:
            there = until + self._file.ahead
            database.execute(statements.LEASE, {"owner": owner, "until": there})
            database.execute(statements.FORGET_LEASES, {"before": there - DAY})

        self._file.write(work)

    def orphans(self, now: float, limit: int = 100) -> builtins.list[Episode]:
        """See `Outbox`."""
        with self._file.reading() as database:
            rows = database.execute(statements.ORPHANS, {"limit": limit, **self._moment(now)})
            return [episode_of(later(row, -self._file.ahead)) for row in rows]

    def list(
        self, states: Sequence[str] = (), limit: int = 1000, *, newest: bool = False
    ) -> builtins.list[Stored]:
        """See `Outbox`."""
        wanted = {"states": json.dumps(tuple(states or STATES)), "limit": limit}
        with self._file.reading() as database:
            return self._all(database, statements.LIST[newest], wanted)

    def counts(self) -> dict[str, int]:
        """See `Outbox`."""
        with self._file.reading() as database:
            found = dict(database.execute(statements.COUNTS).fetchall())
        return {**dict.fromkeys(STATES, 0), **found}

    def replay(self, intent: Intent, *, now: float) -> None:
        """See `Outbox`."""

        def work(database: sqlite3.Connection) -> None:
            database.execute(statements.REPLAY, _report(intent) | self._moment(now))

        self._file.write(work, durable=True)

    def purge(self, states: Sequence[str], before: float) -> int:
        """See `Outbox`."""

        def work(database: sqlite3.Connection) -> int:
            wanted = {"states": json.dumps(tuple(states)), "before": before + self._file.ahead}
            return database.execute(statements.PURGE, wanted).rowcount

        gone: int = self._file.write(work)
        return gone

    def close(self) -> None:
        """See `Outbox`; once closed, it stays closed."""
        self._file.close()

    def _moment(self, now: float) -> dict[str, float]:
        """A time as the file has it, and the latest one that anything can be due or last until."""
        there = now + self._file.ahead
        return {"now": there, "latest": there + LONGEST}

    def _all(
        self, database: sqlite3.Connection, query: str, fields: Mapping[str, Any]
    ) -> builtins.list[Stored]:
        ahead = self._file.ahead
        return [stored_of(later(row, -ahead)) for row in database.execute(query, fields)]


def _one(database: sqlite3.Connection, query: str, fields: Mapping[str, Any]) -> Any:
    return database.execute(query, fields).fetchone()


def _report(intent: Intent) -> dict[str, Any]:
    """What names one report, and what it has to say."""
    names = fields_of_target(intent.target)
    return names | {"operation": intent.operation, "token": intent.token}
