"""Amounts in several units of one kind, side by side: 2 h 30 min, 5 ft 3 in, 2小时30分钟."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.quantities.units import canonical, size
from reward_functions.symbolic.expr.literals import number
from reward_functions.symbolic.expr.nodes import Measured, Node, Sum

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.cursor import Cursor

_MINUTES: Final = frozenset("m分")
"""What are minutes behind hours and before seconds, and something else elsewhere."""


def smaller_follows(cursor: Cursor) -> bool:
    """Whether a unit comes next, in whatever type, and an amount in a smaller one behind it."""
    return bool(_smaller(cursor, 1, _unit(cursor, 0)))


def in_several_units(cursor: Cursor, body: Node) -> Node:
    """The sum of a value in the unit that comes next, and amounts in smaller units behind it."""
    unit = _unit(cursor, 0)
    cursor.next()
    amounts = [Measured(body, ((unit, Fraction(1)),))]
    while unit := _smaller(cursor, 0, unit):
        value = number(cursor.next().text)
        cursor.next()
        amounts.append(Measured(value, ((unit, Fraction(1)),)))
    return Sum(tuple(amounts))


def _smaller(cursor: Cursor, ahead: int, unit: str) -> str:
    """The unit of an amount ahead that is smaller than another one; "" for anything else."""
    if not unit or cursor.peek(ahead).kind != "number":
        return ""
    name = _unit(cursor, ahead + 1)
    if unit == "h" and cursor.peek(ahead + 1).text in _MINUTES:
        name = "min"
    (base, many), (other, fewer) = size(unit), size(name)
    return name if base == other and fewer < many else ""


def _unit(cursor: Cursor, ahead: int) -> str:
    """The unit that a token ahead names; "" for anything else."""
    token = cursor.peek(ahead)
    if token.kind != "letters":
        return ""
    seconds = cursor.peek(ahead + 1).kind == "number" and cursor.peek(ahead + 2).text == "s"
    return "min" if token.text in _MINUTES and seconds else canonical(token.text) or ""
