"""An outbox in one SQLite file: where the disk outlives the process; or in memory, for one process.

`begin`, `sampled`, `add` and `replay` wait for the disk: they survive a power cut. The rest does
not wait: a settled intent that a power cut makes pending again is sent again, and its token makes
that harmless.

The write-ahead log needs shared memory: the file has to be on a disk of this machine, which a
network file system is not.

Rows that must survive a power cut are committed with synchronous=FULL, which waits for the disk
once for a whole group. A group without such rows is committed with NORMAL, which does not wait.
Neither loses anything to the death of a process, as the operating system has the pages by then.

All threads of a process share one connection under a lock. SQLite writes one transaction at a time
anyway; a connection a thread would add files and memory for each of 64 rollouts, and nothing closes
them when their thread ends. Several processes share the file by SQLite's own locks.

On a small disk the log is the larger part. It is written back into the file every `LOG_PAGES`
pages. Where the disk is nearly full the file stops growing while there is room for the log, so that
what was settled can still be recorded, and what is delivered be forgotten to make room.

Writes of many threads are committed together: one wait for the disk for all that came meanwhile.

    thread ──→ queue ──┐                        ┌──→ each thread: its result, or its error
    thread ──→ queue ──┼──→ the first one leads ┤
    thread ──→ queue ──┘      one commit        └──→ who came meanwhile: the next group

There is no thread for it, and nothing to end: of those that wait, one commits for all.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.rollouts.report.outbox import (
    DAY,
    LONGEST,
    STATES,
    changeable,
    changes_by,
    conflicting,
    episode_of,
    fields_of_episode,
    fields_of_intent,
    fields_of_target,
    later,
    require_storable,
    stored_of,
)
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import OutboxUnavailable, RolloutError

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.rollouts.report.intents import Intent, Stored, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode
    from reward_functions.rollouts.request.clock import Clock
    from reward_functions.rollouts.request.outcomes import Outcome

BUSY: Final = 10.0
"""Seconds that another process may hold the file for."""

PAGE: Final = 4096
"""Bytes of a page, SQLite's default."""

LOG_PAGES: Final = 64
"""Pages of the write-ahead log after which it is written back into the file."""

ROOM: Final = 3 * LOG_PAGES * PAGE
"""Bytes of the disk that the file leaves to its log."""

TIGHT: Final = 64 * 1024 * 1024
"""Bytes of free disk below which the file is kept from filling it."""

UNBOUNDED: Final = 2**30
"""Pages that a file may have: 4 TB."""

FORGOTTEN: Final = 64
"""Delivered reports that make room at a time: a transaction that fits into the log."""

VERSION: Final = 1
"""Of the schema, as `PRAGMA user_version`."""

SCHEMA: Final = (
    """
    CREATE TABLE intents (
        job_arn TEXT NOT NULL, trajectory_id TEXT NOT NULL, operation TEXT NOT NULL,
        endpoint TEXT NOT NULL, region TEXT NOT NULL, transport TEXT NOT NULL,
        payload TEXT NOT NULL, token TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL,
        of_failed INTEGER NOT NULL,
        state TEXT NOT NULL, attempts INTEGER NOT NULL, due REAL NOT NULL,
        outcome TEXT NOT NULL, detail TEXT NOT NULL,
        PRIMARY KEY (job_arn, trajectory_id, operation)
    )
    """,
    "CREATE INDEX intents_due ON intents (due) WHERE state = 'pending'",
    "CREATE INDEX intents_state ON intents (state, created)",
    """
    CREATE TABLE episodes (
        job_arn TEXT NOT NULL, trajectory_id TEXT NOT NULL,
        endpoint TEXT NOT NULL, region TEXT NOT NULL, transport TEXT NOT NULL,
        owner TEXT NOT NULL, began REAL NOT NULL, expires REAL NOT NULL,
        minimum REAL NOT NULL, payload TEXT NOT NULL, sampled INTEGER NOT NULL,
        on_failure TEXT NOT NULL,
        PRIMARY KEY (job_arn, trajectory_id)
    )
    """,
    "CREATE TABLE leases (owner TEXT PRIMARY KEY, until REAL NOT NULL)",
    f"PRAGMA user_version = {VERSION}",
)

