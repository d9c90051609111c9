"""The tree as a quotient of polynomials in atoms: exact algebra for one comparison.

Numbers are computed (within the limits), polynomials are multiplied out, and anything else becomes
an atom named by its own canonical form. A rewriting happens only where it holds for every real
value of the variables: 2^(n+1) = 2·2^n, but √(x²) is not x and ln(xy) not ln x + ln y.
"""

from __future__ import annotations

from fractions import Fraction

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.exact.operators import determinant, operated
from reward_functions.symbolic.exact.polynomials import (
    UNIT,
    PolynomialField,
    Quotient,
    atom,
    constant,
    function_atom,
    number_of,
    primitive,
    rendered,
    single_term,
)
from reward_functions.symbolic.exact.powers import Powers, positive_atoms, running
from reward_functions.symbolic.exact.rational import (
    ONE,
    binomial,
    double_factorial_of,
    factorial_of,
    prime_factors,
    rational,
)
from reward_functions.symbolic.exact.trigonometry import PI
from reward_functions.symbolic.expr.names import indexed_by
from reward_functions.symbolic.expr.nodes import (
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


class Algebra(Powers):
    """Values of trees, all in one field, so that equal sub-terms are equal atoms.

    Args:
        field: the arithmetic, with its work account.
    """

    def __init__(self, field: PolynomialField) -> None:
        super().__init__(field)
        # The values of the variables that sums bind, themselves where the bounds are symbolic.
        self.places: dict[str, Quotient] = {}

    def value(self, node: Node) -> Quotient:  # noqa: C901, PLR0912 - one case per kind of node
        """The value of a tree.

        Raises:
            Unreadable: the tree is no single value (a list, a relation) or denotes nothing.
            OverBudget: a limit of the arithmetic is passed.
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
                degree = self.field.polynomial({PI: Fraction(1, 180)})
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

    # ---- functions

    def apply(self, name: str, values: list[Quotient]) -> Quotient:
        """A named function of values: computed where it is exact, an atom elsewhere."""
        numbers = [number_of(value) for value in values]
        match name, values, numbers:
            case (("sin" | "cos" | "tan" | "cot" | "sec" | "csc"), [angle], _):
                return self.trigonometric(name, angle)
            case "ln", [value], _:
                return self.logarithm(value)
            case "log_", [base, value], _:
                return self.field.divide(self.logarithm(value), self.logarithm(base))
            case "exp", [value], _:
                return self.power(atom("ke"), value)
            case "abs", [value], _:
                return self.absolute(value)
            case (("floor" | "ceil"), [value], _):
                return self.rounded(name, value)
            case (("factorial" | "doublefactorial"), [_], [Fraction() as number]):
                product = factorial_of if name == "factorial" else double_factorial_of
                result = product(number)
                return function_atom(name, values) if result is None else constant(result)
            case "binom", [_, _], [Fraction() as upper, Fraction() as lower]:
                chosen = binomial(upper, lower)
                return function_atom(name, values) if chosen is None else constant(chosen)
        return function_atom(name, values)

    def logarithm(self, value: Quotient) -> Quotient:
        """The natural logarithm: of rational numbers by their primes, of powers of e, else an atom.

        Raises `Unreadable` for the logarithm of zero.
        """
        if not value.above:
            raise Unreadable("the logarithm of zero")
        term = single_term(value)
        if term is None or term[1] < 0 or not positive_atoms(term[0]):
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
        if term is not None and positive_atoms(term[0]):
            return self.field.polynomial({term[0]: abs(term[1])})
        factor, rest = primitive(value)
        inside = function_atom("abs", [self.positive(rest)[1]])
        return self.field.multiply(constant(factor), inside)

    def rounded(self, name: str, value: Quotient) -> Quotient:
        """A floor, out of which an integer moves; a ceiling is a floor the other way round."""
        if name == "ceil":
            return self.field.negate(self.rounded("floor", self.field.negate(value)))
        last = max(value.below)
        whole = {UNIT: value.above.get(last, Fraction(0)) / value.below[last] // 1}
        if value.whole:
            whole |= {term: factor // 1 for term, factor in value.above.items() if running(term)}
        moved = self.field.polynomial(
            {term: Fraction(each) for term, each in whole.items() if each}
        )
        rest = self.field.add(value, self.field.negate(moved))
        if number_of(rest) is not None:
            return moved
        return self.field.add(moved, function_atom("floor", [rest]))


def _constant(name: str) -> Quotient:
    if name == "∞":
        raise Unreadable("infinity is no number to compute with")
    return atom("k" + name)
