"""Our trees as sympy expressions, node by node.

No string of an answer reaches sympy: there is no parser here, and symbols are numbered, not named.
So sympy cannot be made to read or print anything, and takes the same way for all letters.

Variables are real. The end of a sum or product is a positive whole number, and so is the variable
that runs to it; `log` is the natural logarithm, as everywhere in calculus. Values that sympy would
compute on sight (powers, factorials, binomials of numbers) have their limits here, before they are
built.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import sympy

from reward_functions.symbolic.budget import BITS, EXPONENT, OverBudget, Unreadable
from reward_functions.symbolic.expr.functions import applied
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
    Number,
    Percent,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)
from reward_functions.symbolic.expr.traversal import parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

ORDER: Final = 10
"""The highest derivative that is taken; each may double the expression."""

FACTORIAL: Final = 500
"""The largest argument of a factorial or binomial; 500! has 3,800 bits."""

SPAN: Final = 10_000
"""Terms of a sum or product between two numbers; it may have to be added up."""

FORMAT: Final = 4
"""Rows of a determinant of expressions; it has as many terms as their factorial."""

_CONSTANTS: Final = {"π": sympy.pi, "e": sympy.E, "i": sympy.I, "∞": sympy.oo}


class Conversion:
    """Expressions of trees that are compared with each other, in the same symbols.

    Args:
        trees: all that will be converted.
    """

    def __init__(self, *trees: Node) -> None:
        self._whole = {name for tree in trees for name in _ends(tree)}
        self._symbols: dict[str, sympy.Symbol] = {}
        # The variables of the operations around what is being converted.
        self._inside: list[str] = []
        self._count = 0

    def symbol(self, name: str) -> sympy.Symbol:
        """The symbol that stands for a name. Raises `Unreadable` for a term of a sequence, a_k."""
        if indexed_by(name, self._inside):
            raise Unreadable("a term of a sequence")
        if name not in self._symbols:
            self._symbols[name] = self._new(whole=name in self._whole)
        return self._symbols[name]

    def expression(self, node: Node) -> sympy.Expr:  # noqa: C901 - one case per kind of node
        """The expression of a tree, with its sums, integrals and limits still to be worked out.

        Raises:
            Unreadable: the tree is no single value, or has a function that sympy lacks.
            OverBudget: a limit is passed.
        """
        match node:
            case Number(value, _):
                return _number(value)
            case Based(_, _, value):
                return sympy.Rational(value)
            case Symbol(name):
                return self.symbol(name)
            case Constant(name):
                return _CONSTANTS[name]
            case Sum(terms):
                return sympy.Add(*map(self.expression, terms))
            case Product(over, under):
                return sympy.Mul(*map(self.expression, over)) / self._divisor(under)
            case Power(base, exponent):
                return _power(self.expression(base), self.expression(exponent))
            case Root(index, radicand):
                return _root(self.expression(radicand), self.expression(index))
            case Percent(body):
                return self.expression(body) / 100
            case Degrees(body):
                return self.expression(body) * sympy.pi / 180
            case Apply(name, arguments):
                return self._applied(name, arguments)
            case Iterated() | Integral() | Derivative() | Limit():
                return self._calculus(node)
        raise Unreadable(f"{type(node).__name__.lower()} is no single value")

    def _divisor(self, under: tuple[Node, ...]) -> sympy.Expr:
        divisor = sympy.Mul(*map(self.expression, under))
        if divisor.is_zero:
            raise Unreadable("a division by zero")
        return divisor

    # ---- functions

    def _applied(self, name: str, arguments: tuple[Node, ...]) -> sympy.Expr:
        match name, arguments:
            case "det", (Matrix(rows),):
                return self._determinant(rows)
        values = [self.expression(argument) for argument in arguments]
        match name, values:
            case "factorial", [value]:
                return sympy.factorial(_moderate(value))
            case "doublefactorial", [value]:
                return sympy.factorial2(_moderate(value))
            case "binom", [upper, lower]:
                return sympy.binomial(_moderate(upper), _moderate(lower))
        found = applied(name, "sympy", sympy, values)
        if found is not None:
            return found
        if len(name) == 1:
            return sympy.Function(self.symbol(f"{name}()").name)(*values)
        raise Unreadable(f"{name} is not worked out")

    def _determinant(self, rows: tuple[tuple[Node, ...], ...]) -> sympy.Expr:
        if len(rows) != len(rows[0]):
            raise Unreadable("a determinant that is not square")
        if len(rows) > FORMAT:
            raise OverBudget(f"a determinant of more than {FORMAT} rows")
        return sympy.Matrix([[self.expression(entry) for entry in row] for row in rows]).det()

    # ---- calculus

    def _calculus(self, node: Iterated | Integral | Derivative | Limit) -> sympy.Expr:
        match node:
            case Iterated():
                return self._iterated(node)
            case Integral(body, variable, None, None):
                return sympy.Integral(self.expression(body), self.symbol(variable.name))
            case Integral(body, variable, low, high):
                ends = [self.expression(end) for end in (low, high) if end is not None]
                with self._bound(variable) as symbol:
                    return sympy.Integral(self.expression(body), (symbol, *ends))
            case Derivative(body, variable, order):
                return self._derivative(body, variable, order)
            case Limit(body, variable, point, side):
                to = self.expression(point)
                with self._bound(variable) as symbol:
                    return sympy.Limit(self.expression(body), symbol, to, side or "+-")

    def _iterated(self, node: Iterated) -> sympy.Expr:
        low, high = self.expression(node.low), self.expression(node.high)
        if low.is_Rational and high.is_Rational:
            if high - low > SPAN:
                raise OverBudget(f"more than {SPAN} terms")
            if high < low:  # for sympy a sum that runs backwards is the negative of another
                return sympy.Integer(node.operation == "prod")
        if not _whole(low) or not _whole(high):
            raise Unreadable("a sum between ends that are no whole numbers")
        operation = sympy.Product if node.operation == "prod" else sympy.Sum
        with self._bound(node.variable, whole=True) as symbol:
            return operation(self.expression(node.body), (symbol, low, high))

    def _derivative(self, body: Node, variable: Symbol, order: int) -> sympy.Expr:
        """A derivative; of what does not show the variable (dy/dx) it is a symbol of its own."""
        if order > ORDER:
            raise OverBudget(f"more than {ORDER} derivatives")
        inside, symbol = self.expression(body), self.symbol(variable.name)
        if inside.free_symbols and symbol not in inside.free_symbols:
            return self.symbol(f"d{order}({inside})/{variable.name}")
        return sympy.Derivative(inside, (symbol, order))

    @contextmanager
    def _bound(self, variable: Symbol, *, whole: bool = False) -> Iterator[sympy.Symbol]:
        """A variable that has its meaning inside only, whatever the same letter means outside."""
        outside = self._symbols.get(variable.name)
        self._inside.append(variable.name)
        symbol = self._symbols[variable.name] = self._new(whole=whole, bound=True)
        try:
            yield symbol
        finally:
            self._inside.pop()
            del self._symbols[variable.name]
            if outside is not None:
                self._symbols[variable.name] = outside

    def _new(self, *, whole: bool, bound: bool = False) -> sympy.Symbol:
        self._count += 1
        name = f"{'b' if bound else 'v'}{self._count}"
        if not whole:
            return sympy.Symbol(name, real=True)
        return sympy.Symbol(name, integer=True, positive=None if bound else True)


def _ends(tree: Node) -> Iterator[str]:
    """The names that stand at the end of a sum or product."""
    for node in parts(tree):
        if isinstance(node, Iterated):
            for end in (node.low, node.high):
                yield from (each.name for each in parts(end) if isinstance(each, Symbol))


def _whole(end: sympy.Expr) -> bool:
    return bool(end.is_integer or end.is_infinite)


def _number(value: Fraction) -> sympy.Expr:
    return sympy.Rational(value.numerator, value.denominator)


def _moderate(argument: sympy.Expr) -> sympy.Expr:
    if argument.is_number and not abs(argument) <= FACTORIAL:
        raise OverBudget(f"a factorial or binomial of more than {FACTORIAL}")
    return argument


def _power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """A power that may be computed; the root of a negative number is not: it may be either."""
    if base.is_Rational and exponent.is_Rational:
        size = max(abs(base.p), base.q).bit_length()
        if abs(exponent) * size > BITS:
            raise OverBudget(f"a power of more than {BITS} bits")
        if base < 0 and exponent.q % 2 and exponent.q > 1:
            raise Unreadable("the real or the principal root of a negative number")
        if base.is_zero and exponent <= 0:
            raise Unreadable("zero to a power that is not positive")
    elif exponent.is_number and not exponent.is_infinite and not abs(exponent) <= EXPONENT:
        raise OverBudget(f"an exponent of more than {EXPONENT}")
    return base**exponent


def _root(radicand: sympy.Expr, index: sympy.Expr) -> sympy.Expr:
    """The root as a radical sign writes it: of an odd index, real for negatives."""
    if not index.is_Integer or not 0 < index <= EXPONENT:
        raise Unreadable("a root of an index that is no positive whole number")
    if index % 2 and not radicand.is_nonnegative:
        return sympy.sign(radicand) * sympy.Abs(radicand) ** (1 / index)
    return radicand ** (1 / index)
