"""A notebook as Markdown: its text, its code, and the outputs that are committed with it.

Nothing runs. An output is shown as the first of `SHOWN` that it has; HTML is taken only where it
holds text, tables and pictures drawn in the page, because the site carries what it shows.
"""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from docs.site.markdown import fenced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SHOWN: Final = ("text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain")
"""The forms of an output, the best first."""

_PICTURES: Final[Mapping[str, str]] = {"image/svg+xml": "svg", "image/png": "png"}

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Colours of a terminal."""

_NOT_WORDS: Final = re.compile(r"[^\w .,:%-]")

_ELEMENTS: Final = frozenset(
    "a b br caption circle code colgroup col dd defs desc details div dl dt em figcaption figure g "
    "h1 h2 h3 h4 h5 h6 hr i kbd li line linearGradient lineargradient mark ol p path pattern "
    "polygon polyline pre rect small span stop strong style sub summary sup svg symbol table tbody "
    "td text tfoot th thead title tr tspan u ul use wbr clippath".split()
)

_FETCHES: Final = re.compile(r"@import|url\(\s*['\"]?(?!#)|\\\\", re.IGNORECASE)
"""In a style; a backslash could write any of it."""

_ADDRESSES: Final = frozenset({"href", "src", "srcset", "xlink:href", "action", "data", "poster"})


class BadNotebook(Exception):
    """A notebook that cannot be shown: the message names it and the cell."""


class Page(NamedTuple):
    """A notebook's page.

    Args:
        text: Markdown.
        files: the pictures beside the page, by name.
    """

    text: str
    files: Mapping[str, bytes]


def page(path: Path) -> Page:
    """The page of a notebook.

    Raises:
        BadNotebook: it is not one of version 4, has no heading, or an output holds active HTML.
    """
    files: dict[str, bytes] = {}
    try:
        cells = enumerate(json.loads(path.read_text())["cells"])
        parts = [part for at, cell in cells for part in _cell(f"{path.stem}-{at}", cell, files)]
    except (ValueError, TypeError, KeyError) as error:
        raise BadNotebook(f"{path.name}: not a notebook of version 4") from error
    if not parts or not parts[0].startswith("# "):
        raise BadNotebook(f"{path.name}: the first cell is no heading")
    return Page("\n\n".join(parts) + "\n", files)


def _cell(name: str, cell: Mapping[str, Any], files: dict[str, bytes]) -> Iterator[str]:
    source = _text(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
    elif cell["cell_type"] == "code" and source.strip():
        yield fenced(source, "python")
        for at, output in enumerate(cell["outputs"]):
            yield from _output(f"{name}-{at}", output, files)


def _output(name: str, output: Mapping[str, Any], files: dict[str, bytes]) -> Iterator[str]:
    match output["output_type"]:
        case "stream":
            yield _plain(_text(output["text"]))
        case "error":
            yield _plain(f"{output['ename']}: {output['evalue']}")
        case _:
            data = output["data"]
            form = next((form for form in SHOWN if form in data), None)
            if form is None:
                raise BadNotebook(f"{name}: an output has none of {', '.join(SHOWN)}")
            yield from _shown(name, form, _text(data[form]), data, files)


def _shown(
    name: str, form: str, text: str, data: Mapping[str, Any], files: dict[str, bytes]
) -> Iterator[str]:
    if form in _PICTURES:
        file = f"{name}.{_PICTURES[form]}"
        files[file] = base64.b64decode(text) if form == "image/png" else text.encode()
        described = _text(data.get("text/plain", "")).strip().partition("\n")[0] or "Output"
        yield f"![{_NOT_WORDS.sub('', described)}]({file})"
    elif form == "text/html":
        _check(name, text)
        inside = text.replace("`", "&#96;")
        yield f'```{{raw}} html\n<div class="notebook-output">\n{inside}\n</div>\n```'
    elif form == "text/markdown":
        yield text
    else:
        yield _plain(text)


def _plain(text: str) -> str:
    return f"```{{code-block}} text\n:class: notebook-output\n\n{_inside(text)}\n```"


def _inside(text: str) -> str:
    return _ESCAPES.sub("", text).replace("```", "`` `").rstrip()


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


class _Passive(HTMLParser):
    """Finds what a page must not carry: elements that act, handlers, what is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _ELEMENTS:
            self.active.append(f"<{tag}>")
        for name, value in attrs:
            allowed = ("#", "https://") if (tag, name) == ("a", "href") else ("#",)
            away = name in _ADDRESSES and not (value or "").startswith(allowed)
            if (
                name.startswith("on")
                or away
                or _FETCHES.search(value or "" if name == "style" else "")
            ):
                self.active.append(f"<{tag} {name}>")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style" and _FETCHES.search(data):
            self.active.append("<style>")


def _check(name: str, html: str) -> None:
    found = _Passive()
    found.feed(html)
    found.close()
    if found.active:
        raise BadNotebook(f"{name}: the output has {', '.join(sorted(set(found.active)))}")
