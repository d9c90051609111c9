"""Sums, products and multiples of matrices and vectors, worked out entry by entry.

Entries that are numbers are computed with at once; others stay as they are written, for the
comparison of entries to work out. A tuple counts as a vector where it is multiplied or added.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import ITEMS, OverBudget, Work
from reward_functions.symbolic.compare.members import entries, is_vector
from reward_functions.symbolic.exact.rational import plus, rational, times
from reward_functions.symbolic.expr.nodes import (
    Bracket,
    Constant,
    Matrix,
    Node,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_HIGHEST: Final = 10
"""The highest power of a matrix that is multiplied out. Felt right."""

_BARE: Final = frozenset("ijk")
_MARKED: Final = ("hat({0})", "hat({0}math)", "vec({0})", "vec({0}math)", "bar({0})")
_UNIT_NAMES: Final = tuple(
    (letter, f"e_{place}", f"hat({axis})", *(mark.format(letter) for mark in _MARKED))
    for place, (letter, axis) in enumerate(zip("ijk", "xyz", strict=True), 1)
)
"""The names of the unit vectors, one after the other."""

_ONE: Final = Number(Fraction(1))
_ZERO: Final = Number(Fraction(0))
_PLANE, _SPACE = 2, 3
_TRANSPOSED: Final = Symbol("T")


def worked_out(node: Node, work: Work) -> Node | None:
    """The matrix or vector that an expression comes to; None otherwise, or one as it stands.

    Raises `OverBudget` when there is too much to multiply.
    """
    if not isinstance(node, Sum | Product | Power):
        return None
    value = _value(node, work)
    return value if isinstance(value, Matrix | Bracket) else None


def by_names(node: Node, other: Node, work: Work) -> Node | None:
    r"""A sum of multiples of unit vectors, or of the identity, as the array that it is; else None.

    Args:
        node: the expression, 2\mathbf i - 3\mathbf j or 3I + A.
        other: the array beside it, whose format tells how many entries there are.
        work: the account of the comparison.
    """
    match other:
        case Matrix(rows) if len(rows) == len(rows[0]) > 1:
            return _replaced(node, _identities(len(rows)), work)
        case Matrix(rows) if is_vector(rows):
            return in_basis(node, len(entries(rows)), work)
        case Bracket(_, items, _):
            return in_basis(node, len(items), work)
    return None


def in_basis(node: Node, dimension: int, work: Work) -> Node | None:
    """A sum of multiples of the unit vectors i, j, k, e_1 or x with its hat, as a vector.

    Without a mark, i is the imaginary unit where it stands alone. None for anything else.
    """
    return _replaced(node, _units(dimension), work) if dimension in (_PLANE, _SPACE) else None


@cache
def _units(dimension: int) -> dict[str, Node]:
    """The unit vectors of a dimension by their names."""
    found: dict[str, Node] = {}
    for place, names in enumerate(_UNIT_NAMES[:dimension]):
        entries = (_ONE if place == each else _ZERO for each in range(dimension))
        found |= dict.fromkeys(names, Bracket("<", tuple(entries), ">"))
    return found


def _identities(size: int) -> dict[str, Node]:
    """The identity matrix of a size by its names."""
    rows = (tuple(_ONE if row == place else _ZERO for place in range(size)) for row in range(size))
    return dict.fromkeys(("I", f"I_{size}", f"I_{{{size}times{size}}}"), Matrix(tuple(rows)))


def _replaced(node: Node, arrays: Mapping[str, Node], work: Work) -> Node | None:
    """An expression with arrays for their names, worked out; None where it has none of them."""
    used: set[str] = set()

    def array(each: Node) -> Node:
        match each:
            case Symbol(name) | Constant(name) if name in arrays:
                used.add(name)
                return arrays[name]
            case Sum(terms):
                return Sum(tuple(map(array, terms)))
            case Product(over, under):
                return Product(tuple(map(array, over)), under)
        return each

    named = array(node)
    if not used or (used <= _BARE and len(used) == 1):
        return None
    return worked_out(named, work) or named


def _value(node: Node, work: Work) -> Node | None:
    """An array, or a single value as it is; None where arrays are combined in no way known here."""
    match node:
        case Sum(terms):
            return _combined(terms, _added, work)
        case Product(over, under):
            value = _combined(over, _multiplied, work)
            if value is None or any(_is_array(_value(each, work)) for each in under):
                return None
            return _divided(value, under, work) if under else value
        case Power(base, exponent):
            return _raised(_value(base, work), exponent, node, work)
        case Bracket(left, _, right) if left + right not in ("()", "[]", "<>"):
            return None
    return node


def _combined(
    nodes: Sequence[Node], operation: Callable[[Node, Node, Work], Node | None], work: Work
) -> Node | None:
    first, *rest = (_value(node, work) for node in nodes)
    for value in rest:
        if first is None or value is None:
            return None
        first = operation(first, value, work)
    return first


def _is_array(node: Node | None) -> bool:
    return isinstance(node, Matrix | Bracket)


def _added(first: Node, second: Node, work: Work) -> Node | None:
    """Two arrays of one format; a number is added to no array."""
    match first, second:
        case Matrix(rows), Matrix(others) if _format(rows) == _format(others):
            pairs = zip(rows, others, strict=True)
            return Matrix(tuple(_sum_of_rows(row, other, work) for row, other in pairs))
        case Bracket(left, items, right), Bracket(_, others, _) if len(items) == len(others):
            return Bracket(left, _sum_of_rows(items, others, work), right)
    if _is_array(first) or _is_array(second):
        return None
    return Sum((first, second))


def _sum_of_rows(row: Sequence[Node], other: Sequence[Node], work: Work) -> tuple[Node, ...]:
    work.spend(len(row))
    return tuple(_sum((a, b)) for a, b in zip(row, other, strict=True))


def _multiplied(first: Node, second: Node, work: Work) -> Node | None:
    """Two matrices, a matrix and a column, or an array and a number; no product of two tuples."""
    match first, second:
        case Matrix(rows), Matrix(others):
            if len(rows[0]) != len(others):
                return None
            return _matrix_product(rows, others, work)
        case Matrix(rows), Bracket(_, items, _) if len(rows[0]) == len(items):
            return _matrix_product(rows, tuple((item,) for item in items), work)
    if _is_array(first) and _is_array(second):
        return None
    if _is_array(first):
        return _scaled(first, second, work)
    if _is_array(second):
        return _scaled(second, first, work)
    return Product((first, second))


def _matrix_product(
    rows: Sequence[Sequence[Node]], others: Sequence[Sequence[Node]], work: Work
) -> Matrix:
    steps = len(rows) * len(others) * len(others[0])
    if steps > ITEMS:
        raise OverBudget(f"a product of matrices of more than {ITEMS} products")
    work.spend(steps)
    columns = list(zip(*others, strict=True))
    return Matrix(
        tuple(
            tuple(
                _sum([_product((a, b)) for a, b in zip(row, column, strict=True)])
                for column in columns
            )
            for row in rows
        )
    )


def _scaled(array: Node, factor: Node, work: Work) -> Node:
    return _each(array, lambda entry: _product((factor, entry)), work)


def _divided(value: Node, under: Sequence[Node], work: Work) -> Node:
    if not _is_array(value):
        return Product((value,), tuple(under))
    return _each(value, lambda entry: _folded(Product((entry,), tuple(under))), work)


def _each(array: Node, change: Callable[[Node], Node], work: Work) -> Node:
    match array:
        case Matrix(rows):
            work.spend(len(rows) * len(rows[0]))
            return Matrix(tuple(tuple(map(change, row)) for row in rows))
        case Bracket(left, items, right):
            work.spend(len(items))
            return Bracket(left, tuple(map(change, items)), right)
    raise AssertionError("only arrays have entries")


def _raised(base: Node | None, exponent: Node, node: Node, work: Work) -> Node | None:
    """A power of a square matrix of numbers, or an array transposed; anything else as it is."""
    if not _is_array(base):
        return node
    if exponent == _TRANSPOSED:
        rows = base.rows if isinstance(base, Matrix) else (base.items,)  # type: ignore[union-attr]
        return Matrix(tuple(zip(*rows, strict=True)))
    count = rational(exponent)
    if not isinstance(base, Matrix) or count is None or count not in range(1, _HIGHEST + 1):
        return None
    if any(rational(entry) is None for row in base.rows for entry in row):
        return None
    result: Node | None = base
    for _ in range(int(count) - 1):
        result = result and _multiplied(result, base, work)
    return result


def _format(rows: Sequence[Sequence[Node]]) -> tuple[int, int]:
    return len(rows), len(rows[0])


def _sum(terms: Sequence[Node]) -> Node:
    values = [rational(term) for term in terms]
    total = Fraction(0)
    for value in values:
        if value is None:
            return Sum(tuple(terms))
        total = plus(total, value)
    return Number(total)


def _product(factors: Sequence[Node]) -> Node:
    total = Fraction(1)
    for factor in factors:
        value = rational(factor)
        if value is None:
            return Product(tuple(factors))
        total = times(total, value)
    return Number(total)


def _folded(node: Node) -> Node:
    value = rational(node)
    return node if value is None else Number(value)
