"""Times of day on a dial of twelve hours, and days of the calendar."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.nodes import Clock, Date, Node, Number, Ratio
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from reward_functions.symbolic.compare.members import Comparison

_DIAL: Final = 12
_HALF_DAY: Final = _DIAL * 60


def compare_clocks(_answers: Comparison, reference: Clock, candidate: Clock) -> Finding:
    """Times of day; a missing a.m. or p.m. agrees with both. Two bare times may also be ratios.

    From 13:00 on and before 1:00 a bare time says which half of the day it is.
    """
    times = ((each.minutes % _HALF_DAY, each.seconds) for each in (reference, candidate))
    if next(times) != next(times):
        if reference.half or candidate.half:
            return differ("clock", "the times differ")
        return unknown("clock", "the times differ, or the ratios")
    halves = {_half(reference), _half(candidate)} - {""}
    if (reference.half or candidate.half) and len(halves) > 1:
        return differ("clock", "one is before noon, the other after")
    return same("clock", "the same time")


def _half(time: Clock) -> str:
    """The half of the day, as written or on a dial of 24 hours; nothing where both are meant."""
    if time.half:
        return time.half
    hour = time.minutes // 60 % (2 * _DIAL)
    return "pm" if hour > _DIAL else "" if hour else "am"


def on_the_dial(node: Node) -> Node:
    """4:30 as the ratio that it may be; anything else as it is."""
    if not isinstance(node, Clock) or node.half:
        return node
    hours, rest = divmod(node.minutes, 60)
    return Ratio((Number(Fraction(hours)), Number(Fraction(rest))))


def compare_dates(_answers: Comparison, reference: Date, candidate: Date) -> Finding:
    """Dates: the answer has all that the reference states, and may say more."""
    stated = [
        (mine, theirs)
        for mine, theirs in zip(_parts(reference), _parts(candidate), strict=True)
        if mine
    ]
    if any(theirs and mine != theirs for mine, theirs in stated):
        return differ("date", "another day")
    if not all(theirs for _, theirs in stated):
        return unknown("date", "the answer leaves a part of the date out")
    return same("date", "the same day")


def day_of_month(_answers: Comparison, number: Number, date: Date) -> Finding:
    """A number beside a date, whose day it may be."""
    if number == Number(Fraction(date.day)) and date.day:
        return same("date", "the day of the month")
    return unknown("date", "the answer is a date, the reference none")


def _parts(date: Date) -> tuple[int, ...]:
    return date.day, date.month, date.year, date.weekday
