"""Which further numbers of an answer render its value again, and which are its context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.extraction.cues.compiling import says
from reward_functions.finqa import cues
from reward_functions.finqa.direction import direction_before

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.finqa.numbers import Number
    from reward_functions.finqa.value import Value


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
