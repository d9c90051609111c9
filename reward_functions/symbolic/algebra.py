"""The tree as a quotient of polynomials in atoms: exact algebra for one comparison.

What is a number is computed (under the ceilings), what is polynomial is multiplied out, and what is
neither becomes an atom named by its own canonical form. A rewriting happens only where it holds for
every real value of the variables: 2^(n+1) = 2·2^n, but √(x²) is not x and ln(xy) not ln x + ln y.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.symbolic.limits import Unreadable
from reward_functions.symbolic.names import indexed_by
from reward_functions.symbolic.operators import determinant, operated
from reward_functions.symbolic.polynomials import (
    IMAGINARY,
    UNIT,
    Field,
    Monomial,
    Poly,
    Quotient,
    atom,
    constant,
    function_atom,
    number_of,
    primitive,
    rendered,
    rendered_monomial,
    single_term,
)
from reward_functions.symbolic.rational import (
    ONE,
    binomial,
    exact_root,
    factorial_of,
    prime_factors,
    rational,
)
from reward_functions.symbolic.tree import (
    Apply,
    Based,
    Constant,
    Degrees,
    Derivative,
    Integral,
    Iterated,
    Limit,
    Matrix,
    Node,
    Percent,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)

_FACTORING: Final = 20
"""Steps of work that finding the small prime factors of a number is worth."""

HALF: Final = Fraction(1, 2)
_E: Final[Monomial] = (("ke", ONE),)
_PI: Final[Monomial] = (("kπ", ONE),)
_I_PI: Final[Monomial] = ((IMAGINARY, ONE), ("kπ", ONE))


class Algebra:
    """Values of trees, all in one field, so that equal sub-terms are equal atoms.

    Args:
        field: the arithmetic, with its work account.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        # The values of the variables that sums bind, themselves where the bounds are symbolic.
        self.places: dict[str, Quotient] = {}

    def value(self, node: Node) -> Quotient:  # noqa: C901, PLR0912 - one case per kind of node
        """The value of a tree.

        Raises:
            Unreadable: the tree is no single value (a list, a relation) or denotes nothing.
            OverBudget: a ceiling of the arithmetic is passed.
        """
        known = rational(node)
        if known is not None:
            return constant(known)
        match node:
            case Symbol(name):
                return self.variable(name)
            case Constant(name):
                return _constant(name)
            case Sum(terms):
                return self._sum(terms)
            case Product(over, under):
                return self.field.divide(self._product(over), self._product(under))
            case Power(base, exponent):
                return self.power(self.value(base), self.value(exponent))
            case Root(index, radicand):
                return self.root(self.value(radicand), self.value(index))
            case Apply("det", (Matrix(rows),)):
                return determinant(self, rows)
            case Apply(name, arguments):
                return self.apply(name, [self.value(argument) for argument in arguments])
            case Percent(body):
                return self.field.multiply(self.value(body), constant(Fraction(1, 100)))
            case Degrees(body):
                degree = self.field.polynomial({_PI: Fraction(1, 180)})
                return self.field.multiply(self.value(body), degree)
            case Based(_, _, number):
                return constant(Fraction(number))
            case Iterated() | Integral() | Derivative() | Limit():
                return operated(self, node)
        raise Unreadable(f"{type(node).__name__.lower()} is no single value")

    def variable(self, name: str) -> Quotient:
        """A variable, or its value in a sum. Raises `Unreadable` for a term of a sequence."""
        if self.places and indexed_by(name, self.places):
            raise Unreadable("a sequence is not summed up")
        return self.places.get(name) or atom("v" + name)

    def _sum(self, terms: tuple[Node, ...]) -> Quotient:
        total = self.value(terms[0])
        for term in terms[1:]:
            total = self.field.add(total, self.value(term))
        return total

    def _product(self, factors: tuple[Node, ...]) -> Quotient:
        result = constant(ONE)
        for factor in factors:
            result = self.field.multiply(result, self.value(factor))
        return result

    # ---- powers and roots

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
        √(x²), and for sums the base stays whole.
        """
        term = single_term(base)
        if term is not None:
            monomial, factor = term
            if factor > 0 and _positive_atoms(monomial):
                return self._monomial_power(monomial, exponent)
            if factor == 1 and len(monomial) == 1 and monomial[0][0] != IMAGINARY:
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
                power = atom(f"f{prime}^({rendered_monomial(monomial)})", direction * times)
                result = self.field.multiply(result, power)
        return result

    def _exponential(self, monomial: Monomial, factor: Fraction) -> Quotient:
        """A power of e: Euler's formula at known angles, e^(ln x) = x, else an atom."""
        if monomial == _I_PI:
            cosine, sine = self._cosine_of_turn(factor), self._cosine_of_turn(factor - HALF)
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

    # ---- functions

    def apply(self, name: str, values: list[Quotient]) -> Quotient:
        """A named function of values: computed where it is exact, an atom elsewhere."""
        numbers = [number_of(value) for value in values]
        match name, values, numbers:
            case (("sin" | "cos" | "tan" | "cot" | "sec" | "csc"), [angle], _):
                return self.circular(name, angle)
            case "ln", [value], _:
                return self.logarithm(value)
            case "log_", [base, value], _:
                return self.field.divide(self.logarithm(value), self.logarithm(base))
            case "exp", [value], _:
                return self.power(atom("ke"), value)
            case "abs", [value], _:
                return self.absolute(value)
            case "factorial", [_], [Fraction() as number]:
                result = factorial_of(number)
                return function_atom(name, values) if result is None else constant(result)
            case "binom", [_, _], [Fraction() as upper, Fraction() as lower]:
                chosen = binomial(upper, lower)
                return function_atom(name, values) if chosen is None else constant(chosen)
        return function_atom(name, values)

    def circular(self, name: str, angle: Quotient) -> Quotient:
        """Sine and cosine, exact at multiples of 15 degrees; the others through them."""
        if name == "sin":
            return self._sine(angle)
        if name == "cos":
            return self._cosine(angle)
        sine, cosine = self._sine(angle), self._cosine(angle)
        match name:
            case "tan":
                return self.field.divide(sine, cosine)
            case "cot":
                return self.field.divide(cosine, sine)
            case "sec":
                return self.field.inverse(cosine)
        return self.field.inverse(sine)

    def _sine(self, angle: Quotient) -> Quotient:
        turn = _turn(angle)
        known = None if turn is None else self._cosine_of_turn(turn - HALF)
        if known is not None:
            return known
        flipped, angle = self._positive(angle)
        sine = atom(f"s({rendered(angle)})")
        return self.field.negate(sine) if flipped else sine

    def _cosine(self, angle: Quotient) -> Quotient:
        turn = _turn(angle)
        known = None if turn is None else self._cosine_of_turn(turn)
        if known is not None:
            return known
        return atom(f"c({rendered(self._positive(angle)[1])})")

    def _cosine_of_turn(self, turn: Fraction) -> Quotient | None:
        """cos(π · turn) at multiples of 15 degrees, or None elsewhere."""
        steps = turn % 2 * 12
        if steps.denominator != 1:
            return None
        step = min(steps.numerator, 24 - steps.numerator)
        if step <= 6:  # noqa: PLR2004 - up to a right angle, in steps of 15 degrees
            return self.field.polynomial(_COSINES[step])
        return self.field.negate(self.field.polynomial(_COSINES[12 - step]))

    def _positive(self, value: Quotient) -> tuple[bool, Quotient]:
        """The value with its first coefficient positive, and whether that took a sign change."""
        if value.above and min(value.above.items())[1] < 0:
            return True, self.field.negate(value)
        return False, value

    def logarithm(self, value: Quotient) -> Quotient:
        """The natural logarithm: of rational numbers by their primes, of powers of e, else an atom.

        Raises `Unreadable` for the logarithm of zero.
        """
        if not value.above:
            raise Unreadable("the logarithm of zero")
        term = single_term(value)
        if term is None or term[1] < 0 or not _positive_atoms(term[0]):
            factor, rest = primitive(value)
            return self.field.add(self._log_of_rational(factor), self._log_atom(rest))
        total = self._log_of_rational(term[1])
        for name, power in term[0]:
            part = (
                constant(ONE)
                if name == "ke"
                else self._log_atom(
                    constant(Fraction(int(name[1:]))) if name[0] == "r" else atom(name)
                )
            )
            total = self.field.add(total, self.field.multiply(part, constant(Fraction(power))))
        return total

    def _log_of_rational(self, number: Fraction) -> Quotient:
        total = constant(Fraction(0))
        for integer, sign in ((number.numerator, 1), (number.denominator, -1)):
            primes, rest = prime_factors(integer)
            if rest > 1:
                primes[rest] = 1
            for prime, times in primes.items():
                part = self._log_atom(constant(Fraction(prime)))
                total = self.field.add(
                    total, self.field.multiply(part, constant(Fraction(sign * times)))
                )
        return total

    def _log_atom(self, value: Quotient) -> Quotient:
        name = f"l({rendered(value)})"
        self.field.bases[name] = value
        return atom(name)

    def absolute(self, value: Quotient) -> Quotient:
        """The absolute value; positive factors that are numbers come out."""
        term = single_term(value)
        if term is not None and _positive_atoms(term[0]):
            return self.field.polynomial({term[0]: abs(term[1])})
        factor, rest = primitive(value)
        inside = function_atom("abs", [self._positive(rest)[1]])
        return self.field.multiply(constant(factor), inside)


def _constant(name: str) -> Quotient:
    if name == "∞":
        raise Unreadable("infinity is no number to compute with")
    return atom("k" + name)


def _positive_atoms(monomial: Monomial) -> bool:
    """Whether every atom is a positive number: a root of a prime, π or e."""
    return all(name[0] == "r" or name in ("kπ", "ke") for name, _ in monomial)


def _turn(angle: Quotient) -> Fraction | None:
    """An angle as a rational multiple of π, or None."""
    if not angle.above:
        return Fraction(0)
    term = single_term(angle)
    return term[1] if term is not None and term[0] == _PI else None


def _surd(*primes: int) -> Monomial:
    return tuple((f"r{prime}", HALF) for prime in primes)


_QUARTER: Final = Fraction(1, 4)
_COSINES: Final[tuple[Poly, ...]] = (
    {UNIT: ONE},
    {_surd(2, 3): _QUARTER, _surd(2): _QUARTER},
    {_surd(3): HALF},
    {_surd(2): HALF},
    {UNIT: HALF},
    {_surd(2, 3): _QUARTER, _surd(2): -_QUARTER},
    {},
)
"""Cosines of 0, 15, ..., 90 degrees."""
