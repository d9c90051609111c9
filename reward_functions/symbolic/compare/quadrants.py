"""Quadrants in words: "first and third quadrants", "Quadrants I and III", "the 2nd quadrant"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
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
_CHINESE: Final = re.compile("(?:位于|在)?第([一二三四])象限")
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
    return f" {QUADRANT} {'一二三四'.index(named[1]) + 1} "
