"""Charts of a row for each name: counts as bars, figures with intervals, values, courses, a matrix.

Where all values of a strip lie on one point, they are equal. A cell of a matrix is darker the
larger its share of the row.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.reports.pages.charts import drawing
from reward_functions.reports.pages.charts.drawing import (
    BELOW,
    WIDTH,
    Axis,
    Chart,
    axis,
    box,
    chart,
    legend,
    linked,
    margin,
    mark,
    nothing,
    number,
    path,
    shortened,
    text,
    titled,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


RIGHT: Final = WIDTH - 24
"""Where the axis of spans and strips ends."""

BAR: Final = 26
SPAN: Final = 15
STRIP: Final = 24
CELL: Final = 40
"""Units of one row, from its top to the next."""

NAMES: Final = {"bars": 240, "spans": 200, "strips": 220}
"""Units for the names of rows at most."""

LARGEST: Final = 9.0
"""Radius of the mark that stands for most of a group."""

CELL_LEFT: Final = 130
CELL_TOP: Final = 48
CELL_WIDEST: Final = 96

DARKEST: Final = 0.5
"""Opacity of a cell that has all of its row; its figure stays readable, light or dark."""


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
    """One line with several figures.

    Args:
        name: left of them.
        spans: the figures, from the top.
        limit: a value that a vertical stroke marks, such as people's agreement.
    """

    name: str
    spans: Sequence[Span]
    limit: float | None = None


def _named(name: str, left: float, y: float) -> str:
    """The name left of a row."""
    return text(left - 8, y, shortened(name, left - 8), "end")


def tallies(
    label: str, counts: Sequence[tuple[str, int]], *, x: str, links: Sequence[str] = ()
) -> Chart:
    """A bar for each name, from the top.

    Args:
        label: one sentence that says what is shown.
        counts: (name, count); names are cut to the room there is. Of none, a sentence is drawn.
        x: what is counted.
        links: for each bar the anchor to which it leads; "" for a bar that leads nowhere. Empty
            for no links.
    """
    if not counts:
        return nothing(label)
    bottom = 8 + BAR * len(counts)
    left = margin((name for name, _ in counts), NAMES["bars"])
    most = max(count for _, count in counts)
    right = WIDTH - 12 - width_of(f"{most:,}")
    values = axis(x, [most], left, right, includes=(0, 1), whole=True)
    drawn = [*drawing.across(values, 4, bottom)]
    for at, (name, count) in enumerate(counts):
        y, end = 8 + BAR * at, values.place(count)
        bar = box(left, y + 3, max(1.0, end - left), BAR - 6, f"{name}: {count:,}")
        # A link is called by the words that are seen of it, which may be cut.
        called = f"{shortened(name, left - 8)}: {count:,}, its rows"
        drawn.append(linked(_named(name, left, y + 16) + bar, links[at] if links else "", called))
        drawn.append(text(end + 5, y + 16, f"{count:,}", kind="faint"))
    return chart(label, bottom + BELOW, drawn)


def spans(
    label: str,
    rows: Sequence[Row],
    *,
    x: str,
    names: Mapping[str, str] | None = None,
    limit: str = "",
    includes: Sequence[float] = (0.0, 1.0),
) -> Chart:
    """Figures with their intervals: a line from the lower end to the upper, a mark at the figure.

    Args:
        label: one sentence that says what is shown.
        rows: at least one with a figure; the figures of a row are below one another.
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
    left = margin((row.name for row in rows), NAMES["spans"])
    figures = axis(x, values, left, RIGHT, includes=includes)
    shown = {series: name for series, name in (names or {}).items() if name}
    head, last = legend(shown, 8, 16)
    if limit:
        last += 20 * bool(shown)
        stroke = path("limit", f"M16 {last - 11:g}V{last + 3:g}")
        head += [stroke, text(36, last, shortened(limit, WIDTH - 40))]
    top = last + 14 if head else 8.0
    drawn: list[str] = []
    down = top
    for row in rows:
        height = SPAN * max(1, len(row.spans)) + 12
        drawn.append(_named(row.name, left, down + height / 2 + 4))
        if row.limit is not None:
            x_limit = figures.place(row.limit)
            words = f"{row.name}, {limit}: {number(row.limit)}"
            drawn.append(path("limit", f"M{x_limit:.1f} {down + 2}V{down + height - 2}", words))
        for at, span in enumerate(row.spans):
            drawn += _span(row.name, span, figures, down + 6 + SPAN * at + SPAN / 2)
        down += height
    return chart(label, down + BELOW, [*drawing.across(figures, top, down), *head, *drawn])


