"""Answers that are as exact as the prompt asks: 36 for 35.8, "to the nearest whole number".

A decimal that is shorter than the reference says less, but where the prompt wants it so.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reward_functions.extraction.cues import asking
from reward_functions.extraction.markup import plain
from reward_functions.extraction.prompt_formulas import TAIL
from reward_functions.quantities.numerals import quantity
from reward_functions.quantities.units import canonical, same_unit

if TYPE_CHECKING:
    import re

ROUNDED: Final = "rounded-decimal"
"""The rule of verdicts on decimals that do not round to the reference."""

AS_ASKED: Final = "rounded-as-asked"
"""The rule of an answer that the reference rounds to."""

KEPT: Final = 64
"""Prompts that are kept as they were read: all responses of a group answer the same one."""

_TEN: Final = Fraction(10)


def rounded_as_asked(answer: str, reference: str, prompt: str) -> bool:
    """Whether a decimal reference rounds to the answer, by the one precision the prompt asks for.

    Args:
        answer: a number that differs from the reference.
        reference: a decimal.
        prompt: the question; its last 20,000 characters count.
    """
    stated = _precisions(prompt[-TAIL:])
    if not stated:
        return False
    mine, theirs = quantity(plain(reference)), quantity(plain(answer))
    if mine is None or theirs is None or not mine.decimals or theirs.decimals is None:
        return False
    if mine.unit and theirs.unit and not same_unit(mine.unit, theirs.unit):
        return False
    if "%" in (mine.unit, theirs.unit) and mine.unit != theirs.unit:
        return False
    wanted = {step for each in stated if (step := _step(each, mine.value))}
    if len(wanted) != 1:
        return False
    step = wanted.pop()
    return theirs.value % step == 0 and abs(theirs.value - mine.value) * 2 <= step


@lru_cache(KEPT)
def _precisions(prompt: str) -> tuple[re.Match[str], ...]:
    """Where a prompt says how exactly it wants its answer."""
    if not any(map(prompt.lower().__contains__, asking.EXACTLY)):
        return ()
    return tuple(asking.PRECISION.finditer(prompt))


def _step(asked: re.Match[str], value: Fraction) -> Fraction | None:
    """One unit in the last place of a value as exact as asked; None where that is not known."""
    shown = asked["step"] or asked["shown"]
    if shown:
        return Fraction(shown)
    count = asked["count"] or asked["kept"]
    if count:
        places = asking.COUNTS.get(count.lower()) or int(count)
        if asked["figures"] or asked["digits"]:
            places -= _digits_before_point(value)
        return _TEN**-places
    place = (asked["place"] or asked["named"]).lower()
    if place in asking.PLACES:
        return _TEN ** -asking.PLACES[place]
    return Fraction(1) if canonical(place) else None


def _digits_before_point(value: Fraction) -> int:
    """Digits before the point, negative for zeros behind it: 2 of 35.8, -1 of 0.05."""
    size, digits = abs(value), 0
    while size >= 1:
        size, digits = size / 10, digits + 1
    while size and size * 10 < 1:
        size, digits = size * 10, digits - 1
    return digits
