"""Figures with their intervals: a line from the lower end to the upper, a mark at the figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.reports.pages.charts.axes import axis, number
from reward_functions.reports.pages.charts.drawing import (
    BELOW,
    WIDTH,
    Chart,
    across,
    chart,
    legend,
    margin,
    mark,
    path,
    shortened,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.reports.pages.charts.axes import Axis

NAMES: Final = 200
"""Units for the names of rows at most."""

RIGHT: Final = 24
LINE: Final = 15
"""Units of one figure."""


class Span(NamedTuple):
    """A figure.

    Args:
        value: of it.
        interval: its ends, where it has one.
        series: its colour and mark.
    """

    value: float
    interval: tuple[float, float] | None = None
    series: str = "a"


class Row(NamedTuple):
    """What several figures are of.

    Args:
        name: left of them.
        spans: the figures, from the top.
        limit: a value that a vertical stroke marks, such as people's agreement.
    """

    name: str
    spans: Sequence[Span]
    limit: float | None = None


def spans(
    label: str,
    rows: Sequence[Row],
    *,
    x: str,
    names: Mapping[str, str],
    limit: str = "",
    includes: Sequence[float] = (0.0, 1.0),
) -> Chart:
    """A row for each name, its figures below one another.

    Args:
        label: one sentence that says what is shown.
        rows: at least one with a figure.
        x: what the figures are.
        names: of the series, for the legend; an empty one is left out.
        limit: what the strokes are; "" where no row has one.
        includes: values that the axis reaches in any case.
    """
    values = [
        value
        for row in rows
        for span in row.spans
        for value in (span.value, *(span.interval or ()))
    ]
    left = margin((row.name for row in rows), NAMES)
    figures = axis(x, values, left, WIDTH - RIGHT, includes=includes)
    shown = {series: name for series, name in names.items() if name}
    head, last = legend(shown, 8, 16)
    if limit:
        last += 20 * bool(shown)
        stroke = path("limit", f"M16 {last - 11:g}V{last + 3:g}")
        head += [stroke, text(36, last, shortened(limit, WIDTH - 40))]
    top = last + 14 if head else 8.0
    drawn: list[str] = []
    down = top
    for row in rows:
        height = LINE * max(1, len(row.spans)) + 12
        middle = down + height / 2
        drawn.append(text(left - 8, middle + 4, shortened(row.name, left - 8), "end"))
        if row.limit is not None:
            x_limit = figures.place(row.limit)
            words = f"{row.name}, {limit}: {number(row.limit)}"
            drawn.append(path("limit", f"M{x_limit:.1f} {down + 2}V{down + height - 2}", words))
        for at, span in enumerate(row.spans):
            drawn += _span(row.name, span, figures, down + 6 + LINE * at + LINE / 2)
        down += height
    return chart(label, down + BELOW, [*across(figures, top, down), *head, *drawn])


def _span(name: str, span: Span, figures: Axis, y: float) -> Iterator[str]:
    low_to_high = ""
    if span.interval:
        low, high = span.interval
        low_to_high = f" ({number(low)} to {number(high)})"
        yield path(
            f"l{span.series}", f"M{figures.place(low):.1f} {y:.1f}H{figures.place(high):.1f}"
        )
    words = f"{name}: {number(span.value)}{low_to_high}"
    yield mark(span.series, figures.place(span.value), y, words)
