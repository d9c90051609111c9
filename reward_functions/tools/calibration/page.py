"""The card as one page of HTML: no script, no network, readable in the light and in the dark.

Its content policy allows the page's own style and nothing else. Every string of the card is
escaped: ids, paths and messages come from files.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from reward_functions.tools.calibration import plots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.tools.calibration.sheets import Card
    from reward_functions.tools.sheets import Sheet

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --faint: #5b6675; --line: #d6dbe2;
  --a: #1f5fbf; --b: #b4540a; --c: #3d7a2a; --people: #8a1f6a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --paper: #12161c; --faint: #9aa6b5;
  --line: #2c3542; --a: #7fb2ff; --b: #ffab66; --c: #93d67c; --people: #f08fd0; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
thead th { color: var(--faint); font-weight: 600; }
p.note { color: var(--faint); max-width: 46rem; }
p.warning { border-left: 4px solid var(--b); padding-left: .8rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
svg { width: 100%; max-width: 44rem; height: auto; display: block; margin: 1rem 0; }
svg text { fill: var(--ink); font-size: 12px; }
.grid { stroke: var(--line); } .people { stroke: var(--people); stroke-width: 3; }
.cell { fill: var(--a); stroke: var(--line); }
.s0, .s1, .s2 { fill: none; stroke-width: 2; opacity: .75; }
.s0 { stroke: var(--a); } .s1 { stroke: var(--b); } .s2 { stroke: var(--c); }
.m0 { fill: var(--a); } .m1 { fill: var(--b); } .m2 { fill: var(--c); }
"""

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page(card: Card) -> str:
    """The whole page."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Card) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(card.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    yield f"<h1>{escape(card.title)}</h1>"
    for warning in card.warnings:
        yield f'<p class="warning">{escape(warning)}</p>'
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in card.facts
    )
    yield f"<dl>{facts}</dl>"
    drawings = {
        "Agreement with the label": plots.agreement(card.figures),
        "Labels and ratings": plots.both(card.cases, card.figures),
        "Bias": plots.length(card.figures),
    }
    for sheet in card.sheets:
        yield f"<h2>{escape(sheet.title)}</h2>"
        yield drawings.get(sheet.title, "")
        yield from html_table(sheet)
    yield "</body>\n</html>"


def html_table(sheet: Sheet) -> Iterator[str]:
    """The lines of a table, its note below; every cell is escaped."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in sheet.heads)
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>"
    for first, *cells in sheet.rows:
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        yield f'<tr><th scope="row">{escape(first)}</th>{row}</tr>'
    yield "</tbody>\n</table>"
    if sheet.note:
        yield f'<p class="note">{escape(sheet.note)}</p>'
