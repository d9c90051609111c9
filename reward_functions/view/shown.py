"""The list and the pages as HTML: documents of the project's own kit, with forms and links in them.

Everything works without a script. A part of a document takes the place of a paragraph that holds
a token of this process alone, which no data can repeat.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

from reward_functions.reports.pages.charts.drawing import printable
from reward_functions.reports.pages.page import Markup, Page, Section, one_line
from reward_functions.view.entries import KINDS
from reward_functions.view.records import PageResult, RecordResult
from reward_functions.view.row_index import ORDERS, SHOWN, Asked
from reward_functions.view.rows import FULL, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from jinja2 import Template

    from reward_functions.view.entries import Entry
    from reward_functions.view.kinds import Result
    from reward_functions.view.library import ResultList
    from reward_functions.view.row_index import Chosen, RowIndex
    from reward_functions.view.rows import RowsResult

TEMPLATES: Final = Path(__file__).with_name("templates")

NAMED: Final = 12
"""Different rewards whose rows have a link each."""

OFFERED: Final = 100
"""Reasons that a browser offers."""

LISTED: Final = 200
"""Results of a page of the list."""

TYPED: Final = 200
"""Characters of a text that is looked for."""


@dataclass(frozen=True)
class Links(ABC):
    """Where pages are.

    Args:
        home: the list, seen from a page.
        first: the list, seen from itself.
        form: whether somebody answers what is asked.
        last: rows of a result that have a page; 0 for all.
    """

    home: str
    first: str
    form: bool
    last: int = 0

    @abstractmethod
    def page(self, slug: str, **asked: Any) -> str:
        """A result, seen from another one."""

    def listed(self, slug: str) -> str:
        """A result, seen from the list."""
        return self.page(slug)


@dataclass(frozen=True, slots=True)
class ListAsked:
    """Which results are shown.

    Args:
        kind: "" for every kind.
        text: what their name, reward or finding contains, in any case.
        sort: a name of `SORTS`; "-" before it for the other direction.
        page: from 1.
    """

    kind: str = ""
    text: str = ""
    sort: str = "name"
    page: int = 1


def _negative(count: int | None) -> int | None:
    return None if count is None else -count


SORTS: Final[Mapping[str, Callable[[Entry], Any]]] = {
    "name": lambda entry: entry.name.casefold(),
    "kind": lambda entry: entry.kind,
    "reward": lambda entry: entry.reward.casefold() or None,
    "rows": lambda entry: _negative(entry.facts.rows),
    "mean": lambda entry: entry.facts.mean,
    "unscored": lambda entry: _negative(entry.facts.unscored),
    "time": lambda entry: -entry.time,
    "finding": lambda entry: entry.facts.finding.casefold() or None,
}
"""By what the list is sorted: the most rows, the least mean, the most unscored, the newest.

