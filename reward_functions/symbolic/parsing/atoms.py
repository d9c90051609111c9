"""The smallest complete values, by the kind of the token that begins them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.nodes import Braces, NamedSet, Node
from reward_functions.symbolic.parsing.bases import based
from reward_functions.symbolic.parsing.brackets import between_bars, braces, bracket, group
from reward_functions.symbolic.parsing.commands import command
from reward_functions.symbolic.parsing.environments import environment
from reward_functions.symbolic.parsing.letters import letters
from reward_functions.symbolic.parsing.numerals import numeral

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar, Rule
    from reward_functions.symbolic.parsing.lexer import Token


def named_set(parser: Grammar, token: Token) -> Node:
    """A set of numbers that has a letter, and a mark for a part of it."""
    for mark, part in _PARTS.get(token.text, ()):
        ahead = [parser.peek(place).kind for place in range(len(mark))]
        if ahead == mark and (mark[-2:] != ["number", "}"] or _zero(parser, len(mark) - 2)):
            parser.position += len(mark)
            return NamedSet(part)
    return NamedSet(token.text)


def _zero(parser: Grammar, ahead: int) -> bool:
    return parser.peek(ahead).text == "0"


_POSITIVE: Final = tuple(
    mark
    for side in "^_"
    for mark in ([side, "+"], [side, "{", "+", "}"], [side, "{", ">", "number", "}"])
)
_STARRED: Final = (["^", "*"], ["^", "{", "*", "}"], ["_", "*"], ["_", "{", "*", "}"])
_PARTS: Final = {
    "N": tuple((mark, "Z+") for mark in (*_POSITIVE, *_STARRED)),
    "Z": (
        *((mark, "Z+") for mark in _POSITIVE),
        (["_", "{", "≥", "number", "}"], "N0"),
    ),
    "R": tuple((mark, "R+") for mark in _POSITIVE),
    "Q": tuple((mark, "Q+") for mark in _POSITIVE),
}
"""The marks behind a set of numbers, as kinds of tokens, and the part that each one names."""


def empty_set(_parser: Grammar, _token: Token) -> Node:
    """The set without members."""
    return Braces(())


ATOMS: Final[dict[str, Rule]] = {
    "number": numeral,
    "based": based,
    "letters": letters,
    "command": command,
    "(": bracket,
    "[": bracket,
    "]": bracket,
    "{": group,
    "\\{": braces,
    "|": between_bars,
    "begin": environment,
    "set": named_set,
    "∅": empty_set,
}
"""The rule of each kind of token that begins a value."""
