"""Chains of equations: whether x = 1/3 ≈ 0.33 states one value all along.

A chain that calls two different constants equal states every number, so it is an answer to nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.compare.assignments import equation
from reward_functions.symbolic.exact.polynomials import number_of
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import (
    Constant,
    Degrees,
    Measured,
    Node,
    Number,
    Percent,
    Product,
    Relation,
)
from reward_functions.symbolic.expr.traversal import operations, without_names

if TYPE_CHECKING:
    from reward_functions.symbolic.compare.scalars import ScalarComparison

_TEN: Final = 10


def contradicts(chain: Relation, scalars: ScalarComparison) -> bool:
    """Whether a chain calls two constants equal that are not, or one a rounding of the other.

    Each constant is compared with the one before it in its run of = and ≈.
    """
    before, rounded = None, False
    for operator, operand in zip(("=", *chain.operators), chain.operands, strict=True):
        if operator not in ("=", "≈"):
            before = None
        rounded = rounded or operator == "≈"
        if not (_constant(operand) or _worked_out(operand, scalars)):
            continue
        if before is not None and (
            _not_rounded(before, operand, scalars) if rounded else _apart(before, operand, scalars)
        ):
            return True
        before, rounded = operand, False
    return False


def settled(chain: Node) -> Node | None:
    """The value of a chain without a name, 12 of 3·4 = 12; None of what is no chain of constants.

    It stands at the end, or before it is rounded: 1/3 of 1/3 ≈ 0.33.
    """
    if not equation(chain) or not all(map(_constant, chain.operands)):
        return None
    rounded = chain.operators.index("≈") if "≈" in chain.operators else -1
    return chain.operands[rounded]


def written(chain: Node) -> Node | None:
    """The value of a chain of literals, 1/8 of 1/8 = 0.125, in which nothing is worked out.

    A reference 3·8 = 24 may ask for the way to 24, which 24 itself does not answer.
    """
    literal = isinstance(chain, Relation) and not any(map(_worked, chain.operands))
    return settled(chain) if literal else None


def approximated(chain: Node) -> tuple[Node, Number] | None:
    """An exact value and the decimal that a chain rounds it to, √3/3 ≈ 0.577; None of others.

    A name may stand before them. Either may come first: 0.577 ≈ √3/3.
    """
    if not isinstance(chain, Relation) or chain.operators[-1] != "≈":
        return None
    if set(chain.operators[:-1]) - {"="}:
        return None
    exact, rounding = chain.operands[-2:]
    if _rounding(exact):
        exact, rounding = rounding, exact
    if _rounding(exact) or not _constant(exact) or not isinstance(rounding, Number):
        return None
    return (exact, rounding) if _rounding(rounding) else None


def _rounding(node: Node) -> bool:
    """Whether a node is a literal that may be rounded: a decimal or an integer."""
    return isinstance(node, Number) and (node.unit is not None or node.value.denominator == 1)


def _worked(node: Node) -> bool:
    match node:
        case Number() | Product((Number(),), (Number(),)):
            return False
        case Measured(body, _) | Percent(body) | Degrees(body):
            return _worked(body)
    return True


def _apart(first: Node, second: Node, scalars: ScalarComparison) -> bool:
    """Whether two constants are proved different, even if one is a rounding of the other.

    Other units prove nothing here: 5 m = 500 cm.
    """
    findings = (scalars.compare(first, second), scalars.compare(second, first))
    return all(found.different and found.rule != "units" for found in findings)


def _not_rounded(value: Node, rounding: Node, scalars: ScalarComparison) -> bool:
    """Whether a decimal or integer is proved no rounding of a constant."""
    if isinstance(value, Measured) and isinstance(rounding, Measured):
        return value.unit == rounding.unit and _not_rounded(value.body, rounding.body, scalars)
    if not isinstance(rounding, Number):
        turned = isinstance(value, Number) and value.unit is not None
        return turned and _not_rounded(rounding, value, scalars)
    if rounding.unit is None and rounding.value.denominator != 1:
        return False  # a fraction
    unit = _last_place(rounding)
    exact = rational(value)
    if exact is not None:
        precision = max(unit, _last_place(value)) if isinstance(value, Number) else unit
        return abs(exact - rounding.value) * 2 > precision
    if abs(rounding.value) < _TEN * unit:
        return False  # which the rule for decimals takes for an exact value
    return scalars.compare(Number(rounding.value, unit), value).different


def _worked_out(node: Node, scalars: ScalarComparison) -> bool:
    """Whether an operation of calculus works out to a rational number exactly."""
    if not operations(node):
        return False
    try:
        return number_of(scalars.algebra.value(node)) is not None
    except Unreadable:
        return False


def _constant(node: Node) -> bool:
    """Whether a tree is a number without variables; a lone e or i is the name of something."""
    match node:
        case Constant(name):
            return name not in ("e", "i")
        case Measured(body, _):
            return _constant(body)
    return without_names(node)


def _last_place(literal: Number) -> Fraction:
    """The worth of the last digit that a literal shows: 1/100 of 2.50, 100 of 1200."""
    if literal.unit is not None:
        return literal.unit
    place = Fraction(1)
    while literal.value and literal.value % (place * _TEN) == 0:
        place *= _TEN
    return place
