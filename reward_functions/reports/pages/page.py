"""A page as one document of HTML: no script, no network; for a phone and for print.

Its content policy allows the page's own style and nothing else, so that a string that was not
escaped would do nothing either. Colours follow the reader's light or dark, and are light in print.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts import drawing
from reward_functions.reports.pages.escaping import inline
from reward_functions.reports.pages.palette import variables
from reward_functions.reports.pages.sections import (
    Section,
    Warned,
    facts_html,
    section_html,
    sentence_html,
    warned_html,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

LONG: Final = 4
"""Sections from which on a page has a list of them above."""

STYLE: Final = (
    variables()
    + """
* { box-sizing: border-box; }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 64rem; margin: 0 auto; padding: 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; } p { max-width: 46rem; }
p.lead, p.note, caption { color: var(--faint); } p.note { font-size: .9rem; }
p.warning { border-left: 4px solid var(--b); padding-left: .8rem; }
a { color: var(--a); } nav ul { padding-left: 1.2rem; columns: 16rem; }
.wide { overflow-x: auto; max-width: 100%; margin: .8rem 0; }
:focus-visible { outline: 2px solid var(--a); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums;
  min-width: min(100%, 28rem); }
caption { text-align: left; padding: .3rem 0; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; min-width: 4rem; max-width: 30rem; overflow-wrap: break-word; }
th:first-child, td:first-child { padding-left: 0; min-width: 6rem; }
td:not(.number) { min-width: 7rem; }
.number { text-align: right; } td.number { white-space: nowrap; }
thead th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 500; }
dl { display: grid; grid-template-columns: fit-content(14rem) 1fr; gap: .1rem 1rem;
  margin: .4rem 0; }
dt { color: var(--faint); } dd { margin: 0; min-width: 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr));
  gap: 1.2rem 2rem; margin: .8rem 0 1.4rem; align-items: start; }
figure { margin: 0; max-width: 36rem; } figure.wide { grid-column: 1 / -1; max-width: none; }
figure svg { width: 100%; height: auto; display: block; }
article { border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; margin: .8rem 0; }
details { margin-top: .4rem; } summary { cursor: pointer; color: var(--a); }
pre { background: var(--panel); padding: .6rem .8rem; border-radius: 4px; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: .85rem; margin: .4rem 0; unicode-bidi: isolate; }
article p.note { margin: .4rem 0 0; }
@media (max-width: 40rem) { body { padding: 1rem; } dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; } table { font-size: .9rem; }
  th, td { padding: .35rem .4rem; max-width: 16rem; } }
@page { margin: 15mm; }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } nav { display: none; }
  h1, h2, h3, caption { break-after: avoid; } article, figure, tr { break-inside: avoid; }
  .wide { overflow: visible; } table { font-size: 8.5pt; }
  th, td { min-width: 0; overflow-wrap: anywhere; } td.number { white-space: normal; } }
"""
    + drawing.STYLE
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Args:
        title: its one heading of the first order.
        lead: one sentence below it that says what is shown; "" for none.
        warnings: what a reader must not overlook.
        facts: (name, value) pairs: of what, from where, when.
        sections: in the order in which they are read.
    """

    title: str
    lead: str = ""
    warnings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    sections: Sequence[Section] = ()

    def html(self) -> str:
        """The whole document."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        title = inline(self.title)
        yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
        yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        yield f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>"
        yield f"<h1>{title}</h1>"
        if self.lead:
            yield f'<p class="lead">{sentence_html(self.lead)}</p>'
        for warning in self.warnings:
            yield warned_html(Warned(warning))
        yield from facts_html(self.facts)
        if len(self.sections) >= LONG:
            yield from self._contents()
        for at, section in enumerate(self.sections, 1):
            yield from section_html(section, f"section-{at}")
        yield "</main>\n</body>\n</html>"

    def _contents(self) -> Iterator[str]:
        yield '<nav aria-label="Sections"><ul>'
        for at, section in enumerate(self.sections, 1):
            yield f'<li><a href="#section-{at}">{inline(section.title)}</a></li>'
        yield "</ul></nav>"
