"""What a FinQA question fixes about its answer: scale, direction, and whether it is a percentage.

Only the question is read. The filing around it is full of "(in millions)", which fixes nothing
about the answer.
"""

from __future__ import annotations

from typing import Final, Literal

from reward_functions.finqa import cues

MAX_QUESTION: Final = 2_000
"""Characters of a question that are read. The longest of the data set has about 300."""


_SIZES: Final = {
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "mm": 10**6,
    "mn": 10**6,
    "bn": 10**9,
    "b": 10**9,
}


def asked(prompt: str) -> str:
    """The question of a prompt: its last line that holds one; "" where none does."""
    for line in reversed(prompt[-MAX_QUESTION * 4 :].splitlines()):
        lead = cues.QUESTION_LEAD.match(line)
        if lead or line.rstrip().endswith("?") or "? " in line:
            return line[lead.end() if lead else 0 :].strip()[-MAX_QUESTION:]
    return ""


def scale(question: str) -> int:
    """What the question counts in ("in millions"): 1 where it names nothing."""
    named = list(cues.QUESTION_SCALE.finditer(question[:MAX_QUESTION]))
    if not named:
        return 1
    word = named[-1]["word"] or named[-1]["single"] or named[-1]["short"]
    return _SIZES[word.lower()]


def direction(question: str) -> Literal["decrease"] | None:
    """Whether the question asks for a decrease: a decline, a reduction, a loss.

    It does not where it asks for a change or an increase as well ("increase or decrease"), or where
    the decrease is a circumstance ("considering the reduction of the rate, …").
    """
    question = question[:MAX_QUESTION]
    named = cues.ASKS_DECREASE.search(question)
    if (
        named is None
        or cues.ASKS_CHANGE.search(question)
        or cues.CIRCUMSTANCE.search(question[: named.start()])
    ):
        return None
    return "decrease"


def says_basis_points(question: str) -> bool:
    """Whether the question asks for basis points."""
    return cues.ASKS_BASIS_POINTS.search(question[:MAX_QUESTION]) is not None


def says_percent(question: str) -> bool:
    """Whether the question asks for a percentage or a rate of change."""
    return cues.ASKS_PERCENT.search(question[:MAX_QUESTION]) is not None
