"""The results of a folder as files, for a bucket or a colleague: `index.html`, and a page of each.

Links are relative, nothing asks a server, and nothing is loaded. The first rows
are written, page after page; each page says how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import Together
from reward_functions.view.library import Library
from reward_functions.view.reading import UNREADABLE, unreadable
from reward_functions.view.row_index import SHOWN, Asked
from reward_functions.view.shown import Links, ListAsked, entry_page, list_page, problem_page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reward_functions.view.entries import Entry
    from reward_functions.view.samples import ScoredSamples

INDEX: Final = "index.html"
PAGES: Final = "pages"

MOST_ROWS: Final = 1_000
"""Rows of a result that are written."""


@dataclass(frozen=True)
class BundledLinks(Links):
    """Addresses among the files of a bundle."""

    home: str = f"../{INDEX}"
    first: str = INDEX
    form: bool = False
    last: int = MOST_ROWS

    def page(self, slug: str, **asked: Any) -> str:
        """As `Links` says; of what may be asked, a page of rows alone."""
        return _file(slug, int(asked.get("page", 1)))

    def listed(self, slug: str) -> str:
        """As `Links` says."""
        return f"{PAGES}/{_file(slug, 1)}"


def _file(slug: str, page: int) -> str:
    return f"{slug}.html" if page == 1 else f"{slug}-{page}.html"


def write_bundle(
    folder: Path, out: Path, rows: int = MOST_ROWS, samples: ScoredSamples | None = None
) -> int:
    """Write a bundle, all of it or nothing.

    Args:
        folder: whose results are written.
        out: of the bundle: a new folder, an empty one, or that of an earlier bundle, whose pages
            are replaced.
        rows: of a result that are written, at least 1.
        samples: what was scored, whose texts stand beside the scores.

    Returns:
        how many results it holds.

    Raises:
        NoFolder: the folder cannot be listed.
        ConfigurationError: `out` holds something else.
        OSError: it cannot be written.
    """
    _require_own(out)
    library = Library(folder, [out], samples)
    links = BundledLinks(last=rows)
    listing = library.listing()
    with Together() as files:
        files.folder(out / PAGES)
        files.opened(out / INDEX).write(list_page(listing, ListAsked(), links, folder.name or "/"))
        written = {_file(entry.slug, 1) for entry in listing.entries}
        for entry in listing.entries:
            for name, html in _pages(library, entry, links):
                files.opened(out / PAGES / name).write(html)
                written.add(name)
    for old in (out / PAGES).glob("*.html"):
        if old.name not in written:
            old.unlink(missing_ok=True)
    return len(listing.entries)


def _pages(library: Library, entry: Entry, links: BundledLinks) -> Iterator[tuple[str, str]]:
    """The file and the document of each page of a result."""
    try:
        found, result = library.opened(entry.slug)
        yield _file(entry.slug, 1), entry_page(found, result, Asked(), links, whole=True)
        rows = 0 if result.index is None else min(links.last, len(result.index))
        for page in range(2, -(-rows // SHOWN) + 1):
            html = entry_page(found, result, Asked(page=page), links, whole=True)
            yield _file(entry.slug, page), html
    except UNREADABLE as error:
        yield _file(entry.slug, 1), problem_page(unreadable(error), links)


def _require_own(out: Path) -> None:
    """Refuse a folder that holds something else.

    Raises:
        ConfigurationError: it does.
        OSError: it cannot be listed.
    """
    if not out.exists():
        return
    names = {each.name for each in out.iterdir()}
    if names - {INDEX, PAGES}:
        other = min(names - {INDEX, PAGES})
        raise ConfigurationError(f"--bundle {out} holds {other}: name a folder of its own")
