"""Powers and roots, as far as they hold for every real value of the variables.

2^(n+1) = 2·2^n and √8 = 2√2, but √(x²) is not x.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.exact.polynomials import (
    IMAGINARY,
    UNIT,
    Monomial,
    Quotient,
    atom,
    constant,
    function_atom,
    number_of,
    primitive,
    rendered,
    rendered_monomial,
    single_term,
    written,
)
from reward_functions.symbolic.exact.rational import ONE, exact_root, prime_factors
from reward_functions.symbolic.exact.trigonometry import HALF, PI, Trigonometry
from reward_functions.symbolic.expr.names import WHOLE

_FACTORING: Final = 20
"""Steps of work that finding the small prime factors of a number is worth."""

_E: Final[Monomial] = (("ke", ONE),)
_RUNNING: Final = f"v{WHOLE}"
_I_PI: Final[Monomial] = ((IMAGINARY, ONE), *PI)


class Powers(Trigonometry):
    """Values of powers and roots in one field."""

    def power(self, base: Quotient, exponent: Quotient) -> Quotient:
        """Base to an exponent, each with its own value."""
        raised = number_of(exponent)
        if raised is not None:
            return self.rational_power(base, raised)
        if not exponent.whole or not base.above:
            return function_atom("power", [base, exponent])
        result = constant(ONE)
        for monomial, factor in exponent.above.items():
            result = self.field.multiply(result, self.symbolic_power(base, monomial, factor))
        return result

    def rational_power(self, base: Quotient, exponent: Fraction) -> Quotient:
        """Base to a rational number; the principal value, but odd roots of negatives are real."""
        if exponent.denominator == 1:
            return self.field.power(base, exponent.numerator)
        if not base.above:
            if exponent < 0:
                raise Unreadable("a division by zero")
            return base
        number = number_of(base)
        if number is not None:
            return self.power_of_number(number, exponent)
        factor, rest = primitive(base)
        scale = self.power_of_number(factor, exponent)
        return self.field.multiply(scale, self.power_of_primitive(rest, exponent))

    def power_of_number(self, number: Fraction, exponent: Fraction) -> Quotient:
        """A rational number to a fraction, through its prime factors."""
        if number > 0:
            above = self._positive_power(number.numerator, exponent)
            return self.field.multiply(above, self._positive_power(number.denominator, -exponent))
        size = self.power_of_number(-number, exponent)
        if exponent.denominator == 2:  # noqa: PLR2004 - a square root
            return self.field.multiply(size, self.field.power(atom(IMAGINARY), exponent.numerator))
        if exponent.denominator % 2:
            return self.field.negate(size) if exponent.numerator % 2 else size
        return function_atom("power", [constant(number), constant(exponent)])

    def _positive_power(self, number: int, exponent: Fraction) -> Quotient:
        self.field.work.spend(_FACTORING)
        primes, rest = prime_factors(number)
        result = constant(ONE)
        for prime, times in primes.items():
            root_of_prime = atom(f"r{prime}", Fraction(1, exponent.denominator))
            power = self.field.power(root_of_prime, times * exponent.numerator)
            result = self.field.multiply(result, power)
        if rest == 1:
            return result
        root = exact_root(rest, exponent.denominator)
        if root is not None:
            large = self.field.power(constant(Fraction(root)), exponent.numerator)
        else:
            large = self._composite(constant(Fraction(rest)), exponent)
        return self.field.multiply(result, large)

    def power_of_primitive(self, base: Quotient, exponent: Fraction) -> Quotient:
        """A value without a rational factor to a fraction.

        (a^p)^q is a^(pq) for -1 < p <= 1, where the principal values agree; for other p, as in
        √(x²), for sums and for e^(ix) the base stays whole.
        """
        term = single_term(base)
        if term is not None:
            monomial, factor = term
            if factor > 0 and positive_atoms(monomial):
                return self._monomial_power(monomial, exponent)
            if factor == 1 and len(monomial) == 1 and not _turning(monomial[0][0]):
                power = monomial[0][1]
                if -1 < power <= 1:
                    return self._monomial_power(monomial, exponent)
        if base.whole:
            return self._composite(base, exponent)
        return function_atom("power", [base, constant(exponent)])

    def _monomial_power(self, monomial: Monomial, exponent: Fraction) -> Quotient:
        raised = tuple((name, power * exponent) for name, power in monomial)
        return self.field.polynomial({raised: ONE})

    def _composite(self, base: Quotient, exponent: Fraction) -> Quotient:
        """A base that stays whole, as an atom whose integer powers multiply out."""
        name = f"p({rendered(base)})"
        self.field.bases[name] = base
        whole, part = divmod(exponent, 1)
        multiplied = self.field.power(base, int(whole))
        return self.field.multiply(multiplied, atom(name, part))

    def symbolic_power(self, base: Quotient, monomial: Monomial, factor: Fraction) -> Quotient:
        """Base to factor · monomial, where the monomial is 1 or contains a variable or constant."""
        if monomial == UNIT:
            return self.rational_power(base, factor)
        term = single_term(base)
        if term == (_E, ONE):
            return self._exponential(monomial, factor)
        number = number_of(base)
        if number == -1 and running(monomial) and factor % 2 == 0:
            return constant(ONE)
        if number is not None and number > 0:
            return self._number_to(number, monomial, factor)
        if term is not None and term[1] == 1 and len(term[0]) == 1 and term[0][0][1] == 1:
            return atom(f"f{term[0][0][0][1:]}^({rendered_monomial(monomial)})", factor)
        return atom(f"f({rendered(base)})^({rendered_monomial(monomial)})", factor)

    def _number_to(self, number: Fraction, monomial: Monomial, factor: Fraction) -> Quotient:
        result = constant(ONE)
        for integer, direction in ((number.numerator, factor), (number.denominator, -factor)):
            primes, rest = prime_factors(integer)
            if rest > 1:
                primes[rest] = 1
            for prime, times in primes.items():
                name = f"f{written(prime)}^({rendered_monomial(monomial)})"
                power = atom(name, direction * times)
                result = self.field.multiply(result, power)
        return result

    def _exponential(self, monomial: Monomial, factor: Fraction) -> Quotient:
        """A power of e: Euler's formula at known angles, e^(ln x) = x, else an atom."""
        if monomial == _I_PI:
            cosine, sine = self.cosine_of_turn(factor), self.cosine_of_turn(factor - HALF)
            if cosine is not None and sine is not None:
                imaginary = self.field.multiply(atom(IMAGINARY), sine)
                return self.field.add(cosine, imaginary)
        if len(monomial) == 1 and monomial[0][0][:1] == "l" and monomial[0][1] == 1:
            argument = self.field.bases.get(monomial[0][0])
            if argument is not None:
                return self.rational_power(argument, factor)
        return atom(f"fe^({rendered_monomial(monomial)})", factor)

    def root(self, radicand: Quotient, index: Quotient) -> Quotient:
        """The root of a written index, a positive integer."""
        degree = number_of(index)
        if degree is None or degree.denominator != 1 or degree < 1:
            return function_atom("root", [index, radicand])
        return self.rational_power(radicand, 1 / degree)


def _turning(name: str) -> bool:
    """Whether an atom is i or a power with i above, whose roots are not those of its angle."""
    exponent = name.partition("^(")[2].rstrip(")")
    return name == IMAGINARY or (name[0] == "f" and "i" in exponent.split("·"))


def running(monomial: Monomial) -> bool:
    """Whether a monomial is a power of the variable that runs through the whole numbers."""
    return bool(monomial) and all(
        name == _RUNNING and power > 0 and power % 1 == 0 for name, power in monomial
    )


def positive_atoms(monomial: Monomial) -> bool:
    """Whether every atom is a positive number: a root of a prime, π or e."""
    return all(name[0] == "r" or name in ("kπ", "ke") for name, _ in monomial)
