"""Verdicts kept on disk: what was paid for is not asked again, by no later run of a command.

    key      a hash of the question, the model, its settings, and which of equal models it is
    verdict  the values of its fields as JSON, the checksum apart
    given    seconds since the epoch

One SQLite file, which several commands may share. A verdict is in it when `put` returns, so that an
interrupted run loses none. It holds no prompt, response or reference, but the reasons and the
quotations of a judge, which may repeat them: the file is its owner's alone (mode 600). Failures are
not kept. A question holds the instructions and the rubric, so that a changed one is asked anew.

A file that cannot be read or written on the way (a full disk) keeps no further verdict, and fails
no sample: `failure` says so.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from threading import Lock
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.asking import CANARY
from reward_functions.core.errors import BadJudge, NoVerdict
from reward_functions.judge_runtime.cache import DAY, cache_key

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

    from reward_functions.core.asking import Question
    from reward_functions.judge_runtime.config import JudgeModel

DAYS: Final = 90
"""Until a verdict is removed, as a later run opens the file. Models change under one name."""

PRIVATE: Final = 0o600

WAIT: Final = 30.0
"""Seconds for which another command may hold the file."""

PAUSE: Final = 0.02
"""Seconds between two looks at a lock that SQLite does not wait for."""

APPLICATION: Final = 0x52465653
"""SQLite's `application_id`: the file is ours."""

_MADE: Final = (
    "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT NOT NULL, "
    "given REAL NOT NULL) WITHOUT ROWID"
)
_INDEXED: Final = "CREATE INDEX IF NOT EXISTS by_age ON verdicts (given)"


class Holdings(NamedTuple):
    """What a store holds.

    Args:
        verdicts: how many.
        oldest: seconds since the epoch; None where it is empty.
        size: bytes of the file.
    """

    verdicts: int
    oldest: float | None
    size: int


class VerdictStore:
    """A file of verdicts, open; safe to use from many threads.

    Args:
        path: of the file; it and its folder are made where missing.

    Attributes:
        failure: why nothing more is kept; "" while all is.

    Raises:
        BadJudge: the file is not a verdict store, or cannot be used; one sentence.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failure = ""
        self._lock = Lock()
        self._connection = _opened(path)

    def get(
        self, question: Question, model: JudgeModel, occurrence: int = 0
    ) -> dict[str, str] | None:
        """A legal verdict given before, its texts included; None without one."""
        key = cache_key(question, model, occurrence)
        found = self._try("SELECT verdict FROM verdicts WHERE key = ?", (key,))
        try:
            values = json.loads(found[0][0]) if found else None
            return question.read({**values, CANARY: question.canary}) if values else None
        except (NoVerdict, TypeError, ValueError, RecursionError):
            return None

    def put(
        self, question: Question, model: JudgeModel, values: Mapping[str, str], occurrence: int = 0
    ) -> None:
        """Keep a verdict."""
        kept = json.dumps({name: value for name, value in values.items() if name != CANARY})
        row = (cache_key(question, model, occurrence), kept, time())
        self._try("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", row)

    def holdings(self) -> Holdings:
        """How many verdicts there are, how old, and how large the file is."""
        found = self._try("SELECT count(*), min(given) FROM verdicts", ())
        count, oldest = found[0] if found else (0, None)
        return Holdings(count, oldest, self.path.stat().st_size)

    def clear(self, days: float = 0.0) -> int:
        """Remove the verdicts that are older; how many there were."""
        before = self.holdings().verdicts
        self._try("DELETE FROM verdicts WHERE given <= ?", (time() - days * DAY,))
        self._try("VACUUM", ())
        return before - self.holdings().verdicts

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._connection.close()

    def _try(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        """The rows of a statement; none, and `failure` says why, where the file cannot be used."""
        import sqlite3  # noqa: PLC0415 - a function has no store

        if self.failure:
            return []
        try:
            with self._lock, closing(self._connection.execute(statement, values)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as error:
            self.failure = f"{self.path}: {error}"
            return []


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and writers work side by side.

    SQLite does not wait for the lock that this takes, once in a file's life: whoever comes second
    tries again until it is there, or somebody else has done it.
    """
    import sqlite3  # noqa: PLC0415 - a function has no store

    until = monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(PAUSE)
        else:
            return


def _opened(path: Path) -> sqlite3.Connection:
    import sqlite3  # noqa: PLC0415 - a function has no store

    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))
        if not path.is_file():
            raise BadJudge(f"{path} is no regular file: give another with --verdicts")
        connection = sqlite3.connect(
            path, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise BadJudge(f"verdicts cannot be kept in {path}: {_words(error)}") from None
    try:
        _require_ours(connection, path)
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")  # outlives the process, if not the power
        connection.execute(_MADE)
        connection.execute(_INDEXED)
        connection.execute("DELETE FROM verdicts WHERE given < ?", (time() - DAYS * DAY,))
    except sqlite3.OperationalError as error:  # of the disk, and not of what is on it
        connection.close()
        reason = f"verdicts cannot be kept in {path}: {error}; give another with --verdicts"
        raise BadJudge(reason) from None
    except sqlite3.DatabaseError as error:
        connection.close()
        raise BadJudge(
            f"{path} is not a store of verdicts ({error}): remove it, or give another with "
            "--verdicts"
        ) from None
    except BadJudge:
        connection.close()
        raise
    return connection


def _require_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Nothing, where the file is empty or ours: another program's database is left alone."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION and (application or tables):
        raise BadJudge(f"{path} is another program's database: give another with --verdicts")
    if application != APPLICATION:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
