r"""Whether anything is left to compute in an answer whose reference needs no computing.

34·23/2 for 391 is right and leaves the arithmetic to the reader; 3·10^8, 7/2, π/2, 40 %, 5 m and
x = 5 leave none. Whether it is worth anything is the verifier's to say: this only tells.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import Final

from reward_functions.symbolic.compare.assignments import name_of
from reward_functions.symbolic.compare.structural_form import Form, form, lowest
from reward_functions.symbolic.expr.functions import DIVIDING, named
from reward_functions.symbolic.expr.names import symbols
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Based,
    Braces,
    Bracket,
    Clock,
    Constant,
    Date,
    Degrees,
    Derivative,
    Integral,
    Iterated,
    Limit,
    Listing,
    Matrix,
    Measured,
    NamedSet,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Ratio,
    Relation,
    Signed,
    Symbol,
    Union,
)
from reward_functions.symbolic.expr.traversal import parts, without_names
from reward_functions.symbolic.parsing.document import KEPT, read
from reward_functions.symbolic.parsing.plain import literal
from reward_functions.symbolic.parsing.spelling import same_spelling

_TEN: Final = 10
_OPERATORS: Final = named(DIVIDING) | {"det"}


def unevaluated(reference: str, answer: str) -> bool:
    """Whether a right answer leaves an operation to be worked out, and the reference none."""
    plain = literal(answer)
    if plain is not None:
        lowest_terms = bool(plain.places) or gcd(plain.above, plain.below) == 1 or plain.below == 1
        return not lowest_terms and _stands(reference)
    if same_spelling(reference, answer):
        return False
    theirs = read(answer)
    if theirs.marks and theirs.marks == read(reference).marks:
        return False  # the very tree
    return theirs.tree is not None and not _kept(answer) and _stands(reference)


def _stands(text: str) -> bool:
    """Whether a text is read, and is a value as it stands."""
    return read(text).tree is not None and _kept(text)


@lru_cache(KEPT)
def _kept(text: str) -> bool:
    """Whether a text that is read is a value as it stands."""
    tree = read(text).tree
    return tree is not None and worked_out(tree)


def names_in(text: str) -> frozenset[str]:
    """The names of the variables in an answer; none where it is not readable as mathematics."""
    tree = read(text).tree
    return frozenset(() if tree is None else symbols(tree))


def operators(tree: Node) -> int:
    """How many operations wait to be worked out: sums, integrals, limits, determinants, gcd.

    The derivative of a name is itself a name, of what an equation is about.
    """
    return sum(
        isinstance(part, Iterated | Integral | Limit)
        or (isinstance(part, Derivative) and not _is_name(part, isinstance(tree, Relation)))
        or (isinstance(part, Apply) and part.name in _OPERATORS)
        for part in parts(tree)
    )


def _is_name(derivative: Derivative, in_equation: bool) -> bool:  # noqa: FBT001
    """Whether a derivative is that of a name, x or x(t), which in an equation is read as x·t."""
    match derivative.body:
        case Symbol():
            return True
        case Apply(name, (Symbol(),)):
            return len(name) == 1
        case Product((Symbol(), Symbol() as argument), ()):
            return in_equation and argument == derivative.variable
    return False


def stated(tree: Node) -> Node:
    """The value that an equation gives a name, or ends in: 5 of x = 5 and of 2 + 3 = 5."""
    match tree:
        case Relation((first, *_, last) as sides, signs) if set(signs) <= {"=", "≈"}:
            if name_of(first) is not None or all(map(without_names, sides)):
                return last
            if name_of(last) is not None and len(signs) == 1:
                return first
    return tree


def worked_out(tree: Node) -> bool:
    """Whether a tree is a value as it stands, or some values side by side."""
    tree = stated(tree)
    match tree:
        case Power(Number(base), Number(exponent)):
            return base == _TEN and exponent.denominator == 1
        case Number() | Symbol() | Constant() | Based() | NamedSet() | Clock() | Date():
            return True
        case Measured(body, _) | Percent(body) | Degrees(body) | Signed(body):
            return worked_out(body)
        case Product():
            return _multiple(form(tree))
        case Listing(items) | Braces(items) | Bracket(_, items, _) | Union(items):
            return all(map(worked_out, items))
        case Matrix(rows):
            return all(worked_out(each) for row in rows for each in row)
        case Relation(sides):
            return all(map(worked_out, sides))
        case Ratio(sides):
            return all(map(worked_out, sides)) and _coprime(sides)
    return False


def _multiple(each: Form) -> bool:
    """Whether a product is a fraction in lowest terms, or one times one constant: -3/4, 5π/6."""
    bare = each.parts[0] if each.kind == "minus" else each
    rest = [part for part in bare.parts if part.kind != "constant"]
    if bare.kind != "product" or len(bare.parts) - len(rest) != 1:
        return lowest(bare)
    if len(rest) == 1:
        return lowest(rest[0])
    return lowest(Form(bare.key, "product", tuple(rest)))


def _coprime(sides: tuple[Node, ...]) -> bool:
    """Whether whole numbers have no divisor in common; other terms may be anything."""
    values = [side.value for side in sides if isinstance(side, Number)]
    if len(values) < len(sides):
        return True
    whole = all(value.denominator == 1 for value in values)
    return whole and gcd(*(value.numerator for value in values)) == 1
