"""Courses: one or several figures over steps, or over minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.reports.pages.charts.axes import axis, number
from reward_functions.reports.pages.charts.drawing import (
    ABOVE,
    BELOW,
    WIDTH,
    Chart,
    across,
    chart,
    gutter,
    legend,
    line,
    mark,
    shortened,
    text,
    upward,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

RIGHT: Final = 20
HEIGHT: Final = 152
"""Units of the drawing within the axes."""

MAX_POINTS: Final = 400
"""Points of a line; of more, neighbours are drawn as their mean."""

FEW: Final = 12
"""Points up to which each has a mark of its own."""


class Course(NamedTuple):
    """One figure over a run.

    Args:
        name: in the legend.
        points: (position, value) in order, at least one.
        series: its colour, dashes and mark, of `drawing.SERIES`.
    """

    name: str
    points: Sequence[tuple[float, float]]
    series: str = "a"


def lines(
    label: str,
    courses: Sequence[Course],
    *,
    x: str,
    y: str,
    includes: Sequence[float] = (),
    title: str = "",
) -> Chart:
    """Courses over one pair of axes, the last value of each marked.

    Args:
        label: one sentence that says what is shown.
        courses: at least one.
        x: what the positions are, such as "step".
        y: what the values are.
        includes: values that the vertical axis reaches in any case.
        title: above the drawing; "" for nothing.
    """
    drawn_points = [thinned(each.points) for each in courses]
    places = [place for points in drawn_points for place, _ in points]
    values = [value for points in drawn_points for _, value in points]
    head, top = _head(courses, title)
    bottom = top + HEIGHT
    figures = axis(y, values, bottom, top, includes=includes)
    left = gutter(figures)
    whole = all(place == round(place) for place in places)
    positions = axis(x, places, left, WIDTH - RIGHT, whole=whole)
    drawn = [*upward(figures, left, WIDTH - RIGHT), *across(positions, top, bottom, grid=False)]
    drawn += head
    for each, points in zip(courses, drawn_points, strict=True):
        placed = [(positions.place(place), figures.place(value)) for place, value in points]
        drawn.append(line(each.series, placed))
        marked = range(len(points)) if len(points) <= FEW else (len(points) - 1,)
        for at in marked:
            place, value = points[at]
            words = f"{each.name}, {x} {number(place)}: {number(value)}"
            drawn.append(mark(each.series, *placed[at], words, 3.5))
    return chart(label, bottom + BELOW, drawn)


def _head(courses: Sequence[Course], title: str) -> tuple[list[str], float]:
    """The title and the legend, where there are any, and where the drawing begins below."""
    drawn, top = [], 18 + ABOVE
    if title:
        drawn.append(text(4, 16, shortened(title, WIDTH - 8)))
        top += 22
    if len(courses) > 1:
        names = {each.series: each.name for each in courses}
        keys, last = legend(names, 4, top - ABOVE, lines=True)
        drawn += keys
        top = last + 24 + ABOVE
    return drawn, top


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `MAX_POINTS` of them, each the mean of neighbours at the place of the last."""
    count = len(points)
    if count <= MAX_POINTS:
        return list(points)
    groups = [
        points[at * count // MAX_POINTS : (at + 1) * count // MAX_POINTS]
        for at in range(MAX_POINTS)
    ]
    return [(some[-1][0], sum(value for _, value in some) / len(some)) for some in groups]
