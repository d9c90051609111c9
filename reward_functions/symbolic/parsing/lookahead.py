"""Look ahead a few tokens, without taking one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.parsing.cursor import END, Cursor
from reward_functions.symbolic.parsing.vocabulary import COMMAND_FUNCTIONS, LETTER_FUNCTIONS

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar

_MODULO: Final = ("pmod", "bmod", "mod", "pod")
_NO_FACTORS: Final = frozenset(
    "\\ & rfloor rceil rangle choose over rVert pmod bmod mod pod".split()
)
"""Commands that close or separate what stands before them."""

_AFTER_INTERVAL: Final = frozenset((END.kind, "∪", "∖", ",", ";", ")", "}", "\\}", "and", "or"))


def starts_factor(parser: Grammar) -> bool:
    """Whether a factor can begin here."""
    token = parser.peek()
    if token.kind in ("number", "based", "{", "\\{", "begin", "set", "∅"):
        return True
    if token.kind == "(":
        return not modulus_follows(parser)
    if token.kind == "[":
        return not closes_outwards(parser)
    if token.kind == "letters":
        share = token.text == "in" and parser.peek(1).kind == "number"
        return not share and token.text.lower() not in ("and", "or", "to", "mod")
    if token.kind == "|":
        return not parser.bars
    return token.kind == "command" and token.text not in _NO_FACTORS


def closes_outwards(parser: Grammar) -> bool:
    """Whether an opening square bracket comes next that ends an interval: [0,1[."""
    after = parser.peek(1)
    return parser.opened > 0 and (after.kind in _AFTER_INTERVAL or after.text in ("and", "or"))


def side_follows(cursor: Cursor) -> bool:
    """Whether a sign is raised alone before the end of a group, as in 0^+."""
    braced = cursor.peek(1).kind == "{"
    ends = [cursor.peek(ahead).kind for ahead in (range(2, 5) if braced else range(1, 3))]
    return cursor.kind() == "^" and ends[0] in ("+", "-") and all(end == "}" for end in ends[1:])


def modulus_follows(cursor: Cursor) -> bool:
    """Whether a modulus comes next, with or without its bracket."""
    token = cursor.peek()
    if token.kind == "(":
        token = cursor.peek(1)
    return token.text in _MODULO and token.kind in ("letters", "command")


def function_follows(cursor: Cursor) -> bool:
    """Whether the name of a function comes next."""
    token = cursor.peek()
    return (token.kind == "command" and token.text in COMMAND_FUNCTIONS) or (
        token.kind == "letters" and token.text in LETTER_FUNCTIONS
    )
