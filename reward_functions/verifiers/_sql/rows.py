"""Whether rows are those that are asked for: as multisets, in runs whose order counts."""

from __future__ import annotations

from collections import defaultdict
from math import isclose
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = tuple[Any, ...]

CLOSE: Final = 1e-12
"""How far two numbers may differ, as a share of them, where one is a double."""

LEFT: Final = 100
"""Rows that are tried one by one: a double at the edge of its rounding has another key."""


class Run(NamedTuple):
    """Rows whose order among themselves does not count.

    Attributes:
        asked: how many of them are asked for: fewer than there are where a LIMIT cuts a tie.
        rows: any of which is right.
    """

    asked: int
    rows: Sequence[Row]


def unlike(rows: Sequence[Row], runs: Sequence[Run]) -> tuple[Row | None, Row | None] | None:
    """The first row that is wrong, and one that is asked for there; None where all are right."""
    start = 0
    for run in runs:
        left, others = _left(rows[start : start + run.asked], run)
        start += run.asked
        if left or len(rows) < start:
            return next(iter(left), None), next(iter(others), None)
    return (rows[start], None) if len(rows) > start else None


def _left(rows: Sequence[Row], run: Run) -> tuple[list[Row], list[Row]]:
    """The rows that are none of a run's, and those of the run that are none of them."""
    waiting: defaultdict[Row, list[Row]] = defaultdict(list)
    for row in reversed(run.rows):
        waiting[_key(row)].append(row)
    left = [row for row in rows if not _taken(row, waiting[_key(row)])]
    others = [row for each in waiting.values() for row in each]
    if len(left) <= LEFT and len(rows) == run.asked:
        left = [row for row in left if not _taken(row, others)]
    return left, others


def _taken(row: Row, others: list[Row]) -> bool:
    """Whether a row is one of some, which then is taken from them."""
    for at in range(len(others) - 1, -1, -1):
        if all(map(_same, row, others[at])):
            del others[at]
            return True
    return False


def _key(row: Row) -> Row:
    """What equal rows share, but for doubles at the edge of their rounding."""
    return tuple([float(f"{each:.9g}") if isinstance(each, float) else each for each in row])


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and (one == other or isclose(one, other, rel_tol=CLOSE))
    return type(one) is type(other) and one == other
