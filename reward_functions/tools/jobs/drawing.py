"""The course of a job as a drawing: a panel for each figure, as SVG or as one page of HTML.

Training and validation of one figure are in one panel. Panels of rewards share an axis, which holds
both ends of the scale: a course from 0.02 to 0.03 looks as flat as it is. A figure of one point has
no course, and no panel.

No script and no network: colours follow the reader's light or dark. Names are data, and escaped.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.core.spec import UNIT_SCALE
from reward_functions.tools.jobs.figures import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.tools.jobs.figures import Series
    from reward_functions.tools.sheets import Sheet

COLUMNS: Final = 2

PANEL: Final = (380, 190)
"""Width and height of a panel; a page scales the drawing to the width there is."""

MARGIN: Final = (58, 34, 14, 30)
"""Left, above, right, below."""

MAX_PANELS: Final = 24

MAX_POINTS: Final = 400
"""Points of a line; of more, neighbours are drawn as their mean."""

MAX_NAME: Final = 48

SPLITS: Final = ("validation_", "valid_", "val_", "eval_", "training_", "train_")
"""How names begin that say their split; without it, both splits of a figure have one name."""

UNSCALED: Final = ("std", "frac")
"""Words in names of figures of rewards that are on no reward scale."""

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --faint: #5b6675; --line: #d6dbe2;
  --a: #1f5fbf; --b: #b4540a; --c: #3d7a2a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --paper: #12161c; --faint: #9aa6b5;
  --line: #2c3542; --a: #7fb2ff; --b: #ffab66; --c: #93d67c; } }
svg { background: var(--paper); }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .faint { fill: var(--faint); }
.grid { stroke: var(--line); fill: none; }
.training, .validation, .grader { fill: none; stroke-width: 1.8; }
.training { stroke: var(--a); } .validation { stroke: var(--b); } .grader { stroke: var(--c); }
.dot { stroke: none; } .dot.training { fill: var(--a); } .dot.validation { fill: var(--b); }
.dot.grader { fill: var(--c); }
"""

PAGE: Final = """
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead th, p.note { color: var(--faint); } svg { width: 100%; height: auto; display: block; }
"""

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def escape(text: str) -> str:
    """A text for HTML and XML, which know no control characters."""
    return html.escape("".join(char if char.isprintable() else "\ufffd" for char in text))


