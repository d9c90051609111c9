"""Courses of many figures, each in a band of its own, its first and its last value beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.axes import axis, number
from reward_functions.reports.pages.charts.drawing import (
    BELOW,
    WIDTH,
    Chart,
    across,
    chart,
    legend,
    line,
    mark,
    path,
    shortened,
    text,
    titled,
)
from reward_functions.reports.pages.charts.lines import thinned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.reports.pages.charts.axes import Axis
    from reward_functions.reports.pages.charts.lines import Course

LEFT: Final = 150
RIGHT: Final = 142
BAND: Final = 38
"""Units from one line to the next."""


def bands(
    label: str,
    courses: Sequence[Course],
    *,
    x: str,
    ends: tuple[float, float],
    names: Mapping[str, str],
    title: str = "",
    shown: Callable[[float], str] = number,
) -> Chart:
    """A band for each course, from the top; all have the same two ends.

    Args:
        label: one sentence that says what is shown, and what the ends of a band are.
        courses: at least one.
        x: what the positions are, such as "step".
        ends: the values at the bottom and at the top of a band.
        names: of the series, for the legend; may be empty.
        title: above the drawing; "" for nothing.
        shown: how a value is written beside its band.
    """
    places = [place for each in courses for place, _ in each.points]
    whole = all(place == round(place) for place in places)
    positions = axis(x, places, LEFT, WIDTH - RIGHT, whole=whole)
    top = 0.0
    drawn = []
    if title:
        drawn, top = [text(4, 16, shortened(title, WIDTH - 8))], 22.0
    if names:
        keys, last = legend(names, 4, top + 16, lines=True)
        drawn, top = [*drawn, *keys], last + 6
    for at, each in enumerate(courses):
        band = axis(each.name, ends, top + BAND * (at + 1), top + BAND * at + 12)
        drawn += _band(each, band, positions, shown)
    bottom = top + BAND * len(courses) + 6
    return chart(label, bottom + BELOW, [*across(positions, top, bottom), *drawn])


def _band(each: Course, band: Axis, positions: Axis, shown: Callable[[float], str]) -> list[str]:
    first, last = each.points[0][1], each.points[-1][1]
    words = f"{shown(first)} → {shown(last)}"
    points = [(positions.place(place), band.place(value)) for place, value in thinned(each.points)]
    middle = (band.start + band.end) / 2 + 4
    return [
        f"<g>{titled(f'{each.name}: {words}')}",
        text(LEFT - 8, middle, shortened(each.name, LEFT - 8), "end"),
        path("grid", "".join(f"M{LEFT} {y:g}H{WIDTH - RIGHT}" for y in (band.start, band.end))),
        line(each.series, points),
        mark(each.series, *points[-1], size=3.0),
        text(WIDTH - RIGHT + 10, middle, shortened(words, RIGHT - 10)),
        "</g>",
    ]