A result that has none of it is last in both directions.
"""


class Column(NamedTuple):
    """A head of the list."""

    name: str
    number: bool
    address: str
    sorted: str


def list_asked(given: Mapping[str, str]) -> ListAsked:
    """The wish that the parameters of an address state; one that means nothing is left out."""
    sort = given.get("sort", "name")
    return ListAsked(
        kind=given["kind"] if given.get("kind") in KINDS else "",
        text=given.get("text", "")[:TYPED],
        sort=sort if sort.removeprefix("-") in SORTS else "name",
        page=_whole(given.get("page")),
    )


def rows_asked(given: Mapping[str, str]) -> Asked:
    """As `list_asked`, of rows."""
    sort = given.get("sort", "row")
    return Asked(
        low=_real(given.get("low"), -inf),
        high=_real(given.get("high"), inf),
        unscored=given.get("unscored") == "1",
        reason=given.get("reason", "")[:TYPED],
        text=given.get("text", "")[:TYPED],
        sort=sort if sort in ORDERS else "row",
        page=_whole(given.get("page")),
    )


def _real(text: str | None, otherwise: float) -> float:
    try:
        found = float(text or "")
    except ValueError:
        return otherwise
    return found if isfinite(found) else otherwise


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < NAMED else 1


def chosen_entries(listing: ResultList, asked: ListAsked) -> list[Entry]:
    """The results of a list that were asked for, sorted."""
    wanted = asked.text.casefold()
    found = [
        entry
        for entry in listing.entries
        if asked.kind in ("", entry.kind)
        and wanted in f"{entry.name}\n{entry.reward}\n{entry.facts.finding}".casefold()
    ]
    key = SORTS[asked.sort.removeprefix("-")]
    lacking = [entry for entry in found if key(entry) is None]
    known = [entry for entry in found if key(entry) is not None]
    return sorted(known, key=key, reverse=asked.sort.startswith("-")) + lacking


def list_page(listing: ResultList, asked: ListAsked, links: Links, title: str) -> str:
    """The list as a document."""
    found = chosen_entries(listing, asked)
    pages = max(1, -(-len(found) // LISTED)) if links.form else 1
    at = min(asked.page, pages)
    shown = found[(at - 1) * LISTED : at * LISTED] if links.form else found
    every = len(listing.entries)
    words = "1 result" if every == 1 else f"{every:,} results"
    lead = f"{words}." if len(found) == every else f"{len(found):,} of {words}."
    lacking = sum(bool(entry.facts.unscored) for entry in found)
    if lacking:  # the worst first, as on the pages of the results
        lead = f"Rows without a reward: in {lacking:,}. {lead}"
    if not every:
        lead = (
            "No result is here yet: `reward score -o FILE` or `reward audit --out FILE` writes one."
        )
    address = _list_address(links, asked)
    body = _markup(
        "list.html",
        asked=asked,
        columns=_columns(asked, links, address),
        form=links.form and every,
        home=links.first,
        kinds=[(kind, sum(each.kind == kind for each in listing.entries)) for kind in KINDS],
        pages=_pager(at, pages, lambda page: address(page=page)),
        rows=[_row(entry, links) for entry in shown],
        sorts=[*SORTS, *(f"-{name}" for name in SORTS)],
    )
    page = Page(
        f"Results of {one_line(title, 120)}",
        lead,
        warnings=listing.notes,
        sections=[Section("Results", [body])] if every else (),
    )
    return dressed(page.html())


def _list_address(links: Links, asked: ListAsked) -> Callable[..., str]:
    def address(**other: Any) -> str:
        wanted = replace(asked, **{"page": 1, **other})
        usual = ListAsked()
        query = {
            name: getattr(wanted, name)
            for name in ("kind", "text", "sort", "page")
            if getattr(wanted, name) != getattr(usual, name)
        }
        return f"{links.first}?{urlencode(query)}" if query else links.first

    return address


def _columns(asked: ListAsked, links: Links, address: Callable[..., str]) -> list[Column]:
    names = {
        "result": "name",
        "kind": "kind",
        "reward": "reward",
        "rows": "rows",
        "mean": "mean",
        "unscored": "unscored",
        "changed": "time",
        "worst finding": "finding",
    }
    found = []
    for title, name in names.items():
        here = asked.sort.removeprefix("-") == name
        other = f"-{name}" if asked.sort == name else name
        state = ("descending" if asked.sort.startswith("-") else "ascending") if here else ""
        where = address(sort=other) if links.form else ""
        # Without a server the page's own script sorts, from the order of the file on.
        found.append(Column(title, name in ("rows", "mean", "unscored"), where, where and state))
    return found


def _row(entry: Entry, links: Links) -> dict[str, Any]:
    facts = entry.facts
    return {
        "address": links.listed(entry.slug),
        "name": entry.name,
        "kind": entry.kind,
        "reward": entry.reward,
        "numbers": (
            "" if facts.rows is None else f"{facts.rows:,}",
            "" if facts.mean is None else f"{facts.mean:.4g}",
            "" if facts.unscored is None else f"{facts.unscored:,}",
        ),
        "time": moment_of(entry.time),
        "progress": facts.progress,
        "finding": facts.finding,
    }


def moment_of(seconds: float) -> str:
    """A time to the minute."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _pager(at: int, pages: int, address: Callable[[int], str]) -> list[tuple[str, str]]:
    """Links to other pages, each once, the first and the last among them."""
    named = {"first": 1, "previous": at - 1, "next": at + 1, "last": pages}
    return [
        (f"{words} ({page:,})", address(page))
        for words, page in named.items()
        if 1 <= page <= pages and page != at
    ]


