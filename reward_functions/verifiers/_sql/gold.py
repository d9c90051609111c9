"""The rows that a reference asks for, in runs whose order counts.

The order is that of the gold query's own ORDER BY. SQLite says itself which rows tie there: the
query is asked again without its LIMIT, inside another one that has `dense_rank()` over the same
terms; those that name none of its columns are selected beside them. What comes back must be as many
rows as the query has without its LIMIT, and must allow those that it has with it; else the
reference has to say whether its rows are ordered.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby, takewhile
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.core.errors import BadReference
from reward_functions.verifiers._sql.database import FAILED, SqlRefused, opened
from reward_functions.verifiers._sql.rows import Run, unlike

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.verifiers._sql.database import SqlDatabase, SqlRows
    from reward_functions.verifiers._sql.rows import Row

SHIPPED: Final = Path(__file__).parent
SHOP: Final = "shop.sql"
"""The database that ships, for the worked examples."""

ENDINGS: Final = (".sqlite", ".sqlite3", ".db", ".sql")

MOST_DATABASES: Final = 256
"""Of one reference."""

LONGEST_QUERY: Final = 20_000
"""Characters of a query that is run, and of a gold."""

LARGEST_NUMBER: Final = 1e300
"""Of given rows: longer ones are no numbers of SQLite's."""

AGAIN: Final = 20
"""A response may take as many times the gold's own steps, where that is more."""

UNORDERED: Final = 'sql: its ties are not known: say "ordered": true or false beside it'

WAYS: Final = frozenset(("ASC", "DESC", "NULLS", "FIRST", "LAST"))

_NAME: Final = re.compile(r"[\w .,()/+@-]{1,100}")

_SKIPPED: Final = re.compile(
    r"(--[^\n]*+|/\*.*?(?:\*/|\Z))|'[^']*+'?|\"[^\"]*+\"?|`[^`]*+`?|\[[^\]]*+\]?", re.DOTALL
)
_LIMIT: Final = re.compile(
    r"\bLIMIT\b(?:\s*+(\d++)(?:\s*+(,|OFFSET)\s*+(\d++))?\Z)?", re.IGNORECASE
)
_ORDER: Final = re.compile(r"\bORDER\s++BY\b", re.IGNORECASE)
_FROM: Final = re.compile(r"(?<!DISTINCT)\sFROM\b", re.IGNORECASE)


class Limits(NamedTuple):
    """What a query may take: the parameters of the reward."""

    steps: int
    rows: int
    longest: int


class Gold(NamedTuple):
    """What is asked for of one database.

    Attributes:
        path: of the database.
        columns: their names; as many as a row has.
        runs: the rows, in order.
        tables: of which a response must read one.
        limits: of a response.
    """

    path: Path
    columns: tuple[str, ...]
    runs: tuple[Run, ...]
    tables: frozenset[str]
    limits: Limits

    @property
    def asked(self) -> int:
        """How many rows are asked for."""
        return sum(run.asked for run in self.runs)


def golds_of(
    fields: Mapping[str, Any], databases: str, limits: Limits, *, in_order: bool, empty: bool
) -> list[Gold]:
    """What a reference asks for, of each of its databases.

    Args:
        fields: of the reference.
        databases: the folder they are in, or the file of one; "" for what ships.
        limits: for the gold query as well.
        in_order: whether the order of rows counts.
        empty: whether one of several databases may give no row.

    Raises:
        BadReference: the message names the field.
    """
    names, ordered = fields.get("database", Path(databases).name), fields.get("ordered")
    query = query_of(fields)
    if not isinstance(ordered, bool | None):
        raise BadReference("ordered: it is neither true nor false")
    ordered = ordered if in_order else False
    golds, listed = [], names if isinstance(names, list) else [names]
    if not 0 < len(listed) <= MOST_DATABASES:
        raise BadReference(f"database: 1 to {MOST_DATABASES} are named, not {len(listed)}")
    for name in listed:
        path = _path(name, Path(databases or SHIPPED))
        gold = _gold(query, path, limits, ordered if "sql" in fields else bool(ordered))
        golds.append(gold)
    tells = [not all({*row} <= {None} for run in each.runs for row in run.rows) for each in golds]
    if not any(tells) or not (all(tells) or empty):
        raise BadReference("sql: it returns no row, or nulls alone, as a wrong query may")
    return golds


