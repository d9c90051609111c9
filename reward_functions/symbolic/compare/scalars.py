"""Two single values: the rules of meaning for percent, decimals, angles, units and constants.

Each rule stands once, in the function whose docstring states it; `ScalarComparison.compare` applies
them from the outside in: units first, then percent and degrees, then the numbers themselves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.quantities.precision import rounding_error
from reward_functions.quantities.units import canonical, same_unit
from reward_functions.symbolic.budget import OverBudget, Unreadable
from reward_functions.symbolic.exact.canonical import Algebra
from reward_functions.symbolic.exact.polynomials import (
    IMAGINARY,
    Poly,
    PolynomialField,
    Quotient,
    atoms_of,
    names_of,
    number_of,
)
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.names import with_bound_renamed
from reward_functions.symbolic.expr.nodes import (
    Based,
    Constant,
    Degrees,
    Measured,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Symbol,
    UnitPowers,
)
from reward_functions.symbolic.expr.traversal import operations
from reward_functions.symbolic.numeric.approximation import lies_between
from reward_functions.symbolic.numeric.identity_testing import IdentityTest, odd_powers
from reward_functions.symbolic.verdict import Finding, differ, same, unknown


class ScalarComparison:
    """Comparisons of single values in one field."""

    def __init__(self, field: PolynomialField) -> None:
        self.field = field
        self.algebra = Algebra(field)
        self.identity = IdentityTest()
        # Constants of several parts are the same ones, so they are renamed in whole answers only.
        self.of_parts = False

    def compare(self, reference: Node, candidate: Node) -> Finding:
        """Whether two values are equal under the rules of this module."""
        if reference == candidate:
            return same("same-expression", "both read as the same expression")
        if isinstance(reference, Measured) or isinstance(candidate, Measured):
            return self.units(reference, candidate)
        if isinstance(reference, Percent) or isinstance(candidate, Percent):
            return self.percent(reference, candidate)
        if isinstance(reference, Degrees) or isinstance(candidate, Degrees):
            return self.angle(reference, candidate)
        if isinstance(reference, Based):
            return self.numeral(reference, candidate)
        if (infinite(reference) or infinite(candidate)) and not (
            operations(reference) or operations(candidate)
        ):
            return _infinities(reference, candidate)
        return self.numbers(reference, candidate)

    def units(self, reference: Node, candidate: Node) -> Finding:
        """Units and currency are compared only when both sides have one, without conversion.

        Nouns that differ may still name one thing (people, visitors); units of the table do not.
        A unit in italics (37 m) is one when the other side writes the same unit upright. A share or
        an angle has a unit as well; degrees and radians are the two that are converted.
        """
        match reference, candidate:
            case (Measured(_, unit), share) | (share, Measured(_, unit)) if _rules_out(unit, share):
                return differ("units", f"{_unit(unit)} is no share and no angle")
            case (Degrees(), Measured(body, unit)) if unit == _RADIANS:
                return self.numbers(reference, body)
            case (Measured(body, unit), Degrees()) if unit == _RADIANS:
                return self.numbers(body, candidate)
            case Measured(body, unit), Measured(other, other_unit):
                if _same_units(unit, other_unit):
                    return self.compare(body, other)
                known = _in_table(unit) and _in_table(other_unit)
                proof = differ if known else unknown
                return proof("units", f"{_unit(unit)} is not {_unit(other_unit)}")
            case Measured(body, unit), _:
                return self.compare(body, _without_symbols(candidate, unit))
            case _, Measured(body, unit):
                return self.compare(_without_symbols(reference, unit), body)
        raise AssertionError("one of the two is measured")

    def percent(self, reference: Node, candidate: Node) -> Finding:
        """The percent sign may be dropped on either side: 35% is 35 and 0.35.

        Without a sign on either side 35 is never 0.35, and a share is no angle.
        """
        other = candidate if isinstance(reference, Percent) else reference
        if isinstance(other, Degrees):
            return differ("percent-sign", "one is a percentage, the other an angle")
        if isinstance(reference, Percent) and isinstance(candidate, Percent):
            return self.compare(reference.body, candidate.body)
        if isinstance(reference, Percent):
            readings = [(reference.body, candidate), (_hundredth(reference.body), candidate)]
        elif isinstance(candidate, Percent):
            readings = [(reference, candidate.body), (reference, _hundredth(candidate.body))]
        found = [self.compare(*reading) for reading in readings]
        for finding in found:
            if finding.equal:
                return same("percent-sign", "equal but for a percent sign")
        return found[0] if found[1].different else found[1]

    def angle(self, reference: Node, candidate: Node) -> Finding:
        """30° is 30 and π/6; 30 itself is not π/6."""
        if isinstance(reference, Degrees) and isinstance(candidate, Degrees):
            return self.compare(reference.body, candidate.body)
        if isinstance(reference, Degrees):
            found = self.compare(reference.body, candidate)
        elif isinstance(candidate, Degrees):
            found = self.compare(reference, candidate.body)
        if found.equal:
            return same("degree-sign", "equal with the degree sign dropped")
        in_radians = self.numbers(reference, candidate)
        if in_radians.equal:
            return same("degree-sign", "the same angle in degrees and radians")
        return found if in_radians.different else in_radians

    def numeral(self, reference: Based, candidate: Node) -> Finding:
        """A reference with a base asks for the same digits in it; another value is different."""
        if isinstance(candidate, Based) and candidate.base == reference.base:
            if candidate.digits == reference.digits:
                return same("digits-in-base", "the same digits in the same base")
            return differ("digits-in-base", "the digits differ in the same base")
        found = self.numbers(reference, candidate)
        return (
            unknown("digits-in-base", "the same value, but not in the base asked for")
            if found.equal
            else found
        )

    def numbers(self, reference: Node, candidate: Node) -> Finding:
        """Numbers and expressions: exact algebra, and rounding where the reference is a decimal."""
        exact, other = rational(reference), rational(candidate)
        rounded = isinstance(reference, Number) and reference.unit is not None
        if exact is not None and other is not None and (exact == other or not rounded):
            if exact == other:
                return same("exact-value", "both have the same exact value")
            return differ("exact-value", "the exact values differ")
        if exact is None and other is None:
            from reward_functions.symbolic.compare import arbitrary_constants as free  # noqa: PLC0415

            apart = self.identity.first_look(reference, candidate)
            if apart is not None and not free.may_have_constant(reference):
                return apart
        try:
            return self.expressions(reference, candidate)
        except OverBudget:
            return self.identity.compare_large(reference, candidate)
        except Unreadable:
            if with_bound_renamed(reference) == with_bound_renamed(candidate):
                return same("same-expression", "the same but for the names of bound variables")
            raise

    def expressions(self, reference: Node, candidate: Node) -> Finding:
        """Expressions by exact algebra, and by their values where that does not decide."""
        first, second = self.algebra.value(reference), self.algebra.value(candidate)
        difference = self.field.difference(first, second)
        if not difference:
            return same("exact-algebra", "both have the same canonical form")
        if isinstance(reference, Number) and reference.unit is not None:
            return self.decimal(reference, candidate, second)
        from reward_functions.symbolic.compare import arbitrary_constants as free  # noqa: PLC0415

        if free.shifted_by_constant(first, second):
            return same("arbitrary-constant", "equal up to the arbitrary constant")
        if (rests := free.without_constants(reference, candidate)) is not None:
            return self.identity.compare_shifted(*rests)
        if not self.of_parts and free.other_constants(first, second):
            return same("arbitrary-constants", "equal but for the letters of arbitrary constants")
        if _maybe_unit(first, second):
            return unknown("units", "a letter may be a unit or a variable")
        if free.renamed_constant(first, second):
            return unknown("names", "the letters of arbitrary constants may differ")
        ambiguous = _imaginary(first) != _imaginary(second) and odd_powers(reference, candidate)
        if _independent(difference) and not ambiguous:
            return differ("exact-algebra", "the canonical forms differ")
        return self.identity.compare(reference, candidate)

    def decimal(self, reference: Number, candidate: Node, value: Quotient) -> Finding:
        """A decimal reference also accepts an exact value or longer decimal that rounds to it.

        Ties round either way, and a nearer value is never refused where a farther one is accepted.
        A shorter decimal is whole units away, so it must have the value itself.
        """
        error = rounding_error(reference.value, reference.unit or Fraction(1))
        exact = number_of(value)
        if exact is None:
            return self.rounded(reference, error, candidate)
        if abs(exact - reference.value) > error:
            return differ("rounded-decimal", "the value does not round to the reference")
        return same("rounded-decimal", "the value rounds to the decimal of the reference")

    def rounded(self, reference: Number, error: Fraction, candidate: Node) -> Finding:
        """Whether an irrational number rounds to a decimal; other expressions must be equal."""
        low, high = reference.value - error, reference.value + error
        inside = lies_between(candidate, low, high, self.identity.work)
        if inside is None:
            return self.identity.compare(reference, candidate)
        if inside:
            return same("rounded-decimal", "the value rounds to the decimal of the reference")
        return differ("rounded-decimal", "the value does not round to the reference")


def _hundredth(node: Node) -> Node:
    if isinstance(node, Number):
        return Number(node.value / 100, node.unit and node.unit / 100)
    return Product((node,), (Number(Fraction(100)),))


def infinite(node: Node) -> int:
    """The sign of an infinity; 0 for anything else."""
    match node:
        case Constant("∞"):
            return 1
        case Product((Number(value), Constant("∞")), ()) if value == -1:
            return -1
    return 0


def _infinities(reference: Node, candidate: Node) -> Finding:
    if infinite(reference) == infinite(candidate):
        return same("infinity", "the same infinity")
    return differ("infinity", "one side is infinite and the other is not the same infinity")


def _same_units(first: UnitPowers, second: UnitPowers) -> bool:
    return len(first) == len(second) and all(
        same_unit(name, other) and power == other_power
        for (name, power), (other, other_power) in zip(first, second, strict=True)
    )


def _in_table(unit: UnitPowers) -> bool:
    return all(canonical(name) == name for name, _ in unit)


_RADIANS: Final = (("rad", Fraction(1)),)
_OF_DEGREES: Final = frozenset("deg rad degC degF C F".split())


def _rules_out(unit: UnitPowers, share: Node) -> bool:
    """Whether a unit of the table rules out a percentage, or an angle or temperature."""
    if isinstance(share, Degrees) and len(unit) == 1 and unit[0][0] in _OF_DEGREES:
        return False
    return isinstance(share, Percent | Degrees) and _in_table(unit)


def _unit(unit: UnitPowers) -> str:
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in unit) or "1"


def _without_symbols(node: Node, unit: UnitPowers) -> Node:
    """The node without factors that spell the unit in italics: 37 m next to 37 (upright m)."""
    if not isinstance(node, Product):
        return node
    over, under = _factors(node)
    for name, power in unit:
        if not (_taken(over, name, power) or _taken(under, name, -power)):
            return node
    if not over:
        return node
    return over[0] if len(over) == 1 and not under else Product(tuple(over), tuple(under))


def _factors(node: Node) -> tuple[list[Node], list[Node]]:
    r"""The factors above and below all bars: those of 2, m and s of \frac{2m}{s}."""
    if not isinstance(node, Product):
        return [node], []
    over: list[Node] = []
    under: list[Node] = []
    for each in node.over:
        above, below = _factors(each)
        over, under = over + above, under + below
    for each in node.under:
        above, below = _factors(each)
        over, under = over + below, under + above
    return over, under


def _taken(factors: list[Node], name: str, power: Fraction) -> bool:
    r"""Whether a factor spells a unit to a power, or two do (\mu m, k\Omega); it is taken out."""
    for length in (1, 2):
        for place in range(len(factors) - length + 1):
            if _spell(factors[place : place + length], name, power):
                del factors[place : place + length]
                return True
    return False


def _spell(factors: list[Node], name: str, power: Fraction) -> bool:
    """Whether one factor is a unit to a power, or two are where one of them is a Greek letter."""
    *before, last = factors
    if isinstance(last, Power) and last.exponent == Number(power):
        last = last.base
    elif power != 1:
        return False
    letters = "".join(each.name if isinstance(each, Symbol) else "-" for each in (*before, last))
    return canonical(letters) == name and not (before and letters.isascii())


def _independent(difference: Poly) -> bool:
    """Whether a polynomial in these atoms that is not zero has a value that is not zero.

    Variables, i, roots of primes and one of π and e are independent (Besicovitch; Lindemann), and
    so are logarithms of primes as long as they stand in the first power (Baker).
    """
    names = atoms_of(difference)
    transcendental = names & {"kπ", "ke"}
    logarithms = {name for name in names if name[0] == "l" and name[2:-1].isdecimal()}
    if len(transcendental) + bool(logarithms) > 1:
        return False
    if any(name[0] not in "vr" and name != "ki" for name in names - transcendental - logarithms):
        return False
    return not logarithms or all(
        [power for name, power in monomial if name in logarithms] in ([], [1])
        for monomial in difference
    )


def _maybe_unit(first: Quotient, second: Quotient) -> bool:
    """Whether one side has letters that spell units where the other has none: 37 m against 37."""
    mine, theirs = ({name for name in names_of(each) if name[0] == "v"} for each in (first, second))
    letters = mine or theirs
    if not letters or (mine and theirs):
        return False
    terms = len(first.above) == len(second.above) == 1
    return terms and all(canonical(name[1:]) for name in letters)


def _imaginary(value: Quotient) -> bool:
    return IMAGINARY in names_of(value)
