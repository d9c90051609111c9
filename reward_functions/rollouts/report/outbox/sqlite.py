"""An outbox in one SQLite file: where the disk outlives the process; or in memory, for one process.

`begin`, `sampled`, `add` and `replay` wait for the disk: they survive a power cut. The rest does
not wait: a settled intent that a power cut makes pending again is sent again, and its token makes
that harmless. What threads write at once is committed at once: `sqlite_file` says how.

The write-ahead log needs shared memory: the file has to be on a disk of this machine, which a
network file system is not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.outbox.fields import (
    episode_of,
    fields_of_episode,
    fields_of_intent,
    fields_of_target,
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
from reward_functions.rollouts.report.outbox.sqlite_file import MemoryFile, SqliteFile
from reward_functions.rollouts.request.clock import steady

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping, Sequence

    from reward_functions.rollouts.report.intents import Intent, Stored, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode
    from reward_functions.rollouts.report.outbox.sqlite_file import Database
    from reward_functions.rollouts.request.clock import Clock
    from reward_functions.rollouts.request.outcomes import Outcome

ROLLOUT: Final = "job_arn = :job_arn AND trajectory_id = :trajectory_id"

REPORT: Final = f"{ROLLOUT} AND operation = :operation"

FIND: Final = f"SELECT * FROM intents WHERE {ROLLOUT} ORDER BY operation"

BEGUN: Final = f"SELECT owner, sampled FROM episodes WHERE {ROLLOUT}"

LIVING: Final = "until > :now AND (until <= :latest OR until = 9e999)"

LIVES: Final = f"SELECT 1 FROM leases WHERE owner = :owner AND {LIVING}"

BEGIN: Final = """
    INSERT OR REPLACE INTO episodes VALUES (
        :job_arn, :trajectory_id, :endpoint, :region, :transport,
        :owner, :began, :expires, :minimum, :payload, :sampled, :on_failure
    )
"""

SAMPLED: Final = f"UPDATE episodes SET sampled = 1 WHERE {ROLLOUT}"

END: Final = f"DELETE FROM episodes WHERE {ROLLOUT}"

ADDED: Final = f"SELECT token FROM intents WHERE {REPORT}"

FORGET: Final = f"DELETE FROM intents WHERE {REPORT} AND token = :token"

ADD: Final = """
    INSERT INTO intents VALUES (
        :job_arn, :trajectory_id, :operation, :endpoint, :region, :transport, :payload, :token,
        :created, :expires, :of_failed, :state, :attempts, :due, :outcome, :detail
    )
"""

DUE: Final = """
    SELECT * FROM intents AS intent
    WHERE state = 'pending' AND (due <= :now OR due > :latest) AND NOT (
        operation = 'reward' AND EXISTS (
            SELECT 1 FROM intents AS completion
            WHERE completion.job_arn = intent.job_arn
            AND completion.trajectory_id = intent.trajectory_id
            AND completion.operation = 'complete' AND completion.state = 'pending'
        )
    )
    ORDER BY due, created, trajectory_id, operation LIMIT :limit
"""

HOLD: Final = f"UPDATE intents SET due = :until WHERE {REPORT}"

SETTLE: Final = f"""
    UPDATE intents
    SET state = :state, attempts = :attempts, outcome = :outcome, detail = :detail,
        due = coalesce(:due, due)
    WHERE {REPORT} AND token = :token AND state IN (SELECT value FROM json_each(:states))
"""

LEASE: Final = "INSERT OR REPLACE INTO leases (owner, until) VALUES (:owner, :until)"

FORGET_LEASES: Final = """
    DELETE FROM leases WHERE until < :before AND owner NOT IN (SELECT owner FROM episodes)
"""

ORPHANS: Final = f"""
    SELECT * FROM episodes WHERE owner NOT IN (SELECT owner FROM leases WHERE {LIVING})
    ORDER BY began, trajectory_id LIMIT :limit
"""

LIST: Final = """
    SELECT * FROM intents WHERE state IN (SELECT value FROM json_each(:states))
    ORDER BY created {0}, trajectory_id {0}, operation {0} LIMIT :limit
"""

COUNTS: Final = """
    SELECT state, count(*) AS number FROM intents GROUP BY state
    UNION ALL SELECT 'running', count(*) FROM episodes
"""

REPLAY: Final = f"""
    UPDATE intents SET state = 'pending', due = :now, expires = 9e999
    WHERE {REPORT} AND token = :token
"""

PURGE: Final = """
    DELETE FROM intents
    WHERE state IN (SELECT value FROM json_each(:states)) AND created < :before
