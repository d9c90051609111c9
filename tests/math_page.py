"""The generated parts of docs/math.md: the limits of the code, and the tables of verdicts."""

from __future__ import annotations

import ast
from inspect import getsource
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from reward_functions.symbolic import budget
from tests.oracle.verdicts import MISSES, VERDICTS, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def limits_table() -> Iterator[list[str]]:
    """Name, value and docstring of every constant of `budget.py`."""
    yield ["limit", "value", "what it bounds, and why there"]
    body = ast.parse(getsource(budget)).body
    for node, after in pairwise(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert isinstance(after, ast.Expr), f"{node.target.id} has no docstring"
            assert isinstance(after.value, ast.Constant)
            name, what = node.target.id, " ".join(str(after.value.value).split())
            yield [f"`{name}`", f"{getattr(budget, name):,}", what]


def gaps() -> Iterator[list[str]]:
    """The right answers of our own cases that earn nothing, and what is missing."""
    yield ["reference", "answer", "missing", "math-verify"]
    for row in rows_of(VERDICTS):
        if row["verdict"] == "gap":
            yield [code(row["reference"]), code(row["response"]), row["why"], row["theirs"]]


def disagreements() -> Iterator[list[str]]:
    """Kinds of disagreement with math-verify in which a rule speaks for us."""
    yield ["kind", "reference", "answer", "`math`", "math-verify", "the rule"]
    for row in rows_of(VERDICTS):
        if row["verdict"] == "rule":
            example = [code(row["reference"]), code(row["response"])]
            yield [row["kind"], *example, row["ours"], row["theirs"], row["why"]]


def misses() -> Iterator[list[str]]:
    """Labels that `math` does not follow, those with one reason together."""
    yield ["from", "verdict", "reason", "cases"]
    rows = sorted(rows_of(MISSES), key=told)
    for (source, verdict, why), found in groupby(rows, key=told):
        yield [source, verdict, why, ", ".join(code(row["id"]) for row in found)]


def told(row: dict[str, Any]) -> tuple[str, str, str]:
    """What a reader is told of a miss beside its name."""
    return row["source"], row["verdict"], row["why"]


def code(text: str) -> str:
    """A text as code, on one line."""
    return f"`{' '.join(text.split())}`"


TABLES = {
    "limits": limits_table,
    "gaps": gaps,
    "disagreements": disagreements,
    "misses": misses,
}
"""Headings, then rows, by the name of the part."""
