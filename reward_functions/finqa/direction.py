"""The sign that words give a value: "a decrease of 12%", "12% lower", "negative 12"."""

from __future__ import annotations

from typing import Final

from reward_functions.finqa import cues
from reward_functions.finqa.value import NoValue, Sign, Value

REACH: Final = 120
"""Characters before a value in which a direction may be named."""


def directed(value: Value, lead: str, tail: str, comments: list[str]) -> Value | NoValue:
    """The value with the sign that the words around it give it."""
    word = direction_before(lead) or _direction_behind(tail)
    for comment in comments:
        word = word or _direction_behind(comment)
    if not word:
        return value
    if value.sign and value.sign != word:
        return NoValue("finqa-contradicting-sign", "its sign contradicts its direction")
    return value._replace(value=-abs(value.value) if word == "-" else value.value, sign=word)


def direction_before(lead: str) -> Sign:
    """The direction of "a decrease of", "fell by", "the decline in sales was", "negative"."""
    last = None
    for match in cues.DIRECTION.finditer(lead[-REACH:]):
        last = match
    if last is None:
        return ""
    gap = lead[-REACH:][last.end() :]
    if cues.NEGATIVE.search(lead):
        return "-"
    if cues.ADJACENT.fullmatch(gap):
        return "-" if last["down"] or last["loss"] else "+" if last["up"] else ""
    return "-" if last["down"] and cues.STATED_OF.search(gap) else ""


def _direction_behind(tail: str) -> Sign:
    """The direction of "12% lower", "12 (a decrease)", "45 branches fewer"."""
    match = cues.DIRECTION_BEHIND.match(tail) or cues.DIRECTION_AFTER_NOUN.match(tail)
    return "" if match is None else "+" if match["up"] else "-"


def with_sign_of(value: Value, other: Value) -> Value:
    """A second rendering may leave the sign out: "-12.5% (12.5%)"."""
    if value.value < 0 and not other.sign:
        return other._replace(value=-other.value, sign=value.sign)
    return other if other.sign else other._replace(sign=value.sign)
