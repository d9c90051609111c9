r"""The value of a sum that leaves terms out: 1 + \frac12 + \ldots + \frac17.

The terms before the ellipsis follow a pattern, arithmetic, geometric or harmonic, and those after
it go on with it. Three terms show a pattern; of two terms only one pattern may reach the last one,
and none of `_OTHERS` either. A first term that is repeated stands before the pattern.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.symbolic.budget import BITS
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.parsing.document import read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_TERMS: Final = 1000
"""Terms that are added up."""

LONGEST: Final = 300
"""Characters of such a sum."""

_DOTS: Final = re.compile(r"\+\s*(?:\\(?:l|c|d)?dots(?![a-zA-Z])|…|⋯|\.{3})\s*\+")
_NESTED: Final = re.compile(r"[({\[]|[)}\]]|\+")


def finite_sum(text: str) -> str:
    """The value of a sum with an ellipsis; "" of any other text, and where no one pattern fits."""
    parts = _DOTS.split(text) if len(text) <= LONGEST else []
    if len(parts) != 2:  # noqa: PLR2004 - before and behind
        return ""
    before, behind = map(_terms, parts)
    if not before or not behind:
        return ""
    start = 1 if len(before) > 2 and before[0] == before[1] else 0  # noqa: PLR2004
    seen = before[start:]
    if len(seen) < 2 or (len(seen) == 2 and _ambiguous(before, behind[-1])):  # noqa: PLR2004
        return ""
    totals = {total for total in _totals(seen, behind) if total is not None}
    if len(totals) != 1:
        return ""
    value = totals.pop() + sum(before[:start])
    return (
        str(value)
        if value.denominator == 1
        else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    )


def _terms(text: str) -> list[Fraction]:
    """The values of the terms of a sum; none where one of them is no number."""
    terms, start, depth = [], 0, 0
    for mark in _NESTED.finditer(text):
        if mark[0] == "+":
            if not depth:
                terms.append(text[start : mark.start()])
                start = mark.end()
        else:
            depth += 1 if mark[0] in "({[" else -1
    trees = [read(term.strip("$ ")).tree for term in (*terms, text[start:])]
    values = [None if tree is None else rational(tree) for tree in trees]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _totals(first: Sequence[Fraction], last: Sequence[Fraction]) -> list[Fraction | None]:
    """What the terms and those left out come to, by each pattern that leads to the last ones."""
    if first[0] == first[1] or 0 in first:
        steps = [_by_adding(first)]
    else:
        steps = [_by_adding(first), _by_multiplying(first), _by_harmony(first)]
    return [None if step is None else _total(first, last, step) for step in steps]


_OTHERS: Final = (
    tuple(n * n for n in range(1, 60)),
    tuple(n**3 for n in range(1, 40)),
    tuple(n * (n + 1) // 2 for n in range(1, 60)),
    (1, 1, 2, 6, 24, 120, 720, 5040, 40320),
    (1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987),
    (
        2,
        3,
        5,
        7,
        11,
        13,
        17,
        19,
        23,
        29,
        31,
        37,
        41,
        43,
        47,
        53,
        59,
        61,
        67,
        71,
        73,
        79,
        83,
        89,
        97,
    ),
)
"""Sequences that people leave terms out of as well, some with their first term twice."""


def _ambiguous(before: Sequence[Fraction], last: Fraction) -> bool:
    """Whether terms and a last term, or what they are the reciprocals of, are of `_OTHERS`."""
    if 0 in (*before, last):
        return True
    rows = [*_OTHERS, *(row[1:] for row in _OTHERS if row[0] == row[1])]
    scaled = [[each / before[0] for each in (*before, last)]]
    scaled.append([1 / each for each in scaled[0]])
    return any(
        [Fraction(each, row[0]) for each in row[: len(before)]] == terms[:-1]
        and terms[-1] * row[0] in row
        for row in rows
        for terms in scaled
    )


def _by_adding(terms: Sequence[Fraction]) -> Callable[[Fraction], Fraction] | None:
    step = terms[1] - terms[0]
    even = all(after - before == step for before, after in pairwise(terms))
    return (lambda term: term + step) if even and step else None


def _by_multiplying(terms: Sequence[Fraction]) -> Callable[[Fraction], Fraction] | None:
    ratio = terms[1] / terms[0]
    even = all(after == before * ratio for before, after in pairwise(terms))
    return (lambda term: term * ratio) if even and abs(ratio) != 1 else None


def _by_harmony(terms: Sequence[Fraction]) -> Callable[[Fraction], Fraction] | None:
    step = 1 / terms[1] - 1 / terms[0]
    even = all(1 / after - 1 / before == step for before, after in pairwise(terms))
    return (lambda term: _inverse(_inverse(term) + step)) if even and step else None


def _inverse(value: Fraction) -> Fraction:
    return 1 / value if value else Fraction(0)


def _total(
    first: Sequence[Fraction], last: Sequence[Fraction], step: Callable[[Fraction], Fraction]
) -> Fraction | None:
    """The sum up to the last term; None where the pattern does not reach it, or not in time."""
    total, term = sum(first, Fraction(0)), first[-1]
    for _ in range(MAX_TERMS):
        term = step(term)
        total += term
        if term == last[0]:
            rest = [term]
            for _ in last[1:]:
                rest.append(step(rest[-1]))
            return sum(rest[1:], total) if rest == list(last) else None
        if max(total.denominator.bit_length(), total.numerator.bit_length()) > BITS:
            return None
    return None
