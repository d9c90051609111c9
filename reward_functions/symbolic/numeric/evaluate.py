"""The value of a tree at a point, in any of the arithmetics.

Everything that the grammar can express about numbers is computed here in one place. An expression
without a value at the point, or without a certain one, raises `NoValue`; one that is no number
raises `Unreadable`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple

from reward_functions.symbolic.budget import Unreadable, Work
from reward_functions.symbolic.exact.operators import REPEATS
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.functions import applied
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
            NoValue: the point has no value, or no certain one.
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
        result: Ball | None = applied(node.name, "numeric", self.numbers, arguments)
        if result is None:
            raise Unreadable(f"{node.name} is not evaluated")
        if node.name == "log" and self.interpretation.common:
            return self.numbers.divide(result, self.numbers.ln(self.numbers.rational(_TEN)))
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
