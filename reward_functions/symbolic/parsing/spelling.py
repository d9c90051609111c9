r"""One spelling for strings that differ in signs of typesetting: `$(2,3)$`, `\left(2,3\right)`.

Cheaper than reading. Two strings of one spelling here have the same tokens; two of different
spellings may have them as well.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from reward_functions.core import patterns as re
from reward_functions.symbolic.parsing.document import read

KEPT: Final = 512
"""Strings whose spellings are kept: all responses of a group meet one reference."""

LONGEST: Final = 200
"""Characters of a string that is spelled; longer ones are read."""

_SPACE: Final = re.compile(
    r"(?<=[(\[{+=]) (?=[\w\\-])|(?<=[)\]}]) (?=[+=\\-])"
    r"|(?<=\w) (?=[()\[\]{}+=\\-])|(?<=-) (?=[\w\\(])"
)
_READ: Final = ("*", "\\begin", "\\$", "\\\\", "\\ ")
"""Signs beside which spaces, dollar signs and the ends of commands may mean something."""
_FRACTION: Final = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_SIZE: Final = re.compile(r"\\(?:left|right)(?=[()\[\]])")


def spelling(text: str) -> str:
    """A string without its delimiters, sizes and needless spaces; "" for one that must be read."""
    return _spelling(text) if len(text) <= LONGEST else ""


def same_spelling(first: str, second: str) -> bool:
    """Whether two strings are known to have the same tokens, without reading them."""
    return (known := spelling(first)) != "" and known == spelling(second)


def undelimited(text: str) -> str:
    """A string without the dollar signs around the whole of it."""
    if text.startswith("$") and text.endswith("$") and text.count("$") == 2:  # noqa: PLR2004
        return text[1:-1].strip()
    return text


@lru_cache(KEPT)
def _spelling(text: str) -> str:
    if not any(map(str.isalnum, text)) or any(map(text.__contains__, _READ)):
        return ""
    text = undelimited(text)
    if "\\" in text:
        text = _SIZE.sub("", _FRACTION.sub(r"\\frac", text))
    return _SPACE.sub("", text) if " " in text else text


class Unread:
    """A string that is only read when somebody asks what it looks like."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        """The mathematics in one notation."""
        return str(read(self.text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unread) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)