def query_of(fields: Mapping[str, Any]) -> str:
    """The gold query of a reference; of rows, one that names them.

    Raises:
        BadReference: it cannot be read.
    """
    query, rows, tables = (fields.get(each) for each in ("sql", "rows", "tables"))
    if query is None and isinstance(rows, list) and isinstance(tables, list) and tables:
        written = ", ".join(f"({', '.join(map(_written, _listed(row)))})" for row in rows)
        names = ", ".join(f'"{each}"' for each in tables)
        query = f"SELECT * FROM (VALUES {written}) WHERE EXISTS (SELECT 1 FROM {names})"
    if not isinstance(query, str) or not 0 < len(query.strip()) <= LONGEST_QUERY:
        raise BadReference('neither "sql", nor "rows" and their "tables", can be read')
    return query


def _listed(row: object) -> list[object]:
    cells = row if isinstance(row, list) else [row]
    numbers = [each for each in cells if isinstance(each, int | float)]
    known = all(isinstance(each, str | int | float | None) for each in cells)
    if cells is not row or not known or not all(abs(each) < LARGEST_NUMBER for each in numbers):
        raise BadReference("rows: one is no list of texts, numbers and nulls")
    return cells


def _written(value: object) -> str:
    if isinstance(value, int | float):
        return repr(value + 0)
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def _path(name: object, databases: Path) -> Path:
    """The file of a database, inside the folder: BIRD and Spider give each a folder of its name.

    Raises:
        BadReference: the folder has no such file.
    """
    known = isinstance(name, str) and _NAME.fullmatch(name)
    stems = [f"{name}", f"{name}/{name}"] if known else []
    folder = databases if databases.is_dir() else databases.parent
    for path in [folder / f"{stem}{ending}" for stem in stems for ending in ("", *ENDINGS)]:
        inside = path.resolve().is_relative_to(folder.resolve())
        meant = databases in (folder, path)
        if inside and meant and path.suffix in ENDINGS and path.is_file():
            return path.resolve()
    raise BadReference(
        f"database: no file is called {str(name)[:60]!r}: "
        "the parameter databases is the folder or the file that has it"
    )


@lru_cache(128)
def _gold(query: str, path: Path, limits: Limits, ordered: bool | None) -> Gold:  # noqa: FBT001
    """What a gold query asks for: all responses to a prompt are held against it."""
    try:
        database = opened(path)
    except (OSError, *FAILED):
        raise BadReference(f"database: {path.name[:60]!r} is no database of SQLite") from None
    usual = limits._replace(longest=min(database.usual, limits.longest))
    try:
        found, limits = _run(database, query, usual), usual
    except BadReference:  # it may make long values
        found = _run(database, query, limits)
    if len(found.rows) > limits.rows or not found.tables:
        raise BadReference(f"sql: it reads no table, or returns more than {limits.rows:,} rows")
    more = limits._replace(steps=max(limits.steps, AGAIN * found.steps))
    runs = [Run(len(found.rows), found.rows)]
    if ordered:
        runs = [Run(1, [row]) for row in found.rows]
    elif ordered is None:
        runs = _runs(query, found, database, more)
    return Gold(path, found.columns, tuple(runs), found.tables, more)


def _run(database: SqlDatabase, query: str, limits: Limits) -> SqlRows:
    try:
        return database.run(query, steps=limits.steps, most=limits.rows + 1, longest=limits.longest)
    except SqlRefused as error:
        named = error.error.startswith("no such ") and error.rule == "sql-error"
        raise BadReference(f"sql: {error.error[:80] if named else error}") from None


