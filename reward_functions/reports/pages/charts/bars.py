"""Counts as bars: how many values lie in each of some equal steps, or bear each of some names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.axes import axis, number
from reward_functions.reports.pages.charts.drawing import (
    BELOW,
    WIDTH,
    Chart,
    across,
    chart,
    gutter,
    margin,
    nothing,
    shortened,
    text,
    titled,
    upward,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.reports.pages.charts.axes import Axis

RIGHT: Final = 20
TOP: Final = 40
HEIGHT: Final = 206
ROW: Final = 26
"""Units of one named bar."""

NAMES: Final = 240
"""Units for the names of bars at most."""

NARROWEST: Final = 6.0
WIDEST: Final = 28.0
"""Units of the bar of a single value, which has no width of its own."""


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie from `low` to `high`, which may be one value."""

    low: float
    high: float
    count: int


def histogram(label: str, bins: Sequence[Bin], *, x: str, y: str) -> Chart:
    """A bar for each bin, its count above it.

    Args:
        label: one sentence that says what is shown.
        bins: in order; those that say one value may lie apart. Of none, a sentence is drawn.
        x: what the values are.
        y: what is counted.
    """
    if not bins:
        return nothing(label)
    counts = axis(y, [each.count for each in bins], HEIGHT, TOP, includes=(0, 1), whole=True)
    left = gutter(counts)
    right = WIDTH - RIGHT
    single = min(WIDEST, max(NARROWEST, (right - left) / (2 * len(bins))))
    aside = single / 2 if any(each.low == each.high for each in bins) else 0.0
    values = axis(x, [bins[0].low, bins[-1].high], left + aside, right - aside)
    drawn = [*upward(counts, left, right), *across(values, TOP, HEIGHT, grid=False)]
    free = 0.0
    for each in bins:
        if each.count:
            start, end = _sides(each, values, single)
            middle, top, words = (start + end) / 2, counts.place(each.count), f"{each.count:,}"
            drawn.append(_box(start, top, end - start, HEIGHT - top, f"{_ends(each)}: {words}"))
            half = width_of(words) / 2
            if middle - half >= free:  # counts that would run into one another are left out
                drawn.append(text(middle, top - 4, words, "middle", "faint"))
                free = middle + half + 2
    return chart(label, HEIGHT + BELOW, drawn)


def _sides(each: Bin, values: Axis, single: float) -> tuple[float, float]:
    """Where its bar begins and ends, a little apart from its neighbours."""
    low, high = values.place(each.low), values.place(each.high)
    wide = single if each.low == each.high else max(1.0, high - low - 2)
    return (low + high - wide) / 2, (low + high + wide) / 2


def _ends(each: Bin) -> str:
    low, high = number(each.low), number(each.high)
    return low if low == high else f"{low} to {high}"


def tallies(label: str, counts: Sequence[tuple[str, int]], *, x: str) -> Chart:
    """A bar for each name, from the top.

    Args:
        label: one sentence that says what is shown.
        counts: (name, count); names are cut to the room there is. Of none, a sentence is drawn.
        x: what is counted.
    """
    if not counts:
        return nothing(label)
    bottom, left = 8 + ROW * len(counts), margin((name for name, _ in counts), NAMES)
    most = max(count for _, count in counts)
    right = WIDTH - 12 - width_of(f"{most:,}")
    values = axis(x, [most], left, right, includes=(0, 1), whole=True)
    drawn = [*across(values, 4, bottom)]
    for at, (name, count) in enumerate(counts):
        y, end = 8 + ROW * at, values.place(count)
        drawn.append(text(left - 8, y + 16, shortened(name, left - 8), "end"))
        drawn.append(_box(left, y + 3, max(1.0, end - left), ROW - 6, f"{name}: {count:,}"))
        drawn.append(text(end + 5, y + 16, f"{count:,}", kind="faint"))
    return chart(label, bottom + BELOW, drawn)


def _box(x: float, y: float, width: float, height: float, title: str) -> str:
    box = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.5, width):.1f}" height="{max(0.5, height):.1f}"'
    return f'<rect class="ma" {box}>{titled(title)}</rect>'
