"""Read a FinQA question: its scale, its direction, and whether it asks for a percentage.

Only the question is read. The filing around it is full of "(in millions)", which fixes nothing
about the answer.
"""

from __future__ import annotations

from typing import Final, Literal

from reward_functions.finqa import cues
from reward_functions.quantities.units import SCALES

MAX_QUESTION: Final = 2_000
"""Characters of a question that are read. The longest of the data set has about 300."""


def asked(prompt: str) -> str:
    """The question of a prompt; "" without one.

    It is the text after the last "Question:", else the last sentence with a question mark, else the
    last paragraph. Rows of a table, and a label that waits for the answer, are left out.
    """
    text = prompt[-MAX_QUESTION * 4 :]
    lines = [line.strip() for line in text.splitlines()]
    found = _labelled(lines) or _with_mark(lines) or _last_paragraph(lines)
    return found[-MAX_QUESTION:]


def _labelled(lines: list[str]) -> str:
    """What stands behind the last label: on its line, else on the next one that holds words."""
    for at in range(len(lines) - 1, -1, -1):
        lead = cues.QUESTION_LEAD.match(lines[at])
        if lead:
            rest = (lines[at][lead.end() :], *lines[at + 1 :])
            return next((line for line in rest if line), "")
    return ""


def _with_mark(lines: list[str]) -> str:
    """The last sentence that ends with a question mark."""
    for line in reversed(lines):
        if "?" in line:
            sentences = cues.SENTENCE_BREAK.split(line)
            asking = [each for each in sentences if each.rstrip("*_\"'”)] ").endswith("?")]
            if asking:
                return asking[-1]
    return ""


def _last_paragraph(lines: list[str]) -> str:
    paragraph: list[str] = []
    for line in reversed(lines):
        if not line and paragraph:
            break
        if line and not line.startswith("|") and not cues.WAITING_LABEL.fullmatch(line):
            paragraph.insert(0, line)
    return " ".join(paragraph)


def scale(question: str) -> int:
    """The scale in which the question counts ("in millions"): 1 where it names nothing."""
    named = list(cues.QUESTION_SCALE.finditer(question[:MAX_QUESTION]))
    if not named:
        return 1
    word = named[-1]["word"] or named[-1]["single"] or named[-1]["short"]
    return SCALES[word.lower()]


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
