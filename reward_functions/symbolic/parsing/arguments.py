"""The arguments of a command or a function: braces, one atom, brackets, or the factors after it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from reward_functions.symbolic.expr.literals import negated, product
from reward_functions.symbolic.expr.nodes import Node, Number
from reward_functions.symbolic.parsing.brackets import bracketed, group
from reward_functions.symbolic.parsing.lookahead import function_follows, starts_factor
from reward_functions.symbolic.parsing.units import measure_follows

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar


def argument(parser: Grammar) -> Node:
    """The argument of a LaTeX command: a group, or the next atom with its own sign."""
    if parser.kind() == "{":
        return group(parser, parser.next())
    if parser.kind() in ("-", "+"):
        negative = False
        while parser.kind() in ("-", "+"):
            negative ^= parser.next().kind == "-"
        node = argument(parser)
        return negated(node) if negative else node
    parser.down()
    raised = parser.kind() == "(" or parser.peek(1).kind == "^"
    node = parser.factor() if raised else parser.atom()
    parser.up()
    return node


def digit_argument(parser: Grammar) -> Node:
    """The argument of a fraction: without braces a single digit, so that frac 12 is a half."""
    token = parser.peek()
    if token.kind == "number" and len(token.text) > 1 and token.text.isdecimal():
        return Number(Fraction(int(parser.next_character())))
    return argument(parser)


def arguments(parser: Grammar) -> tuple[Node, ...]:
    """The arguments of a function: bracketed, or the factors up to the next sign."""
    if parser.kind() == "(":
        return bracketed(parser)
    if parser.kind() == "{":
        return (group(parser, parser.next()),)
    parser.down()
    factors = [parser.signed_factor()]
    while starts_factor(parser) and not function_follows(parser) and parser.kind() != "(":
        if parser.kind() == "number" or measure_follows(parser):
            break
        factors.append(parser.factor())
    parser.up()
    return (product(factors, []),)