def entry_page(
    entry: Entry, result: Result, asked: Asked, links: Links, *, whole: bool | None = None
) -> str:
    """The page of a result.

    Args:
        entry: of the list.
        result: the same, read.
        asked: which rows are shown.
        links: where other pages are.
        whole: whether all figures are worked out; None for those that take no seconds.

    Raises:
        UNREADABLE: it is not what its beginning said.
    """
    if isinstance(result, PageResult):
        return dressed(result.text(), _bar(links, []))
    if isinstance(result, RecordResult):
        return dressed(result.page().html(), _bar(links, []))
    index = result.index
    first = asked.everything and asked.page == 1
    figures = len(index) <= FULL if whole is None else whole
    page = result.figures(whole=figures) if first else _rows_alone(entry)
    others = []
    if links.form and not first:
        others = [("Its figures", links.page(entry.slug))]
    elif links.form and not figures and entry.kind in ("rollouts", "trajectories"):
        others = [("All figures", links.page(entry.slug, figures=1))]
    chosen = index.chosen(asked, texts_of)
    address = _rows_address(links, entry.slug, asked)
    most = -(-links.last // SHOWN) or chosen.pages
    pages = _pager(chosen.page, min(most, chosen.pages), lambda number: address(page=number))
    cases = [result.case(at) for at in chosen.rows]
    if entry.facts.progress:
        words = f"{entry.facts.progress[:1].upper()}{entry.facts.progress[1:]}."
        page = replace(page, warnings=[words, *page.warnings])
    own = _own_pages(entry, result, chosen, links)
    form = _rows_form(index, chosen, asked, links=links, entry=entry, own=own)
    below = [_markup("pages.html", pages=pages)] if pages else []
    rows = Section("Rows", [form, *cases, *below])
    page = replace(page, sections=[*page.sections, rows])
    return dressed(page.html(), _bar(links, others))


def _rows_alone(entry: Entry) -> Page:
    """What stands above rows that were asked for: no figure, which would be of all of them."""
    return Page(f"Rows of {one_line(entry.name, 90)}")


def row_page(result: Result, at: int, entry: Entry, links: Links) -> str | None:
    """The page of a row, by its position from 0; None where it has none.

    Raises:
        UNREADABLE: it is not there any more.
    """
    page = None if isinstance(result, RecordResult | PageResult) else result.own_page(at)
    if page is None:
        return None
    return dressed(page.html(), _bar(links, [(entry.name, links.page(entry.slug))]))


def problem_page(words: str, links: Links) -> str:
    """A page that says why something is not shown."""
    page = Page("This cannot be shown", failures=[f"{words}."])
    return dressed(page.html(), _bar(links, []))


def _own_pages(
    entry: Entry, result: RowsResult, chosen: Chosen, links: Links
) -> list[tuple[str, str]]:
    """Links to the pages of the rows that are shown."""
    if entry.kind != "trajectories" or not links.form:
        return []
    return [
        (one_line(result.case(at).title, 60), links.page(entry.slug, row=at + 1))
        for at in chosen.rows
    ]


def _rows_address(links: Links, slug: str, asked: Asked) -> Callable[..., str]:
    def address(**other: Any) -> str:
        wanted, usual = replace(asked, **{"page": 1, **other}), Asked()
        query = {
            name: getattr(wanted, name)
            for name in Asked.__slots__
            if getattr(wanted, name) != getattr(usual, name)
        }
        if "unscored" in query:
            query["unscored"] = 1
        return links.page(slug, **query) + ("#rows" if links.form else "")

    return address


def _rows_form(
    index: RowIndex,
    chosen: Chosen,
    asked: Asked,
    *,
    links: Links,
    entry: Entry,
    own: Sequence[tuple[str, str]],
) -> Markup:
    slug, kind = entry.slug, entry.kind
    address = _rows_address(links, slug, asked)
    return _markup(
        "rows.html",
        action=links.page(slug),
        asked=asked,
        form=links.form,
        high="" if asked.high == inf else repr(asked.high),
        links=[*(_by_reward(index, address) if links.form else ()), *own],
        low="" if asked.low == -inf else repr(asked.low),
        orders=list(zip(ORDERS, ("row", "reward, lowest first", "highest first"), strict=True)),
        reasons=[each.reason for each in index.reasons[:OFFERED] if each.reason],
        searched="Id, answer or reason" if kind in ("scores", "run") else "Text",
        sentence=_counted(len(index), chosen, asked, last=links.last),
    )


def _counted(rows: int, chosen: Chosen, asked: Asked, *, last: int) -> str:
    """Which rows are shown, of how many; and whether further ones are shown nowhere."""
    if not chosen.rows:
        return "No row was asked for." if asked.everything else "No row has what was asked for."
    first = (chosen.page - 1) * SHOWN + 1
    end = first + len(chosen.rows) - 1
    words = f"Rows {first:,} to {end:,} of {chosen.found:,}"
    if end == last < rows:
        return f"{words}. Further rows are not in this bundle."
    return f"{words}." if asked.everything else f"{words} that were asked for, of {rows:,}."


def _by_reward(index: RowIndex, address: Callable[..., str]) -> Iterator[tuple[str, str]]:
    """A link to the rows of each reward, where rewards are few, and to those without."""
    counted = sorted(Counter(index.rewards()).items())
    if len(counted) <= NAMED:
        for value, rows in counted:
            yield f"{value:.4g} ({rows:,})", address(low=value, high=value, unscored=False)
    if unscored := len(index) - sum(rows for _, rows in counted):
        yield f"without a reward ({unscored:,})", address(low=-inf, high=inf, unscored=True)


def _bar(links: Links, others: Iterable[tuple[str, str]]) -> str:
    return _rendered("bar.html", home=links.home, others=list(others))


_POLICY: Final = re.compile(r'Content-Security-Policy" content="([^"]++)"')


def kit_policy() -> str:
    """The content policy that this project's pages state of themselves."""
    found = _POLICY.search(Page("").html())
    assert found is not None, "every page states one"
    return found[1]


_BODY: Final = re.compile(r"<body[^<>]*+>")


def dressed(document: str, bar: str = "") -> str:
    """A document of the kit with the viewer's style.

    Args:
        document: whole; a page that lies in the folder, too.
        bar: HTML above everything.
    """
    style = (TEMPLATES / "view.css").read_text(encoding="utf-8")
    document = document.replace("</head>", f"<style>{style}</style>\n</head>", 1)
    return _BODY.sub(lambda found: f"{found[0]}\n{bar}", document, count=1) if bar else document


def _rendered(name: str, **given: Any) -> str:
    return _template(name).render(**given)


def _markup(name: str, **given: Any) -> Markup:
    return Markup(_rendered(name, **given))


@cache
def _template(name: str) -> Template:
    from jinja2 import (  # noqa: PLC0415 - who shows nothing does not wait for it
        Environment,
        FileSystemLoader,
        StrictUndefined,
    )

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["line"] = printable
    return made.get_template(name)
