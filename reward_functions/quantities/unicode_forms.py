"""One spelling for what looks the same: invisible characters, spaces, dashes, digits.

Every function here maps a string to a string, keeps plain ASCII as it is for the price of
one check, and is linear.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

from reward_functions.core import patterns as re

MAX_WORD: Final = 200
"""Characters of a word that are put in canonical form. Ordering a run of combining marks takes time
quadratic in its length (10 s for 120,000 of them); no word of any language has more."""


def folded(text: str, *, ignore_case: bool = True) -> str:
    """A string for comparison as a whole: canonical Unicode (NFC), single spaces, no margins.

    Args:
        text: any string. Words of more than `MAX_WORD` characters keep the form they have.
        ignore_case: fold the case of every letter as well.
    """
    words = visible(text).split()
    if not text.isascii():
        words = [unicodedata.normalize("NFC", word[:MAX_WORD]) + word[MAX_WORD:] for word in words]
    folded_text = " ".join(words)
    return folded_text.casefold() if ignore_case else folded_text


def canonical_text(text: str) -> str:
    """A string in canonical form (NFC), white space kept; the end of a long word stays as it is."""
    if text.isascii():
        return text
    words = text.split(" ")
    return " ".join(
        unicodedata.normalize("NFC", word[:MAX_WORD]) + word[MAX_WORD:] for word in words
    )


def visible(text: str) -> str:
    """The string without the characters nobody sees.

    It drops zero-width characters, soft hyphens, bidirectional controls, variation selectors and
    the tag characters of plane 14, all of which hide text from a reader and show it to a program.
    It drops the fillers of Hangul's syllables and NUL too. Hangul's and Braille's blanks are
    spaces.
    """
    if text.isascii() and "\0" not in text:
        return text
    rare = text.encode("utf-8", "surrogatepass").translate(None, _SEEN)
    beyond = rare.decode("utf-8", "surrogatepass")
    return text.translate(_INVISIBLE) if any(look(beyond) for look in _LOOKS) else text


_SEEN: Final = bytes(range(1, 128))
"""Taken out as bytes first: a pattern takes ten times as long for each."""

_FURTHER: Final = 1 << 16
_INVISIBLE: Final = dict.fromkeys(
    [
        0x00,
        0xAD,
        0x034F,
        0x061C,
        0x180E,
        *range(0x115F, 0x1161),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        0xFEFF,
        *range(0xE0000, 0xE0080),
        *range(0xE0100, 0xE01F0),
    ]
) | dict.fromkeys((0x2800, 0x3164, 0xFFA0), " ")
_LOOKS: Final = (
    re.compile(f"[{''.join(chr(code) for code in _INVISIBLE if code < _FURTHER)}]").search,
    re.compile("[\U000e0000-\U000e01ff]").search,
)
"""What finds them in an eighth of the time that taking them out takes. Apart, because a set of
characters is a table only where all are of the first plane."""


def half_width(text: str) -> str:
    """The string with the ASCII twins of full-width forms: （１）： is (1):.

    Those that LaTeX or Markdown reads as commands stay: ％ opens no comment, and ～ is a dash. All
    are looked for as bytes, at a fiftieth of the price of a set.
    """
    if text.isascii():
        return text
    seen = text.encode("utf-8", "surrogatepass")
    if b"\xef\xbc" not in seen and b"\xef\xbd" not in seen:
        return text
    for wide in set(_WIDE.findall(text)):
        text = text.replace(wide, chr(ord(wide) - _TWIN))
    return text


_WIDE: Final = re.compile("[！＂＇-［］｀-ｚ｜]")
_TWIN: Final = ord("！") - ord("!")


def typeset(text: str) -> str:
    """One ASCII spelling for typographic characters that mean the same in an answer.

    Dashes used as a minus, spaces of every width, full-width forms and the digits of every script.
    Superscripts and circled digits stay: `²` is not 2.
    """
    if text.isascii():
        return text
    return text.translate(_typography())


_MARKS: Final = str.maketrans(
    {
        "−": "-",
        "–": "-",
        "—": "-",
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "﹣": "-",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "。": ".",
        "،": ",",
        "、": ",",
        "⁄": "/",
        "∕": "/",
        "\u2126": "Ω",  # the sign of the ohm
        "\u212b": "Å",  # the sign of the angstrom
    }
)


@cache
def _typography() -> dict[int, str | None]:
    """The table of `typeset`. Ten milliseconds, spent when the first text needs it.

    A plain dictionary on purpose: `str.translate` looks characters up in C, so that a hostile text
    of a million different characters costs no more than a dull one.
    """
    digits = {
        code: str(value)
        for code in range(0x80, 0x1FC00)
        if (value := unicodedata.decimal(chr(code), None)) is not None
    }
    spaces = dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
    full_width = {
        code: unicodedata.normalize("NFKC", chr(code))
        for code in range(0xFF01, 0xFFE7)
        if unicodedata.east_asian_width(chr(code)) == "F"
    }
    return {**full_width, **digits, **spaces, **_MARKS, **_INVISIBLE}