def _runs(query: str, found: SqlRows, database: SqlDatabase, limits: Limits) -> list[Run]:
    """The rows of a query in runs of those that its own ORDER BY does not tell apart."""
    shape = _shape(query)
    cut = _LIMIT.search(shape)
    stop = cut.start() if cut else len(shape)
    order = [*_ORDER.finditer(shape[:stop])][-1:]
    if cut and not cut[1]:
        raise BadReference(UNORDERED)
    if not order and not cut:
        return [Run(len(found.rows), found.rows)]
    before = query[: order[0].start()] if order else query[:stop]
    terms = _terms(query, shape, order[0].end(), stop) if order else []
    for ranked in _ranked(before, shape, terms, found.columns):
        asked = (
            f"SELECT * FROM ({ranked}) WHERE (SELECT count(*) FROM ({before})) = (SELECT count(*) "
            f"FROM ({ranked})) ORDER BY tied LIMIT {limits.rows + 1}"
        )
        try:
            again = _run(database, asked, limits)
        except BadReference:
            continue
        runs = _cut(again.rows, len(found.columns), cut, limits.rows)
        if unlike(found.rows, runs) is None:
            return runs
    raise BadReference(UNORDERED)


def _shape(query: str) -> str:
    """A query with nothing in parentheses, quotation marks and comments; of the same length."""
    bare = _SKIPPED.sub(lambda each: (" " if each[1] else "_") * len(each[0]), query)
    shape, depth = [], 0
    for sign in bare:
        depth -= sign == ")"
        shape.append("_" if depth else sign)
        depth += sign == "("
    return "".join(shape).rstrip("; \t\r\n")


def _terms(query: str, shape: str, start: int, stop: int) -> list[str]:
    """The terms of ORDER BY, each as it is written."""
    ends = [at for at in range(start, stop) if shape[at] == ","]
    starts = [start, *[at + 1 for at in ends]]
    return [
        query[a : a + len(shape[a:b].rstrip())] for a, b in zip(starts, [*ends, stop], strict=True)
    ]


def _ranked(before: str, shape: str, terms: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """Queries for all rows with one more column at their end, which is equal where they tie."""
    names = {each.lower(): '"' + each.replace('"', '""') + '"' for each in columns}
    names |= {str(at + 1): names[each.lower()] for at, each in enumerate(columns)}
    inside: list[str] = []
    mixed, outside = [], []
    for term in terms:
        words = term.upper().split()
        way = len([*takewhile(WAYS.__contains__, reversed(words))])
        what, *ways = term.strip().rsplit(None, way)
        name = names.get(what.strip('"`[]').lower())
        inside += [] if name else [f", {what} AS ordered{len(inside)}"]
        mixed.append(" ".join((name or f"ordered{len(inside) - 1}", *ways)))
        outside.append(" ".join((name or what, *ways)))
    begins = _FROM.search(shape)
    at = begins.start() if begins else len(before)
    for listed, asked in (
        (mixed, f"{before[:at]}{''.join(inside)}{before[at:]}"),
        (outside, before),
    ):
        rank = f"dense_rank() OVER (ORDER BY {', '.join(listed)})" if terms else "1"
        yield f"SELECT *, {rank} AS tied FROM ({asked})"


def _cut(ranked: Sequence[Row], width: int, cut: re.Match[str] | None, most: int) -> list[Run]:
    """The runs that OFFSET and LIMIT leave; none where one is too long to be known."""
    first, sign, second = (int(cut[1]), cut[2], int(cut[3] or 0)) if cut else (len(ranked), "", 0)
    skipped, limit = (first, second) if sign == "," else (second, first)
    runs, start = [], 0
    for rank, group in groupby(ranked, key=itemgetter(-1)):
        rows = [row[:width] for row in group]
        asked = min(start + len(rows), skipped + limit) - max(start, skipped)
        start += len(rows)
        if asked > 0:
            if len(ranked) > most and rank == ranked[-1][-1]:
                raise BadReference(UNORDERED)
            runs.append(Run(asked, rows))
    return runs
