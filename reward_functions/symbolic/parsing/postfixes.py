"""The marks after and above an atom: exponents, primes, factorials, degrees, bases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.nodes import (
    Apply,
    Degrees,
    Measured,
    Node,
    Number,
    Power,
    Symbol,
)
from reward_functions.symbolic.parsing.arguments import argument
from reward_functions.symbolic.parsing.brackets import group
from reward_functions.symbolic.parsing.grammar import Grammar, primes
from reward_functions.symbolic.parsing.lookahead import side_follows
from reward_functions.symbolic.parsing.numerals import numeral_in_base

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.cursor import Cursor


def raised(parser: Grammar, base: Node) -> Node | None:
    """The mark above a base: an exponent, the degree sign or a prime."""
    if side_follows(parser):
        return None
    parser.next()
    brace = parser.next() if parser.kind() == "{" else None
    if parser.take("°"):
        if brace:
            parser.expect("}")
        return _angle(parser, base)
    if parser.kind() == "'" and isinstance(base, Symbol):
        primed = Symbol(base.name + primes(parser))
        if brace:
            parser.expect("}")
        return primed
    return Power(base, group(parser, brace) if brace else argument(parser))


def factorial(parser: Grammar, node: Node) -> Node:
    """A factorial, or a double one, which takes every other factor."""
    parser.next()
    return Apply("doublefactorial" if parser.take("!") else "factorial", (node,))


def degrees(parser: Grammar, node: Node) -> Node:
    """A degree sign that is not raised."""
    parser.next()
    return _angle(parser, node)


def based(parser: Grammar, node: Node) -> Node | None:
    """A number with the base of its digits below it."""
    if not isinstance(node, Number):
        return None
    parser.next()
    return numeral_in_base(parser)


def _angle(cursor: Cursor, node: Node) -> Node:
    """An angle, or a temperature where a number of degrees is followed by its scale."""
    if isinstance(node, Number) and cursor.peek().text in ("C", "F"):
        return Measured(node, ((f"deg{cursor.next().text}", Fraction(1)),))
    return Degrees(node)


Postfix = Callable[[Grammar, Node], Node | None]
"""What reads a sign behind a value, and returns the value of both; None where it takes nothing."""

POSTFIXES: Final[dict[str, Postfix]] = {
    "^": raised,
    "!": factorial,
    "°": degrees,
    "_": based,
}
"""The rule of each kind of token that may stand behind an atom."""
