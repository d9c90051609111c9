"""Sets of reals that are one set within a domain: t < 1/2 and 0 < t < 1/2, where t is positive.

A side without a bound ends where the domain does. An explicit bound outside the domain states more
than was asked for, and is left as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.budget import OverBudget, Unreadable, Work
from reward_functions.symbolic.compare.interval_sets import RealInterval, order
from reward_functions.symbolic.compare.real_sets import (
    Region,
    compare_regions,
    of_kind,
    region,
)
from reward_functions.symbolic.compare.scalars import ScalarComparison, infinite
from reward_functions.symbolic.exact.polynomials import PolynomialField
from reward_functions.symbolic.expr.nodes import Listing, Relation, Symbol
from reward_functions.symbolic.expr.record import changed
from reward_functions.symbolic.expr.traversal import without_names
from reward_functions.symbolic.parsing.document import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.compare.interval_sets import Order
    from reward_functions.symbolic.expr.nodes import Node


def equal_within(reference: str, candidate: str, domain: str) -> bool:
    r"""Whether two sets are the same within a domain, which bounds a letter that one of them names.

    Args:
        reference: the right answer.
        candidate: the answer to judge.
        domain: an inequality or a membership, such as `0<x<1` or `n\in\mathbb{Z}`.
    """
    scalars = ScalarComparison(PolynomialField(Work()))
    try:
        within = _stated(domain, scalars)
        if within is None or not within.variable:
            return False
        mine, theirs = (_region(text, within, scalars) for text in (reference, candidate))
        if mine is None or theirs is None:
            return False
        named = {mine.variable, theirs.variable} - {None}
        if named != {within.variable} or len(within.intervals) != 1:
            return False
        ends = order((*mine.intervals, *theirs.intervals, *within.intervals), scalars)
        cut = ends and [_cut(each, within.intervals[0], ends) for each in (mine, theirs)]
        found = [_of_kind(each, within.domain, scalars) for each in cut or ()]
        if not found or found[0] is None or found[1] is None:
            return False
        return compare_regions(found[0], found[1], scalars).equal
    except (OverBudget, RecursionError, Unreadable):
        return False


def _stated(text: str, scalars: ScalarComparison) -> Region | None:
    """The set that a text states; None where it states none that is understood."""
    tree = read(text).tree
    found = None if tree is None else region(tree, scalars)
    if found is None and isinstance(tree, Listing) and tree.word != "or":
        return _listed(tree.items)
    return found


def _listed(items: Sequence[Node]) -> Region | None:
    """The numbers of a list, of a letter where the first one is given to it: n = 1, 2, 3."""
    name: str | None = None
    match items[0]:
        case Relation((Symbol(letter), first), ("=",)):
            name, items = letter, (first, *items[1:])
    if not all(map(without_names, items)):
        return None
    return Region(tuple(RealInterval(each, each, (True, True)) for each in items), name)


def _region(text: str, within: Region, scalars: ScalarComparison) -> Region | None:
    """A set that is bounded on one side at least, of numbers of the domain's kind."""
    found = _stated(text, scalars)
    if found is None or found.domain not in ("", within.domain):
        return None
    found = _of_kind(found, within.domain, scalars)
    intervals = found.intervals if found else ()
    bounded = any(not infinite(end) for each in intervals for end in (each.low, each.high))
    return found if bounded else None


def _of_kind(given: Region | None, kind: str, scalars: ScalarComparison) -> Region | None:
    """The numbers of a kind in a region: all of them for none, whole ones for ℤ."""
    if given is None or not kind:
        return given
    whole = of_kind(given.intervals, kind, scalars)
    return whole and changed(whole, variable=given.variable)


def _cut(given: Region, domain: RealInterval, ends: Order) -> Region | None:
    """A region whose open sides end with the domain; None where a bound of its own lies outside."""
    cut = tuple(
        changed(
            each,
            low=domain.low if infinite(each.low) else each.low,
            high=domain.high if infinite(each.high) else each.high,
            closed=(
                domain.closed[0] if infinite(each.low) else each.closed[0],
                domain.closed[1] if infinite(each.high) else each.closed[1],
            ),
        )
        for each in given.intervals
    )
    spans = ends.spans(cut)
    (within,) = ends.spans([domain])
    if len(spans) < len(cut) or any(low < within[0] or high > within[1] for low, high in spans):
        return None
    return changed(given, intervals=cut)
