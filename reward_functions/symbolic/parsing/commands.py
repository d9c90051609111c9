"""LaTeX commands that begin a value, each with the rule that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.expr.nodes import Apply, Constant, Node, Symbol
from reward_functions.symbolic.parsing.brackets import fenced
from reward_functions.symbolic.parsing.calculus import (
    fraction_or_derivative,
    integral,
    iterated,
    limit,
)
from reward_functions.symbolic.parsing.functions import binomial, function, radical
from reward_functions.symbolic.parsing.grammar import symbol_name
from reward_functions.symbolic.parsing.unicode_notation import GREEK
from reward_functions.symbolic.parsing.vocabulary import (
    COMMAND_FUNCTIONS,
    CONJUGATED,
    DECORATIONS,
    SPELLINGS,
)

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar, Rule
    from reward_functions.symbolic.parsing.lexer import Token

_CONSTANTS: Final = {"pi": Constant("π"), "infty": Constant("∞")}


def command(parser: Grammar, token: Token) -> Node:
    """The value that a command begins."""
    rule = COMMANDS.get(token.text)
    if rule is None:
        raise Unreadable(f"\\{token.text} is not read")
    return rule(parser, token)


def constant(_parser: Grammar, token: Token) -> Node:
    """A named constant."""
    return _CONSTANTS[token.text]


def greek_letter(parser: Grammar, token: Token) -> Node:
    """A symbol by the name of its letter."""
    return Symbol(symbol_name(parser, GREEK[token.text]))


def named_symbol(parser: Grammar, token: Token) -> Node:
    """A symbol that has a command and no letter."""
    return Symbol(symbol_name(parser, token.text))


def transposition(_parser: Grammar, _token: Token) -> Node:
    """The sign of a transposed matrix, which is also written as a T."""
    return Symbol("T")


def decorated(parser: Grammar, token: Token) -> Node:
    """Letters below a mark: another symbol, or the conjugate of a complex number."""
    mark, letters = DECORATIONS[token.text], parser.raw_group()
    if mark == "bar" and letters in CONJUGATED:
        return Apply("conj", (Symbol(letters),))
    return Symbol(symbol_name(parser, f"{mark}({letters})"))


COMMANDS: Final[dict[str, Rule]] = {
    **dict.fromkeys((*COMMAND_FUNCTIONS, *SPELLINGS), function),
    **dict.fromkeys(DECORATIONS, decorated),
    **dict.fromkeys(("ell", "hbar", "partial", "nabla", "square"), named_symbol),
    **dict.fromkeys(("top", "intercal"), transposition),
    **dict.fromkeys(GREEK, greek_letter),
    **dict.fromkeys(_CONSTANTS, constant),
    **dict.fromkeys(("sum", "prod"), iterated),
    **dict.fromkeys(("int", "iint", "iiint"), integral),
    "lim": limit,
    "frac": fraction_or_derivative,
    "sqrt": radical,
    "binom": binomial,
    **dict.fromkeys(("lfloor", "lceil", "langle"), fenced),
}
"""The rule of each command that is read."""
