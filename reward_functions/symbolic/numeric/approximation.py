"""Where a constant lies: what the rule for decimals asks of π/4 or ln 3.

The value comes with a bound on its error, first in double precision and then in many digits, so
the result is certain where it is not None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.symbolic.numeric.ball import BallArithmetic, NoValue
from reward_functions.symbolic.numeric.ball_double import REAL
from reward_functions.symbolic.numeric.evaluate import Evaluation, interpretations
from reward_functions.symbolic.numeric.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from reward_functions.symbolic.budget import Work
    from reward_functions.symbolic.expr.nodes import Node
    from reward_functions.symbolic.numeric.evaluate import Interpretation

_BITS: Final = 640
"""Bits of the precise attempt: a tie of two hundred digits is nobody's rounding."""


def lies_between(node: Node, low: Fraction, high: Fraction, work: Work) -> bool | None:
    """Whether the value of a constant lies between two numbers; None when that is not known.

    A notation with two interpretations lies there when one of them does.
    """
    traits = Traits(node)
    if traits.variables:
        return None
    found = [
        _placed(node, low, high, interpretation, work) for interpretation in interpretations(traits)
    ]
    return True if True in found else None if None in found else False


def bounds(node: Node, work: Work) -> tuple[Fraction, Fraction] | None:
    """Two numbers that the value of a constant lies between; None where it is not certain."""
    traits = Traits(node)
    usual, *others = interpretations(traits)
    if traits.variables or others:
        return None
    for numbers in _arithmetics():
        try:
            return numbers.bounds(Evaluation(numbers, {}, work, usual).value(node))
        except NoValue:
            continue
    return None


def _placed(
    node: Node, low: Fraction, high: Fraction, interpretation: Interpretation, work: Work
) -> bool | None:
    for numbers in _arithmetics():
        try:
            least, most = numbers.bounds(Evaluation(numbers, {}, work, interpretation).value(node))
        except NoValue:
            continue
        if low <= least and most <= high:
            return True
        if most < low or least > high:
            return False
    return None


def _arithmetics() -> Iterator[BallArithmetic[Any]]:
    yield REAL
    from reward_functions.symbolic.numeric import ball_mpmath  # noqa: PLC0415 - few need digits

    yield ball_mpmath.MpmathArithmetic(_BITS, real=True)
