"""One database of SQLite, which runs a SELECT within counted work and nothing else.

| what could go wrong | what holds it |
| --- | --- |
| writing, other files, settings | read-only and immutable; the authorizer lets SELECT pass alone |
| functions that reach out, or cost what nobody counts | `FUNCTIONS`, by name |
| endless queries | steps of SQLite's machine are counted, and characters of what is searched |
| memory | SQLite's heap limit of the process, 256 MB, and no temporary file |
| SQLite's own tables, virtual ones | the program that SQLite makes of a query is read before |
| a time, a zone | functions of dates know no "now", "localtime" and "utc" |

No clock is read: a query is stopped at the same step on every machine. A search takes as long as
one text times the other, and is one step to SQLite: `SEARCHED` counts it.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from functools import lru_cache, partial
from math import prod
from sys import getsizeof
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from reward_functions.core import patterns as re

if TYPE_CHECKING:
    from pathlib import Path

FUNCTIONS: Final = frozenset(
    "count sum total avg min max group_concat abs round length lower upper trim ltrim rtrim substr "
    "substring replace instr coalesce ifnull nullif iif like glob date time datetime julianday "
    "strftime row_number rank dense_rank percent_rank cume_dist ntile json_extract -> ->>".split()
)

DATES: Final = {"date": 1, "time": 1, "datetime": 1, "julianday": 1, "strftime": 2}
"""Functions of dates, and the fewest arguments with which they do not ask for the time."""

COUNTED: Final = (
    *((name, 2) for name in ("like", "glob", "instr", "trim", "ltrim", "rtrim")),
    *(("like", 3), ("replace", 3)),
    *((name, -1) for name in DATES),
)
"""Functions, by their arguments, that are looked at whenever they are called."""

OF_THE_MACHINE: Final = frozenset((b"now", b"localtime", b"utc"))
"""Arguments that ask for them. SQLite reads a blob as text, and a text to its first NUL."""

SEARCHED: Final = 500_000_000
"""Characters of one text times those of the other, of all searches of a query: about a second."""

TICK: Final = 1_000
"""Steps between two looks at how many are left."""

CALL: Final = 10 / TICK
"""Of a tick, what a call of these functions takes: it goes through Python."""

ROOM: Final = 1_000
"""Bytes of a value that a query may make, beside twice what a row of all its tables has: a step
takes as long as the value that it makes."""

LARGEST: Final = 50_000_000
"""Bytes of all rows that a query returns."""

COPIES: Final = 4_096
"""How many subqueries SQLite may make of the named ones: it copies one wherever it is named, so
that 30, each of which names the one before twice, are 2 ** 30."""

SETTINGS: Final = """
PRAGMA hard_heap_limit=268435456; PRAGMA temp_store=MEMORY;
PRAGMA trusted_schema=OFF; PRAGMA query_only=ON;
"""

TOO_LARGE: Final = "it takes too much memory, or meets too long a value"

FAILED: Final = (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError)

_FREE: Final = re.compile(r"\b(\w++)(?![\"`\]]?\s*+\.)")
_NAMED: Final = re.compile(
    r"\b(\w++)[\"`\]]?\s*+(?:\([^()]*+\)\s*+)?\bas\b\s*+(?:not\s++)?(?:materialized\s*+)?\("
)


class SqlRefused(Exception):
    """A query that is not run, or not to its end.

    Args:
        rule: the id of the rule that says so.
        why: one clause.
        error: what SQLite says, with words of the query.
    """

    def __init__(self, rule: str, why: str, error: str = "") -> None:
        super().__init__(why)
        self.rule = rule
        self.error = error


class SqlRows(NamedTuple):
    """What a query returned: its columns and rows, the tables it read, the steps it took."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    tables: frozenset[str]
    steps: int