BOOTED: Final = (
    "CREATE TABLE IF NOT EXISTS boots (boot TEXT PRIMARY KEY, epoch REAL NOT NULL)",
    "DELETE FROM leases WHERE EXISTS (SELECT 1 FROM boots WHERE boot <> :boot)",
    "DELETE FROM boots WHERE boot <> :boot",
    "INSERT OR IGNORE INTO boots (boot, epoch) VALUES (:boot, :epoch)",
)
"""The table is no part of version 1: programs that know nothing of it read and write the file."""

BOOT: Final = "SELECT epoch FROM boots WHERE boot = :boot"

TABLES: Final = "SELECT count(*) FROM sqlite_master"

MAKE_ROOM: Final = """
    DELETE FROM intents WHERE rowid IN (
        SELECT rowid FROM intents WHERE state = 'delivered' ORDER BY created LIMIT :limit
    )
"""

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


class Database(NamedTuple):
    """A connection, for callers whose clock is slower than the file's.

    Args:
        connection: open.
        ahead: seconds by which the file's time is ahead.
    """

    connection: sqlite3.Connection
    ahead: float

    def run(self, statement: str, *rows: Mapping[str, Any]) -> int:
        """Write by a statement, once for each row; returns the rows that it changed."""
        moved = [later(fields, self.ahead) for fields in rows]
        return self.connection.executemany(statement, moved).rowcount

    def rows(self, query: str, fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """What a question finds."""
        found = self.connection.execute(query, later(fields, self.ahead))
        return [later(row, -self.ahead) for row in found]


class Write:
    """One thread's part of a group.

    Args:
        work: does it, and returns its result. It raises before it has written anything.
        durable: whether it has to survive a power cut.

    Attributes:
        result: of `work`.
        error: what its thread gets in place of the result.
    """

    def __init__(self, work: Callable[[Any], Any], *, durable: bool) -> None:
        self.work = work
        self.durable = durable
        self.result: Any = None
        self.error: Exception | None = OutboxUnavailable("the write was interrupted")
        self.leads = False
        self.woken = Event()

    def do(self, database: Database) -> None:
        """Work; what an outbox promises to raise is this thread's, and nothing to the others."""
        self.error = None
        try:
            self.result = self.work(database)
        except RolloutError as error:
            self.error = error


class Grouping:
    """Let threads write together.

    Args:
        commit: writes a group, in its order, and sets the result or the error of each. Its
            exception goes to the thread that led; the others get their `error`.
    """

    def __init__(self, commit: Callable[[Sequence[Write]], None]) -> None:
        self._commit = commit
        self._queue: list[Write] = []
        self._led = False
        self._lock = Lock()

    def write(self, write: Write) -> Any:
        """Write, with all that others ask for until then; what became of it.

        Raises:
            Exception: the `error` of this write.
        """
        with self._lock:
            self._queue.append(write)
            write.leads, self._led = not self._led, True
        if not write.leads:
            self._wait(write)
        if write.leads:
            self._lead()
        if write.error is not None:
            raise write.error
        return write.result

    def _wait(self, write: Write) -> None:
        woken = False
        try:
            woken = write.woken.wait()
        finally:
            if not woken:  # Ctrl-C: somebody else has to lead
                self._leave(write)

    def _leave(self, write: Write) -> None:
        with self._lock:
            if write in self._queue:
                self._queue.remove(write)
            if write.leads:
                self._hand_over()

    def _lead(self) -> None:
        with self._lock:
            group, self._queue = self._queue, []
        try:
            self._commit(group)
        finally:
            with self._lock:
                self._hand_over()
            for each in group:
                each.woken.set()

    def _hand_over(self) -> None:
        """Have the next one lead, if anybody waits; the lock is held."""
        self._led = bool(self._queue)
        for following in self._queue[:1]:
            following.leads = True
            following.woken.set()


class SqliteFile:
    """A connection to a file that is made at first use: mode 0600, its folder 0700.

    A file that cannot be opened is tried again at each use: it works as soon as the cause is gone.
    A connection does not cross `os.fork`: in a child, every method raises OutboxUnavailable.

    Args:
        path: of the file, on a disk of this machine.
        clock: of the process.

    Attributes:
        ahead: seconds by which the file's time is ahead of the clock; known once it was opened.
    """

    def __init__(self, path: str | Path, *, clock: Clock = steady) -> None:
        self.path = Path(path)
        self.ahead = 0.0
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._durable: bool | None = None
        self._tight = False
        self._closed = False
        self._lock = Lock()
        self._grouping = Grouping(self._commit)

    def _write(self, work: Callable[[Database], Any], *, durable: bool = False) -> Any:
        """Do something in a transaction, with what other threads write meanwhile.

        Args:
            work: gets the database. It raises, if at all, before it has written anything.
            durable: whether it has to survive a power cut.

        Raises:
            RolloutError: as `work` does.
            OutboxUnavailable: it is not written.
        """
        self._require_same_process()
        return self._grouping.write(Write(work, durable=durable))

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        """The database, for one thread at a time; its errors are named by what to do."""
        with self._connection_held() as connection:
            yield Database(connection, self.ahead)

    @contextmanager
    def _connection_held(self) -> Iterator[sqlite3.Connection]:
        self._require_same_process()
        with self._lock:
            try:
                yield self._connection or self._connected()
            except sqlite3.Error as error:
                raise self._failed(error) from None
            except OSError as error:
                raise self._unavailable(f"{error.strerror}: {ELSEWHERE}") from None

    def close(self) -> None:
        """Release it; once closed, it stays closed."""
        with self._lock:
            self._closed = True
            if self._connection is not None and os.getpid() == self._process:
                with suppress(sqlite3.Error):  # the next process finds the pages in the log
                    self._connection.close()
            self._connection = None

    def _commit(self, group: Sequence[Write]) -> None:
        """Write a group in one transaction; each alone where together they cannot be."""
        try:
            with self._connection_held() as database:
                try:
                    self._written(database, group)
                except sqlite3.Error as error:
                    if len(group) == 1 or _named(error).startswith("SQLITE_BUSY"):
                        raise
                    self._commit_each(database, group)
        except OutboxUnavailable as error:
            for each in group:
                each.error = error

    def _commit_each(self, database: sqlite3.Connection, group: Sequence[Write]) -> None:
        for each in group:
            try:
                self._written(database, [each])
            except sqlite3.Error as error:
                each.error = self._failed(error)

    def _written(self, database: sqlite3.Connection, group: Sequence[Write]) -> None:
        """Write a group; where the disk is full, make room until nothing is left to forget."""
        self._keep_room(database)
        forgotten = True
        while True:
            try:
                self._transact(database, group)
            except sqlite3.Error as error:
                if not (forgotten and _named(error).startswith("SQLITE_FULL")):
                    raise
            else:
                return
            forgotten = self._make_room(database)

    def _transact(self, database: sqlite3.Connection, group: Sequence[Write]) -> None:
        durable = any(each.durable for each in group)
        if self._durable != durable:
            database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._durable = durable
        database.execute("BEGIN IMMEDIATE")
        with database:
            for each in group:
                each.do(Database(database, self.ahead))

    def _keep_room(self, database: sqlite3.Connection) -> None:
        """Let the file grow while the disk has room for its log."""
        disk = os.statvfs(self.path.parent)
        free = disk.f_bavail * disk.f_frsize
        if free >= TIGHT and not self._tight:
            return
        self._tight = free < TIGHT
        most = (self.path.stat().st_size + free - ROOM) // PAGE if self._tight else UNBOUNDED
        database.execute(f"PRAGMA max_page_count = {max(most, 1)}")

    def _make_room(self, database: sqlite3.Connection) -> bool:
        """Write the log back, and forget the oldest of what is delivered; whether there was any."""
        with suppress(sqlite3.Error):  # what cannot be written back stays in the log
            database.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        with suppress(sqlite3.Error), database:
            gone = database.execute(MAKE_ROOM, {"limit": FORGOTTEN}).rowcount
            return bool(gone > 0)
        return False

    def _connected(self) -> sqlite3.Connection:
        self._make()
        database = self._opened()
        with ExitStack() as undo:
            undo.callback(database.close)
            self._require_ours(database)
            self._write_ahead(database)
            database.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            database.execute(f"PRAGMA journal_size_limit = {LOG_PAGES * PAGE}")
            self.ahead = self._ahead(database)
            undo.pop_all()
        self._connection, self._process, self._durable = database, os.getpid(), None
        return database

    def _opened(self) -> sqlite3.Connection:
        if self._closed:
            raise self._unavailable("it is closed")
        database = sqlite3.connect(
            self.path, timeout=BUSY, isolation_level=None, check_same_thread=False
        )
        database.row_factory = sqlite3.Row
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
        if version == VERSION:
            return
        if version == 0:
            database.execute("BEGIN IMMEDIATE")
            with database:
                if _version(database) == VERSION:
                    return  # another process was faster
                if not database.execute(TABLES).fetchone()[0]:
                    for statement in SCHEMA:
                        database.execute(statement)
                    return
        raise self._unavailable(
            f"it has schema {version}, and this program {VERSION}: drain it with the "
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

    def _ahead(self, database: sqlite3.Connection) -> float:
        """Seconds by which the file's time is ahead of this process's.

        The first process since the start of the machine writes when that was, by its own clock;
        all that follow count from there, however the clock is set. The leases of an earlier start
        are over. A file that cannot be written now has this process's time.
        """
        if not self._clock.boot:
            return 0.0
        fields = {"boot": self._clock.boot, "epoch": self._clock.epoch}
        try:
            found = database.execute(BOOT, fields).fetchone()
        except sqlite3.OperationalError:
            found = None  # an earlier version made the file
        if found is None:
            with suppress(sqlite3.OperationalError):
                database.execute("BEGIN IMMEDIATE")
                with database:
                    for statement in BOOTED:
                        database.execute(statement, fields)
                    found = database.execute(BOOT, fields).fetchone()
        return 0.0 if found is None else float(found["epoch"]) - self._clock.epoch

    def _require_same_process(self) -> None:
        if self._connection and os.getpid() != self._process:
            raise self._unavailable("it was opened before a fork: open another in the child")

    def _failed(self, error: sqlite3.Error) -> OutboxUnavailable:
        named = _named(error)
        other = f"{error} ({named or type(error).__name__})"
        known = (problem for prefix, problem in PROBLEMS if named.startswith(prefix))
        return self._unavailable(next(known, other))

    def _unavailable(self, problem: str) -> OutboxUnavailable:
        return OutboxUnavailable(f"the outbox {self.path}: {problem}")


def _version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


def _named(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


ROLLOUT: Final = "job_arn = :job_arn AND trajectory_id = :trajectory_id"

REPORT: Final = f"{ROLLOUT} AND operation = :operation"

FIND: Final = f"SELECT * FROM intents WHERE {ROLLOUT} ORDER BY operation"

BEGUN: Final = f"SELECT owner, sampled FROM episodes WHERE {ROLLOUT}"

LIVING: Final = "until > :now AND (until <= :latest OR until = 9e999)"

LIVES: Final = f"SELECT 1 FROM leases WHERE owner = :owner AND {LIVING}"

SAMPLED: Final = f"UPDATE episodes SET sampled = 1 WHERE {ROLLOUT}"

END: Final = f"DELETE FROM episodes WHERE {ROLLOUT}"

ADDED: Final = f"SELECT token FROM intents WHERE {REPORT}"

FORGET: Final = f"DELETE FROM intents WHERE {REPORT} AND token = :token"

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


class SqliteOutbox(SqliteFile):
    """The protocol `Outbox`, in a `SqliteFile`, which has a time of its own."""

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
            database.run(_insert("INSERT OR REPLACE INTO episodes", fields), fields)
            return "new"

        begun: Begun = self._write(work, durable=True)
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
            for fields in new:
                database.run(_insert("INSERT INTO intents", fields), fields)
            database.run(END, *(fields for _, fields in rows[:1]))

        self._write(work, durable=True)

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

        held: builtins.list[Stored] = self._write(work)
        return held

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """See `Outbox`."""
        changes = changes_by(outcome)
        states = json.dumps(changeable(changes["state"]))
        self._run(SETTLE, _report(intent) | changes | {"due": due, "states": states})

    def lease(self, owner: str, until: float) -> None:
        """See `Outbox`; leases that were over a day before are forgotten."""

        def work(database: Database) -> None:
            database.run(LEASE, {"owner": owner, "until": until})
            database.run(FORGET_LEASES, {"before": until - DAY})

        self._write(work)

    def orphans(self, now: float, limit: int = 100) -> builtins.list[Episode]:
        """See `Outbox`."""
        with self._reading() as database:
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
        with self._reading() as database:
            found = {row["state"]: row["number"] for row in database.rows(COUNTS, {})}
        return {**dict.fromkeys(STATES, 0), **found}

    def replay(self, intent: Intent, *, now: float) -> None:
        """See `Outbox`."""
        self._run(REPLAY, _report(intent) | {"now": now}, durable=True)

    def purge(self, states: Sequence[str], before: float) -> int:
        """See `Outbox`."""
        return self._run(PURGE, {"states": json.dumps(tuple(states)), "before": before})

    def _run(self, statement: str, fields: Mapping[str, Any], *, durable: bool = False) -> int:
        """Write by one statement; returns the number of rows."""
        changed: int = self._write(
            lambda database: database.run(statement, fields), durable=durable
        )
        return changed

    def _stored(self, query: str, fields: Mapping[str, Any]) -> builtins.list[Stored]:
        with self._reading() as database:
            found = database.rows(query, fields)
        return [stored_of(row) for row in found]


MOST: Final = 64 * 1024 * 1024
"""Bytes of a memory outbox."""


class MemoryOutbox(SqliteOutbox):
    """The same in memory: for tests, and where a durable one fails. Gone with the process.

    It crosses `os.fork` as all memory does.

    Args:
        most: bytes that durable writes may fill; the others settle and forget. Over them what is
            delivered makes room for what is not, and `begin` and `add` raise OutboxUnavailable
            where nothing is left to go.
    """

    name = "memory:"

    def __init__(self, most: int = MOST) -> None:
        super().__init__(Path(":memory:"))
        self.most = most

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

    def _keep_room(self, database: sqlite3.Connection) -> None:
        """Nothing: `_transact` counts pages."""

    def _transact(self, database: sqlite3.Connection, group: Sequence[Write]) -> None:
        pages = self.most // PAGE if any(each.durable for each in group) else UNBOUNDED
        database.execute(f"PRAGMA max_page_count = {max(pages, 1)}")
        super()._transact(database, group)

    def _connected(self) -> sqlite3.Connection:
        self._connection = self._opened()
        self._require_ours(self._connection)
        return self._connection

    def _require_same_process(self) -> None:
        """Nothing: no lock of the system's is on it."""

    def _unavailable(self, problem: str) -> OutboxUnavailable:
        if problem == dict(PROBLEMS)["SQLITE_FULL"]:
            return OutboxUnavailable(f"the memory outbox is full: it has {self.most:,} bytes")
        return OutboxUnavailable(f"the memory outbox: {problem}")

    def _has(self, query: str, fields: Mapping[str, Any]) -> bool:
        with self._reading() as database:
            return bool(database.rows(query, fields))


def _insert(into: str, fields: Mapping[str, Any]) -> str:
    """The statement that writes fields into the columns of their names."""
    return f"{into} ({', '.join(fields)}) VALUES ({', '.join(f':{name}' for name in fields)})"


def _moment(now: float) -> dict[str, float]:
    """A time, and the latest one that anything can be due or last until."""
    return {"now": now, "latest": now + LONGEST}


def _report(intent: Intent) -> dict[str, Any]:
    """What names one report, and what it has to say."""
    names = fields_of_target(intent.target)
    return names | {"operation": intent.operation, "token": intent.token}
