"""A query of SQL that returns the rows of a gold query, or given rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.files import NO_FILES, Files
from reward_functions.core.references import reference_fields
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.extraction.scores import METRICS, compared, not_answered, with_truncation
from reward_functions.extraction.truncation import code_blocks, holds_fence
from reward_functions.verifiers._sql.database import SqlRefused, opened
from reward_functions.verifiers._sql.gold import LONGEST_QUERY, SHOP, Limits, golds_of, query_of
from reward_functions.verifiers._sql.rows import unlike

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from reward_functions.verifiers._sql.database import SqlRows
    from reward_functions.verifiers._sql.gold import Gold

Order = Literal["as_gold", "any"]
Columns = Literal["by_position", "by_name"]

IN_LYON: Final = {"sql": "SELECT name FROM customers WHERE city = 'Lyon'", "database": SHOP}
LAMPS: Final = {"rows": [["lamp", 3]], "tables": ["orders"], "database": SHOP}
WHY: Final = {
    "same-rows": "the rows are those of the gold",
    "other-rows": "the rows are others, or in another order",
    "columns": "the columns are others",
    "no-table": "the query reads none of the tables that its gold reads",
}


def _fields(sample: Sample) -> Mapping[str, Any]:
    fields = reference_fields(sample.reference)
    if fields is None:
        raise BadReference(
            'the reference is no object with "database" and "sql": write '
            '{"database": "shop.sql", "sql": "SELECT …"}'
        )
    return fields


def _right(sample: Sample) -> str:
    return f"```sql\n{query_of(_fields(sample))}\n```"


def _check(*, databases: Files, steps: int, rows: int, longest: int, **_: object) -> None:
    if databases and not Path(databases).exists():
        raise ConfigurationError("sql_result: databases is no folder, and no file")
    if min(steps / 1_000, rows, longest / 100) < 1:
        raise ConfigurationError(
            "sql_result: steps are at least 1,000, rows at least 1, longest at least 100"
        )


def _doubts(
    sample: Sample, *, databases: str, order: Order, empty: bool, **limits: Any
) -> Iterator[str]:
    """What the reference leaves open."""
    most = Limits(limits["steps"], limits["rows"], limits["longest"])
    in_order = order == "as_gold"
    golds = golds_of(_fields(sample), databases, most, in_order=in_order, empty=empty)
    cut = [run.rows for gold in golds for run in gold.runs if run.asked < len(run.rows)]
    if any(len({*rows}) > 1 for rows in cut):
        yield "its LIMIT cuts rows that tie: any of them is right"
    if [gold.asked for gold in golds] == [1]:
        yield "its gold returns one row: another database would tell a constant from a query"


@reward_function(
    version=1,
    gold_response=_right,
    doubts=_doubts,
    metrics=(*METRICS, "ran"),
    check=_check,
    examples=[
        Example(
            "positive",
            response="```sql\nSELECT c.name FROM customers AS c WHERE c.city LIKE 'lyon'\n```",
            reference=IN_LYON,
            score=1.0,
            why="another query, the same rows",
        ),
        Example(
            "positive",
            response="SELECT item, sum(quantity) FROM orders WHERE item = 'lamp'",
            reference=LAMPS,
            score=1.0,
        ),
        Example("negative", response="SELECT name FROM customers", reference=IN_LYON, score=0.0),
        Example("attack", response="SELECT 'lamp', 3", reference=LAMPS, score=0.0),
        Example("attack", response="ATTACH 'x' AS y", reference=IN_LYON, score=0.0),
        Example("attack", response="", reference=IN_LYON, score=0.0),
    ],
)
def sql_result(
    sample: Sample,
    *,
    databases: Files = NO_FILES,
    order: Order = "as_gold",
    columns: Columns = "by_position",
    empty: bool = False,
    steps: int = 20_000_000,
    rows: int = 10_000,
    longest: int = 20_000,
) -> Score:
    """The rows that a query returns are those of the gold query, on the same database.

    Reference: an object with `database`, a name or several, and `sql`, the gold query; or with
    `rows`, lists of texts, numbers and nulls, and `tables`, the names of those they come from.
    `ordered` says whether rows are in order; without it the gold query's own ORDER BY does.
    Scale: 1.0 or 0.0. The query is the last closed fence of SQL, else the last closed fence, else
    the whole response: one SELECT. Metrics: `answered`, `truncated`, `ran` (it ran to its end).

    Rows are a multiset, or several in order: rows that tie in the gold query's ORDER BY have none.
    Whole numbers and texts are equal exactly, doubles within a share of 1e-12. Nothing but a SELECT
    of the database's own tables with listed functions runs, on SQLite of the standard library, and
    nothing is written. Steps are counted, so that a verdict is the same on every machine.

    Not handled: virtual tables, other dialects, functions that ask for the time.

    Args:
        sample: the response and its reference.
        databases: the folder of the databases, or the file of one: of SQLite, or a script that ends
            in `.sql`; without it, the shop of the examples.
        order: whether the order of the gold counts.
        columns: how columns are paired.
        empty: take a gold query that returns no row on one of several databases.
        steps: of SQLite's machine that a query may take; a gold of more is not used, and a response
            may take 20 times the gold's.
        rows: that a gold may return.
        longest: bytes of the longest value or row that a query may meet; fewer where neither its
            database nor its gold has such.

    Raises:
        BadReference: it has another shape, there is no such database, or its query cannot be run,
            returns no row or nulls alone, or leaves open which rows it asks for.
    """
    limits = Limits(steps, rows, longest)
    golds = golds_of(_fields(sample), databases, limits, in_order=order == "as_gold", empty=empty)
    query = _query(sample.response)
    if not 0 < len(query) <= LONGEST_QUERY:
        why = f"the response has no query of at most {LONGEST_QUERY:,} characters"
        score = not_answered(why, "no-query", further=(Metric("ran", 0.0),))
        return with_truncation(score, sample.response)
    for gold in golds:
        score = _against(gold, Answer("whole_response", query), columns)
        if not score.value:
            break
    return with_truncation(score, sample.response)


def _query(response: str) -> str:
    """The last closed fence of SQL, else the last closed fence, else the whole response."""
    text = without_reasoning(response)
    blocks = [*code_blocks(text)] if holds_fence(text) else []
    closed = [(language in ("sql", "sqlite"), each) for language, each in blocks if each]
    named = [each for is_sql, each in closed if is_sql] or [each for _, each in closed]
    query = (named or [text])[-1].strip()
    inner = bool(named) and holds_fence(query[:3])  # "```\n```sql\nSELECT …"
    return query.partition("\n")[2] if inner else query


def _against(gold: Gold, found: Answer, columns: Columns) -> Score:
    """What a query earns on one database."""
    steps, _, longest = gold.limits
    try:
        got = opened(gold.path).run(found.text, steps=steps, most=gold.asked + 1, longest=longest)
    except SqlRefused as error:
        ran, why = Metric("ran", 0.0), f"the query is not run: {error}"
        evidence = Evidence(error.rule, error.error)
        return compared(found, evidence, ran, right=False, reason=why)
    evidence = _decided(gold, got, columns)
    right, why = evidence.rule == "same-rows", WHY[evidence.rule]
    return compared(found, evidence, Metric("ran", 1.0), right=right, reason=why)


def _decided(gold: Gold, got: SqlRows, columns: Columns) -> Evidence:
    """The rule that decides, and what it decides by."""
    if not got.tables & gold.tables:
        return Evidence("no-table", sorted(got.tables), sorted(gold.tables))
    given, wanted = ([each.lower() for each in one.columns] for one in (got, gold))
    places = [*range(len(wanted))]
    if columns == "by_name" and sorted(given) == sorted(wanted):
        places = [given.index(each) for each in wanted]
    elif columns == "by_name" or len(given) != len(wanted):
        return Evidence("columns", given, wanted)
    differing = unlike([tuple([row[at] for at in places]) for row in got.rows], gold.runs)
    return Evidence("other-rows", *differing) if differing else Evidence("same-rows")