"""


class SqliteOutbox:
    """The protocol `Outbox`, in a `SqliteFile`, which has a time of its own.

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

        def work(database: Database) -> Begun:
            if database.rows(FIND, fields):
                return "reported"
            for before in database.rows(BEGUN, fields):
                if database.rows(LIVES, {"owner": before["owner"], **_moment(now)}):
                    return "running"
                fields["sampled"] |= before["sampled"]
            database.run(BEGIN, fields)
            return "new"

        begun: Begun = self._file.write(work, durable=True)
        return begun

    def sampled(self, target: Target) -> None:
        """See `Outbox`."""
        self._run(SAMPLED, fields_of_target(target), durable=True)

    def end(self, target: Target) -> None:
        """See `Outbox`."""
        self._run(END, fields_of_target(target))

    def add(self, intents: Sequence[Intent], *, due: float | None = None) -> None:
        """See `Outbox`."""
        require_storable(intents)
        rows = [(intent, fields_of_intent(intent, due)) for intent in intents]

        def work(database: Database) -> None:
            new = []
            for intent, fields in rows:
                found = database.rows(ADDED, fields)
                if found and found[0]["token"] != intent.token:
                    raise conflicting(intent)
                new += [] if found else [fields]
            database.run(ADD, *new)
            database.run(END, *(fields for _, fields in rows[:1]))

        self._file.write(work, durable=True)

    def find(self, target: Target) -> builtins.list[Stored]:
        """See `Outbox`."""
        return self._stored(FIND, fields_of_target(target))

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> builtins.list[Stored]:
        """See `Outbox`."""
        wanted = {"limit": limit, **_moment(now)}
        ready = self._stored(DUE, wanted)
        if not (ready and hold):
            return ready

        def work(database: Database) -> builtins.list[Stored]:
            ready = [stored_of(row) for row in database.rows(DUE, wanted)]
            database.run(HOLD, *(_report(each.intent) | {"until": now + hold} for each in ready))
            return ready

        held: builtins.list[Stored] = self._file.write(work)
        return held

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """See `Outbox`."""
        state = state_after(outcome)
        changes = {
            "state": state,
            "attempts": outcome.attempts,
            "due": due,
            "outcome": type(outcome).__name__,
            "detail": outcome.detail[:DETAIL],
            "states": json.dumps(changeable(state)),
        }
        self._run(SETTLE, _report(intent) | changes)

    def lease(self, owner: str, until: float) -> None:
        """See `Outbox`; leases that were over a day before are forgotten."""

        def work(database: Database) -> None:
            database.run(LEASE, {"owner": owner, "until": until})
            database.run(FORGET_LEASES, {"before": until - DAY})

        self._file.write(work)

    def orphans(self, now: float, limit: int = 100) -> builtins.list[Episode]:
        """See `Outbox`."""
        with self._file.reading() as database:
            found = database.rows(ORPHANS, {"limit": limit, **_moment(now)})
        return [episode_of(row) for row in found]

    def list(
        self, states: Sequence[str] = (), limit: int = 1000, *, newest: bool = False
    ) -> builtins.list[Stored]:
        """See `Outbox`."""
        wanted = {"states": json.dumps(tuple(states or STATES)), "limit": limit}
        return self._stored(LIST.format("DESC" if newest else "ASC"), wanted)

    def counts(self) -> dict[str, int]:
        """See `Outbox`."""
        with self._file.reading() as database:
            found = {row["state"]: row["number"] for row in database.rows(COUNTS, {})}
        return {**dict.fromkeys(STATES, 0), **found}

    def replay(self, intent: Intent, *, now: float) -> None:
        """See `Outbox`."""
        self._run(REPLAY, _report(intent) | {"now": now}, durable=True)

    def purge(self, states: Sequence[str], before: float) -> int:
        """See `Outbox`."""
        return self._run(PURGE, {"states": json.dumps(tuple(states)), "before": before})

    def close(self) -> None:
        """See `Outbox`; once closed, it stays closed."""
        self._file.close()

    def _run(self, statement: str, fields: Mapping[str, Any], *, durable: bool = False) -> int:
        """Write by one statement; returns the number of rows."""
        changed: int = self._file.write(
            lambda database: database.run(statement, fields), durable=durable
        )
        return changed

    def _stored(self, query: str, fields: Mapping[str, Any]) -> builtins.list[Stored]:
        with self._file.reading() as database:
            found = database.rows(query, fields)
        return [stored_of(row) for row in found]


MOST: Final = 64 * 1024 * 1024
"""Bytes of a memory outbox."""


class MemoryOutbox(SqliteOutbox):
    """The same in memory: for tests, and where a durable one fails. Gone with the process.

    Args:
        most: bytes that it holds. Over them what is delivered makes room for what is not, and
            `begin` and `add` raise OutboxUnavailable where nothing is left to go.
    """

    name = "memory:"

    def __init__(self, most: int = MOST) -> None:
        self._file = MemoryFile(most)

    def __contains__(self, target: Target) -> bool:
        """Whether it has an intent or an episode of a rollout."""
        return self.reported(target) or self._has(BEGUN, fields_of_target(target))

    def reported(self, target: Target) -> bool:
        """Whether it has an intent of a rollout."""
        return self._has(FIND, fields_of_target(target))

    def holds(self, intent: Intent) -> bool:
        """Whether it has this very intent."""
        return self._has(f"{ADDED} AND token = :token", _report(intent))

    def forget(self, intent: Intent) -> None:
        """Have this very intent no more."""
        self._run(FORGET, _report(intent))

    def close(self) -> None:
        """See `Outbox`; what it has can still be read."""

    def _has(self, query: str, fields: Mapping[str, Any]) -> bool:
        with self._file.reading() as database:
            return bool(database.rows(query, fields))


def _moment(now: float) -> dict[str, float]:
    """A time, and the latest one that anything can be due or last until."""
    return {"now": now, "latest": now + LONGEST}


def _report(intent: Intent) -> dict[str, Any]:
    """What names one report, and what it has to say."""
    names = fields_of_target(intent.target)
    return names | {"operation": intent.operation, "token": intent.token}
