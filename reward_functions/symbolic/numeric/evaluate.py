"""The value of a tree at a point, in any of the arithmetics.

Everything that the grammar can express about numbers is computed here in one place. What has no
value at the point, or none that is certain, raises `NoValue`; what is no number raises
`Unreadable`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple

from reward_functions.symbolic.budget import Unreadable, Work
from reward_functions.symbolic.exact.operators import REPEATS
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Based,
    Constant,
    Degrees,
    Iterated,
    Matrix,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)
from reward_functions.symbolic.numeric.ball import Ball, BallArithmetic, NoValue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.symbolic.numeric.traits import Traits

_HUNDREDTH: Final = Fraction(1, 100)
_DEGREE: Final = Fraction(1, 180)
_TEN: Final = Fraction(10)


class Interpretation(NamedTuple):
    """How two notations that are in use with two meanings are interpreted.

    Attributes:
        principal: a power with an odd root, (-27)^(1/3), is the principal one and not the real one.
        common: log without a base is that to the base 10 and not the natural one.
    """

    principal: bool = False
    common: bool = False


def interpretations(traits: Traits) -> list[Interpretation]:
    """The interpretations that make a difference for some trees, the usual one first."""
    return [
        Interpretation(principal, common)
        for principal in ((False, True) if traits.mixed_roots else (False,))
        for common in ((False, True) if traits.bare_logs else (False,))
    ]


class Evaluation(Generic[Ball]):
    """Values at one point.

    Args:
        numbers: the arithmetic.
        point: the values of the variables.
        work: the account that every node is paid from.
        interpretation: how ambiguous notations are interpreted.
    """

    def __init__(
        self,
        numbers: BallArithmetic[Ball],
        point: dict[str, Ball],
        work: Work,
        interpretation: Interpretation,
    ) -> None:
        self.numbers = numbers
        self.point = point
        self.work = work
        self.interpretation = interpretation

    def value(self, node: Node) -> Ball:
        """The value of a tree.

        Raises:
            NoValue: there is none at this point, or none that is certain.
            Unreadable: the tree is no number.
            OverBudget: the work is used up.
        """
        self.work.spend(self.numbers.cost)
        rule = _RULES.get(type(node))
        if rule is None:
            raise Unreadable(f"{type(node).__name__.lower()} is not evaluated")
        result: Ball = rule(self, node)
        return result

    def number(self, node: Number | Based) -> Ball:
        """A literal, to any base."""
        return self.numbers.rational(node.value)

    def symbol(self, node: Symbol) -> Ball:
        """A variable's coordinate."""
        return self.point[node.name]

    def constant(self, node: Constant) -> Ball:
        """A named constant."""
        return self.numbers.constant(node.name)

    def sum(self, node: Sum) -> Ball:
        """Terms added up."""
        return reduce(self.numbers.add, map(self.value, node.terms))

    def product(self, node: Product) -> Ball:
        """Factors over factors."""
        above = self.folded(node.over)
        return self.numbers.divide(above, self.folded(node.under)) if node.under else above

    def folded(self, factors: Sequence[Node]) -> Ball:
        """The product of factors."""
        return reduce(self.numbers.multiply, map(self.value, factors))

    def power(self, node: Power) -> Ball:
        """A power; of e it is the exponential function."""
        if node.base == _E:
            return self.numbers.exp(self.value(node.exponent))
        exponent = rational(node.exponent)
        base = self.value(node.base)
        if exponent is None:
            return self.numbers.power(base, self.value(node.exponent))
        return self.numbers.rational_power(base, exponent, principal=self.interpretation.principal)

    def root(self, node: Root) -> Ball:
        """A root as a radical sign writes it."""
        index = rational(node.index)
        if index is None:
            return self.numbers.power(
                self.value(node.radicand), self.numbers.inverse(self.value(node.index))
            )
        if index.denominator != 1 or index < 1:
            raise Unreadable("a root whose index is no natural number")
        return self.numbers.rational_power(self.value(node.radicand), 1 / index)

    def percent(self, node: Percent) -> Ball:
        """So many hundredths."""
        return self.numbers.multiply(self.value(node.body), self.numbers.rational(_HUNDREDTH))

    def degrees(self, node: Degrees) -> Ball:
        """An angle in radians."""
        degree = self.numbers.multiply(self.numbers.rational(_DEGREE), self.numbers.constant("π"))
        return self.numbers.multiply(self.value(node.body), degree)

    def applied(self, node: Apply) -> Ball:
        """A function of its arguments."""
        if node.name == "det":
            return self.determinant(node)
        arguments = [self.value(argument) for argument in node.arguments]
        if node.name in _OF_MANY:
            return _of_many(self.numbers, _OF_MANY[node.name], arguments)
        if _ARGUMENTS.get(node.name) != len(arguments):
            raise Unreadable(f"{node.name} is not evaluated")
        if node.name == "log":
            return _logarithm(self.numbers, arguments[0], common=self.interpretation.common)
        result: Ball
        if node.name in _DERIVED:
            result = _DERIVED[node.name](self.numbers, *arguments)
        else:
            result = getattr(self.numbers, _METHODS[node.name])(*arguments)
        return result

    def determinant(self, node: Apply) -> Ball:
        """A determinant, expanded by its first row."""
        if len(node.arguments) != 1 or not isinstance(node.arguments[0], Matrix):
            raise Unreadable("the determinant of what is no matrix")
        rows = node.arguments[0].rows
        if len(rows) != len(rows[0]):
            raise Unreadable("the determinant of a matrix that is not square")
        return self.expanded([[self.value(entry) for entry in row] for row in rows])

    def expanded(self, rows: list[list[Ball]]) -> Ball:
        """The determinant of rows by minors, each of which is paid for."""
        self.work.spend(3 * self.numbers.cost * len(rows))
        if len(rows) == 1:
            return rows[0][0]
        total = self.numbers.rational(Fraction(0))
        for place, entry in enumerate(rows[0]):
            minor = [row[:place] + row[place + 1 :] for row in rows[1:]]
            term = self.numbers.multiply(entry, self.expanded(minor))
            total = self.numbers.add(total, self.numbers.negative(term) if place % 2 else term)
        return total

    def iterated(self, node: Iterated) -> Ball:
        """A sum or product between two integers, term by term; without terms 0 or 1."""
        low, high = (self.numbers.whole(self.value(end)) for end in (node.low, node.high))
        if low is None or high is None or high - low >= REPEATS:
            raise NoValue("a sum that is not of a few terms")
        adds = node.operation == "sum"
        total = self.numbers.rational(Fraction(0 if adds else 1))
        before = self.point.get(node.variable.name)
        for step in range(low, high + 1):
            self.point[node.variable.name] = self.numbers.rational(Fraction(step))
            operation = self.numbers.add if adds else self.numbers.multiply
            total = operation(total, self.value(node.body))
        if before is not None:
            self.point[node.variable.name] = before
        return total


