"""Links to files of the repository lead to pages of the site, highlighted, with a number a line.

What a page links to and Sphinx does not know is looked for in the checkout: a file becomes a page
below `_source`, a folder a list of its files. Anything else is left to Sphinx, whose warning ends
the build. Addresses elsewhere are collected in `external-links.txt` and not fetched. The list of
pages for models goes beside the front page.
"""

from __future__ import annotations

import html
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.addnodes import pending_xref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

ROOT: Final = Path(__file__).parents[2]

FOLDER: Final = "_source"

LISTING: Final = "llms.txt"

FRONT: Final = (ROOT / "README.md", "index")
"""The one page whose name in the site is another."""

_FORMAT: Final = HtmlFormatter(lineanchors="L", anchorlinenos=True, linenos="inline", wrapcode=True)

POLICY: Final = (
    "default-src 'none'; base-uri 'none'; "
    "script-src 'self' file: 'unsafe-inline'; style-src 'self' file: 'unsafe-inline'; "
    "img-src 'self' file: data:; form-action 'self' file:"
)
"""What a page may load: what stands beside it, from a file or from the host that serves it."""

Context = dict[str, Any]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", _begin)
    app.connect("doctree-read", _link)
    app.connect("html-collect-pages", _pages)
    app.connect("html-page-context", _forbid_the_network)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


def _begin(app: Sphinx) -> None:
    app.repository_files = set()
    app.external_links = set()


def _link(app: Sphinx, doctree: nodes.document) -> None:
    """Every link of a page that leads to a file, to its page."""
    for link in list(doctree.findall(pending_xref)):
        target, _, fragment = link["reftarget"].partition("#")
        if link["reftype"] == "myst" and target and (page := _page_of(app, target)):
            here = app.env.docname
            uri = app.builder.get_relative_uri(here, page)
            text = link.children
            link.replace_self(
                nodes.reference(
                    "", "", *text, internal=True, refuri=f"{uri}#{fragment}" if fragment else uri
                )
            )
    for link in doctree.findall(nodes.reference):
        if "://" in link.get("refuri", ""):
            app.external_links.add(link["refuri"])


def _page_of(app: Sphinx, target: str) -> str | None:
    """The page of a file or a folder of the repository, named from the page that is read."""
    beside = (ROOT / app.env.docname).parent
    path = (beside / target).resolve()
    if path == FRONT[0]:
        return FRONT[1]
    if not path.exists() or ROOT not in path.parents:
        return None
    app.repository_files.add(path)
    return _name(path)


def _name(path: Path) -> str:
    return f"{FOLDER}/{path.relative_to(ROOT)}"


def _pages(app: Sphinx) -> Iterator[tuple[str, Context, str]]:
    """A page for each file and folder that is linked, and for each file of such a folder."""
    folders = {path for path in app.repository_files if path.is_dir()}
    inside = {path for folder in folders for path in _files(folder)}
    for path in sorted(app.repository_files | inside):
        title = str(path.relative_to(ROOT))
        body = _listed(path) if path in folders else _highlighted(path)
        heading = f'<h1 class="file"><code>{html.escape(title)}</code></h1>'
        yield _name(path), {"title": title, "body": heading + body}, "page.html"


def _files(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")
    )


def _listed(folder: Path) -> str:
    names = [html.escape(path.name) for path in _files(folder)]
    items = (f'<li><a href="{folder.name}/{name}.html">{name}</a></li>' for name in names)
    return f"<ul>{''.join(items)}</ul>"


def _highlighted(path: Path) -> str:
    text = path.read_text()
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return str(highlight(text, lexer, _FORMAT))


def _forbid_the_network(
    _app: Sphinx, _page: str, _template: str, context: Context, _doctree: nodes.document | None
) -> None:
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    context["metatags"] = policy + context.get("metatags", "")


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        lines = "".join(f"{link}\n" for link in sorted(app.external_links))
        (Path(app.outdir) / "external-links.txt").write_text(lines)
        shutil.copyfile(Path(app.srcdir) / LISTING, Path(app.outdir) / LISTING)
