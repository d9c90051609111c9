"""The list of all pages in the form of llmstxt.org: a title, a summary, a line for each page.

`docs/llms.txt` lists the repository's files. The site has one beside its front page, which lists
what a browser opens, the generated reference with it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from docs.site import notebooks
from docs.site.navigation import FRONT, ROOT, SECTIONS, MissingPage, pages_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME: Final = "llms.txt"

MOST: Final = 240
"""Characters of a page's line, where its first sentence has no more."""

_LEFT_OUT: Final = re.compile(r"^(```|~~~).*?^\1[`~]*$|<!--.*?-->", re.DOTALL | re.MULTILINE)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")
_NO_PROSE: Final = ("#", "|", ">", "- ", "!", "    ")


def of_the_repository() -> str:
    """The list of the files of the repository, each named from `docs`.

    Raises:
        MissingPage: the navigation names a page that is not there.
    """

    def address(page: str) -> str:
        return os.path.relpath(_file(page), ROOT / "docs")

    return listing(_text, address, lambda page: not page.startswith("reference/"))


def listing(
    text_of: Callable[[str], str],
    address_of: Callable[[str], str],
    listed: Callable[[str], bool] = lambda _: True,
) -> str:
    """A list of the pages of the navigation, by its sections.

    Args:
        text_of: the Markdown of a page, by its name in the navigation.
        address_of: what its line links to.
        listed: whether it has a line.
    """
    front = text_of(FRONT)
    parts = [f"# {title(front)}\n\n> {summary(front)}"]
    for section in SECTIONS:
        lines = [
            f"- [{title(text)}]({address_of(page)}): {summary(text)}"
            for page in pages_of(section)
            if listed(page)
            for text in (text_of(page),)
        ]
        parts.append("\n".join([f"## {section.caption}\n", *lines]))
    return "\n\n".join(parts) + "\n"


def title(text: str) -> str:
    """The first heading of a page, without its marks."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return _plain(found[1]) if found else ""


def summary(text: str) -> str:
    """The first paragraph of a page on one line: its first sentence, and more up to `MOST`.

    Code, headings, tables, quotations, lists and pictures are passed over; "" where a page has
    nothing else.
    """
    for block in re.split(r"\n\s*\n", _LEFT_OUT.sub("\n\n", text)):
        if block.strip() and not block.startswith(_NO_PROSE):
            first, *others = _SENTENCE.split(_plain(block))
            for other in others:
                if len(first) + 1 + len(other) > MOST or other.endswith(":"):
                    break
                first = f"{first} {other}"
            return first
    return ""


def _plain(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).replace("**", "").split())


def _file(page: str) -> Path:
    """A page's file.

    Raises:
        MissingPage: it has none.
    """
    for ending in (".md", ".ipynb"):
        if (file := ROOT / f"{page}{ending}").exists():
            return file
    raise MissingPage(f"docs/site/navigation.py names {page}, which is not there")


def _text(page: str) -> str:
    file = _file(page)
    return notebooks.page(file).text if file.suffix == ".ipynb" else file.read_text()
