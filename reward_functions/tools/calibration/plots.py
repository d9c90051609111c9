"""Three plots as SVG: agreement with its intervals, the confusion matrix, and length bias.

The colours come from the page's style sheet, so that a plot is readable on a light page and on a
dark one. No figure is shown by colour alone.
"""

from __future__ import annotations

from html import escape
from math import fsum
from typing import TYPE_CHECKING, Final

from reward_functions.tools.calibration.figures import AGREEMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reward_functions.tools.calibration.cases import LabelledCases
    from reward_functions.tools.calibration.figures import Figures

WIDTH: Final = 640
LEFT: Final = 120
RIGHT: Final = 30
LINE: Final = 20
"""Units of the drawing; the page scales it to the width there is."""

CELL: Final = 76

DARKEST: Final = 0.55
"""Opacity of a cell that has all cases of its row; its figure stays readable, light or dark."""

BINS: Final = 8
"""Points of the plot of length: each is the mean of as many cases as the others."""


def agreement(figures: Figures) -> str:
    """A line for every figure and way of counting, its interval and a dot; ticks are people."""
    lowest = min((low for low, _ in _spans(figures)), default=0.0)
    start = min(0.0, lowest)

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - start) / (1 - start)

    names = [name for name in AGREEMENT if name in figures.agreement["wrong"]]
    ceiling = dict(zip(("accuracy", "macro F1", "kappa"), figures.ceiling or (), strict=False))
    drawn, down = [], 30
    for name in names:
        drawn.append(_text(LEFT - 10, down + LINE, name, "end"))
        top = down
        for at, (way, values) in enumerate(figures.agreement.items()):
            figure = values[name]
            if figure.value is not None:
                y = down + 6 + at * 14
                label = f"{name}, invalid {way}: {figure.value:.3f}"
                if figure.interval:
                    low, high = map(across, figure.interval)
                    drawn.append(f'<path class="s{at}" d="M{low:.1f} {y}H{high:.1f}"/>')
                drawn.append(_mark(at, across(figure.value), y, label))
        down += 3 * 14 + 12
        if name in ceiling:
            x = across(ceiling[name])
            title = f"<title>a person: {ceiling[name]:.3f}</title>"
            drawn.append(f'<path class="people" d="M{x:.1f} {top - 2}V{top + 40}">{title}</path>')
    axis = [
        f'<path class="grid" d="M{across(value):.1f} 20V{down}"/>'
        + _text(across(value), down + 16, f"{value:g}", "middle")
        for value in [0.0, 0.25, 0.5, 0.75, 1.0]
    ]
    keys = [
        _mark(at, LEFT + at * 150, 8, "") + _text(LEFT + 10 + at * 150, 12, f"invalid {way}")
        for at, way in enumerate(figures.agreement)
    ]
    if figures.ceiling:
        x = LEFT + 3 * 150
        keys.append(f'<path class="people" d="M{x} 1V15"/>{_text(x + 10, 12, "a person")}')
    return _svg("Agreement with the label, with intervals", down + 26, [*axis, *drawn, *keys])


def both(cases: LabelledCases, figures: Figures) -> str:
    """Labels down, ratings across; a cell is darker the larger its share of the row."""
    names = [cases.labels.name(label) for label in cases.classes]
    heads = [*names, "invalid"]
    drawn = [
        _text(LEFT + at * CELL + CELL / 2, 16, name, "middle") for at, name in enumerate(heads)
    ]
    for down, (name, counts) in enumerate(zip(names, figures.table.rows, strict=True)):
        y, total = 24 + down * 40, sum(counts)
        drawn.append(_text(LEFT - 10, y + 25, f"people: {name}", "end"))
        for at, count in enumerate(counts):
            x = LEFT + at * CELL
            share = count / total if total else 0.0
            title = f"<title>{escape(f'people {name}, judge {heads[at]}: {count}')}</title>"
            box = f'x="{x}" y="{y}" width="{CELL - 2}" height="38" rx="3"'
            drawn.append(
                f'<rect class="cell" {box} fill-opacity="{DARKEST * share:.2f}">{title}</rect>'
            )
            drawn.append(_text(x + CELL / 2, y + 25, str(count), "middle"))
    width = max(WIDTH, LEFT + CELL * len(heads) + RIGHT)
    return _svg("Labels and ratings", 30 + 40 * len(names), drawn, width)


def length(figures: Figures) -> str:
    """Judge minus people against length: means of equally many cases, and the line of all."""
    points = sorted(figures.points)
    slope = figures.length_bias.value
    if slope is None:
        return ""
    bins = list(_bins(points))
    low, high = bins[0][0], bins[-1][0]
    reach = max(0.1, *(abs(y) for _, y in bins)) * 1.25
    mean_x, mean_y = (fsum(column) / len(points) for column in zip(*points, strict=True))

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / ((high - low) or 1)

    def down(value: float) -> float:
        return 110 - 90 * value / reach

    ends = [(x, mean_y + slope * (x - mean_x)) for x in (low, high)]
    line = "L".join(f"{across(x):.1f} {down(max(-reach, min(reach, y))):.1f}" for x, y in ends)
    drawn = [
        f'<path class="grid" d="M{LEFT} {down(0):.1f}H{WIDTH - RIGHT}"/>',
        _text(LEFT - 10, down(0) + 4, "as people", "end"),
        _text(LEFT - 10, 24, f"+{reach:.2f}", "end"),
        _text(LEFT - 10, 204, f"−{reach:.2f}", "end"),
        f'<path class="s0" d="M{line}"/>',
        *[_mark(0, across(x), down(y), f"length {x:+.1f} doublings: {y:+.3f}") for x, y in bins],
        _text(LEFT, 226, f"{low:.1f} doublings"),
        _text(WIDTH - RIGHT, 226, f"{high:.1f} doublings", "end"),
    ]
    return _svg("Judge minus people, by length", 234, drawn)


def _spans(figures: Figures) -> Iterator[tuple[float, float]]:
    for values in figures.agreement.values():
        for figure in values.values():
            if figure.interval:
                yield figure.interval


def _bins(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The mean points of equally many neighbours."""
    count = min(BINS, len(points))
    for at in range(count):
        some = points[at * len(points) // count : (at + 1) * len(points) // count]
        yield fsum(x for x, _ in some) / len(some), fsum(y for _, y in some) / len(some)


def _mark(kind: int, x: float, y: float, label: str) -> str:
    """A dot, a square or a diamond."""
    title = f"<title>{escape(label)}</title>" if label else ""
    shapes = (
        f"M{x - 4:.1f} {y:.1f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
        f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z",
        f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z",
    )
    return f'<path class="m{kind}" d="{shapes[kind]}">{title}</path>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(label: str, height: float, drawn: Iterable[str], width: float = WIDTH) -> str:
    box = f'viewBox="0 0 {width:g} {height:g}"'
    return f'<svg {box} role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg>'
