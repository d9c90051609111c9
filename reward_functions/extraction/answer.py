"""The result of extraction: the final answer of a response as written, or why it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from reward_functions.extraction.candidates.candidate import Kind

_WHERE: Final[dict[Kind, str]] = {
    "box": "the last box",
    "hash_marker": "the last ####",
    "statement": "the stated answer",
    "math_span": "the last mathematical span",
    "whole_response": "the whole response",
    "option": "the option picked",
    "first_line": "the first line",
    "last_sentence": "the last sentence",
}


UNCLOSED_BOX: Final = "the last box is never closed"
"""The reason of a response whose last box is cut off."""


class Answer(NamedTuple):
    """A final answer as it was written.

    Attributes:
        kind: the form it was found in.
        text: its source.
        conflicting_answer: a later answer, which may contradict it; "" without one.
        tail: a unit, scale word or percent sign right after it, "" without one; whether the two
            read as one is the caller's to try.
        boxes: how many boxes a run has.
        behind: what the line of a stated letter goes on to say, such as the text of its choice.
        sentence: of a statement, its object as far as its sentence goes.
    """

    kind: Kind
    text: str
    conflicting_answer: str = ""
    tail: str = ""
    boxes: int = 1
    behind: str = ""
    sentence: str = ""

    @property
    def where(self) -> str:
        """How it was found, in a few words."""
        return f"the last {self.boxes} boxes" if self.boxes > 1 else _WHERE[self.kind]


class NoAnswer(NamedTuple):
    """Why a response has no final answer.

    Attributes:
        reason: one clause.
        rule: the id of the rule that says so (`reports.rules`).
    """

    reason: str
    rule: str = "no-answer"
