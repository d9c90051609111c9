"""Parts against parts: entries in their order, members in any order, terms in proportion.

Order counts in points, matrices and ratios and nowhere else; every member is required and none
extra.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import (
    Bracket,
    Matrix,
    Node,
    Number,
    Percent,
    Product,
    Ratio,
)
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.compare.scalars import ScalarComparison


_COMPARISON_COST: Final = 1
"""Steps of work that one comparison of two members is worth."""

_ZERO: Final = Number(Fraction(0))


class Comparison(ABC):
    """A comparison of answers, whose single values are compared by `scalars`."""

    def __init__(self, scalars: ScalarComparison) -> None:
        self.scalars = scalars

    @abstractmethod
    def compare(self, reference: Node, candidate: Node) -> Finding:
        """Whether two answers, or two parts of answers, are equal."""

    @abstractmethod
    def equations(self, reference: Node, candidate: Node) -> Finding:
        """Whether two equations that still have to be solved have the same solutions."""


# ---- in order


def points(answers: Comparison, reference: Bracket, candidate: Bracket) -> Finding:
    """Points entry by entry; of two entries they may be an interval, whose ends count."""
    if len(reference.items) != len(candidate.items):
        return differ("tuple", "the numbers of entries differ")
    found = in_order(answers, "tuple", reference.items, candidate.items)
    mine, theirs = (reference.left, reference.right), (candidate.left, candidate.right)
    if len(reference.items) == 2 and mine != theirs and "<" not in (*mine, *theirs):  # noqa: PLR2004
        return differ("interval", "the brackets differ: an end belongs to one side only")
    if _matched(reference) and not _matched(candidate):
        return differ("tuple", "brackets that do not match")
    return found


def in_order(
    answers: Comparison, rule: str, items: Sequence[Node], others: Sequence[Node]
) -> Finding:
    """Entry by entry: one difference decides, then one doubt."""
    findings = []
    answers.scalars.of_parts |= len(items) > 1
    for item, other in zip(items, others, strict=True):
        finding = answers.compare(item, other)
        if finding.different:
            return differ(rule, f"an entry differs: {finding.reason}")
        findings.append(finding)
    doubt = next((finding for finding in findings if not finding.equal), None)
    return doubt or same(rule, "equal entry by entry")


def pairwise_equal(answers: Comparison, items: Sequence[Node], others: Sequence[Node]) -> bool:
    """Whether two lists are equal entry by entry."""
    return len(items) == len(others) and in_order(answers, "names", items, others).equal


def unbracketed(answers: Comparison, items: Sequence[Node], others: Sequence[Node]) -> Finding:
    """A point that lost its brackets, or a list that got some: equal in the same order only."""
    if len(items) != len(others):
        return unknown("tuple", "one is a point, the other a list of another length")
    found = in_order(answers, "tuple", items, others)
    return found if found.equal else unknown("tuple", "one is a point, the other a list of others")


def matrices(answers: Comparison, reference: Matrix, candidate: Matrix) -> Finding:
    """Matrices of one format entry by entry; a row is not a column."""
    rows, others = reference.rows, candidate.rows
    if len(rows) != len(others) or len(rows[0]) != len(others[0]):
        return differ("matrix", "the matrices have other numbers of rows or columns")
    return in_order(answers, "matrix", entries(rows), entries(others))


def vector(answers: Comparison, rows: Sequence[Sequence[Node]], items: Sequence[Node]) -> Finding:
    """A tuple equals a column or a row of the same entries."""
    if not is_vector(rows) or len(entries(rows)) != len(items):
        return unknown("matrix", "one is a matrix, the other no vector of its length")
    return in_order(answers, "matrix", entries(rows), items)


def ratios(answers: Comparison, reference: Ratio, candidate: Ratio) -> Finding:
    """Ratios are equal in proportion: 6:8 is 3:4; zeros only make no ratio.

    All terms are measured by the first one that is not zero, which must not be on either side.
    """
    parts, others = reference.parts, candidate.parts
    if len(parts) != len(others):
        return differ("ratio", "the ratios have other numbers of terms")
    mine, theirs = (
        [answers.scalars.compare(_ZERO, each).equal for each in side] for side in (parts, others)
    )
    if all(mine) or all(theirs):
        return unknown("ratio", "a ratio of zeros")
    pivot = mine.index(False)
    if theirs[pivot]:
        return differ("ratio", "the proportions differ")
    for place in range(len(parts)):
        found = answers.scalars.compare(
            Product((parts[pivot], others[place])), Product((others[pivot], parts[place]))
        )
        if not found.equal:
            return differ("ratio", "the proportions differ") if found.different else found
    return same("ratio", "the same proportions")


# ---- in any order


def in_any_order(
    answers: Comparison, items: Sequence[Node], others: Sequence[Node], *, counted: bool = False
) -> Finding:
    """Lists and sets: each member has its equal on the other side, and none is left over.

    A list is a set, so it may repeat its members. When both repeat some (`counted`: and both
    are lists), they are data, which are repeated equally often.
    """
    answers.scalars.of_parts |= len(items) > 1
    unpaired, left = _unpaired(items, others)
    missing = []
    for item in unpaired:
        place, _ = find(answers, item, left)
        if place is not None:
            left.pop(place)
        else:
            missing.append(item)
    for alone, side in ((missing, others), (left, items)):
        for item in alone:
            place, doubt = find(answers, item, side)
            if place is None:  # else it only repeats a member that was matched before
                return doubt or differ("members", _unequal(items, others, lost=alone is missing))
    if counted and (missing or left) and repeats(answers, items) and repeats(answers, others):
        return unknown("members", "a value is repeated another number of times")
    return same("members", "the same members")


def multiset(answers: Comparison, items: Sequence[Node], others: Sequence[Node]) -> Finding:
    """The same members in any order, each as often on both sides."""
    if len(items) != len(others):
        return differ("members", "a value is repeated another number of times, or missing")
    answers.scalars.of_parts |= len(items) > 1
    unpaired, left = _unpaired(items, others)
    for item in unpaired:
        place, doubt = find(answers, item, left)
        if place is None:
            return doubt or differ("members", _unequal(items, others, lost=True))
        left.pop(place)
    return same("members", "the same members, each as often")


def repeats(answers: Comparison, items: Sequence[Node]) -> bool:
    """Whether a member is equal to another one."""
    return len(set(map(_key, items))) < len(items) or any(
        find(answers, item, items[:place])[0] is not None for place, item in enumerate(items)
    )


def find(
    answers: Comparison, item: Node, among: Sequence[Node]
) -> tuple[int | None, Finding | None]:
    """The place of an equal member, or the first doubt there is about one."""
    doubt = None
    answers.scalars.field.work.spend(_COMPARISON_COST * len(among))
    for place, other in enumerate(among):
        finding = answers.compare(item, other)
        if finding.equal:
            return place, None
        if not finding.different and doubt is None:
            doubt = finding
    return None, doubt


def _matched(point: Bracket) -> bool:
    """Whether the brackets of a point are of one kind, as only those of an interval need not be."""
    return len(point.items) == 2 or point.left + point.right in ("()", "[]", "<>")  # noqa: PLR2004


def entries(rows: Sequence[Sequence[Node]]) -> list[Node]:
    """The entries of a matrix, row by row."""
    return [entry for row in rows for entry in row]


def is_vector(rows: Sequence[Sequence[Node]]) -> bool:
    """Whether a matrix is a single row or column."""
    return min(len(rows), len(rows[0])) == 1


def _key(node: Node) -> Fraction | Node:
    """The exact value of a number, else the tree: equal keys are equal members."""
    known = None if isinstance(node, Percent) else rational(node)
    return node if known is None else known


def _unequal(items: Sequence[Node], others: Sequence[Node], *, lost: bool) -> str:
    """Why the values of a reference and of an answer are not the same."""
    if len(items) == 1 < len(others):
        return "the answer names several values, and the reference one"
    if len(others) == 1 < len(items):
        return "the answer names one value, and the reference several"
    if lost:
        return "a value of the reference is not in the answer"
    return "a value of the answer is not in the reference"


def _unpaired(items: Sequence[Node], others: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """What is left of two lists once members with equal keys are paired off, in linear time."""
    mine, theirs = list(map(_key, items)), list(map(_key, others))
    common = Counter(mine) & Counter(theirs)
    return _beyond(items, mine, common), _beyond(others, theirs, common)


def _beyond(
    items: Sequence[Node], keys: Sequence[Fraction | Node], paired: Counter[Fraction | Node]
) -> list[Node]:
    counts = Counter(paired)
    left: list[Node] = []
    for item, key in zip(items, keys, strict=True):
        if counts[key]:
            counts[key] -= 1
        else:
            left.append(item)
    return left