_E: Final = Constant("e")
_RULES: Final[dict[type, Callable[[Any, Any], Any]]] = {
    Number: Evaluation.number,
    Symbol: Evaluation.symbol,
    Constant: Evaluation.constant,
    Sum: Evaluation.sum,
    Product: Evaluation.product,
    Power: Evaluation.power,
    Root: Evaluation.root,
    Apply: Evaluation.applied,
    Percent: Evaluation.percent,
    Degrees: Evaluation.degrees,
    Based: Evaluation.number,
    Iterated: Evaluation.iterated,
}


# ---- functions of one or two numbers


def _logarithm(numbers: BallArithmetic[Ball], value: Ball, *, common: bool) -> Ball:
    natural = numbers.ln(value)
    return numbers.divide(natural, numbers.ln(numbers.rational(_TEN))) if common else natural


def _log_to_base(numbers: BallArithmetic[Ball], base: Ball, value: Ball) -> Ball:
    return numbers.divide(numbers.ln(value), numbers.ln(base))


def _tan(numbers: BallArithmetic[Ball], angle: Ball) -> Ball:
    return numbers.divide(numbers.sin(angle), numbers.cos(angle))


def _cot(numbers: BallArithmetic[Ball], angle: Ball) -> Ball:
    return numbers.divide(numbers.cos(angle), numbers.sin(angle))


