"""Rational expressions compared modulo a large prime, without multiplying anything out.

Both expressions are quotients N/D of polynomials with integer coefficients. They are equal exactly
when the polynomial N₁·D₂ - N₂·D₁ is zero. Bounds on its degree and on the sum of its coefficients'
absolute values follow from the trees alone. The prime is chosen above the second bound, so a
polynomial that is not zero is not zero modulo the prime either, for any coefficients. So no
difference can hide in a multiple of the prime.

- Different residues at one point prove the expressions *different*.
- Equal residues at a random point mean *equal* with an error of at most degree / prime (Schwartz
  1980, Zippel 1979). That is 2^-107 for degrees up to 2^20 and the smallest prime, and the square
  of that for the two points that are asked.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import (
    Based,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Sum,
    Symbol,
)
from reward_functions.symbolic.numeric.traits import hashed
from reward_functions.symbolic.verdict import Finding, differ, same

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.symbolic.budget import Work
    from reward_functions.symbolic.numeric.traits import Traits

_RULE: Final = "residues"

_MERSENNE: Final = (127, 521, 1279, 2203)
"""Exponents of the primes 2^k - 1 that are used: the smallest that is above the coefficients."""

_DEGREE: Final = 1 << 20
_POINTS: Final = 2
_ATTEMPTS: Final = 6
"""Points that are tried; one at which a denominator vanishes proves nothing."""

_STEP: Final = 6364136223846793005


class _Size(NamedTuple):
    """Bounds for a quotient: degrees, and bits of the sums of coefficients, above and below."""

    degree: int
    degree_below: int
    bits: int
    bits_below: int

    def inverse(self) -> _Size:
        """The size of one over it."""
        return _Size(self.degree_below, self.degree, self.bits_below, self.bits)

    def times(self, other: _Size) -> _Size:
        """The size of a product."""
        return _Size(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def plus(self, other: _Size) -> _Size:
        """The size of a sum, and of a difference, brought over a common denominator."""
        return _Size(
            max(self.degree + other.degree_below, other.degree + self.degree_below),
            self.degree_below + other.degree_below,
            max(self.bits + other.bits_below, other.bits + self.bits_below) + 1,
            self.bits_below + other.bits_below,
        )

    def to_the(self, exponent: int) -> _Size:
        """The size of an integer power."""
        size = self if exponent >= 0 else self.inverse()
        return _Size(*(each * abs(exponent) for each in size))


_ONE: Final = _Size(0, 0, 0, 0)
_HUNDREDTH: Final = _Size(0, 0, 1, 7)
_Pair = tuple[int, int]


def by_residues(reference: Node, candidate: Node, traits: Traits, work: Work) -> Finding | None:
    """Whether two rational expressions are equal; None for others, and for too large ones."""
    mine, theirs = _size(reference), _size(candidate)
    if mine is None or theirs is None:
        return None
    difference = mine.plus(theirs)
    chosen = [bits for bits in _MERSENNE if bits > difference.bits + difference.bits_below]
    if not chosen or difference.degree > _DEGREE:
        return None
    prime = (1 << chosen[0]) - 1
    work.spend(_ATTEMPTS * traits.nodes * (1 + chosen[0] // 256))
    agreed = 0
    for attempt in range(_ATTEMPTS):
        point = {name: _random(traits.seed, name, attempt, prime) for name in traits.variables}
        modulo = _Modulo(prime, point)
        first, second = modulo.value(reference), modulo.value(candidate)
        if not first[1] or not second[1]:
            continue
        if (first[0] * second[1] - second[0] * first[1]) % prime:
            return differ(_RULE, "the residues modulo a large prime differ")
        agreed += 1
        if agreed == _POINTS:
            return same(_RULE, "the same residues modulo a large prime, at random points")
    return None


def _random(seed: int, name: str, attempt: int, prime: int) -> int:
    """A residue that looks random and is not."""
    state = seed ^ hashed(name) ^ (attempt + 1)
    for _ in range(prime.bit_length() // 61 + 2):
        state = state * _STEP + 1442695040888963407
    return state % prime


def _size(node: Node) -> _Size | None:
    """Bounds for a tree; None for one that is not rational with whole exponents."""
    match node:
        case Number(value) | Based(value=value):
            exact = Fraction(value)
            return _Size(0, 0, abs(exact.numerator).bit_length(), exact.denominator.bit_length())
        case Symbol():
            return _Size(1, 0, 0, 0)
        case Sum(terms):
            return _folded(terms, _Size.plus)
        case Product(over, under):
            above, below = _folded(over, _Size.times), _folded(under, _Size.times)
            return None if above is None or below is None else above.times(below.inverse())
        case Percent(body):
            size = _size(body)
            return size and size.times(_HUNDREDTH)
        case Power(base, exponent):
            size, power = _size(base), rational(exponent)
            if size is None or power is None or power.denominator != 1:
                return None
            return size.to_the(power.numerator)
    return None


def _folded(nodes: tuple[Node, ...], operation: Callable[[_Size, _Size], _Size]) -> _Size | None:
    sizes = [size for node in nodes if (size := _size(node)) is not None]
    if len(sizes) < len(nodes):
        return None
    return reduce(operation, sizes) if sizes else _ONE


class _Modulo:
    """Values at one point modulo a prime, as quotients that are not divided; (0, 0) is none."""

    def __init__(self, prime: int, point: dict[str, int]) -> None:
        self.prime = prime
        self.point = point

    def value(self, node: Node) -> _Pair:
        """The value of a tree for which there is a size."""
        match node:
            case Number(value) | Based(value=value):
                exact = Fraction(value)
                return exact.numerator % self.prime, exact.denominator % self.prime
            case Symbol(name):
                return self.point[name], 1
            case Sum(terms):
                return reduce(self.plus, map(self.value, terms))
            case Product(over, under):
                below = (_inverse(self.value(factor)) for factor in under)
                return reduce(self.times, (*map(self.value, over), *below), (1, 1))
            case Percent(body):
                return self.times(self.value(body), (1, 100))
            case Power(base, exponent):
                return self.power(self.value(base), int(rational(exponent) or 0))
        raise AssertionError("a size was found for it")

    def plus(self, first: _Pair, second: _Pair) -> _Pair:
        """The sum."""
        above = first[0] * second[1] + second[0] * first[1]
        return above % self.prime, first[1] * second[1] % self.prime

    def times(self, first: _Pair, second: _Pair) -> _Pair:
        """The product."""
        return first[0] * second[0] % self.prime, first[1] * second[1] % self.prime

    def power(self, value: _Pair, exponent: int) -> _Pair:
        """An integer power."""
        above, below = value if exponent >= 0 else _inverse(value)
        return pow(above, abs(exponent), self.prime), pow(below, abs(exponent), self.prime)


def _inverse(value: _Pair) -> _Pair:
    return (value[1], value[0]) if value[1] else (0, 0)
