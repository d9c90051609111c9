"""Numbers and products as they are written, folded into one literal where they are one.

6.02 · 10^23 is a literal with a last digit, -5% keeps its sign inside, 0.1̅ is a fraction.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import takewhile
from typing import Final

from reward_functions.symbolic.budget import DIGITS, OverBudget, Unreadable
from reward_functions.symbolic.expr.nodes import (
    Degrees,
    Measured,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Sum,
)

MINUS_ONE: Final = Number(Fraction(-1))
TEN: Final = Number(Fraction(10))
_LONGEST_BLOCK: Final = 30
"""Digits of a block that is seen to repeat: 1/29 has 28. Felt right."""

_DECIMAL_EXPONENT: Final = 400
"""The largest power of ten that scientific notation is folded for; a double ends at 308."""


def number(text: str) -> Number:
    """A literal as an exact number, with the worth of its last digit when it has a point."""
    if text.isdecimal():
        return Number(Fraction(int(text)))
    mantissa, _, exponent = text.replace("E", "e").partition("e")
    whole, point, fraction = mantissa.partition(".")
    power = int(exponent or 0)
    if abs(power) > DIGITS:
        raise OverBudget(f"an exponent of {power}")
    scale = Fraction(10) ** (power - len(fraction))
    value = int(whole + fraction or "0") * scale
    return Number(value, scale if point and fraction else None)


def repeating(text: str, digits: str) -> Number:
    """0.1 with a bar over a 6: the repeating block is a fraction with nines below."""
    whole, _, fraction = text.partition(".")
    scale = Fraction(1, 10 ** len(fraction))
    block = Fraction(int(digits), 10 ** len(digits) - 1)
    return Number((int(whole + fraction or "0") + block) * scale)


def continued(text: str) -> Number:
    """0.1666… with the block at its end that is shown at least twice, repeated for ever.

    Of several such blocks it is the one that explains most digits: 0.12111211… repeats 1211.

    Raises:
        Unreadable: nothing is shown twice, so the next digit is not known.
    """
    whole, _, fraction = text.partition(".")
    spans = {length: _span(fraction, length) for length in range(1, _LONGEST_BLOCK + 1)}
    block = max(spans, key=lambda length: spans[length])
    if not spans[block]:
        raise Unreadable("a decimal that goes on in digits that are not said")
    return repeating(f"{whole}.{fraction[:-block]}", fraction[-block:])


def _span(digits: str, length: int) -> int:
    """How many digits at the end a block of a length explains; 0 when it is not shown twice."""
    pairs = zip(reversed(digits), reversed(digits[:-length]), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return length + same if same >= length else 0


def negated(node: Node) -> Node:
    """A node times minus one; the sign is kept inside a percentage, angle or measured value."""
    match node:
        case Number(value, unit):
            return Number(-value, unit)
        case Percent(body):
            return Percent(negated(body))
        case Degrees(body):
            return Degrees(negated(body))
        case Measured(body, unit):
            return Measured(negated(body), unit)
    return Product((MINUS_ONE, node))


def product(over: list[Node], under: list[Node]) -> Node:
    """Factors over factors; a single one is itself, a number times a power of ten a literal."""
    if not under and len(over) == 1:
        return over[0]
    literal = None if under else _scientific(over)
    if literal is not None:
        return literal
    return Product(tuple(over), tuple(under))


def _scientific(factors: list[Node]) -> Number | None:
    """6.02 · 10^23 as one literal, which has a last digit; None for any other product."""
    match factors:
        case [Number(value, unit), Power(base, Number(exponent))] if base == TEN:
            if exponent.denominator == 1 and abs(exponent) <= _DECIMAL_EXPONENT:
                scale = Fraction(10) ** int(exponent)
                return Number(value * scale, unit and unit * scale)
    return None


def with_common_unit(terms: list[Node]) -> Node:
    """A sum whose measured terms share a unit is measured as a whole: (3 + 4) cm."""
    units = {term.unit for term in terms if isinstance(term, Measured)}
    if len(units) != 1:
        return Sum(tuple(terms))
    bodies = tuple(term.body if isinstance(term, Measured) else term for term in terms)
    return Measured(Sum(bodies), units.pop())


def is_whole(node: Node) -> bool:
    """Whether a literal is an integer written without a point."""
    return isinstance(node, Number) and node.unit is None and node.value.denominator == 1
