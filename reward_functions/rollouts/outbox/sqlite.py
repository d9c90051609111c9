"""An outbox in one SQLite file: where the disk outlives the process.

What has to survive a power cut (`begin`, `sampled`, `add`, `replay`) is committed with
synchronous=FULL, which waits for the disk; the rest with NORMAL, which does not: a settled intent
that a power cut makes pending again is sent again, and its token makes that harmless. Neither loses
anything to the death of a process, as the operating system has the pages by then.

All threads of a process share one connection under a lock. SQLite writes one transaction at a time
anyway; a connection a thread would add files and memory for each of 64 rollouts, and nothing closes
them when their thread ends. Several processes share the file by SQLite's own locks.

The write-ahead log needs shared memory: the file has to be on a disk of this machine, which a
network file system is not.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.errors import OutboxUnavailable
from reward_functions.rollouts.outbox import sqlite_statements as statements
from reward_functions.rollouts.outbox.fields import (
    episode_of,
    fields_of_episode,
    fields_of_intent,
    fields_of_target,
    stored_of,
)
from reward_functions.rollouts.outbox.rules import (
    DAY,
    DETAIL,
    STATES,
    changeable,
    conflicting,
    require_storable,
    state_after,
)

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.rollouts.intents import Intent, Stored, Target
    from reward_functions.rollouts.outbox import Begun, Episode
    from reward_functions.rollouts.outcomes import Outcome

BUSY: Final = 10.0
"""Seconds that another process may hold the file for."""

LOG: Final = 8 * 1024 * 1024
"""Bytes that the write-ahead log keeps of the disk once it is empty: a purge may fill many more."""

ELSEWHERE: Final = "choose another file with REWARD_ROLLOUTS_OUTBOX"

PROBLEMS: Final = (
    ("SQLITE_FULL", "the disk is full: make room on it"),
    ("SQLITE_READONLY", f"it may not be written: {ELSEWHERE}"),
    ("SQLITE_CANTOPEN", f"it cannot be opened: {ELSEWHERE}"),
    ("SQLITE_PERM", f"it may not be opened: {ELSEWHERE}"),
    ("SQLITE_NOTADB", f"it is no SQLite file: {ELSEWHERE}"),
    ("SQLITE_CORRUPT", "it is damaged: move it away, and keep it for `sqlite3 FILE .recover`"),
    ("SQLITE_BUSY", f"another process holds it for longer than {BUSY:g} seconds"),
    ("SQLITE_IOERR", f"the disk fails, or is full: make room on it, or {ELSEWHERE}"),
)
"""How the names of SQLite's results begin, and what to do."""


