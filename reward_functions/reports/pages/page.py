"""A page as one document of HTML: no network; for a phone and for print.

Its template escapes every string. Its content policy allows the page's own style and one script,
by its hash. The script sorts and filters what is there; without it the page shows everything.
Colours follow the reader's light or dark, and are light in print.

A page begins with its worst finding. `Kind` has the order: what failed, labels that say otherwise,
rows without a score, reasons, truncation.

Texts of data cut to the room that a page has for them, measured as the page writes them.

An ampersand takes five bytes of a page and a character that does not print up to ten, so that a
hostile text of few characters can be a long one. A longer text is shown by its two ends.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from reward_functions.reports.pages.charts import drawing
from reward_functions.reports.pages.charts.drawing import Chart, printable
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jinja2 import Template

LONG: Final = 4
"""Sections from which on a page has a list of them above."""

SENTENCE: Final = 2_000
"""Characters of a sentence of ours, which may name files and quote messages."""

QUOTED: Final = 4_000
"""Characters of a quotation; a longer one is shown by its beginning and its end."""

KEPT: Final = "\n\t"
"""What does not print and is kept in a quotation."""

TEMPLATES: Final = Path(__file__).parents[1] / "templates"

CODE: Final = re.compile(r"`([^`]+)`")


Kind = Literal["failed", "labels", "unscored", "reasons", "truncation", "other"]
"""What a finding is about, the worst first."""


@dataclass(frozen=True, slots=True)
class Concern:
    """A finding about what a page shows.

    Args:
        kind: places it among the others.
        words: one sentence.
        section: the title of the section that shows it, for a link; "" for none.
    """

    kind: Kind
    words: str
    section: str = ""


def worst_first(concerns: Iterable[Concern]) -> list[Concern]:
    """Concerns in the order of their kinds; those of one kind stay in their order."""
    order = get_args(Kind)
    return sorted(concerns, key=lambda each: order.index(each.kind))


@dataclass(frozen=True, slots=True)
class Warned:
    """A sentence that a reader must not overlook."""

    words: str


@dataclass(frozen=True, slots=True)
class Case:
    """One response among others: the facts about it, and its texts, opened by a click.

    Args:
        title: one line.
        facts: (name, value) pairs that are always seen.
        texts: (name, text) pairs that a click opens; a long text is shown by its two ends.
        tables: shown with the texts, such as a judge's decisions by criterion.
        quotations: (name, text) pairs that are always seen, on paper too.
        anchor: the id by which links find it, unique on the page; "" for none.
        links: (words, anchor) pairs that lead to other places of the page.
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    texts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Sheet] = ()
    quotations: Sequence[tuple[str, str]] = ()
    anchor: str = ""
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """The rows that a bar of a chart stands for: a table that a link finds.

    Args:
        sheet: of the rows.
        anchor: the id by which links find it, unique on the page.
        links: for each row the anchor of its case; "" for a row without one. Empty for no links.
    """

    sheet: Sheet
    anchor: str
    links: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Cases that are compared, such as the responses to one prompt: columns where there is room.

    Args:
        title: one line.
        cases: in their order.
        anchor: the id by which links find it, unique on the page; "" for none.
        note: a sentence below the title; "" for none.
        texts: (name, text) pairs that all cases share and a click opens, such as the prompt.
    """

    title: str
    cases: Sequence[Case]
    anchor: str = ""
    note: str = ""
    texts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML of our own code, which has escaped every text of data in it."""

    html: str


