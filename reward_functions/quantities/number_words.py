"""Numbers in English words: "twelve", "twenty-one", "one hundred and five", "three quarters"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_HUNDRED: Final = 100
_ONES: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
_GROUPS: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS: Final = {
    name + ending: size
    for size, name in enumerate(
        "third quarter fifth sixth seventh eighth ninth tenth".split(), start=3
    )
    for ending in ("", "s")
} | {"half": 2, "halves": 2, "fourth": 4, "fourths": 4}
_WORD: Final = re.compile(r"[\s-]*+([A-Za-z]++)")

MAX_WORDS: Final = 24
"""Words of the longest number below a quadrillion, and a fraction after it."""


def cardinal(text: str) -> tuple[Fraction | None, str]:
    """The number in words that a string begins with, and the rest; else None and the string.

    A fraction is a number of parts ("two thirds") or "half". "A dozen", ordinals, and numbers of a
    quadrillion and more are not read.
    """
    matches = list(_leading_words(text))
    words = [match[1].lower() for match in matches]
    number, taken = _whole(words)
    part = words[taken] if taken < len(words) else ""
    if part == "half" and not taken:
        return Fraction(1, 2), text[matches[0].end() :]
    if part in _PARTS and number:
        return Fraction(number, _PARTS[part]), text[matches[taken].end() :]
    return (Fraction(number), text[matches[taken - 1].end() :]) if taken else (None, text)


def _leading_words(text: str) -> Iterator[re.Match[str]]:
    match = _WORD.match(text)
    for _ in range(MAX_WORDS):
        if match is None:
            return
        yield match
        match = _WORD.match(text, match.end())


def _whole(words: list[str]) -> tuple[int, int]:
    """The whole number a list of words begins with, and how many of them it takes."""
    total = group = taken = 0
    limit = 10**15
    for position, word in enumerate(words):
        if word == "and" and taken and group % 100 == 0:
            if words[position + 1 : position + 2] and words[position + 1] in _ONES | _TENS:
                continue
            break
        if word in _TENS and group % 100 == 0:
            group += _TENS[word]
        elif word in _ONES and _fits(_ONES[word], group, first=not taken):
            group += _ONES[word]
        elif word == "hundred" and 0 < group < _HUNDRED:
            group *= _HUNDRED
        elif word in _GROUPS and group and _GROUPS[word] < limit:
            limit = _GROUPS[word]
            total, group = total + group * limit, 0
        else:
            break
        taken = position + 1
    return total + group, taken


def _fits(ones: int, group: int, *, first: bool) -> bool:
    """Whether a word below twenty may follow: "twenty one" and "hundred one", not "ten one"."""
    if group % _HUNDRED == 0:
        return first or ones > 0
    return ones in range(1, 10) and group % 10 == 0 and group % _HUNDRED > 10  # noqa: PLR2004
