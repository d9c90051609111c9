"""The answers of a replay, kind by kind, written as they are asked for: all at once they are many.

Each is made of the right answer to its row, of a wrong one, of the prompt, and of the table of
`other_answers`.
"""

from __future__ import annotations

from collections import Counter
from itertools import cycle, islice, takewhile
from typing import TYPE_CHECKING, Final

from reward_functions.audit.other_answers import OTHER_KINDS, ReplayCase

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    Answers = Callable[[], Iterator[tuple[ReplayCase, str]]]

RIGHT: Final = "right"
WRONG: Final = "wrong"
FORM_ALONE: Final = "the form alone"
PROMPT: Final = "the prompt again"
EMPTY: Final = "empty"
CONSTANT: Final = "always the most frequent"

ORDER: Final = (
    RIGHT,
    WRONG,
    EMPTY,
    "right, then wrong",
    "one or the other",
    "thought right, answered wrong",
    "thought right, cut off",
    FORM_ALONE,
    "many answers",
    PROMPT,
    *OTHER_KINDS,
    CONSTANT,
)
"""The kinds, in the order of the report."""

MANY: Final = 20
"""Answers of a response that lists them."""


def answers_of(cases: Sequence[ReplayCase]) -> dict[str, Answers]:
    """What writes the answers of each kind, each answer with its row, as often as it is called."""
    many = "\n".join(islice(dict.fromkeys(case.right for case in cases), MANY))
    most = Counter(case.right for case in cases).most_common(1)
    form = _form({case.right for case in cases})
    of_all: dict[str, Callable[[ReplayCase], str]] = {
        RIGHT: lambda case: case.right,
        EMPTY: lambda _: "",
        "thought right, cut off": lambda case: f"<think>\n{case.right.replace('</think>', '')}",
        PROMPT: lambda case: case.sample.prompt,
        CONSTANT: lambda _: most[0][0],
    }
    of_two: dict[str, Callable[[ReplayCase], str]] = {
        WRONG: lambda case: f"{case.wrong}",
        "right, then wrong": lambda case: f"{case.right}\n{case.wrong}",
        "one or the other": lambda case: f"{case.right} or {case.wrong}",
        "thought right, answered wrong": lambda case: f"<think>{case.right}</think>\n{case.wrong}",
        "many answers": lambda case: f"{many}\n{case.right}\n{case.wrong}",
    }
    if form:
        of_all[FORM_ALONE] = lambda _: form
    paired = [case for case in cases if case.wrong is not None]
    kinds = {kind: _each(cases, write) for kind, write in of_all.items()}
    if paired:
        kinds |= {kind: _each(paired, write) for kind, write in of_two.items()}
    for kind, ways in OTHER_KINDS.items():
        if written := _in_turn(cases, ways):
            kinds[kind] = written
    return {kind: kinds[kind] for kind in ORDER if kind in kinds}


def _each(cases: Sequence[ReplayCase], write: Callable[[ReplayCase], str]) -> Answers:
    return lambda: ((case, write(case)) for case in cases)


def _in_turn(
    cases: Sequence[ReplayCase], ways: Callable[[ReplayCase], Sequence[str]]
) -> Answers | None:
    """One way for each row, and each way for a row, where there are more ways than rows."""
    counts = [len(ways(case)) for case in cases]
    able = [case for case, count in zip(cases, counts, strict=True) if count]
    if not able:
        return None
    wanted = max(len(able), *counts)

    def written() -> Iterator[tuple[ReplayCase, str]]:
        for at, case in zip(range(wanted), cycle(able), strict=False):
            found = ways(case)
            yield case, found[at % len(found)]

    return written


def _form(rights: Collection[str]) -> str:
    """What right answers begin and end with, without a letter or digit of theirs; "" for nothing.

    The first words of an answer belong to it: what all begin with is cut behind its last sign.
    """
    if len(rights) < 2:  # noqa: PLR2004 - one answer has no form apart from it
        return ""
    begin, end = _beginning(rights), _beginning([right[::-1] for right in rights])[::-1]
    while begin[-1:].isalnum():
        begin = begin[:-1]
    while end[:1].isalnum():
        end = end[1:]
    return "" if (begin + end).isspace() else begin + end


def _beginning(texts: Collection[str]) -> str:
    """What all of them begin with: what the first and the last in order do."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(min(texts), max(texts), strict=False))
    return "".join(char for char, _ in pairs)