Part = str | Warned | Sheet | Chart | Case | Listed | SideBySide | Markup
"""A string is a paragraph. A table's title is left out where it is its section's."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it; charts that follow one another stand side by side.

    Args:
        title: unlike that of every other section of the page.
        parts: in their order.
    """

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Args:
        title: its one heading of the first order.
        lead: one sentence of figures, below the worst finding; "" for none.
        warnings: what a reader must not overlook.
        facts: (name, value) pairs: of what, from where, when.
        sections: in the order in which they are read.
        failures: why something failed, above the warnings.
        concerns: findings; the worst stands first on the page, the others below the lead.
        style: rules of CSS for its `Markup`, beside those of every page.
    """

    title: str
    lead: str = ""
    warnings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    sections: Sequence[Section] = ()
    failures: Sequence[str] = ()
    concerns: Sequence[Concern] = ()
    style: str = ""

    def html(self) -> str:
        """The whole document."""
        sections = {each.title: f"section-{at}" for at, each in enumerate(self.sections, 1)}
        found = [(each, sections.get(each.section, "")) for each in worst_first(self.concerns)]
        return _template().render(page=self, found=found)


@cache
def script() -> str:
    """The one script of a page: it sorts and filters what the page shows."""
    return (TEMPLATES / "page.js").read_text(encoding="utf-8")


@cache
def policy() -> str:
    """The content policy of a page: its own style, its one script, and no network."""
    digest = b64encode(sha256(script().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def quoted(text: str, limit: int = QUOTED) -> str:
    """The whole string, or its beginning and its end with what was left out; no HTML yet."""
    if len(text) <= limit:
        return printable(text, limit, KEPT)
    half = limit // 2
    left_out = f"\n… {len(text) - 2 * half:,} characters left out …\n"
    return left_out.join(printable(end, half, KEPT) for end in (text[:half], text[-half:]))


def _pieces(words: str) -> list[str]:
    """A sentence of ours; every second piece is a command that stood between backticks."""
    return CODE.split(printable(words, SENTENCE))


def _named(text: str) -> str:
    """The name of a row; a dash where data gives it none, as a name without words names nothing."""
    return printable(text) if text.strip() else "–"


def _runs(parts: Sequence[Part]) -> list[tuple[str, list[Part]]]:
    """Parts that follow one another and are of one kind, by its name."""
    return [(kind, list(run)) for kind, run in groupby(parts, lambda part: type(part).__name__)]


@cache
def _template() -> Template:
    from jinja2 import (  # noqa: PLC0415 - only who writes a page waits for it
        Environment,
        FileSystemLoader,
        StrictUndefined,
    )

    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "line": printable,
        "named": _named,
        "pieces": _pieces,
        "quoted": quoted,
        "runs": _runs,
    }
    templates.globals |= {
        "LONG": LONG,
        "SENTENCE": SENTENCE,
        "charts": drawing.STYLE,
        "colours": drawing.variables(),
        "paired": partial(zip, strict=True),
        "policy": policy(),
        "script": script(),
    }
    return templates.get_template("page.html")


NOTE: Final = 60
"""Characters that say how much is left out."""

LINE: Final = 180
"""Characters of a line at most: the kit cuts a longer title."""

LAST: Final = 200
"""Characters of the end of a text."""


def excerpt(text: str, room: int) -> str:
    """A text, or its two ends and how much is left out, that takes about `room` bytes of a page."""
    return _cut(text, min(QUOTED - NOTE, room), room, quoted, "\n… {:,} characters left out …\n")


def ending(text: str, room: int) -> str:
    """The last characters of a text, where its answer is likely to be; a short text as a whole."""
    size = LAST
    while len(escape(quoted(text[-size:])).encode("utf-8", "replace")) > room and size > 1:
        size //= 2
    return text if len(text) <= size else f"… {text[-size:]}"


def one_line(text: str, room: int = LINE) -> str:
    """The same on one line, its spaces as one."""
    near = text if len(text) <= 4 * room else f"{text[: 2 * room]} … {text[-2 * room :]}"
    return _cut(" ".join(near.split()), min(LINE, room), room, printable, " … ")


def _cut(text: str, size: int, room: int, shown_as: Callable[[str], str], note: str) -> str:
    while True:
        shown = text
        if len(text) > size:
            half = size // 2
            shown = text[:half] + note.format(len(text) - 2 * half) + text[len(text) - half :]
        wide = len(escape(shown_as(shown)).encode("utf-8", "replace"))
        if wide <= room + NOTE or size < 2:  # noqa: PLR2004 - nothing is left to leave out
            return shown
        size = min(size - 1, size * room // wide)