class SqliteOutbox:
    """The protocol `Outbox`, in a file that is made at first use: mode 0600, its folder 0700.

    A file that cannot be opened is tried again at each use: it works as soon as the cause is gone.
    A connection does not cross `os.fork`: in a child, every method raises OutboxUnavailable.

    Args:
        path: of the file, on a disk of this machine.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._durable: bool | None = None
        self._closed = False
        self._lock = Lock()

    @property
    def name(self) -> str:
        """Its URL."""
        return f"sqlite://{self.path}"

    def begin(self, episode: Episode, *, owner: str, now: float) -> Begun:
        """See `Outbox`."""
        fields = fields_of_episode(episode, owner)
        with self._transaction(durable=True) as database:
            if _one(database, statements.REPORTED, fields):
                return "reported"
            if before := _one(database, statements.BEGUN, fields):
                if _one(database, statements.LIVES, {"owner": before["owner"], "now": now}):
                    return "running"
                fields["sampled"] |= before["sampled"]
            database.execute(statements.BEGIN, fields)
            return "new"

    def sampled(self, target: Target) -> None:
        """See `Outbox`."""
        with self._transaction(durable=True) as database:
            database.execute(statements.SAMPLED, fields_of_target(target))

    def end(self, target: Target) -> None:
        """See `Outbox`."""
        with self._transaction(durable=False) as database:
            database.execute(statements.END, fields_of_target(target))

    def add(self, intents: Sequence[Intent], *, due: float | None = None) -> None:
        """See `Outbox`."""
        require_storable(intents)
        rows = [(intent, fields_of_intent(intent, due)) for intent in intents]
        with self._transaction(durable=True) as database:
            for intent, fields in rows:
                found = _one(database, statements.ADDED, fields)
                if found is None:
                    database.execute(statements.ADD, fields)
                elif found["token"] != intent.token:
                    raise conflicting(intent)
            for _, fields in rows[:1]:
                database.execute(statements.END, fields)

    def find(self, target: Target) -> builtins.list[Stored]:
        """See `Outbox`."""
        with self._reading() as database:
            return _all(database, statements.FIND, fields_of_target(target))

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> builtins.list[Stored]:
        """See `Outbox`."""
        wanted = {"now": now, "limit": limit}
        with self._reading() as database:
            ready = _all(database, statements.DUE, wanted)
        if ready and hold:
            with self._transaction(durable=False) as database:
                ready = _all(database, statements.DUE, wanted)
                until = {"until": now + hold}
                held = [_report(each.intent) | until for each in ready]
                database.executemany(statements.HOLD, held)
        return ready

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
        with self._transaction(durable=False) as database:
            database.execute(statements.SETTLE, fields)

    def lease(self, owner: str, until: float) -> None:
        """See `Outbox`; leases that were over a day before are forgotten."""
        with self._transaction(durable=False) as database:
            database.execute(statements.LEASE, {"owner": owner, "until": until})
            database.execute(statements.FORGET_LEASES, {"before": until - DAY})

    def orphans(self, now: float, limit: int = 100) -> builtins.list[Episode]:
        """See `Outbox`."""
        wanted = {"now": now, "limit": limit}
        with self._reading() as database:
            return [episode_of(row) for row in database.execute(statements.ORPHANS, wanted)]

    def list(
        self, states: Sequence[str] = (), limit: int = 1000, *, newest: bool = False
    ) -> builtins.list[Stored]:
        """See `Outbox`."""
        wanted = {"states": json.dumps(tuple(states or STATES)), "limit": limit}
        with self._reading() as database:
            return _all(database, statements.LIST[newest], wanted)

    def counts(self) -> dict[str, int]:
        """See `Outbox`."""
        with self._reading() as database:
            found = dict(database.execute(statements.COUNTS).fetchall())
        return {**dict.fromkeys(STATES, 0), **found}

    def replay(self, intent: Intent, *, now: float) -> None:
        """See `Outbox`."""
        with self._transaction(durable=True) as database:
            database.execute(statements.REPLAY, _report(intent) | {"now": now})

    def purge(self, states: Sequence[str], before: float) -> int:
        """See `Outbox`."""
        with self._transaction(durable=False) as database:
            wanted = {"states": json.dumps(tuple(states)), "before": before}
            return database.execute(statements.PURGE, wanted).rowcount

    def close(self) -> None:
        """See `Outbox`; once closed, it stays closed."""
        with self._lock:
            self._closed = True
            if self._connection is not None and os.getpid() == self._process:
                with suppress(sqlite3.Error):  # the pages are in the log, for whoever opens it next
                    self._connection.close()
            self._connection = None

    @contextmanager
    def _transaction(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """A transaction that writes: all of it, or nothing."""
        with self._reading() as database:
            if self._durable != durable:
                database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            database.execute("BEGIN IMMEDIATE")
            with database:
                yield database

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; its errors are named by what to do."""
        with self._lock:
            if self._connection and os.getpid() != self._process:
                raise self._unavailable("it was opened before a fork: open another in the child")
            try:
                yield self._connection or self._connected()
            except sqlite3.Error as error:
                raise self._unavailable(_problem(error)) from None
            except OSError as error:
                raise self._unavailable(f"{error.strerror}: {ELSEWHERE}") from None

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise self._unavailable("it is closed")
        self._make()
        database = sqlite3.connect(
            self.path, timeout=BUSY, isolation_level=None, check_same_thread=False
        )
        database.row_factory = sqlite3.Row
        with ExitStack() as undo:
            undo.callback(database.close)
            self._require_ours(database)
            self._write_ahead(database)
            database.execute(f"PRAGMA journal_size_limit = {LOG}")
            undo.pop_all()
        self._connection, self._process, self._durable = database, os.getpid(), None
        return database

    def _make(self) -> None:
        """The empty file, for its owner alone.

        A file that exists is not touched: closing it would end the locks that this process has on
        it through another connection.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def _require_ours(self, database: sqlite3.Connection) -> None:
        """Make the tables of an empty file; refuse what is not an outbox of this version."""
        version = _version(database)
        if version == statements.VERSION:
            return
        if version == 0:
            database.execute("BEGIN IMMEDIATE")
            with database:
                if _version(database) == statements.VERSION:
                    return  # another process was faster
                if not database.execute(statements.TABLES).fetchone()[0]:
                    for statement in statements.SCHEMA:
                        database.execute(statement)
                    return
        raise self._unavailable(
            f"it has schema {version}, and this program {statements.VERSION}: drain it with the "
            f"one that wrote it, or {ELSEWHERE}"
            if version
            else f"it is another program's database: {ELSEWHERE}"
        )

    def _write_ahead(self, database: sqlite3.Connection) -> None:
        """Switch the log on; SQLite does not wait by itself for others that do so at once."""
        late = monotonic() + BUSY
        while True:
            try:
                (mode,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                if not _named(error).startswith("SQLITE_BUSY") or monotonic() > late:
                    raise
                sleep(0.01)
        if mode != "wal":
            raise self._unavailable(f"it is not on a disk of this machine: {ELSEWHERE}")

    def _unavailable(self, problem: str) -> OutboxUnavailable:
        return OutboxUnavailable(f"the outbox {self.path}: {problem}")


def _version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


def _problem(error: sqlite3.Error) -> str:
    named = _named(error)
    for prefix, problem in PROBLEMS:
        if named.startswith(prefix):
            return problem
    return f"{error} ({named or type(error).__name__})"


def _named(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _one(database: sqlite3.Connection, query: str, fields: Mapping[str, Any]) -> Any:
    return database.execute(query, fields).fetchone()


def _all(database: sqlite3.Connection, query: str, fields: Mapping[str, Any]) -> list[Stored]:
    return [stored_of(row) for row in database.execute(query, fields)]


def _report(intent: Intent) -> dict[str, Any]:
    """What names one report, and what it has to say."""
    names = fields_of_target(intent.target)
    return names | {"operation": intent.operation, "token": intent.token}
