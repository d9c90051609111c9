"""Times of day on a dial of twelve hours."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.symbolic.expr.nodes import Clock, Node, Number, Ratio
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

_HALF_DAY: Final = 12 * 60


def compare_clocks(reference: Clock, candidate: Clock) -> Finding:
    """Times of day; a missing a.m. or p.m. agrees with both. Two bare times may also be ratios."""
    if reference.minutes % _HALF_DAY != candidate.minutes % _HALF_DAY:
        if reference.half or candidate.half:
            return differ("clock", "other times")
        return unknown("clock", "other times, or ratios of other terms")
    if reference.half and candidate.half and reference.half != candidate.half:
        return differ("clock", "other halves of the day")
    return same("clock", "the same time")


def on_the_dial(node: Node) -> Node:
    """4:30 as the ratio that it may be; anything else as it is."""
    if not isinstance(node, Clock) or node.half:
        return node
    hours, rest = divmod(node.minutes, 60)
    return Ratio((Number(Fraction(hours)), Number(Fraction(rest))))
