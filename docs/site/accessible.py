"""What the theme's HTML lacks for a keyboard and a screen reader, mended when the build ends.

A row of `MENDED` is one rule of axe that the pages broke. A theme that mends it itself leaves a row
that finds nothing; nothing else depends on it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Mend(NamedTuple):
    """One repair.

    Args:
        rule: of axe.
        found: in the HTML of a page.
        instead: what replaces it.
    """

    rule: str
    found: re.Pattern[str]
    instead: str


MENDED: Final = (
    Mend(
        "aria-required-attr",
        re.compile(r'<p class="caption" role="heading">'),
        '<p class="caption" role="heading" aria-level="2">',
    ),
    Mend(
        "landmark-unique",
        re.compile(r'<aside class="sidebar-drawer">'),
        '<aside class="sidebar-drawer" aria-label="Pages">',
    ),
    Mend(
        "landmark-unique",
        re.compile(r'<aside class="(toc-drawer[^"]*)">'),
        r'<aside class="\1" aria-label="On this page">',
    ),
    Mend("scrollable-region-focusable", re.compile(r"<pre>"), '<pre tabindex="0">'),
    Mend(
        "scrollable-region-focusable",
        re.compile(r'<div class="(table-wrapper[^"]*)">'),
        r'<div class="\1" tabindex="0">',
    ),
    Mend(
        "empty-table-header",
        re.compile(r'<th class="([^"]*)"><p></p></th>'),
        r'<td class="\1"></td>',
    ),
    # A signature on several lines is a list of descriptions without terms.
    Mend(
        "definition-list", re.compile(r"(sig-paren\">\(</span>\s*)<dl>"), r'\1<span class="lines">'
    ),
    Mend("definition-list", re.compile(r"<dd>(<em class=\"sig-param)"), r'<span class="line">\1'),
    Mend("definition-list", re.compile(r"(</em>,?)</dd>"), r"\1</span>"),
    Mend("definition-list", re.compile(r"</dl>(\s*<span class=\"sig-paren\">\))"), r"</span>\1"),
    Mend(
        "page-has-heading-one",
        re.compile(r'<div id="search-results">'),
        '<h1>Search</h1>\n<div id="search-results">',
    ),
)


def mended(page: str) -> str:
    """A page of HTML with every rule of `MENDED` kept."""
    for mend in MENDED:
        page = mend.found.sub(mend.instead, page)
    return page


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", _mend_all)
    return {"parallel_write_safe": True}


def _mend_all(app: Sphinx, error: Exception | None) -> None:
    for path in Path(app.outdir).rglob("*.html") if error is None else ():
        path.write_text(mended(path.read_text()))
