"""The last tier: calculus, hard identities and equations, decided by sympy.

It repeats the rules of meaning with sympy for what exact means leave open, so that a tuple of
integrals or an assignment of a sum is compared like any other. *Equal* needs a proof: the
difference simplifies to zero, or `Expr.equals` proves it. A value at a point never shows equality,
but it can take trust away from an integral. *Different* is the result for numbers that are apart
and for equations with other solutions.

Only the limits of the conversion bound it. So this module belongs into a process that can be
killed, and `worker` alone imports it.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import sympy
from sympy.polys.polyerrors import PolynomialError

from reward_functions.symbolic.budget import OverBudget, Unreadable, Work
from reward_functions.symbolic.cas.to_sympy import Conversion
from reward_functions.symbolic.compare.dispatch import AnswerComparison
from reward_functions.symbolic.compare.scalars import ScalarComparison
from reward_functions.symbolic.exact.polynomials import PolynomialField
from reward_functions.symbolic.expr.nodes import Braces, Listing, Node, Relation, Symbol
from reward_functions.symbolic.expr.traversal import free_names, operations
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACES: Final = 20
"""Digits to which numbers are computed in order to tell them apart."""

_APART: Final = sympy.Float("1e-9")
"""A difference that is no error of those digits."""

_TRUST: Final = sympy.Float("1e-3")
"""How far, relatively, numerical integration may be from a closed form that is believed. It is
rough where an integrand oscillates, and wrong closed forms are wrong by whole terms."""

_OPEN: Final = (sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit, sympy.Derivative)
_NO_VALUE: Final = (sympy.nan, sympy.zoo, sympy.AccumBounds)


def decide(reference: Node, candidate: Node) -> Finding:
    """Whether two answers are equal, as far as sympy can tell; in unbounded time."""
    try:
        return _solutions(reference, candidate) or _AnswersBySympy(
            _ScalarsBySympy(PolynomialField(Work()))
        ).compare(reference, candidate)
    except OverBudget as trouble:
        return unknown("budget", f"too much algebra: {trouble}")
    except (Unreadable, PolynomialError) as trouble:
        return unknown("sympy", str(trouble))


class _ScalarsBySympy(ScalarComparison):
    """Single values, with sympy for what exact means leave open."""

    def numbers(self, reference: Node, candidate: Node) -> Finding:
        if not operations(reference) and not operations(candidate):
            found = super().numbers(reference, candidate)
            if found.equal or found.different:
                return found
        names = Conversion(reference, candidate)
        first, second = names.expression(reference), names.expression(candidate)
        return _families(first, second, names.symbol("C")) or _values(first, second)


class _AnswersBySympy(AnswerComparison):
    """Whole answers, with sympy for equations."""

    def equations(self, reference: Node, candidate: Node) -> Finding:
        found = super().equations(reference, candidate)
        if found.equal or found.different:
            return found
        names = Conversion(reference, candidate)
        return _zeros(_residue(reference, names), _residue(candidate, names))


# ---- values


def _values(reference: sympy.Expr, candidate: sympy.Expr) -> Finding:
    """Two values, each worked out unless they are the same without."""
    if reference.as_dummy() == candidate.as_dummy():
        return same("sympy", "the same expression but for bound variables")
    first, second = _worked_out(reference, convergent=True), _worked_out(candidate)
    if first == second:
        return same("sympy", "both work out to the same expression")
    if first.is_infinite or second.is_infinite:
        return differ("sympy", "one side is infinite and the other is not the same infinity")
    zero = _vanishes(first - second)
    if zero:
        return same("sympy", "the difference simplifies to zero")
    if zero is None or (first - second).free_symbols:
        return unknown("sympy", "sympy does not show the difference to be zero")
    return differ("sympy", "the values are apart")


def _worked_out(expression: sympy.Expr, *, convergent: bool = False) -> sympy.Expr:
    """The closed form of an expression; of a *convergent* one where it has a value.

    What has none keeps its operation, with a bound variable that does not depend on its letter.
    """
    integrated = expression.replace(lambda each: isinstance(each, sympy.Integral), _integrated)
    worked = integrated.doit()
    worked = worked.replace(
        lambda each: isinstance(each, sympy.Piecewise),
        lambda each: _main_branch(each, convergent=convergent),
    )
    if worked.has(*_NO_VALUE):
        raise Unreadable("sympy finds no value")
    return worked.as_dummy()


def _integrated(integral: sympy.Integral) -> sympy.Expr:
    """The closed form of an integral, where it has one that numerical integration confirms.

    Only between finite ends, where antiderivatives with jumps go wrong and numbers are good.

    Raises:
        Unreadable: they contradict each other.
    """
    closed = integral.doit()
    endless = any(
        len(limits) == 1 or sympy.oo in map(abs, limits[1:]) for limits in integral.limits
    )
    if endless or closed.has(*_OPEN, *_NO_VALUE, sympy.oo):
        return closed
    point = _point(integral, 0)
    summed = integral.subs(point).evalf(6)
    error = abs(closed.subs(point).evalf(_PLACES) - summed)
    if summed.is_Float and not error <= _TRUST * (1 + abs(summed)):
        raise Unreadable("numerical integration contradicts the closed form")
    return closed


def _main_branch(piecewise: sympy.Piecewise, *, convergent: bool) -> sympy.Expr:
    """A case distinction without its exceptional points, and without the case that diverges.

    A reference is compared where it has a value (1/(1-x) for its power series, where |x| < 1), a
    candidate must have one wherever the reference has.
    """
    kept = [
        value
        for value, condition in piecewise.args
        if not isinstance(condition, sympy.Eq) and not (convergent and value.has(*_OPEN))
    ]
    return kept[0] if len(kept) == 1 else piecewise


def _vanishes(difference: sympy.Expr) -> bool | None:
    """Whether an expression is zero: proved, refuted at a point, or None."""
    if difference.has(*_OPEN):
        return True if difference.is_zero else None
    if any(_apart_from_zero(difference.subs(_point(difference, shift))) for shift in range(2)):
        return False
    if sympy.simplify(difference) == 0 or difference.equals(0):
        return True
    return None


def _apart_from_zero(number: sympy.Expr) -> bool:
    value = number.evalf(_PLACES)
    return bool(value.is_comparable and abs(value) > _APART)


def _point(expression: sympy.Expr, shift: int) -> dict[sympy.Symbol, sympy.Expr]:
    """Values for the variables, the same ones every time; whole ones for whole variables."""
    symbols = sorted(expression.free_symbols, key=str)
    return {
        symbol: sympy.Integer(5 + place + shift)
        if symbol.is_integer
        else sympy.Rational(7 + 4 * place + 2 * shift, 11)
        for place, symbol in enumerate(symbols)
    }


# ---- constants of integration


def _families(
    reference: sympy.Expr, candidate: sympy.Expr, constant: sympy.Symbol
) -> Finding | None:
    """Values up to a constant of integration; None when there is none on either side.

    A reference that has one, as an integral without ends or as a lone C, asks for one in the
    answer, under any unused letter; a reference without one takes none.
    """
    over = _without_ends(reference) or _without_ends(candidate)
    mine = bool(_without_ends(reference)) or _lone(constant, reference)
    others = candidate.free_symbols - reference.free_symbols | {constant}
    theirs = bool(_without_ends(candidate)) or any(_lone(each, candidate) for each in others)
    if not mine and not _without_ends(candidate):
        return None
    if mine != theirs:
        return unknown("arbitrary-constant", "only one side has an arbitrary constant")
    variables = over or candidate.free_symbols & reference.free_symbols - {constant}
    slopes = [_slope(reference - candidate, variable) for variable in variables]
    if slopes and all(_vanishes(slope) for slope in slopes):
        return same("arbitrary-constant", "equal up to the arbitrary constant")
    return unknown("sympy", "the derivatives are not shown to be equal")


def _without_ends(expression: sympy.Expr) -> set[sympy.Symbol]:
    """The variables of its integrals without ends."""
    integrals = expression.atoms(sympy.Integral)
    return {limits[0] for each in integrals for limits in each.limits if len(limits) == 1}


def _lone(symbol: sympy.Symbol, expression: sympy.Expr) -> bool:
    """Whether a symbol is a term and stands nowhere else, beside something with variables."""
    if not isinstance(expression, sympy.Add) or symbol not in expression.args:
        return False
    rest = expression - symbol
    return symbol not in rest.free_symbols and bool(rest.free_symbols)


def _slope(expression: sympy.Expr, variable: sympy.Symbol) -> sympy.Expr:
    """The derivative, with the sign of u as u/|u|, so that ln|x| has that of ln x."""
    return expression.diff(variable).replace(sympy.sign, lambda u: u / sympy.Abs(u)).doit()


# ---- equations


def _residue(node: Node, names: Conversion) -> sympy.Expr:
    """Left side minus right side."""
    match node:
        case Relation((left, right)):
            return names.expression(left) - names.expression(right)
    raise Unreadable("a chain of equations")


def _zeros(reference: sympy.Expr, candidate: sympy.Expr) -> Finding:
    """Equations by what makes them true: every solution is required, and none extra."""
    if not reference.free_symbols or not candidate.free_symbols:
        return unknown("equation", "an equation in no unknown")
    if _proportional(reference, candidate):
        return same("equation", "the same equation up to a factor")
    symbols = sorted(reference.free_symbols | candidate.free_symbols, key=str)
    first, second = (_numerator(each, symbols) for each in (reference, candidate))
    first, second = first.sqf_part(), second.sqf_part()
    if first.monic() == second.monic():
        return same("equation", "polynomials with the same zeros")
    if len(symbols) > 1 or first.domain != sympy.ZZ or second.domain != sympy.ZZ:
        return unknown("equation", "the equations are not shown to be equivalent")
    common = first.gcd(second)
    if first.quo(common).count_roots() or second.quo(common).count_roots():
        return differ("equation", "a real solution of one is none of the other")
    return unknown("equation", "the equations have the same real solutions, and other complex ones")


def _proportional(residue: sympy.Expr, other: sympy.Expr) -> bool:
    """Whether one is a multiple of the other, which two points refute sooner than algebra does."""
    ratio = residue / other
    first, second = (ratio.subs(_point(ratio, shift)) for shift in range(2))
    if _apart_from_zero(first - second):
        return False
    ratio = sympy.simplify(ratio)
    return bool(ratio.is_number and ratio.is_finite and not ratio.is_zero)


def _numerator(residue: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> sympy.Poly:
    """The polynomial whose zeros are those of a rational function.

    Raises:
        Unreadable: it is none, or it loses zeros to the denominator.
    """
    above, below = sympy.fraction(sympy.together(residue))
    if not above.is_polynomial(*symbols) or not below.is_polynomial(*symbols):
        raise Unreadable("an equation that is not between rational functions")
    if below.free_symbols and sympy.groebner([above, below], *symbols).exprs != [1]:
        raise Unreadable("an equation whose sides have poles among its solutions")
    return sympy.Poly(above, *symbols).primitive()[1]


def _solutions(reference: Node, candidate: Node) -> Finding | None:
    """An equation in one unknown against a list of values: they must be all of its solutions.

    Not the other way round: an equation that is still to be solved is no answer.
    """
    values = _listed(candidate)
    unknowns = free_names(reference)
    if values is None or len(unknowns) != 1 or not _is_equation(reference):
        return None
    (name,) = unknowns
    if any(named not in (None, name) or free_names(value) for named, value in values):
        return None
    names = Conversion(reference, candidate)
    symbol = names.symbol(name)
    equation = _numerator(_residue(reference, names), [symbol])
    roots = [_worked_out(names.expression(value)) for _, value in values]
    if equation.domain != sympy.ZZ:
        return unknown("equation", "an equation with coefficients that are not rational")
    return _all_roots(equation.sqf_part(), roots)


def _all_roots(equation: sympy.Poly, roots: Sequence[sympy.Expr]) -> Finding:
    """Whether numbers are the roots of a polynomial, which has none twice."""
    if len(roots) != equation.degree() or equation.count_roots() != equation.degree():
        missing = len(roots) < equation.count_roots()
        found = differ if missing else unknown
        return found("equation", "not as many values as the equation has solutions")
    values = [_vanishes(equation.eval(root)) for root in roots]
    if False in values:
        return differ("equation", "a value is no solution")
    distinct = all(_apart_from_zero(root - other) for root, other in combinations(roots, 2))
    if distinct and all(values):
        return same("equation", "all the solutions, and no other value")
    return unknown("equation", "the values are not shown to be the solutions")


def _is_equation(node: Node) -> bool:
    """Whether an equation is still to be solved."""
    return (
        isinstance(node, Relation)
        and node.operators == ("=",)
        and not any(isinstance(each, Symbol) for each in node.operands)
    )


def _listed(node: Node) -> list[tuple[str | None, Node]] | None:
    """Values with the name that each is given, if any: x = 1 or x = -1, {1, -1}."""
    match node:
        case Listing(items) | Braces(items):
            found = [_listed(item) for item in items]
            return None if None in found else [pair for pairs in found if pairs for pair in pairs]
        case Relation((Symbol(name), values), ("=",)):
            found_inside = _listed(values)
            return found_inside and [(name, value) for _, value in found_inside]
        case Relation():
            return None
    return [(None, node)]
