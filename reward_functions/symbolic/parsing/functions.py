"""Functions with their arguments: fractions, roots, binomials, and all that have a name."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from reward_functions.symbolic.budget import ITEMS, Unreadable
from reward_functions.symbolic.expr.literals import MINUS_ONE, TEN
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Braces,
    Bracket,
    Matrix,
    Node,
    Number,
    Power,
    Product,
    Root,
)
from reward_functions.symbolic.parsing.arguments import argument, arguments, digit_argument
from reward_functions.symbolic.parsing.vocabulary import INVERSES, SPELLINGS

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar
    from reward_functions.symbolic.parsing.lexer import Token


def fraction(parser: Grammar, _command: Token) -> Node:
    """A fraction with its bar."""
    over = digit_argument(parser)
    return Product((over,), (digit_argument(parser),))


def binomial(parser: Grammar, _command: Token) -> Node:
    """A binomial coefficient."""
    upper = digit_argument(parser)
    return Apply("binom", (upper, digit_argument(parser)))


def radical(parser: Grammar, _command: Token) -> Node:
    """A root, square without an index."""
    index: Node = Number(Fraction(2))
    if parser.take("["):
        parser.down()
        index = parser.sum()
        parser.up()
        parser.expect("]")
    return Root(index, argument(parser))


def _base(parser: Grammar) -> Node:
    r"""The base of a logarithm: of digits without braces the first one, where no argument follows.

    \log_216 is the logarithm of 16; \log_10 100 lost its braces.
    """
    token, after = parser.peek(), parser.peek(1)
    whole = token.kind != "number" or after.kind in ("number", "letters", "command", "(", "{")
    return argument(parser) if whole else digit_argument(parser)


def function(parser: Grammar, token: Token) -> Node:
    """A named function: its power, its base, its argument with or without brackets."""
    power, base = None, None
    name = SPELLINGS.get(token.text, token.text)
    if name == "sqrt":
        return Root(Number(Fraction(2)), argument(parser))
    while parser.kind() in ("^", "_"):
        if parser.next().kind == "^":
            power = argument(parser)
        else:
            base = _base(parser)
    values = arguments(parser)
    if name == "diag" and power is base is None:
        return _diagonal(values)
    if power == MINUS_ONE and name in INVERSES:
        name, power = INVERSES[name], None
    if name == "lg":
        name, base = "log", TEN
    if base is not None:
        if name != "log" or len(values) != 1:
            raise Unreadable(f"a subscript below {name}")
        values = (base, values[0])
        name = "log_"
    applied = Apply(name, values)
    return applied if power is None else Power(applied, power)


def _diagonal(values: tuple[Node, ...]) -> Matrix:
    """The matrix with these entries on its diagonal, and zeros elsewhere."""
    match values:
        case (Bracket(_, items, _),) | (Braces(items),):
            values = items
    if len(values) < 2 or len(values) ** 2 > ITEMS:  # noqa: PLR2004
        raise Unreadable("a diagonal that is not understood")
    zero = Number(Fraction(0))
    return Matrix(
        tuple(
            tuple(value if row == column else zero for column in range(len(values)))
            for row, value in enumerate(values)
        )
    )
