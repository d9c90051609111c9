"""Plots over two axes: counts in equal steps, courses, one quantity against another."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.reports.pages.charts.drawing import (
    ABOVE,
    BELOW,
    WIDTH,
    Axis,
    Chart,
    across,
    axis,
    box,
    chart,
    gutter,
    legend,
    line,
    linked,
    logarithmic_axis,
    mark,
    nothing,
    number,
    shortened,
    text,
    upward,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

RIGHT: Final = WIDTH - 20
"""Where the axes end."""

TOP: Final = 40

NARROWEST: Final = 6.0
WIDEST: Final = 28.0
"""Units of the bar of a single value, which has no width of its own."""

COURSE: Final = 152
"""Units of a course within the axes."""

MAX_POINTS: Final = 400
"""Points of a line; of more, neighbours are drawn as their mean."""

FEW: Final = 12
"""Points up to which each has a mark of its own."""

LARGEST: Final = 11.0
"""Radius of the mark that stands for most."""


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie from `low` to `high`, which may be one value."""

    low: float
    high: float
    count: int


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


def histogram(
    label: str, bins: Sequence[Bin], *, x: str, y: str, links: Sequence[str] = ()
) -> Chart:
    """A bar for each bin, its count above it.

    Args:
        label: one sentence that says what is shown.
        bins: in order; those that say one value may lie apart. Of none, a sentence is drawn.
        x: what the values are.
        y: what is counted.
        links: for each bin the anchor to which its bar leads; "" for a bar that leads nowhere.
            Empty for no links.
    """
    if not bins:
        return nothing(label)
    counts = axis(y, [each.count for each in bins], TOP + 166, TOP, includes=(0, 1), whole=True)
    left, bottom = gutter(counts), counts.start
    single = min(WIDEST, max(NARROWEST, (RIGHT - left) / (2 * len(bins))))
    aside = single / 2 if any(each.low == each.high for each in bins) else 0.0
    values = axis(x, [bins[0].low, bins[-1].high], left + aside, RIGHT - aside)
    drawn, free = [], 0.0
    for at, each in enumerate(bins):
        if each.count:
            start, end = _sides(each, values, single)
            middle, top, words = (start + end) / 2, counts.place(each.count), f"{each.count:,}"
            named = f"{_ends(each)}: {words}"
            bar = box(start, top, end - start, bottom - top, named)
            drawn.append(linked(bar, links[at] if links else "", f"{named}, its rows"))
            half = width_of(words) / 2
            if middle - half >= free:  # counts that would run into one another are left out
                drawn.append(text(middle, top - 4, words, "middle", "faint"))
                free = middle + half + 2
    return _framed(label, values, counts, left, drawn)


def _framed(
    label: str, horizontal: Axis, vertical: Axis, left: float, drawn: Sequence[str]
) -> Chart:
    """A drawing with its two axes."""
    top, bottom = vertical.end, vertical.start
    frame = [*upward(vertical, left, RIGHT), *across(horizontal, top, bottom, grid=False)]
    return chart(label, bottom + BELOW, [*frame, *drawn])


def _sides(each: Bin, values: Axis, single: float) -> tuple[float, float]:
    """Where its bar begins and ends, a little apart from its neighbours."""
    low, high = values.place(each.low), values.place(each.high)
    wide = single if each.low == each.high else max(1.0, high - low - 2)
    return (low + high - wide) / 2, (low + high + wide) / 2


def _ends(each: Bin) -> str:
    low, high = number(each.low), number(each.high)
    return low if low == high else f"{low} to {high}"


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
    drawn, top = _head(courses, title)
    figures = axis(y, values, top + COURSE, top, includes=includes)
    left = gutter(figures)
    positions = axis(x, places, left, RIGHT, whole=are_whole(places))
    for each, points in zip(courses, drawn_points, strict=True):
        placed = [(positions.place(place), figures.place(value)) for place, value in points]
        drawn.append(line(each.series, placed))
        marked = range(len(points)) if len(points) <= FEW else (len(points) - 1,)
        for at in marked:
            place, value = points[at]
            words = f"{each.name}, {x} {number(place)}: {number(value)}"
            drawn.append(mark(each.series, *placed[at], words, 3.5))
    return _framed(label, positions, figures, left, drawn)


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


def are_whole(places: Sequence[float]) -> bool:
    """Whether all are whole numbers, as steps are."""
    return all(place == round(place) for place in places)


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
    """A mark for each point, larger where it stands for many: its area is its count.

    Args:
        label: one sentence that says what is shown.
        shown: at least one.
        x: what the horizontal places are.
        y: what the vertical ones are.
        through: a line in the second colour, such as means or a slope; may be empty.
        includes: values that the vertical axis reaches in any case.
        logarithmic: whether the horizontal axis is; places below 1 lie at 1.
    """
    places = [*((each.x, each.y) for each in shown), *through]
    values = axis(y, [value for _, value in places], TOP + 176, TOP, includes=includes)
    left = gutter(values)
    straight = logarithmic_axis if logarithmic else axis
    horizontal = straight(x, [at for at, _ in places], left + 10, RIGHT)
    most = max(each.count for each in shown)
    drawn = []
    for each in sorted(shown, key=lambda point: -point.count):
        size = max(2.5, LARGEST * sqrt(each.count / most)) if most > 1 else 4.0
        drawn.append(mark("a", horizontal.place(each.x), values.place(each.y), each.words, size))
    if through:
        means = [(horizontal.place(at), values.place(value)) for at, value in through]
        drawn.append(line("b", means))
    return _framed(label, horizontal, values, left, drawn)
