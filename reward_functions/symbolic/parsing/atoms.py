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
    return NamedSet(_part(parser, token.text) or token.text)


def _letters_or_set(parser: Grammar, token: Token) -> Node:
    """A run of letters; R^+ is no power, which would have a value above, but the set."""
    plain = parser.kind() == "^" and parser.peek(1).kind in ("+", "{") and token.text in _PARTS
    part = _part(parser, token.text) if plain else ""
    return NamedSet(part) if part else letters(parser, token)


def _part(parser: Grammar, name: str) -> str:
    """The part of a set that the mark which comes next names, and which is taken; "" for none."""
    for mark, part in _PARTS.get(name, ()):
        ahead = [parser.peek(place) for place in range(len(mark))]
        if all(each in (token.kind, token.text) for each, token in zip(mark, ahead, strict=True)):
            parser.position += len(mark)
            return part
    return ""


def _marks(sign: str, relation: str) -> tuple[list[str], ...]:
    """The ways to write a sign above or below a set: R^+, R_{+}, R_{>0}."""
    return tuple(
        [side, *mark]
        for side in "^_"
        for mark in ([sign], ["{", sign, "}"], ["{", relation, "0", "}"])
    )


_POSITIVE: Final = _marks("+", ">")
_FROM_ZERO: Final = (
    *([side, "{", "≥", "0", "}"] for side in "^_"),
    *(["_", "0", *mark] for mark in _POSITIVE),
    *([*mark, "_", "0"] for mark in _POSITIVE),
)
_STARRED: Final = (["^", "*"], ["^", "{", "*", "}"], ["_", "*"], ["_", "{", "*", "}"])
_NOT_ZERO: Final = (*_STARRED, ["_", "{", "≠", "0", "}"])
_PARTS: Final = {
    "N": tuple((mark, "Z+") for mark in (*_POSITIVE, *_STARRED)),
    "Z": (
        *((mark, "N0") for mark in _FROM_ZERO),
        *((mark, "Z+") for mark in _POSITIVE),
    ),
    "R": (
        *((mark, "R0+") for mark in _FROM_ZERO),
        *((mark, "R+") for mark in _POSITIVE),
        *((mark, "R-") for mark in _marks("-", "<")),
        *((mark, "R*") for mark in _NOT_ZERO),
        (["_", "{", "≤", "0", "}"], "R0-"),
    ),
    "Q": tuple((mark, "Q+") for mark in _POSITIVE),
}
"""The marks behind a set of numbers, as kinds or texts of tokens, and the part each one names."""


def empty_set(_parser: Grammar, _token: Token) -> Node:
    """The set without members."""
    return Braces(())


ATOMS: Final[dict[str, Rule]] = {
    "number": numeral,
    "based": based,
    "letters": _letters_or_set,
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
