"""Zeros and least values of a real function on a stretch of the line, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

Function = Callable[[float], float | None]
"""A real function; None where it has no value."""

_HALVINGS: Final = 70
"""Halvings of a bracket: enough for the 53 bits of a double and a few sizes."""

_WIDE: Final = 8.0
"""A bracket whose ends have this ratio is halved by its geometric mean."""

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_SECTIONS: Final = 60
_PATIENCE: Final = 5
_SHRINKS: Final = 0.5
"""A least value of zero shrinks by far more than this in so many sections, and others by less."""


def sign_change(value: Function, low: float, high: float) -> float:
    """Where the sign changes between two places of different signs, as good as a double.

    By secants, which take a few steps, and a halving after each, which cannot fail.
    """
    ends = [low, high]
    values = [value(low) or 0.0, value(high) or 0.0]
    for step in range(_HALVINGS):
        middle = _middle(*ends)
        if not ends[0] < middle < ends[1]:
            break
        if step % 2:
            secant = ends[0] - values[0] * (ends[1] - ends[0]) / (values[1] - values[0])
            middle = secant if ends[0] < secant < ends[1] else middle
        here = value(middle)
        if not here:
            return middle
        side = sign_of(here) == sign_of(values[1])
        ends[side], values[side] = middle, here
    return _middle(*ends)


def least(value: Function, low: float, high: float) -> float:
    """Where a function that has no zero between two places on a grid is nearly zero, if anywhere.

    By golden sections, for as long as it goes on to shrink. A place of the other sign is the best.
    """
    side = sign_of(value(low))
    first, second = high - (high - low) * _GOLDEN, low + (high - low) * _GOLDEN
    left, right = value(first), value(second)
    seen = [math.inf] * _PATIENCE
    for _ in range(_SECTIONS):
        if left is None or right is None or not low < first < second < high:
            break
        for place, there in ((first, left), (second, right)):
            if sign_of(there) != side:
                return place
        seen.append(min(abs(left), abs(right)))
        if seen[-1] > _SHRINKS * seen[-1 - _PATIENCE]:
            break
        if abs(left) < abs(right):
            high, second, right = second, first, left
            first = high - (high - low) * _GOLDEN
            left = value(first)
        else:
            low, first, left = first, second, right
            second = low + (high - low) * _GOLDEN
            right = value(second)
    return (low + high) / 2


def sign_of(value: float | None) -> int:
    """The sign, 0 for none."""
    return 0 if value is None else (value > 0) - (value < 0)


def _middle(low: float, high: float) -> float:
    """The middle of a bracket: the geometric one where its ends are of different sizes."""
    if low and high and low / high > 0 and not 1 / _WIDE < high / low < _WIDE:
        return math.copysign(math.sqrt(abs(low)) * math.sqrt(abs(high)), low)
    return low + (high - low) / 2
