"""The value in a last sentence that is the question with its answer filled in.

"How many bits pass?" is answered by "Thus 24,000 bits pass.", and "How long does it take?" by "It
takes 3 h 45 min.". Such a sentence repeats the question, but for one value.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from reward_functions.extraction.cues import questions as words
from reward_functions.extraction.cues.clauses import DOUBTED
from reward_functions.extraction.cues.compiling import says

LONGEST: Final = 200
"""Characters of such a sentence."""

TAIL: Final = 2_000
"""Characters at the end of a prompt in which its last question stands."""

MANY: Final = 2
"""Questions from which on a sentence asks for several values."""

KEPT: Final = 64
"""Prompts whose question is kept: all responses of a group answer the same one."""

STEM: Final = 5
"""Letters of a word by which its forms are one: weigh, weighs, weighed."""


def echoed_value(sentence: str, prompt: str) -> str:
    """The value of a sentence that repeats the prompt's question; "" of any other sentence.

    Args:
        sentence: without its full stop, and without what it concludes with.
        prompt: the question.
    """
    asked = _asked(prompt[-TAIL:]) if 0 < len(sentence) <= LONGEST else None
    if asked is None or "=" in sentence or sentence.count("$") > 1 or "\\" in sentence:
        return ""
    if says(sentence, DOUBTED):
        return ""
    return _amount(sentence, asked.stems) or (_day(sentence, asked.stems) if asked.day else "")


class _Question:
    """What a question says: the stems of its words, and whether it asks for a day."""

    def __init__(self, text: str) -> None:
        self.stems = frozenset(map(_stem, words.WORD.findall(text.lower())))
        self.day = words.WHEN.search(text) is not None


@lru_cache(KEPT)
def _asked(tail: str) -> _Question | None:
    """The last question of a prompt, where it asks for a value."""
    end = tail.rfind("?")
    start = max(tail.rfind(stop, 0, end) for stop in words.STOPS) + 1
    last = tail[start : end + 1]
    one = last.lower().count("how ") < MANY
    return _Question(last) if one and words.ASKS.search(last) else None


def _amount(sentence: str, asked: frozenset[str]) -> str:
    found = list(words.VALUE.finditer(sentence))
    if len(found) != 1:
        return ""
    value = found[0]
    rest = sentence[: value.start()] + " " + sentence[value.end() :]
    unit = value["unit"] or ""
    if not value["smaller"] and unit.lower() in words.CHANGING | words.FREE:
        rest, unit = f"{rest} {unit}", ""
    if not _repeats(rest, asked):
        return ""
    if value["smaller"]:
        return value[0]
    return f"{value['number']} {unit}".rstrip()


def _day(sentence: str, asked: frozenset[str]) -> str:
    found = list(words.DAY.finditer(sentence))
    if len(found) != 1 or any(map(str.isdigit, words.DAY.sub("", sentence))):
        return ""
    if not _repeats(words.DAY.sub(" ", sentence), asked):
        return ""
    return rf"\text{{{found[0]['weekday'] or found[0]['date']}}}"


def _repeats(rest: str, asked: frozenset[str]) -> bool:
    """Whether all words of a text but those without weight stand in a question; one has to."""
    found = words.WORD.findall(rest.lower())
    if any(word in words.CHANGING and _stem(word) not in asked for word in found):
        return False
    heavy = [_stem(word) for word in found if word not in words.FREE]
    marks = words.WORD.sub("", rest).strip(" ,*_")
    return bool(heavy) and not marks and asked.issuperset(heavy)


def _stem(word: str) -> str:
    for ending in words.ENDINGS:
        if len(word) >= len(ending) + words.SHORTEST_STEM:
            word = word.removesuffix(ending)
    return word[:STEM]
