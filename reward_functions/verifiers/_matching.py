"""The best pairs of two lists: each element has one partner at most, and the sum is largest."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def most_matched(weights: Sequence[Sequence[int]]) -> int:
    """The largest sum of weights of which no two stand in one row or in one column.

    Rows and columns without a weight are left out, and rows whose best columns differ need no
    search. Otherwise by shortest augmenting paths (Kuhn, 1955; Munkres, 1957), in rows² × columns
    steps.

    Args:
        weights: rows of one length, none negative.
    """
    kept = [row for row in weights if any(row)]
    columns = [column for column in zip(*kept, strict=True) if any(column)]
    rows = columns if len(columns) < len(kept) else list(zip(*columns, strict=True))
    if not rows:
        return 0
    best = [max(row) for row in rows]
    taken: set[int] = set()
    for row, most in zip(rows, best, strict=True):
        free = next((at for at, each in enumerate(row) if each == most and at not in taken), None)
        if free is None:
            return _augmented(rows)
        taken.add(free)
    return sum(best)


def _augmented(rows: Sequence[Sequence[int]]) -> int:
    """The same of a table with at least as many columns as rows."""
    width = len(rows[0])
    owner = [-1] * width
    of_row, of_column = [0.0] * len(rows), [0.0] * width
    for start in range(len(rows)):
        least, came_from = [inf] * width, [-1] * width
        seen: set[int] = set()
        row, column = start, -1
        while row >= 0:
            left = [at for at in range(width) if at not in seen]
            for at in left:
                slack = -rows[row][at] - of_row[row] - of_column[at]
                if slack < least[at]:
                    least[at], came_from[at] = slack, column
            step = min([least[at] for at in left])
            nearest = [at for at in left if least[at] == step]
            of_row[start] += step
            for at in seen:
                of_row[owner[at]] += step
                of_column[at] -= step
            for at in left:
                least[at] -= step
            column = next((at for at in nearest if owner[at] < 0), nearest[0])
            seen.add(column)
            row = owner[column]
        while column >= 0:
            before = came_from[column]
            owner[column] = owner[before] if before >= 0 else start
            column = before
    return sum(rows[row][at] for at, row in enumerate(owner) if row >= 0)
