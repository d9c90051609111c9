"""A candidate: a piece of a response in a form that answers have, and where it stands.

A response that is nothing but an answer: one short line, fenced or not.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from reward_functions.core import patterns as re

Kind = Literal[
    "box", "hash_marker", "statement", "math_span", "whole_response",
    "option", "first_line", "last_sentence",
]  # fmt: skip
"""The form. The last three are those of one verifier each."""

Mood = Literal["stated", "negated", "doubted"]


class Candidate(NamedTuple):
    """A find of one of the finders in this folder.

    Args:
        kind: its form.
        text: its source, without what makes the form: delimiters, a command, a sentence.
        start: where it begins, with that.
        end: where it ends, with that.
        boxes: how many boxes a run has, or items a statement; 0 where the last box is not closed.
        mood: of a statement: "negated" when its sentence denies it, "doubted" when what follows
            takes it back.
        rounded: whether a statement calls its value approximate.
        behind: of a statement that is the letter of a choice: what its line goes on to say.
        sentence: of a statement, its object as far as its sentence goes.
        condition: of a statement, what "if" after its value supposes.
    """  # a tuple, since making one costs a third of what a frozen dataclass does

    kind: Kind
    text: str
    start: int
    end: int
    boxes: int = 1
    mood: Mood = "stated"
    rounded: bool = False
    behind: str = ""
    sentence: str = ""
    condition: str = ""


MAX_LENGTH: Final = 200
"""Characters of a response that may be nothing but an answer."""

_FENCED: Final = re.compile(r"```\w{0,12}\n([^`\n]{1,200})\n```")


def whole_response(text: str) -> Candidate | None:
    """The response itself, when it is one short line; None when it is longer. It may be empty."""
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    if fenced:
        bare = fenced[1].strip()
    if len(bare) > MAX_LENGTH or "\n" in bare:
        return None
    return Candidate("whole_response", bare, 0, len(text))
