"""The tiers that need no tree: the same string, the same words.

Quadrants in words: "first and third quadrants", "Quadrants I and III", "the 2nd quadrant".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.symbolic.expr.nodes import Braces, Clock, Date, Measured, NamedSet, Number
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.document import Document


QUADRANT: Final = "quadrant"
_NAMES: Final = {
    name: place
    for place, names in enumerate(
        ("first 1st 1 i one q1", "second 2nd 2 ii two q2", "third 3rd 3 iii three q3",
         "fourth 4th 4 iv four q4"), 1,
    )
    for name in names.split()
}  # fmt: skip
_FILLERS: Final = frozenset("the in of both quadrant quadrants and lies lie it they".split())
_IS_ONE: Final = re.compile(f"{QUADRANT}|象限")
_AND: Final = r"(?:,|及|land )"  # 、 和 与 have become these
_CHINESE: Final = re.compile(
    f"(?:位于|在)?第([一二三四](?:{_AND}第?[一二三四]){{0,3}})象限(?:{_AND}(?=第|位|在))?"
)
_WORD: Final = re.compile(r"[a-z]+\d?|\d(?:st|nd|rd|th)?")
_MARKS: Final = frozenset(" ,;&().")


def compare_quadrants(mine: Document, theirs: Document) -> Finding | None:
    """Whether two answers name the same quadrants, in any order; None where it is not about them.

    "Or" leaves open which quadrant it is, and is only equal to another "or".
    """
    if not any(_IS_ONE.search(each.words) for each in (mine, theirs)):
        return None
    named = _named(mine.words), _named(theirs.words)
    if None in named or mine.joints & {"or"} != theirs.joints & {"or"}:
        return None
    if named[0] == named[1]:
        return same("quadrants", "the same quadrants")
    return differ("quadrants", "other quadrants") if all(named) else unknown("words", "other words")


def _named(words: str) -> frozenset[int] | None:
    """The quadrants that a text names; None for a text that says anything else."""
    words = _CHINESE.sub(_in_english, words.lower())
    found = _WORD.findall(words)
    if not set(_WORD.sub("", words)) <= _MARKS:
        return None
    places = [_NAMES.get(word, 0) for word in found if word not in _FILLERS and word != "or"]
    return frozenset(places) if places and all(places) else None


def _in_english(named: re.Match[str]) -> str:
    places = (f"{'一二三四'.index(each) + 1}" for each in named[1] if each in "一二三四")
    return f" {QUADRANT} {' '.join(places)} "


def by_text(mine: Document, theirs: Document) -> Finding | None:
    """Whether two strings differ in spacing and style alone, or one is empty; None where not."""
    if mine.marks and mine.marks == theirs.marks:
        return same("normalised-text", "the same text but for spacing and style")
    if not theirs.marks and not mine.unreadable:
        return unknown("unreadable", theirs.trouble or "the answer is empty")
    return None


def by_words(mine: Document, theirs: Document) -> Finding | None:
    """Words are compared without regard to case; only numbers and sets in words are understood.

    None for mathematics on both sides.
    """
    if not mine.wordy and not theirs.wordy and mine.tree is not None:
        return None
    if (found := compare_quadrants(mine, theirs)) is not None:
        return found
    if mine.words and _ARTICLE.sub("", mine.words) == _ARTICLE.sub("", theirs.words):
        return same("words", "the same words")
    if len(mine.names) > 1 and mine.names == theirs.names and _joined_alike(mine, theirs):
        return same("words", "the same words in a list")
    if _in_words(mine) or _in_words(theirs):
        return None
    if any({mine.words, theirs.words} <= verdicts for verdicts in _OPPOSITES):
        return differ("words", "another word")
    return unknown("words", "the words differ")


_ARTICLE: Final = re.compile(r"^(?:an?|the) (?=[a-z]{2})")
_OPPOSITES: Final = tuple(
    frozenset(words.split())
    for words in ("yes no", "true false", "odd even neither", "always sometimes never")
)
"""Words that exclude each other. Other words may be two for one thing: grey and gray."""


def _joined_alike(mine: Document, theirs: Document) -> bool:
    """Whether two lists do not have "and" on one side, "or" on the other; a comma means either."""
    return not mine.joints or not theirs.joints or mine.joints == theirs.joints


def _in_words(document: Document) -> bool:
    """Whether words are a number, a time or name a set: twelve, noon, Tuesday, no solution."""
    tree = document.tree
    if isinstance(tree, Measured):
        tree = tree.body  # 一万四千人
    named = isinstance(tree, Number | NamedSet | Clock | Date) or tree == Braces(())
    return named and document.wordy
