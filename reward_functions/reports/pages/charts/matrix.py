"""Counts of two namings of the same things: a cell is darker the larger its share of the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.drawing import (
    WIDTH,
    Chart,
    chart,
    shortened,
    text,
    titled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

LEFT: Final = 130
TOP: Final = 48
ROW: Final = 40
WIDEST: Final = 96

DARKEST: Final = 0.5
"""Opacity of a cell that has all of its row; its figure stays readable, light or dark."""


def matrix(
    label: str,
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    *,
    down: str,
    across: str,
) -> Chart:
    """A cell for each pair of names, with its count.

    Args:
        label: one sentence that says what is shown.
        rows: names, at least one.
        columns: names, at least one.
        counts: a row for each of `rows`, with a count for each of `columns`.
        down: who named the rows.
        across: who named the columns.
    """
    width = max(WIDTH, LEFT + 44 * len(columns))
    cell = min(WIDEST, (width - LEFT - 8) / len(columns))
    drawn = [
        text(LEFT + cell * len(columns) / 2, 16, shortened(across, 280), "middle"),
        text(LEFT - 10, TOP - 8, shortened(down, LEFT - 10), "end", "faint"),
    ]
    drawn += [
        text(LEFT + cell * (at + 0.5), TOP - 8, shortened(name, cell), "middle", "faint")
        for at, name in enumerate(columns)
    ]
    for at, (name, of) in enumerate(zip(rows, counts, strict=True)):
        y, total = TOP + ROW * at, sum(of)
        drawn.append(text(LEFT - 10, y + 25, shortened(name, LEFT - 10), "end"))
        for column, count in enumerate(of):
            x, share = LEFT + cell * column, count / total if total else 0.0
            words = f"{down} {name}, {across} {columns[column]}: {count:,} ({share:.0%})"
            box = f'x="{x:.1f}" y="{y}" width="{cell - 2:.1f}" height="{ROW - 2}" rx="3"'
            shade = f'fill-opacity="{DARKEST * share:.2f}"'
            drawn.append(f'<rect class="cell" {box} {shade}>{titled(words)}</rect>')
            drawn.append(text(x + cell / 2, y + 25, f"{count:,}", "middle"))
    return chart(label, TOP + ROW * len(rows) + 6, drawn, width)
