"""What a page consists of, and each part as HTML; every string of data is escaped here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.drawing import Chart
from reward_functions.reports.pages.escaping import inline, quoted
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SENTENCE: Final = 2_000
"""Characters of a sentence of ours, which may name files and quote messages."""

CODE: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Warned:
    """A sentence that a reader must not overlook."""

    words: str


@dataclass(frozen=True, slots=True)
class Case:
    """One response among others: what there is to say of it, and its texts behind a click.

    Args:
        title: one line.
        facts: (name, value) pairs that are always seen.
        texts: (name, text) pairs that a click opens; a long text is shown by its two ends.
        tables: shown with the texts, such as a judge's decisions by criterion.
        quotations: (name, text) pairs that are always seen, on paper too.
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    texts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Sheet] = ()
    quotations: Sequence[tuple[str, str]] = ()


Part = str | Warned | Sheet | Chart | Case
"""A string is a paragraph. A table's title is left out where it is its section's."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it.

    Args:
        title: unlike that of every other section of the page.
        parts: in their order.
    """

    title: str
    parts: Sequence[Part]


def section_html(section: Section, anchor: str) -> Iterator[str]:
    """The lines of a section; charts that follow one another stand side by side."""
    yield f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{inline(section.title)}</h2>'
    beside = False
    for part in section.parts:
        if isinstance(part, Chart) is not beside:
            beside = not beside
            yield '<div class="charts">' if beside else "</div>"
        yield from _part_html(part, section.title)
    if beside:
        yield "</div>"
    yield "</section>"


def facts_html(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Names and values, one pair a line; nothing where there are none."""
    if facts:
        pairs = (
            f"<dt>{inline(name)}</dt><dd>{inline(value, SENTENCE)}</dd>" for name, value in facts
        )
        yield f"<dl>{''.join(pairs)}</dl>"


def warned_html(warning: Warned) -> str:
    """A paragraph with a stroke beside it."""
    return f'<p class="warning"><strong>Note.</strong> {sentence_html(warning.words)}</p>'


def table_html(sheet: Sheet, *, titled: bool) -> Iterator[str]:
    """The lines of a table, its note below. A wide one scrolls within itself.

    Args:
        sheet: the table.
        titled: whether its title is shown, as a caption.
    """
    numbers = set(sheet.numbers)
    kinds = ["", *(' class="number"' if head in numbers else "" for head in sheet.heads[1:])]
    heads = "".join(map(_head, sheet.heads, kinds))
    caption = f"<caption>{inline(sheet.title)}</caption>" if titled else ""
    yield f'<div class="wide" tabindex="0" role="group" aria-label="{inline(sheet.title)}">'
    yield f"<table>{caption}\n<thead><tr>{heads}</tr></thead>\n<tbody>"
    for first, *cells in sheet.rows:
        row = "".join(
            f"<td{kind}>{inline(cell)}</td>" for kind, cell in zip(kinds[1:], cells, strict=True)
        )
        yield f'<tr><th scope="row">{inline(first)}</th>{row}</tr>'
    yield "</tbody>\n</table>\n</div>"
    if sheet.note:
        yield f'<p class="note">{sentence_html(sheet.note)}</p>'


def sentence_html(words: str) -> str:
    """A sentence in which a command stands between backticks."""
    return CODE.sub(r"<code>\1</code>", inline(words, SENTENCE))


def _head(name: str, kind: str) -> str:
    """A column's name; a column without one has an empty cell, which is no heading."""
    return f'<th scope="col"{kind}>{inline(name)}</th>' if name else "<td></td>"


def _part_html(part: Part, title: str) -> Iterator[str]:
    match part:
        case Chart():
            yield part.html()
        case Sheet():
            yield from table_html(part, titled=part.title != title)
        case Case():
            yield from _case_html(part)
        case Warned():
            yield warned_html(part)
        case _:
            yield f"<p>{sentence_html(part)}</p>"


def _case_html(case: Case) -> Iterator[str]:
    yield f"<article>\n<h3>{inline(case.title)}</h3>"
    yield from facts_html(case.facts)
    for name, text in case.quotations:
        yield f'<p class="note">{inline(name)}</p>\n<pre>{quoted(text)}</pre>'
    for sheet in case.tables:
        yield from table_html(sheet, titled=True)
    for name, text in case.texts:
        yield f"<details><summary>{inline(name)}</summary><pre>{quoted(text)}</pre></details>"
    yield "</article>"
