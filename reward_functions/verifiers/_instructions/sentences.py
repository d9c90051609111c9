"""How many sentences a text has: about as many as Punkt finds, without its data.

A sentence ends with a stop, an exclamation or a question mark before white space, and has a letter.
A stop behind an abbreviation, one letter or dots ends one only before a word that begins
sentences. A break of lines ends none, as with Punkt, which IFEval counts with. Unlike Punkt, the
number of a list and a lone mark are no sentences, and "e.g." ends none.

Source: Kiss and Strunk, Unsupervised Multilingual Sentence Boundary Detection, 2006.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

_END: Final = re.compile(r"[.!?।。！？؟]++[\"')\]}”’*_]*+")
_CLOSERS: Final = "\"')]}”’*_"
_OPENERS: Final = "\"'([{“‘*_"
_LETTER: Final = re.compile(r"[^\W\d_]")
_BEFORE: Final = 24
"""Characters that are looked at for the word before a stop, and for the one after it."""

ABBREVIATIONS: Final = frozenset(
    "mr mrs ms dr prof st sr jr gen col sgt capt lt rev hon gov sen rep vs inc ltd co corp u.s u.k"
    " a.m p.m jan feb mar apr aug sept oct nov dec e.g i.e ph.d d.c".split()
)
STARTERS: Final = frozenset(
    "the a an this that these those it he she they we you i in on at for but and however there when"
    " if as what his her their our my".split()
)


def sentence_count(text: str) -> int:
    """The sentences of a text. Linear."""
    count = start = 0
    for mark in _END.finditer(text):
        if _ends(text, mark.start(), mark.end()):
            count += _LETTER.search(text, start, mark.start()) is not None
            start = mark.end()  # also where there is no letter: none is looked for twice
    return count + (_LETTER.search(text, start) is not None)


def _ends(text: str, start: int, end: int) -> bool:
    """Whether the mark between two places ends a sentence."""
    if end == len(text) or text[start] > "\x7f":
        return True
    if not text[end].isspace():
        return False
    dots = text[start:end].rstrip(_CLOSERS)
    if dots.strip("."):
        return True
    least = max(0, start - _BEFORE)
    cut = max(text.rfind(" ", least, start), text.rfind("\n", least, start), least - 1)
    before = text[cut + 1 : start].lstrip(_OPENERS).casefold()
    known = before in ABBREVIATIONS or (len(before) == 1 and before.isalpha())
    if not known and len(dots) == 1:
        return True
    word = text[end : end + _BEFORE].split(maxsplit=1)[:1] or [" "]
    return word[0][0].isupper() and (not known or word[0].casefold() in STARTERS)
