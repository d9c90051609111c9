r"""Congruences: value \equiv value \pmod{m}, or (mod m) in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.expr.nodes import Congruence, Node, Relation
from reward_functions.symbolic.parsing.arguments import argument
from reward_functions.symbolic.parsing.lookahead import modulus_follows

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar


def with_modulus(parser: Grammar, node: Node) -> Node:
    """A statement, or the congruence that the modulus behind it makes of it or of a value."""
    if not modulus_follows(parser):
        return node
    match node:
        case Relation((left, right), ("≡" | "=",)):
            return Congruence(left, right, _modulus(parser))
        case Relation():
            return node
    return Congruence(None, node, _modulus(parser))


def _modulus(parser: Grammar) -> Node:
    """The modulus of a congruence."""
    bracketed = parser.take("(")
    command = parser.next().kind == "command"
    node = argument(parser) if command and not bracketed else parser.sum()
    if bracketed:
        parser.expect(")")
    return node
