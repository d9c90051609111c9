"""The results of a folder as files, for a bucket or a colleague: `index.html`, and a page of each.

Links are relative, nothing asks a server, and nothing is loaded. The first rows
are written, page after page; each page says how many there are. A page that lies in the folder gets
the policy of this project's pages above all that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import Together
from reward_functions.view.library import Library
from reward_functions.view.reading import UNREADABLE, unreadable
from reward_functions.view.row_index import SHOWN, Asked
from reward_functions.view.shown import (
    Links,
    ListAsked,
    entry_page,
    kit_policy,
    list_page,
    problem_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reward_functions.view.entries import Entry
    from reward_functions.view.samples import ScoredSamples

INDEX: Final = "index.html"
PAGES: Final = "pages"

MOST_ROWS: Final = 1_000
"""Rows of a result that are written."""


MARK: Final = '<meta name="generator" content="reward view --bundle">'
"""In the head of every file of a bundle. No other file is replaced or removed."""

MARKED: Final = 1_024
"""Bytes of a file within which it stands."""

STRICT: Final = (
    '<meta http-equiv="Content-Security-Policy" '
    f"content=\"{kit_policy()}; form-action 'none'; base-uri 'none'\">"
)
"""Above a page that lies in the folder, whose own policy may allow a script of somebody's."""


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
        html = list_page(listing, ListAsked(), links, folder.name or "/")
        files.opened(out / INDEX).write(_marked(html, MARK))
        written = {_file(entry.slug, 1) for entry in listing.entries}
        for entry in listing.entries:
            for name, html in _pages(library, entry, links):
                head = f"{MARK}\n{STRICT}" if entry.kind == "page" else MARK
                files.opened(out / PAGES / name).write(_marked(html, head))
                written.add(name)
    for old in (out / PAGES).glob("*.html"):
        if old.name not in written and _is_marked(old):
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
    found = sorted(out.iterdir())
    others = [each.name for each in found if each.name not in (INDEX, PAGES) or each.is_symlink()]
    if found and not others and not _is_marked(out / INDEX):
        others = [f"{each.name}, of no earlier bundle" for each in found]
    if others:
        raise ConfigurationError(f"--bundle {out} holds {others[0]}: name a folder of its own")


def _is_marked(path: Path) -> bool:
    """Whether a file is of a bundle."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as stream:
        return MARK.encode() in stream.read(MARKED)


def _marked(html: str, head: str) -> str:
    return html.replace("<head>", f"<head>\n{head}", 1)