def _sec(numbers: BallArithmetic[Ball], angle: Ball) -> Ball:
    return numbers.inverse(numbers.cos(angle))


def _csc(numbers: BallArithmetic[Ball], angle: Ball) -> Ball:
    return numbers.inverse(numbers.sin(angle))


def _tanh(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.divide(numbers.sinh(value), numbers.cosh(value))


def _coth(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.divide(numbers.cosh(value), numbers.sinh(value))


def _sech(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.inverse(numbers.cosh(value))


def _csch(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.inverse(numbers.sinh(value))


def _arccot(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    if numbers.sign(value) <= 0:
        raise NoValue("an inverse cotangent that conventions disagree on")
    return numbers.arctan(numbers.inverse(value))


def _arcsec(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.arccos(numbers.inverse(value))


def _arccsc(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.arcsin(numbers.inverse(value))


def _ceil(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.negative(numbers.floor(numbers.negative(value)))


def _sgn(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    sign = numbers.sign(value)
    if not sign and numbers.whole(value) != 0:
        raise NoValue("the sign of what may be zero")
    return numbers.rational(Fraction(sign))


def _real_part(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.parts(value)[0]


def _imaginary_part(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.parts(value)[1]


def _conjugate(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    if numbers.is_real(value):
        return value
    real, imaginary = numbers.parts(value)
    turned = numbers.multiply(imaginary, numbers.constant("i"))
    return numbers.add(real, numbers.negative(turned))


def _argument(numbers: BallArithmetic[Ball], value: Ball) -> Ball:
    return numbers.parts(numbers.ln(value))[1]


def _cis(numbers: BallArithmetic[Ball], angle: Ball) -> Ball:
    turned = numbers.multiply(numbers.constant("i"), numbers.sin(angle))
    return numbers.add(numbers.cos(angle), turned)


_DERIVED: Final[dict[str, Callable[..., Any]]] = {
    "tan": _tan,
    "cot": _cot,
    "sec": _sec,
    "csc": _csc,
    "arccot": _arccot,
    "arcsec": _arcsec,
    "arccsc": _arccsc,
    "tanh": _tanh,
    "coth": _coth,
    "sech": _sech,
    "csch": _csch,
    "log_": _log_to_base,
    "ceil": _ceil,
    "sgn": _sgn,
    "re": _real_part,
    "im": _imaginary_part,
    "conj": _conjugate,
    "arg": _argument,
    "cis": _cis,
}
_METHODS: Final = {
    **{
        name: name
        for name in "sin cos arcsin arccos arctan sinh cosh arcsinh arccosh arctanh ln exp "
        "floor factorial".split()
    },
    "abs": "magnitude",
    "binom": "binomial",
}
_ARGUMENTS: Final = {
    **dict.fromkeys((*_DERIVED, *_METHODS, "log"), 1),
    **dict.fromkeys(("log_", "binom"), 2),
}


# ---- functions of any number of numbers


def _of_many(
    numbers: BallArithmetic[Ball], function: Callable[..., Any], values: list[Ball]
) -> Ball:
    if function in (gcd, lcm):
        integers = [numbers.whole(value) for value in values]
        if None in integers:
            raise NoValue("a common divisor or multiple of what is no integer")
        return numbers.rational(Fraction(function(*integers)))
    wanted = 1 if function is max else -1
    best = values[0]
    for value in values[1:]:
        sign = numbers.sign(numbers.add(value, numbers.negative(best)))
        if not sign:
            raise NoValue("a maximum or minimum that is not certain")
        best = value if sign == wanted else best
    return best


_OF_MANY: Final[dict[str, Callable[..., Any]]] = {"gcd": gcd, "lcm": lcm, "max": max, "min": min}
