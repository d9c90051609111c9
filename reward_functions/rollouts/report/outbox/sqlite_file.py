"""The file of an outbox in SQLite: opened, read by one thread at a time, written in groups.

What has to survive a power cut is committed with synchronous=FULL, which waits for the disk once
for a whole group; a group of which nothing has to, with NORMAL, which does not wait. Neither loses
anything to the death of a process, as the operating system has the pages by then.

All threads of a process share one connection under a lock. SQLite writes one transaction at a time
anyway; a connection a thread would add files and memory for each of 64 rollouts, and nothing closes
them when their thread ends. Several processes share the file by SQLite's own locks.

On a small disk the log is the larger part. It is written back into the file every `LOG_PAGES`
pages. Where the disk is nearly full the file stops growing while there is room for the log, so that
what was settled can still be recorded, and what is delivered be forgotten to make room.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.outbox import sqlite_statements as statements
from reward_functions.rollouts.report.outbox.grouping import Grouping, Write
from reward_functions.rollouts.request.errors import OutboxUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from reward_functions.rollouts.request.clock import Clock

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

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.ahead = 0.0
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._durable: bool | None = None
        self._tight = False
        self._closed = False
        self._lock = Lock()
        self._grouping = Grouping(self._commit)

    def write(self, work: Callable[[sqlite3.Connection], Any], *, durable: bool = False) -> Any:
        """Do something in a transaction, with what other threads write meanwhile.

        Args:
            work: gets the connection. It raises, if at all, before it has written anything.
            durable: whether it has to survive a power cut.

        Raises:
            RolloutError: as `work` does.
            OutboxUnavailable: it is not written.
        """
        self._require_same_process()
        return self._grouping.write(Write(work, durable=durable))

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; its errors are named by what to do."""
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
            with self.reading() as database:
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
        try:
            self._transact(database, group)
        except sqlite3.Error as error:
            if not _named(error).startswith("SQLITE_FULL"):
                raise
        else:
            return
        forgotten = True
        while forgotten:
            forgotten = self._make_room(database)
            try:
                self._transact(database, group)
            except sqlite3.Error as error:
                if not (forgotten and _named(error).startswith("SQLITE_FULL")):
                    raise
            else:
                return

    def _transact(self, database: sqlite3.Connection, group: Sequence[Write]) -> None:
        durable = any(each.durable for each in group)
        if self._durable != durable:
            database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._durable = durable
        database.execute("BEGIN IMMEDIATE")
        with database:
            for each in group:
                each.do(database)

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
            gone = database.execute(statements.MAKE_ROOM, {"limit": FORGOTTEN}).rowcount
            return bool(gone > 0)
        return False

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
            database.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            database.execute(f"PRAGMA journal_size_limit = {LOG_PAGES * PAGE}")
            self.ahead = self._ahead(database)
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
            found = database.execute(statements.BOOT, fields).fetchone()
        except sqlite3.OperationalError:
            found = None  # an earlier version made the file
        if found is None:
            with suppress(sqlite3.OperationalError):
                database.execute("BEGIN IMMEDIATE")
                with database:
                    for statement in statements.BOOTED:
                        database.execute(statement, fields)
                    found = database.execute(statements.BOOT, fields).fetchone()
        return 0.0 if found is None else float(found["epoch"]) - self._clock.epoch

    def _require_same_process(self) -> None:
        if self._connection and os.getpid() != self._process:
            raise self._unavailable("it was opened before a fork: open another in the child")

    def _failed(self, error: sqlite3.Error) -> OutboxUnavailable:
        return self._unavailable(_problem(error))

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
