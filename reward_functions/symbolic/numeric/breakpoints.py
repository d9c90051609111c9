"""Where a formula may become another one: zeros under bars, roots, logarithms and fractions.

|x - 1| changes at 1, √(x² + 10⁴x) ends at 0 and at -10⁴, and arcsin(sin x) turns at π/2. Points at
these places, between them and beyond them see each of the formulas, however near to each other or
far out the places are. They are found exactly for polynomials of one variable (the others held
fixed), and by looking for changes of sign and least values elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import OverBudget
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr import functions
from reward_functions.symbolic.expr.literals import negated
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Node,
    Number,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)
from reward_functions.symbolic.expr.traversal import free_names, parts
from reward_functions.symbolic.numeric.ball import NoValue
from reward_functions.symbolic.numeric.ball_double import REAL
from reward_functions.symbolic.numeric.evaluate import Evaluation, Interpretation
from reward_functions.symbolic.numeric.root_finding import Function, least, sign_change, sign_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.symbolic.budget import Work
    from reward_functions.symbolic.numeric.sample_points import Point

MOST: Final = 24
"""Sub-expressions at whose zeros something may change. A formula of a textbook has one to six."""

_DEGREE: Final = 8
_RANGE: Final = tuple(
    sign * value
    for sign in (-1, 1)
    for value in (
        0.013, 0.11, 0.37, 0.71, 0.97, 1.3, 1.7, 2.2, 2.9, 3.7, 4.6, 5.9, 8.3, 12.7, 19.0, 31.0,
        57.0, 130.0, 1.1e3, 1.3e4, 1.7e6, 1.9e9, 2.3e13, 2.9e18, 3.1e30,
    )
)  # fmt: skip
"""Where changes of sign are looked for, in order of size below."""
_GRID: Final = tuple(sorted((*_RANGE, 0.0)))
_BESIDE: Final = Fraction(1, 10**6)
"""How far beside a place points lie, against its size."""

_BEYOND: Final = Fraction(7, 10)
_ONE: Final = Number(Fraction(1))
_PI_HALVES: Final = tuple(
    Fraction(quarters * 245850922, 2 * 78256779) for quarters in (-2, -1, 0, 1, 2)
)
"""Zeros and turning points of sines and cosines, as far as a double knows π."""

_WAVES: Final = functions.named(functions.WAVE) - functions.named(functions.COMPLEX)


class Breakpoints:
    """The breakpoints of some trees: the places where their formulas may change.

    Args:
        trees: the expressions.
        work: the account from which the search is paid. A formula that is not affordable raises
            `OverBudget`: without its turns it is not shown equal to anything.
    """

    def __init__(self, trees: tuple[Node, ...], work: Work) -> None:
        self.work = work
        self.vanishing = list(
            dict.fromkeys(_bare(each) for tree in trees for each in _vanishing(tree))
        )
        self._known: dict[Node, set[Fraction]] = {}

    @property
    def many(self) -> bool:
        """Whether there are more than are looked at."""
        return len(self.vanishing) > MOST

    def around(self, point: Point, name: str) -> Iterator[tuple[Point, bool]]:
        """Points with another coordinate: at the places, beside, between and beyond them.

        With each, whether doubles may not see a difference there: all but those beside.
        """
        self._known.clear()
        found: set[Fraction] = set()
        for expression in self.vanishing:
            found.update(self.places(expression, name, point))
        for place, tiny in _between(sorted(found)):
            yield {**point, name: place}, tiny

    def places(self, node: Node, name: str, point: Point) -> set[Fraction]:
        """Where an expression is zero as a function of one variable, or turns."""
        if name not in free_names(node):
            return set()
        if node not in self._known:
            self._known[node] = self._places(node, name, point)
        return self._known[node]

    def _places(self, node: Node, name: str, point: Point) -> set[Fraction]:
        match node:
            case Product(over, under):
                return self._all((*over, *under), name, point)
            case Root(_, inner) | Apply("abs", (inner,)):
                return self.places(inner, name, point)
            case Power(base, _) if name in free_names(base):
                return self.places(base, name, point)
            case Apply(function, inside) if functions.EXTREME in functions.traits_of(function):
                return self._all(inside, name, point)
            case Apply(wave, (angle,)) if wave in _WAVES:
                return self._all(
                    tuple(_less(angle, Number(turn)) for turn in _PI_HALVES), name, point
                )
        coefficients = self._polynomial(node, name, point)
        if coefficients is not None:
            return self._roots(coefficients)
        found = self._by_search(node, name, point)
        match node:
            case Sum(terms):
                found |= self._all(terms, name, point)
            case Power(_, inner) | Apply(_, (inner,)):
                found |= self.places(inner, name, point)
        return found

    def _all(self, nodes: tuple[Node, ...], name: str, point: Point) -> set[Fraction]:
        return set().union(*(self.places(node, name, point) for node in nodes))

    # ---- polynomials

    def _polynomial(self, node: Node, name: str, point: Point) -> list[Fraction] | None:
        """The coefficients in one variable, from the constant one on; None for anything else."""
        self.work.spend(1)
        if name not in free_names(node):
            exact = rational(node)
            value = self._function(node, name, point)(0.0) if exact is None else exact
            return None if value is None else [Fraction(value)]
        match node:
            case Symbol():
                return [Fraction(0), Fraction(1)]
            case Sum(terms):
                return self._folded(terms, name, point, _plus)
            case Product(over, under) if not any(name in free_names(each) for each in under):
                inverted = tuple(Product((_ONE,), (each,)) for each in under)
                return self._folded((*over, *inverted), name, point, _times)
            case Power(base, Number(exponent)) if (
                exponent.denominator == 1 and 0 < exponent <= _DEGREE
            ):
                return self._folded((base,) * int(exponent), name, point, _times)
        return None

    def _folded(
        self,
        nodes: tuple[Node, ...],
        name: str,
        point: Point,
        operation: Callable[[list[Fraction], list[Fraction]], list[Fraction]],
    ) -> list[Fraction] | None:
        result: list[Fraction] | None = None
        for node in nodes:
            factor = self._polynomial(node, name, point)
            if factor is None:
                return None
            result = factor if result is None else operation(result, factor)
            if len(result) > _DEGREE + 1:
                return None
        return result

    def _roots(self, coefficients: list[Fraction]) -> set[Fraction]:
        """The real roots of a polynomial and of its derivatives, between which it is monotone."""
        while coefficients and not coefficients[-1]:
            coefficients = coefficients[:-1]
        if len(coefficients) <= 1:
            return set()
        if len(coefficients) == 2:  # noqa: PLR2004 - a straight line
            return {-coefficients[0] / coefficients[1]}
        slope = [power * each for power, each in enumerate(coefficients)][1:]
        turns = self._roots(slope)
        try:
            bound = 1 + float(max(abs(each / coefficients[-1]) for each in coefficients[:-1]))
            ends = (-bound, *sorted(map(float, turns)), bound)
        except OverflowError:
            raise OverBudget("coefficients beyond double precision") from None

        def sign(place: float) -> int:
            self.work.spend(len(coefficients))
            exact, total = Fraction(place), Fraction(0)
            for each in reversed(coefficients):
                total = total * exact + each
            return (total > 0) - (total < 0)

        for low, high in pairwise(ends):
            if sign(low) * sign(high) < 0:
                turns.add(Fraction(sign_change(sign, low, high)))
        return turns

    # ---- anything else

    def _by_search(self, node: Node, name: str, point: Point) -> set[Fraction]:
        """Changes of sign and least sizes on a grid, each made precise."""
        value = self._function(node, name, point)
        known = [(place, here) for place in _GRID if (here := value(place)) is not None]
        found = {place for place, here in known if not here}
        for (low, below), (high, above) in pairwise(known):
            if sign_of(below) * sign_of(above) < 0:
                found.add(sign_change(value, low, high))
        for (low, first), (_, second), (high, third) in zip(
            known, known[1:], known[2:], strict=False
        ):
            alike = sign_of(first) == sign_of(second) == sign_of(third)
            if alike and abs(second) < min(abs(first), abs(third)):
                found.add(least(value, low, high))
        return {Fraction(place) for place in found}

    def _function(self, node: Node, name: str, point: Point) -> Function:
        """An expression as a function of one variable, None where it has no real value."""
        places = {
            other: REAL.rational(place)
            for other, place in point.items()
            if isinstance(place, Fraction) and other != name
        }
        evaluation = Evaluation(REAL, places, self.work, Interpretation())

        def value(place: float) -> float | None:
            places[name] = (place, 0.0)
            try:
                return float(evaluation.value(node)[0].real)
            except (NoValue, KeyError):
                return None

        return value


def _vanishing(tree: Node) -> Iterator[Node]:
    """What changes a formula where it is zero."""
    for part in parts(tree):
        match part:
            case Apply(name, arguments):
                yield from _turns(functions.traits_of(name), arguments)
            case Root(_, inner):
                yield inner
            case Power(base, exponent) if (value := rational(exponent)) is None or (
                value.denominator > 1
            ):
                yield base
        if isinstance(part, Product):
            yield from part.under
        elif isinstance(part, Apply) and functions.ANGLE in functions.traits_of(part.name):
            yield from (each for each in parts(part) if _is_wave(each))


def _turns(traits: Sequence[str], arguments: tuple[Node, ...]) -> Iterator[Node]:
    """What changes the formula of a function where it is zero."""
    if functions.TURNING in traits:
        yield arguments[0]
    if functions.LOGARITHM in traits:
        yield arguments[-1]
    if functions.EXTREME in traits:
        yield from (_less(*pair) for pair in combinations(arguments, 2))
    if functions.BOUNDED in traits:
        yield _less(arguments[0], _ONE)
        yield _less(negated(arguments[0]), _ONE)


def _bare(expression: Node) -> Node:
    """What is zero where a root, a power or a modulus is."""
    while True:
        match expression:
            case Root(_, inner) | Apply("abs", (inner,)) | Power(inner, Number()):
                expression = inner
            case _:
                return expression


def _is_wave(node: Node) -> bool:
    return isinstance(node, Apply) and node.name in _WAVES


def _between(places: list[Fraction]) -> Iterator[tuple[Fraction, bool]]:
    """Places, points beside each, between neighbours, and beyond the outermost."""
    for place in places:
        yield place, True
        distance = _BESIDE * (abs(place) or 1)
        yield place - distance, False
        yield place + distance, False
    for low, high in pairwise(places):
        yield (low + high) / 2, True
    if places:
        width = 1 + places[-1] - places[0] + abs(places[0])
        yield places[0] - width * _BEYOND, True
        yield places[-1] + width * _BEYOND, True


def _less(first: Node, second: Node) -> Node:
    return Sum((first, negated(second)))


def _plus(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    return [
        each + (shorter[place] if place < len(shorter) else 0) for place, each in enumerate(longer)
    ]


def _times(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    result = [Fraction(0)] * (len(first) + len(second) - 1)
    for place, factor in enumerate(first):
        for other, each in enumerate(second):
            result[place + other] += factor * each
    return result