def _span(name: str, span: Span, figures: Axis, y: float) -> Iterator[str]:
    low_to_high = ""
    if span.interval:
        low, high = span.interval
        low_to_high = f" ({number(low)} to {number(high)})"
        start, end = figures.place(low), figures.place(high)
        yield path(f"l{span.series}", f"M{start:.1f} {y:.1f}H{end:.1f}")
    words = f"{name}: {number(span.value)}{low_to_high}"
    yield mark(span.series, figures.place(span.value), y, words)


def strips(
    label: str,
    groups: Sequence[tuple[str, Sequence[float]]],
    *,
    x: str,
    includes: Sequence[float] = (),
) -> Chart:
    """The values of each group on a line; equal ones are one mark, larger the more they are.

    Args:
        label: one sentence that says what is shown.
        groups: (name, values), at least one value in all.
        x: what the values are.
        includes: values that the axis reaches in any case.
    """
    values = [value for _, some in groups for value in some]
    left = margin((name for name, _ in groups), NAMES["strips"])
    places = axis(x, values, left + 10, RIGHT, includes=includes)
    most = max(len(some) for _, some in groups)
    bottom = 6 + STRIP * len(groups)
    drawn = [*drawing.across(places, 4, bottom)]
    for at, (name, some) in enumerate(groups):
        y = 6 + STRIP * (at + 0.5)
        drawn.append(path("grid", f"M{left} {y:.1f}H{RIGHT}"))
        drawn.append(_named(name, left, y + 4))
        for value, count in sorted(Counter(some).items()):
            words = f"{name}: {count} of {len(some)} at {number(value)}"
            size = max(3.0, LARGEST * sqrt(count / most))
            drawn.append(mark("a", places.place(value), y, words, size))
    return chart(label, bottom + BELOW, drawn)


def matrix(
    label: str,
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    *,
    down: str,
    across: str,
    links: Sequence[Sequence[str]] = (),
) -> Chart:
    """Counts of two namings of the same things: a cell for each pair of names.

    Args:
        label: one sentence that says what is shown.
        rows: names, at least one.
        columns: names, at least one.
        counts: a row for each of `rows`, with a count for each of `columns`.
        down: who named the rows.
        across: who named the columns.
        links: for each cell the anchor to which it leads; "" for a cell that leads nowhere. Empty
            for no links.
    """
    left, top = CELL_LEFT, CELL_TOP
    width = max(WIDTH, left + 44 * len(columns))
    cell = min(CELL_WIDEST, (width - left - 8) / len(columns))
    drawn = [
        text(left + cell * len(columns) / 2, 16, shortened(across, 280), "middle"),
        text(left - 10, top - 8, shortened(down, left - 10), "end", "faint"),
    ]
    drawn += [
        text(left + cell * (at + 0.5), top - 8, shortened(name, cell), "middle", "faint")
        for at, name in enumerate(columns)
    ]
    for at, (name, of) in enumerate(zip(rows, counts, strict=True)):
        y, total = top + CELL * at, sum(of)
        drawn.append(text(left - 10, y + 25, shortened(name, left - 10), "end"))
        for column, count in enumerate(of):
            x, share = left + cell * column, count / total if total else 0.0
            words = f"{down} {name}, {across} {columns[column]}: {count:,} ({share:.0%})"
            size = f'x="{x:.1f}" y="{y}" width="{cell - 2:.1f}" height="{CELL - 2}" rx="3"'
            shade = f'fill-opacity="{DARKEST * share:.2f}"'
            shown = f'<rect class="cell" {size} {shade}>{titled(words)}</rect>'
            shown += text(x + cell / 2, y + 25, f"{count:,}", "middle")
            to = links[at][column] if links else ""
            drawn.append(linked(shown, to, f"{count:,} rows, {words}"))
    return chart(label, top + CELL * len(rows) + 6, drawn, width)
