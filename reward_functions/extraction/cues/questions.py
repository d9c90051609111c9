"""The words of a question that a sentence may repeat with its answer filled in, as patterns."""

from __future__ import annotations

import re
from typing import Final

ASKS: Final = re.compile(
    r"\b(?:how\s(?:many|much|long|far|fast|old|tall|high|deep|wide|heavy)|what|which|when)\b",
    re.IGNORECASE,
)
"""What makes a sentence of a prompt a question for a value."""

STOPS: Final = ".?!\n"
"""What ends a sentence of a prompt; in a number too, which leaves less to repeat."""

_UNIT: Final = r"[A-Za-zµμΩ°²³]{1,12}"
_COMPOUND: Final = rf"{_UNIT}(?:\^\{{?-?\d\}}?|[/*·]\(?{_UNIT}(?:\^\{{?-?\d\}}?)?\)?){{0,3}}"
VALUE: Final = re.compile(
    r"(?<![\w.,/])(?P<number>[-+−]?(?:\\?[$€£¥₹])?\d[\d.,/]*+(?:\s?\\?%)?)"
    rf"(?P<smaller>(?:\s?{_UNIT}(?:,?\sand)?\s\d{{1,4}}(?:\.\d{{1,6}})?){{1,2}}\s?{_UNIT})?"
    rf"(?:\s?(?P<unit>{_COMPOUND}))?(?![\w^])"
)
"""An amount: a number with the word behind it, or in several units, 3 h 45 min."""

_MONTH: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
DAY: Final = re.compile(
    r"(?:\bon\s(?:the\s|a\s)?)?(?:\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
    rf"|\b(?P<date>{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?:\sof)?\s{_MONTH}(?:,?\s\d{{4}})?)(?!\w))"
)
"""A day of the calendar."""

WHEN: Final = re.compile(
    r"\b(?:(?:on\s)?(?:which|what)\s(?:day|date)|when|what\sis\sthe\s(?:day|date))\b", re.IGNORECASE
)
"""What asks for one."""

WORD: Final = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")

FREE: Final = frozenset(
    "it she they he we there a an of in on at is be has have had will now so do does did"
    " are was were the its their his her this that these those our total all altogether"
    " exactly together also then with for".split()
)
"""Words of a sentence that the question need not have."""

CHANGING: Final = frozenset(
    "no not never none neither nor cannot without if unless or maybe perhaps possibly"
    " might may could would should more less fewer than over under about least most up"
    " twice half double triple another other first second third next previous additional"
    " extra short wrong if when while except before after each per times dozen".split()
)
"""Words that make another value of it, but where the question has them too."""

ENDINGS: Final = ("s", "ed", "ing", "e")
SHORTEST_STEM: Final = 3
"""Letters that are left of a word without its ending."""
