"""One quantity against another: a mark for each point, larger where it stands for many."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.axes import axis, logarithmic_axis
from reward_functions.reports.pages.charts.drawing import (
    BELOW,
    WIDTH,
    Chart,
    across,
    chart,
    gutter,
    line,
    mark,
    upward,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

RIGHT: Final = 20
TOP: Final = 40
HEIGHT: Final = 216
LARGEST: Final = 11.0
"""Radius of the mark that stands for most."""


@dataclass(frozen=True, slots=True)
class Point:
    """A mark.

    Args:
        x: its place.
        y: the same.
        count: how many it stands for, at least one.
        words: what is shown where a pointer rests on it.
    """

    x: float
    y: float
    count: int = 1
    words: str = ""


def points(
    label: str,
    shown: Sequence[Point],
    *,
    x: str,
    y: str,
    through: Sequence[tuple[float, float]] = (),
    includes: Sequence[float] = (),
    logarithmic: bool = False,
) -> Chart:
    """A mark for each point; its area is its count.

    Args:
        label: one sentence that says what is shown.
        shown: at least one.
        x: what the horizontal places are.
        y: what the vertical ones are.
        through: a line in the second colour, such as means or a slope; may be empty.
        includes: values that the vertical axis reaches in any case.
        logarithmic: whether the horizontal axis is; places below 1 lie at 1.
    """
    right = WIDTH - RIGHT
    values = axis(
        y, [*(each.y for each in shown), *(value for _, value in through)], HEIGHT, TOP,
        includes=includes,
    )  # fmt: skip
    left = gutter(values)
    across_all = [*(each.x for each in shown), *(at for at, _ in through)]
    places = (logarithmic_axis if logarithmic else axis)(x, across_all, left + 10, right)
    most = max(each.count for each in shown)
    drawn = [*upward(values, left, right), *across(places, TOP, HEIGHT, grid=False)]
    for each in sorted(shown, key=lambda point: -point.count):
        size = max(2.5, LARGEST * sqrt(each.count / most)) if most > 1 else 4.0
        drawn.append(mark("a", places.place(each.x), values.place(each.y), each.words, size))
    if through:
        drawn.append(line("b", [(places.place(at), values.place(value)) for at, value in through]))
    return chart(label, HEIGHT + BELOW, drawn)
