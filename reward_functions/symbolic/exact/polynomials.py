"""Sparse polynomials over Q in named atoms, and quotients of two of them.

An atom is anything that is computed with but not computed: a variable, π, the square root of 3,
sin(x), 2^n. The first letter of its name is its kind, so that the relations between
atoms hold in every product:

    v…  a variable                  no relation
    k…  kπ, ke, ki (constants)      ki² = -1
    r…  a prime number              r2^(1/2) · r2^(1/2) = 2; exponents are fractions in [0, 1)
    p…  a base (see `bases`)        its power 1 is the base itself, so roots multiply out
    c…  a cosine                    c…² = 1 - s…²
    s… l… f…  a sine, a logarithm, any other function or power: no relation

Roots of prime numbers are independent over Q (Besicovitch 1940), so two polynomials in variables,
i and such roots are equal exactly when their canonical forms are. Every product is paid for in
advance from a `Work` account.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Final, NamedTuple

from reward_functions.symbolic.budget import (
    BITS,
    COEFFICIENT_BITS,
    EXPONENT,
    TERMS,
    OverBudget,
    Unreadable,
    Work,
)
from reward_functions.symbolic.exact.rational import ONE, bits, content, plus, times
from reward_functions.symbolic.exact.rational import power as rational_power

Exponent = int | Fraction
Monomial = tuple[tuple[str, Exponent], ...]
Poly = dict[Monomial, Fraction]

UNIT: Final[Monomial] = ()
IMAGINARY: Final = "ki"


class Quotient(NamedTuple):
    """A polynomial over a polynomial. Below a single term is folded into what stands above.

    Nothing outside this module makes one but through `constant`, `atom` and `Field`, so that the
    relations between atoms hold in every one.
    """

    above: Poly
    below: Poly

    @property
    def whole(self) -> bool:
        """Whether nothing but 1 stands below."""
        return self.below == {UNIT: ONE}


def constant(value: Fraction) -> Quotient:
    """A rational number."""
    return Quotient({UNIT: value} if value else {}, {UNIT: ONE})


def atom(name: str, exponent: Exponent = 1) -> Quotient:
    """An atom to a power."""
    return Quotient({((name, exponent),): ONE}, {UNIT: ONE})


def function_atom(name: str, values: list[Quotient]) -> Quotient:
    """A function of values that is not computed, the same atom for equal canonical forms."""
    return atom(f"f{name}({'; '.join(map(rendered, values))})")


def number_of(value: Quotient) -> Fraction | None:
    """The rational number that a value is, or None."""
    if not value.whole or len(value.above) > 1:
        return None
    if not value.above:
        return Fraction(0)
    return value.above.get(UNIT)


def single_term(value: Quotient) -> tuple[Monomial, Fraction] | None:
    """The one term that a value is, or None; zero has none."""
    if not value.whole or len(value.above) != 1:
        return None
    return next(iter(value.above.items()))


def atoms_of(poly: Poly) -> set[str]:
    """The names of all atoms in a polynomial."""
    return {name for monomial in poly for name, _ in monomial}


def names_of(value: Quotient) -> set[str]:
    """The names of all atoms above and below."""
    return atoms_of(value.above) | atoms_of(value.below)


class PolynomialField:
    """Arithmetic with quotients for one comparison: its work account and its composite bases."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.bases: dict[str, Quotient] = {}

    # ---- quotients

    def polynomial(self, poly: Poly) -> Quotient:
        """The polynomial of some terms, with every relation between their atoms applied."""
        result: Poly = {}
        for monomial, factor in poly.items():
            result = self._sum(result, self._reduced(dict(monomial), factor))
        return Quotient(result, {UNIT: ONE})

    def add(self, first: Quotient, second: Quotient) -> Quotient:
        """The sum."""
        if first.below == second.below:
            return Quotient(self._sum(first.above, second.above), first.below)
        above = self._sum(
            self.product(first.above, second.below), self.product(second.above, first.below)
        )
        return Quotient(above, self.product(first.below, second.below))

    def negate(self, value: Quotient) -> Quotient:
        """The value times minus one."""
        return Quotient({key: -factor for key, factor in value.above.items()}, value.below)

    def multiply(self, first: Quotient, second: Quotient) -> Quotient:
        """The product."""
        above = self.product(first.above, second.above)
        if first.whole and second.whole:
            return Quotient(above, first.below)
        return self._folded(above, self.product(first.below, second.below))

    def divide(self, first: Quotient, second: Quotient) -> Quotient:
        """The quotient. Raises `Unreadable` for a division by zero."""
        return self.multiply(first, self.inverse(second))

    def inverse(self, value: Quotient) -> Quotient:
        """One over the value. Raises `Unreadable` for zero."""
        if not value.above or self.vanishes(value.above):
            raise Unreadable("a division by zero")
        return self._folded(value.below, value.above)

    def power(self, value: Quotient, exponent: int) -> Quotient:
        """An integer power."""
        if exponent < 0:
            return self.power(self.inverse(value), -exponent)
        if not exponent:
            if not value.above:
                raise Unreadable("0^0")
            return constant(ONE)
        return Quotient(self._power(value.above, exponent), self._power(value.below, exponent))

    def difference(self, first: Quotient, second: Quotient) -> Poly:
        """Cross-multiplied difference: empty exactly when the canonical forms coincide."""
        left = self.product(first.above, second.below)
        right = self.product(second.above, first.below)
        difference = self._sum(left, {key: -factor for key, factor in right.items()})
        return {} if self.vanishes(difference) else difference

    def _folded(self, above: Poly, below: Poly) -> Quotient:
        if len(below) != 1:
            return Quotient(above, below)
        ((monomial, factor),) = below.items()
        inverse = tuple((name, -exponent) for name, exponent in monomial)
        return Quotient(self.product(above, self._reduced(dict(inverse), 1 / factor)), {UNIT: ONE})

    # ---- polynomials

    def product(self, first: Poly, second: Poly) -> Poly:
        """The product of two polynomials, with every relation applied."""
        if second == {UNIT: ONE}:
            return first
        if first == {UNIT: ONE}:
            return second
        self._afford(first, second)
        mine, my_bar = _integers(first)
        others, their_bar = _integers(second)
        bar = my_bar * their_bar
        sums: dict[Monomial, int] = {}
        related: Poly = {}
        for left, factor in mine:
            for right, other in others:
                powers = _merged(left, right)
                if isinstance(powers, tuple):
                    sums[powers] = sums.get(powers, 0) + factor * other
                else:
                    for key, value in self._reduced(powers, Fraction(factor * other, bar)).items():
                        _accumulate(related, key, value)
        for key, total in sums.items():
            _accumulate(related, key, Fraction(total, bar))
        self._check(related)
        return related

    def vanishes(self, poly: Poly) -> bool:
        """Whether a polynomial is zero once negative powers of related atoms are cleared."""
        lowest: dict[str, Exponent] = {}
        for monomial in poly:
            for name, exponent in monomial:
                if exponent < 0 and name[0] in "cp":
                    lowest[name] = min(lowest.get(name, exponent), exponent)
        if not lowest:
            return not poly
        cleared: Poly = {}
        for monomial, factor in poly.items():
            powers = dict(monomial)
            for name, exponent in lowest.items():
                powers[name] = powers.get(name, 0) - exponent
            for key, value in self._reduced(powers, factor).items():
                _accumulate(cleared, key, value)
        return not cleared

    def _afford(self, first: Poly, second: Poly) -> None:
        pairs = len(first) * len(second)
        size = _size(first) + _size(second)
        if size > (COEFFICIENT_BITS if pairs > 1 else BITS):
            raise OverBudget(f"factors of {size} bits")
        wide = max(map(len, first), default=0) + max(map(len, second), default=0)
        self.work.spend(pairs * (2 + size // 256 + max(wide - _NAMES, 0)))

    def _check(self, poly: Poly) -> None:
        if len(poly) > TERMS:
            raise OverBudget(f"a polynomial of more than {TERMS} terms")

    def _sum(self, first: Poly, second: Poly) -> Poly:
        self.work.spend(len(second) + 1)
        result = dict(first)
        for monomial, factor in second.items():
            _accumulate(result, monomial, factor)
        self._check(result)
        return result

    def _power(self, poly: Poly, exponent: int) -> Poly:
        if len(poly) == 1:
            ((monomial, factor),) = poly.items()
            powers = {name: each * exponent for name, each in monomial}
            return self._reduced(powers, rational_power(factor, exponent))
        if exponent > EXPONENT:
            raise OverBudget(f"a sum to a power above {EXPONENT}")
        result: Poly = {UNIT: ONE}
        while exponent:
            if exponent & 1:
                result = self.product(result, poly)
            exponent >>= 1
            if exponent:
                poly = self.product(poly, poly)
        return result

    def _reduced(self, powers: dict[str, Exponent], factor: Fraction) -> Poly:
        """A product of atoms with their relations applied, as a polynomial."""
        extra: list[Poly] = []
        for name in list(powers):
            kind, exponent = name[0], powers[name]
            if name == IMAGINARY and exponent.denominator == 1:
                factor = -factor if exponent % 4 in (2, 3) else factor
                powers[name] = exponent % 2
            elif kind == "r":
                whole, powers[name] = divmod(exponent, 1)
                factor = times(factor, rational_power(Fraction(int(name[1:])), int(whole)))
            elif kind == "p" and exponent >= 1:
                whole, powers[name] = divmod(exponent, 1)
                extra.append(self.power(self.bases[name], int(whole)).above)
            elif kind == "c" and exponent >= 2 and exponent.denominator == 1:  # noqa: PLR2004
                half, powers[name] = divmod(exponent, 2)
                square: Monomial = (("s" + name[1:], 2),)
                extra.append(self._power({UNIT: ONE, square: -ONE}, int(half)))
        result: Poly = {_monomial(powers): factor} if factor else {}
        for poly in extra:
            result = self.product(result, poly)
        return result


_NAMES: Final = 8
"""Names in two factors that are multiplied without being counted as work."""


def _size(poly: Poly) -> int:
    return max(map(bits, poly.values()), default=1)


def _integers(poly: Poly) -> tuple[list[tuple[Monomial, int]], int]:
    """The polynomial with integer factors, over a common denominator."""
    bar = lcm(*(factor.denominator for factor in poly.values()))
    return [
        (key, factor.numerator * (bar // factor.denominator)) for key, factor in poly.items()
    ], bar


def _merged(left: Monomial, right: Monomial) -> Monomial | dict[str, Exponent]:
    """The product of two monomials; as a dict when a relation between atoms may apply to it."""
    if not left or not right:
        return left or right
    powers = dict(left)
    related = False
    for name, exponent in right:
        if name in powers:
            related = related or name[0] in "rpc" or name == IMAGINARY
            powers[name] += exponent
        else:
            powers[name] = exponent
    return powers if related else _monomial(powers)


def _monomial(powers: dict[str, Exponent]) -> Monomial:
    if all(powers.values()):
        return tuple(sorted(powers.items()))
    return tuple(sorted((name, exponent) for name, exponent in powers.items() if exponent))


def _accumulate(poly: Poly, monomial: Monomial, factor: Fraction) -> None:
    before = poly.get(monomial)
    if before is None:
        if factor:
            poly[monomial] = factor
        return
    total = plus(before, factor)
    if total:
        poly[monomial] = total
    else:
        del poly[monomial]


def primitive(value: Quotient) -> tuple[Fraction, Quotient]:
    """A positive rational and a value with coprime integer coefficients, of product `value`."""
    if not value.above:
        return ONE, value
    above, below = content(list(value.above.values())), content(list(value.below.values()))
    sign = -1 if min(value.below.items())[1] < 0 else 1
    return above / below, Quotient(
        {key: sign * factor / above for key, factor in value.above.items()},
        {key: sign * factor / below for key, factor in value.below.items()},
    )


def rendered_monomial(monomial: Monomial) -> str:
    """A product of atoms as a string."""
    return _term(monomial, ONE)


def rendered(value: Quotient) -> str:
    """A value as a string, the same for equal canonical forms: the name of what is built on it."""
    above = _rendered(value.above)
    return above if value.whole else f"({above})/({_rendered(value.below)})"


def _rendered(poly: Poly) -> str:
    return " + ".join(_term(key, factor) for key, factor in sorted(poly.items())) or "0"


def _term(monomial: Monomial, factor: Fraction) -> str:
    shown = [_shown(name) if e == 1 else f"{_shown(name)}^{_exponent(e)}" for name, e in monomial]
    if factor != 1 or not shown:
        shown.insert(0, written(factor))
    return "·".join(shown)


def written(number: Exponent) -> str:
    """A number in a name. Raises `OverBudget` before Python refuses to write so many digits."""
    if bits(number) > COEFFICIENT_BITS:
        raise OverBudget(f"a name with a number of more than {COEFFICIENT_BITS} bits")
    return str(number)


def _shown(name: str) -> str:
    return _SPELLED.get(name[0], "") + name[1:]


_SPELLED: Final = {"s": "sin", "c": "cos", "l": "ln"}


def _exponent(exponent: Exponent) -> str:
    digits = written(exponent)
    return digits if exponent.denominator == 1 and exponent > 0 else f"({digits})"
