r"""The notations of one number: 3/4, 0.75, 75 %, 6:8, 0.\overline{3}, 45°, 1011_2, 3·10^8, 3 1/2.

A question that asks for another notation of a number is handed back by an answer that keeps it.
"""

from __future__ import annotations

from string import digits
from typing import Final

from reward_functions.symbolic.expr.nodes import Based, Degrees, Node, Number, Percent, Ratio
from reward_functions.symbolic.parsing.bases import LETTERS_ABOVE
from reward_functions.symbolic.parsing.document import read

_REPEATING: Final = (r"\overline", r"\bar", r"\dot")
_MARKED: Final = (
    ("repeating", _REPEATING),
    ("power", ("10^", *(f"{digit}e" for digit in digits))),
    ("mixed", ("frac", "/")),
    ("point", (".",)),
    ("whole", tuple(digits)),
)
"""What is in the text of a plain number of a notation; the first that is found names it."""

_TEN: Final = 10
_LAYOUT: Final = (r"\left", r"\right", r"\,", r"\!", r"\ ", "{", "}", " ", "$")


def converted(answer: str, other: str) -> bool:
    """Whether two texts write one number in one notation, or are the same text."""
    if _squeezed(answer) == _squeezed(other):
        return True
    mine, theirs = read(answer).tree, read(other).tree
    if mine is None or theirs is None or (mine != theirs and not _same_number(mine, theirs)):
        return False
    kind = _kind(mine, answer)
    return kind is not None and kind == _kind(theirs, other)


def digits_in_base(text: str) -> str:
    """The digits of a number in another base than ten; "" for anything else."""
    letters = LETTERS_ABOVE.search(text) is not None
    match read(text, letter_digits=letters).tree:
        case Based(written, base) if base != _TEN:
            return written
    return ""


def repeating(text: str) -> bool:
    """Whether a text marks digits that repeat."""
    return any(map(text.__contains__, _REPEATING))


def _same_number(mine: Node, theirs: Node) -> bool:
    return isinstance(mine, Number) and isinstance(theirs, Number) and mine.value == theirs.value


def _kind(tree: Node, text: str) -> str | None:
    """The notation of a number; None for what is not written as one number."""
    match tree:
        case Percent(Number()) | Degrees(Number()) | Ratio() | Based():
            return type(tree).__name__
        case Number():
            return next(
                (kind for kind, marks in _MARKED if any(map(text.__contains__, marks))), None
            )
    return None


def _squeezed(text: str) -> str:
    for layout in _LAYOUT:
        text = text.replace(layout, "")
    return text