def svg(found: Sequence[Series], title: str, scale: Scale = UNIT_SCALE) -> str:
    """A drawing that stands by itself; of more than `MAX_PANELS` figures the first.

    Args:
        found: the figures; those of one point are left out.
        title: above it.
        scale: of the rewards.
    """
    drawn = _panels(found, scale)[:MAX_PANELS]
    width, height = PANEL
    rows = -(-len(drawn) // COLUMNS)
    whole = (COLUMNS * width, rows * height + 24)
    panels = "".join(
        f'<g transform="translate({at % COLUMNS * width} {at // COLUMNS * height + 24})">'
        f"{''.join(_drawn(each))}</g>"
        for at, each in enumerate(drawn)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>'
        f"{_text(8, 16, title, 'start')}{panels}</svg>\n"
    )


@dataclass(frozen=True, slots=True)
class _Panel:
    """Courses over one axis each way."""

    courses: tuple[Series, ...]
    low: float
    high: float

    @property
    def title(self) -> str:
        """The first one's name, and whose the others are."""
        first, *others = self.courses
        return ", ".join([first.title[:MAX_NAME], *(each.split for each in others)])


def _panels(found: Sequence[Series], scale: Scale) -> list[_Panel]:
    """The figures that have a course, in their order."""
    grouped: dict[tuple[str, str], list[Series]] = {}
    for each in found:
        if each.points:
            grouped.setdefault((each.unit, _figure(each)), []).append(each)
    shown = [some for some in grouped.values() if any(len(each.points) > 1 for each in some)]
    rewards = [value for some in shown for each in some if _reward(each) for value in each.values]
    ends = min(rewards, default=0.0), max(rewards, default=0.0)
    shared = min(scale.minimum, ends[0]), max(scale.maximum, ends[1])
    panels = []
    for some in shown:
        values = [value for each in some for value in each.values]
        low, high = shared if _reward(some[0]) else (min(values), max(values))
        panels.append(_Panel(tuple(some), low, high))
    return panels


def _figure(each: Series) -> str:
    """The name without its split; the grader's figures stand alone."""
    name = each.name.lower()
    begun = next((split for split in SPLITS if name.startswith(split)), "")
    return name.removeprefix(begun)


def _reward(each: Series) -> bool:
    """Whether its values are on the scale of the rewards."""
    name = each.name.lower()
    return "reward" in name and not any(word in name for word in UNSCALED)


def page(
    found: Sequence[Series], title: str, sheets: Sequence[Sheet], scale: Scale = UNIT_SCALE
) -> str:
    """The drawing and the tables below it as one page of HTML."""
    return "\n".join(_page(svg(found, title, scale), title, sheets)) + "\n"


def _page(drawn: str, title: str, sheets: Sequence[Sheet]) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title>\n<style>{STYLE}{PAGE}</style>\n</head>\n<body>"
    yield f"<h1>{escape(title)}</h1>"
    yield drawn
    for sheet in sheets:
        yield f"<h2>{escape(sheet.title)}</h2>"
        yield from _table(sheet)
    yield "</body>\n</html>"


def _table(sheet: Sheet) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in sheet.heads)
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>"
    kinds = [' class="number"' if head in sheet.numbers else "" for head in sheet.heads[1:]]
    for first, *cells in sheet.rows:
        row = "".join(
            f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, cells, strict=True)
        )
        yield f'<tr><th scope="row">{escape(first)}</th>{row}</tr>'
    yield "</tbody>\n</table>"
    if sheet.note:
        yield f'<p class="note">{escape(sheet.note)}</p>'


def _drawn(panel: _Panel) -> Iterator[str]:
    """One panel: its name, its lines, its ends."""
    left, above, right, below = MARGIN
    width, height = PANEL[0] - left - right, PANEL[1] - above - below
    courses = [(each, _thinned(each.points)) for each in panel.courses]
    start = min(points[0][0] for _, points in courses)
    end = max(points[-1][0] for _, points in courses)
    low, high = panel.low, panel.high

    def across(place: float) -> float:
        return left + width * (place - start) / ((end - start) or 1)

    def down(value: float) -> float:
        return above + height * ((high - value) / (high - low) if high > low else 0.5)

    for value in dict.fromkeys((low, high)):
        yield f'<path class="grid" d="M{left} {down(value):.1f}h{width}"/>'
        yield _text(left - 6, down(value) + 4, number(value), "end", faint=True)
    for each, points in courses:
        line = "L".join(f"{across(place):.1f} {down(value):.1f}" for place, value in points)
        yield f'<path class="{each.split}" d="M{line}"/>'
        place, value = points[-1]
        words = f"{each.split} {each.unit} {place:g}: {number(value)}"
        yield (
            f'<circle class="dot {each.split}" cx="{across(place):.1f}" cy="{down(value):.1f}" '
            f'r="3"><title>{escape(words)}</title></circle>'
        )
    unit = panel.courses[0].unit
    yield _text(left, above - 12, panel.title, "start")
    yield _text(left, above + height + 18, f"{unit} {start:g}", "start", faint=True)
    yield _text(left + width, above + height + 18, f"{end:g}", "end", faint=True)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `MAX_POINTS` of them, each the mean of neighbours; the ends keep their places."""
    count = len(points)
    if count <= MAX_POINTS:
        return list(points)
    groups = [
        points[at * count // MAX_POINTS : (at + 1) * count // MAX_POINTS]
        for at in range(MAX_POINTS)
    ]
    return [(some[-1][0], sum(value for _, value in some) / len(some)) for some in groups]


def _text(x: float, y: float, text: str, anchor: str, *, faint: bool = False) -> str:
    kind = ' class="faint"' if faint else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
