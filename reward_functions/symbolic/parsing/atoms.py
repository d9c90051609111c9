"""The smallest complete values, by the kind of the token that begins them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.nodes import Braces, NamedSet, Node
from reward_functions.symbolic.parsing.brackets import between_bars, braces, bracket, group
from reward_functions.symbolic.parsing.commands import command
from reward_functions.symbolic.parsing.environments import environment
from reward_functions.symbolic.parsing.letters import letters
from reward_functions.symbolic.parsing.numerals import numeral

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar, Rule
    from reward_functions.symbolic.parsing.lexer import Token


def named_set(_parser: Grammar, token: Token) -> Node:
    """A set of numbers that has a letter."""
    return NamedSet(token.text)


def empty_set(_parser: Grammar, _token: Token) -> Node:
    """The set without members."""
    return Braces(())


ATOMS: Final[dict[str, Rule]] = {
    "number": numeral,
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
