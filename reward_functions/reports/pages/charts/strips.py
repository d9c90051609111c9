"""The values of each group on a line of its own: where all lie on one point, they are equal."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.axes import axis, number
from reward_functions.reports.pages.charts.drawing import (
    BELOW,
    WIDTH,
    Chart,
    across,
    chart,
    margin,
    mark,
    path,
    shortened,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES: Final = 220
"""Units for the names of groups at most."""

RIGHT: Final = 24
ROW: Final = 24
LARGEST: Final = 9.0
"""Radius of the mark that stands for most of a group."""


def strips(
    label: str,
    groups: Sequence[tuple[str, Sequence[float]]],
    *,
    x: str,
    includes: Sequence[float] = (),
) -> Chart:
    """A line for each group; equal values are one mark, larger the more they are.

    Args:
        label: one sentence that says what is shown.
        groups: (name, values), at least one value in all.
        x: what the values are.
        includes: values that the axis reaches in any case.
    """
    values = [value for _, some in groups for value in some]
    left = margin((name for name, _ in groups), NAMES)
    places = axis(x, values, left + 10, WIDTH - RIGHT, includes=includes)
    most = max(len(some) for _, some in groups)
    bottom = 6 + ROW * len(groups)
    drawn = [*across(places, 4, bottom)]
    for at, (name, some) in enumerate(groups):
        y = 6 + ROW * (at + 0.5)
        drawn.append(path("grid", f"M{left} {y:.1f}H{WIDTH - RIGHT}"))
        drawn.append(text(left - 8, y + 4, shortened(name, left - 8), "end"))
        for value, count in sorted(Counter(some).items()):
            words = f"{name}: {count} of {len(some)} at {number(value)}"
            size = max(3.0, LARGEST * sqrt(count / most))
            drawn.append(mark("a", places.place(value), y, words, size))
    return chart(label, bottom + BELOW, drawn)
