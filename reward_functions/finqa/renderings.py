"""Tell the numbers of an answer that render its value again from those that are its context.

The sign that words give a value: "a decrease of 12%", "12% lower", "negative 12".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.extraction.cues.compiling import says
from reward_functions.finqa import cues
from reward_functions.finqa.syntax import NoValue, Sign, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.finqa.numbers import Number


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


def further_renderings(text: str, found: list[Number], at: int) -> list[Value]:
    """The numbers that are no context of the value: further renderings, or conflicting values."""
    others = _conflicting_numbers(text, found, at)
    return [
        number.value._replace(value=-number.value.value, sign="-")
        if not number.value.sign and direction_before(text[: number.start]) == "-"
        else number.value
        for number in others
    ]


def _conflicting_numbers(text: str, found: list[Number], at: int) -> Iterator[Number]:
    last: Number | None = None
    compared = False
    for index, number in enumerate(found):
        gap = text[last.end if last else 0 : number.start]
        listed = last is not None and last.year and "," in gap
        joined = bool(last) and not listed and cues.CONNECTOR.fullmatch(gap) is not None
        if index == at:
            compared = False
        elif says(gap, cues.OR):
            yield number
        elif says(gap, cues.COMPARATOR) or _is_new_level(text, found, at, index):
            compared = True
        elif number.year:
            dated = last is not None and last.year and joined
            if not (dated or compared or index < at or cues.PREPOSITION.search(gap)):
                yield number
        elif not _is_context(gap, joined=joined and compared, before=index < at):
            yield number
        last = number


def _is_new_level(text: str, found: list[Number], at: int, index: int) -> bool:
    """Whether a number is what the value led to: "decreased by 5% to 95"."""
    return (
        index == at + 1
        and cues.NEW_LEVEL.fullmatch(text, found[at].end, found[index].start) is not None
        and cues.CHANGED_BY.search(text[: found[at].start]) is not None
    )


def _is_context(gap: str, *, joined: bool, before: bool) -> bool:
    """Whether the words before a number say that it is compared with, counted of, or given."""
    if joined:
        return True
    placed = cues.SUBJECT if before else cues.PREPOSITION
    return placed.search(gap) is not None and not says(gap, cues.LISTED)
