"""Numbers in words: "twelve", "one hundred and five", "three quarters", 一百零五, 三分之二.

English is read here word by word, Chinese by its characters.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re

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
GROUPS: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
"""What stands behind the hundreds, tens and ones of a large number."""
_PARTS: Final = {
    name + ending: size
    for size, name in enumerate(
        "third quarter fifth sixth seventh eighth ninth tenth".split(), start=3
    )
    for ending in ("", "s")
} | {"half": 2, "halves": 2, "fourth": 4, "fourths": 4}
_WORD: Final = re.compile(r"[\s-]*+([A-Za-z]++)")

_DIGITS: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
_MYRIADS: Final = (("亿", 10**8), ("万", 10**4), ("", 1))
_ANY: Final = "[一二两三四五六七八九]"
_LAST: Final = "[一二三四五六七八九]"
_TENS_OF: Final = rf"{_ANY}?十{_LAST}?"
_BELOW: Final = rf"百(?:零{_LAST}|{_TENS_OF})?"
_GROUP: Final = re.compile(
    rf"(?P<thousands>{_ANY}千(?:零(?:{_TENS_OF}|{_LAST})|{_ANY}{_BELOW})?)"
    rf"|{_ANY}{_BELOW}|{_TENS_OF}|{_ANY}"
)
"""A number below 10,000. 零 stands for the places left out: 一百零五 is 105, 一百五 is not read."""

_SIGNS: Final = f"[{''.join((*_DIGITS, *_PLACES, '万亿'))}]{{1,20}}"
_CHINESE: Final = re.compile(
    rf"(?P<minus>负?)(?:(?P<half>一半)|(?P<under>{_SIGNS})分之(?P<over>{_SIGNS})|(?P<whole>{_SIGNS}))"
)

_AFTER: Final = frozenset("个只条张本人名位种次件块天年岁组对层页题辆棵米元秒") | {""}
"""What may stand behind a number in characters, and makes no other word of it, as 三角 would."""

_COUNTED: Final = re.compile("[个只条张本名种件块辆棵匹支枝朵座台瓶盒袋箱包][一-鿿]{1,3}")
"""The same with a noun behind the counter: 三本书. A word of another kind has no such counter."""

MAX_WORDS: Final = 24
"""Words of the longest number below a quadrillion, and a fraction after it."""


def cardinal(text: str) -> tuple[Fraction | None, str]:
    """The number in words that a string begins with, and the rest; else None and the string.

    A fraction is a number of parts ("two thirds") or "half". "A dozen", ordinals, and numbers of a
    quadrillion and more are not read. Behind Chinese characters stands a counter at most.
    """
    if not text.isascii() and (chinese := _CHINESE.match(text)):
        value, rest = _in_chinese(chinese), text[chinese.end() :]
        behind = rest.strip()
        counts = behind in _AFTER or _COUNTED.fullmatch(behind) is not None
        return (value, rest) if value is not None and counts else (None, text)
    matches = list(_leading_words(text))
    words = [match[1].lower() for match in matches]
    number, taken = _whole(words)
    part = words[taken] if taken < len(words) else ""
    if part == "half" and not taken:
        return Fraction(1, 2), text[matches[0].end() :]
    if part in _PARTS and number:
        return Fraction(number, _PARTS[part]), text[matches[taken].end() :]
    return (Fraction(number), text[matches[taken - 1].end() :]) if taken else (None, text)


def _in_chinese(found: re.Match[str]) -> Fraction | None:
    over, under = (
        (1, 2)
        if found["half"]
        else (
            _of_characters(found["over"] or found["whole"]),
            _of_characters(found["under"] or "一"),
        )
    )
    if over is None or not under:
        return None
    return Fraction(-over if found["minus"] else over, under)


def _of_characters(signs: str) -> int | None:
    """The whole number of Chinese characters; None where they make none, as 一二 and 十百 do."""
    if signs == "零":
        return 0
    total = 0
    first = True
    for myriad, size in _MYRIADS:
        group, found, rest = signs.partition(myriad) if myriad else (signs, signs, "")
        if not found:
            continue
        read = _GROUP.fullmatch(group if first else group.removeprefix("零"))
        if not read or not (first or group.startswith("零") or read["thousands"]):
            return None
        total += size * _below_myriad(read[0])
        signs, first = rest, False
    return total


def _below_myriad(group: str) -> int:
    total, digit = 0, 0
    for sign in group:
        if sign in _PLACES:
            total, digit = total + (digit or 1) * _PLACES[sign], 0
        else:
            digit = _DIGITS[sign]
    return total + digit


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
        elif word in GROUPS and group and GROUPS[word] < limit:
            limit = GROUPS[word]
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