class SqlDatabase:
    """A database, open for reading; threads take turns.

    Args:
        path: of a file of SQLite, or of a script of SQL that ends in ".sql".

    Attributes:
        roots: the pages at which its tables and their indexes begin, and the names of the tables.
        usual: bytes of a value, or a row, that its queries need, by what it holds.

    Raises:
        sqlite3.Error: it is neither.
    """

    def __init__(self, path: Path) -> None:
        script = path.read_text(encoding="utf-8") if path.suffix == ".sql" else ""
        file = ":memory:" if script else f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connect = partial(sqlite3.connect, uri=True, isolation_level=None, check_same_thread=False)
        self._lock, self._beside = Lock(), connect(":memory:")
        self._main = connect(file, cached_statements=0)  # each time, the authorizer is asked
        self._main.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        self._main.executescript(script + SETTINGS)
        listed = self._main.execute("SELECT rootpage, lower(tbl_name) FROM sqlite_master")
        self.roots: dict[int, str] = dict(listed.fetchall())
        tables = {name for root, name in self.roots.items() if root}
        self.usual = ROOM + 2 * sum(map(self._widest, tables))
        self._ticks, self._left, self._search = 0.0, 0, 0
        self._why: tuple[str, str] | None = None
        for name, count in COUNTED:
            self._main.create_function(name, count, partial(self._call, name))
        self._main.set_progress_handler(self._tick, TICK)
        self._main.set_authorizer(self._allows)

    def __del__(self) -> None:
        for each in {"_main", "_beside"} & vars(self).keys():
            vars(self)[each].close()

    def _widest(self, table: str) -> int:
        """The bytes that a row of a table may have, at most."""
        listed = self._main.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        names = ['"' + each.replace('"', '""') + '"' for (each,) in listed]
        asked = ", ".join(f"max(length(CAST({each} AS BLOB)))" for each in names)
        table = table.replace('"', '""')
        return sum(
            each or 0 for each in self._main.execute(f'SELECT {asked} FROM "{table}"').fetchone()
        )

    def run(self, query: str, *, steps: int, most: int, longest: int) -> SqlRows:
        """The rows of a SELECT.

        Args:
            query: one statement.
            steps: of SQLite's machine that it may take.
            most: rows that are read; it may have more.
            longest: bytes of a value that it may meet.

        Raises:
            SqlRefused: it is not allowed, fails, or takes more.
        """
        words = Counter(_FREE.findall(query.lower()))
        if prod(max(1, words[each] - 1) for each in {*_NAMED.findall(query.lower())}) > COPIES:
            raise SqlRefused("too-much", "its named subqueries name one another too often")
        with self._lock:
            self._ticks, self._left, self._search, self._why = 0.0, steps // TICK, SEARCHED, None
            for each in (self._main, self._beside):
                each.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
            try:
                return self._run(query, most)
            except FAILED as error:
                if isinstance(error, MemoryError | sqlite3.DataError):
                    self._why = "too-much", TOO_LARGE
                rule, why = self._why or ("sql-error", "SQLite has an error")
                raise SqlRefused(rule, why, str(error)) from None

    def _run(self, query: str, most: int) -> SqlRows:
        program = self._main.execute(f"EXPLAIN {query}").fetchall()
        if not any(row[1] == "ResultRow" for row in program):
            self._refuse("not-allowed", "it is no SELECT")
        read = [row for row in program if row[1] in ("OpenRead", "ReopenIdx", "VOpen")]
        if any(row[1] == "VOpen" or row[4] or not self.roots.get(row[3]) for row in read):
            self._refuse("not-allowed", "it reads what is no table of the database")
        cursor = self._main.execute(query)
        rows: list[tuple[Any, ...]] = []
        size = 0
        for row in cursor:
            rows.append(row)
            size += sum(map(getsizeof, row))
            if size > LARGEST:
                raise MemoryError
            if len(rows) == most:
                break
        columns = tuple(each[0] for each in cursor.description)
        cursor.close()
        tables = frozenset(self.roots[row[3]] for row in read)
        return SqlRows(columns, rows, tables, int(self._ticks * TICK))

    def _refuse(self, rule: str, why: str) -> NoReturn:
        self._why = rule, why
        raise ValueError(why)

    def _tick(self) -> bool:
        self._ticks += 1
        if self._ticks > self._left:
            self._why = "too-much", "it takes too many steps"
        return self._ticks > self._left

    def _allows(self, action: int, _: str | None, name: str | None, *__: str | None) -> int:
        function = (name or "").lower() if action == sqlite3.SQLITE_FUNCTION else ""
        if function in FUNCTIONS or action in (
            *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE),
        ):
            return sqlite3.SQLITE_OK
        why = f"the function {function[:40]} is not on the list" if function else "it is no SELECT"
        self._why = "not-allowed", why
        return sqlite3.SQLITE_DENY

    def _call(self, name: str, *values: Any) -> Any:
        """What SQLite's own function says, where it may be asked."""
        words = [each for each in values if isinstance(each, str | bytes)]
        self._ticks += CALL
        self._search -= prod(max(1, len(each)) for each in words[:2])
        if self._search < 0:
            self._refuse("too-much", "it searches too much text")
        texts = (each if isinstance(each, bytes) else each.encode() for each in words)
        read = {each.partition(b"\0")[0].lower() for each in texts} if name in DATES else set()
        if OF_THE_MACHINE & read or len(values) < DATES.get(name, 0):
            self._refuse("not-allowed", "it asks what time it is")
        asked = f"SELECT {name}({', '.join('?' * len(values))})"
        try:
            return self._beside.execute(asked, values).fetchone()[0]
        except (MemoryError, sqlite3.DataError):
            return self._refuse("too-much", TOO_LARGE)


@lru_cache(128)
def _opened(path: Path, process: int) -> SqlDatabase:  # noqa: ARG001 - a fork opens its own
    return SqlDatabase(path)


def opened(path: Path) -> SqlDatabase:
    """The database of a file, opened once by a process.

    Raises:
        sqlite3.Error: the file is no database.
        OSError: the file cannot be read.
    """
    return _opened(path, os.getpid())
