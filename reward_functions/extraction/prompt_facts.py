"""Read the words of a prompt: does a phrase or a condition of a response repeat it?"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.extraction.cues.clauses import FUNCTION_WORDS
from reward_functions.extraction.cues.compiling import words

if TYPE_CHECKING:
    from collections.abc import Sequence

TAIL: Final = 20_000
"""Characters at the end of a prompt that are compared: the question stands there."""

STEM: Final = 5
"""Letters of a word by which its forms are one: offer, offers, offered."""

CONTENT: Final = 3
"""Letters from which a word has content of its own, but for those of `FUNCTION_WORDS`."""

KEPT: Final = 64
"""Prompts that are kept as words: all responses of a group answer the same one."""

_SPACE: Final = re.compile(r"[\s${}\\]+")


class _Facts(NamedTuple):
    """The words of a prompt, pairs of neighbours, stems and numbers, and it without spaces."""

    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    items: frozenset[str]
    squeezed: str


@lru_cache(KEPT)
def _facts(tail: str) -> _Facts:
    found = words(tail)
    return _Facts(
        frozenset(found),
        frozenset(pairwise(found)),
        frozenset(_items(found)),
        _SPACE.sub("", tail.lower()),
    )


def _items(found: list[str]) -> list[str]:
    """The numbers, and the stems of the words with a content."""
    return [
        each[:STEM] if each.isalpha() else each
        for each in found
        if each[:1].isdigit()
        or (each.isalpha() and len(each) >= CONTENT and each not in FUNCTION_WORDS)
    ]


def states(prompt: str, condition: str) -> bool:
    """Whether a condition repeats facts of the prompt: all its numbers, and most of its words."""
    if not prompt or not condition:
        return False
    facts, bare = _facts(prompt[-TAIL:]), _SPACE.sub("", condition.lower())
    if any(map(str.isdigit, bare)) and bare in facts.squeezed:
        _, _, behind = facts.squeezed.partition(bare)
        return not behind[:1].isdigit()
    items = _items(words(condition))
    missing = [each for each in items if each not in facts.items]
    return (
        len(items) > 1
        and not any(each[0].isdigit() for each in missing)
        and len(missing) * 4 <= len(items)
    )


def asked(prompt: str, subjects: Sequence[str]) -> int | None:
    """The subject that a prompt asks for: the only one with a word of its own in it.

    "The minimum is 1 and the maximum is 9" gives two; "Find the maximum" asks for the second.
    """
    if not prompt:
        return None
    facts = _facts(prompt[-TAIL:])
    items = [frozenset(_items(words(subject))) for subject in subjects]
    own = [
        mine.difference(*items[:place], *items[place + 1 :]) & facts.items
        for place, mine in enumerate(items)
    ]
    found = [place for place, mine in enumerate(own) if mine]
    return found[0] if len(found) == 1 else None


def names(prompt: str, subject: str) -> bool:
    """Whether the prompt has all words of a subject that have a content, and there is one."""
    items = _items(words(subject))
    return bool(prompt and items) and _facts(prompt[-TAIL:]).items.issuperset(items)


def repeats(prompt: str, text: str, unlikely: frozenset[str], *, denying: bool = False) -> bool:
    """Whether each of some words that a text holds stands in the prompt too.

    Args:
        prompt: the question.
        text: a part of the response.
        unlikely: the words, and pairs of words.
        denying: whether they deny, so that each has to stand there before the same word.
    """
    pairs = [*pairwise([*words(text), ""])]
    found = [pair for pair in pairs if pair[0] in unlikely or " ".join(pair) in unlikely]
    if not found or not prompt:
        return not found
    facts = _facts(prompt[-TAIL:])
    if denying:
        return facts.pairs.issuperset(found)
    return facts.words.issuperset(word for word, _ in found)
