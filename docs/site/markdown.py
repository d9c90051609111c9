"""Strings in Markdown that show as they are: what they hold is never markup."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_CODE: Final = re.compile(r"(`+[^`]*`+)")


def visible(text: str) -> str:
    r"""Control, invisible and bidirectional characters as escapes such as `\u202e`."""
    return "".join(
        character
        if character in "\n\t" or unicodedata.category(character)[0] != "C"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def fenced(text: str, language: str = "text") -> str:
    """A block of code, whatever backticks it holds."""
    fence = "`" * max(3, 1 + _longest_run(text))
    return f"{fence}{language}\n{visible(text).rstrip()}\n{fence}"


def code(text: str) -> str:
    """A span of code on one line, whatever backticks it holds."""
    fence = "`" * (1 + _longest_run(text))
    pad = " " if not text.strip() or "`" in (text[0], text[-1]) else ""
    return f"{fence}{pad}{visible(text.replace(chr(10), ' ')) or ' '}{pad}{fence}"


def prose(text: str) -> str:
    """Text of a docstring or of a help: its code spans stay, and what looks like a tag is none."""
    parts = _CODE.split(visible(text))
    return "".join(
        part if at % 2 else re.sub(r"([<*\[\]])", r"\\\1", part) for at, part in enumerate(parts)
    )


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; cells are Markdown."""
    heads = list(columns)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def toctree(pages: Iterable[str], caption: str = "", *, shorten: str = "") -> str:
    """The place of pages in the sidebar.

    Args:
        pages: by their names from the top of the site.
        caption: a heading above them.
        shorten: what titles leave out of the ends of these names; else the pages have their own.
    """
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    entries = (
        f"{page.rpartition('/')[2].removeprefix(shorten)} </{page}>" if shorten else f"/{page}"
        for page in pages
    )
    return "\n".join(["```{toctree}", *options, "", *entries, "```"])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
