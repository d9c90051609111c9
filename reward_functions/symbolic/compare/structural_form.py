"""Reduced forms of trees: the same arithmetic in any notation, and nothing worked out.

Terms and factors are in one order, bound variables have one name, and factors of one, terms of
zero, brackets, signs, units and percent signs are taken off: 23·17¹, (17)(23) and -(-17·23) are all
17·23. But 391 is not: that takes arithmetic.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.symbolic.expr.functions import DIVIDING, EXTREME, named
from reward_functions.symbolic.expr.names import with_bound_renamed
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Constant,
    Degrees,
    Measured,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Relation,
    Root,
    Sum,
    Symbol,
)
from reward_functions.symbolic.expr.traversal import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SYMMETRIC: Final = named(DIVIDING) | named(EXTREME) | {"=", "≠", "Braces", "Listing"}
_TURNED: Final = {">": "<", "≥": "≤"}
_ATOMS: Final = frozenset({"number", "symbol", "constant"})
_COLLECTIONS: Final = frozenset({"Braces", "Listing", "Bracket", "Matrix", "Union"})


class Form(NamedTuple):
    """A reduced tree.

    Attributes:
        key: the whole of it in one string; forms are equal when their keys are.
        kind: what it is: "sum", "product", "minus", "inverse", a function's name, a node's name.
        parts: what it is made of, in order of their keys where order does not count.
    """

    key: str
    kind: str
    parts: tuple[Form, ...] = ()


def form(tree: Node) -> Form:
    """The reduced form of a tree."""
    return _form(with_bound_renamed(tree) if operations(tree) else tree)


def within(outer: Form) -> Iterator[Form]:
    """A form and all that it is made of."""
    waiting = [outer]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(each.parts)


def stands_in(inner: Form, outer: Form) -> bool:
    """Whether a form is another one, or is some of the terms or factors of one in numbers."""
    if inner.key == outer.key:
        return True
    if inner.kind != outer.kind or inner.kind not in ("sum", "product"):
        return False
    if any(each.kind == "symbol" for each in within(inner)):
        return False
    return Counter(inner.parts) <= Counter(outer.parts)


def holds(outer: Form, inner: Form) -> bool:
    """Whether a sum or product has all the terms or factors of another one, with others beside."""
    same_kind = outer.kind == inner.kind and inner.kind in ("sum", "product")
    return same_kind and Counter(inner.parts) <= Counter(outer.parts)


def worked_out(each: Form) -> bool:
    """Whether nothing is left to compute: a number, a name, a fraction in lowest terms, a list."""
    if each.kind == "minus" or each.kind in _COLLECTIONS:
        return all(map(worked_out, each.parts))
    return each.kind in _ATOMS or _lowest(each)


def lowest(each: Form) -> bool:
    """Whether it is a whole number, a name, or a fraction of two whole numbers in lowest terms."""
    return each.kind in _ATOMS or _lowest(each)


def _lowest(each: Form) -> bool:
    match each:
        case Form(_, "inverse", (Form(below, "number"),)):
            return below.isdecimal()
        case Form(
            _, "product", (Form(_, "inverse", (Form(below, "number"),)), Form(above, "number"))
        ):
            whole = above.isdecimal() and below.isdecimal()
            return whole and gcd(int(above), int(below)) == 1
    return False


def _form(node: Any) -> Form:  # noqa: C901, PLR0912 - one case per kind of node
    match node:
        case Number(value):
            return _number(value)
        case Symbol(name):
            return Form(name, "symbol")
        case Constant(name):
            return Form(name, "constant")
        case Percent(body) | Degrees(body) | Measured(body, _):
            return _form(body)
        case Sum(terms):
            return _sum(map(_form, terms))
        case Product(over, under):
            return _product((*map(_form, over), *(_inverse(_form(each)) for each in under)))
        case Power(base, exponent):
            return _power(_form(base), _form(exponent))
        case Root(index, radicand):
            return _power(_form(radicand), _inverse(_form(index)))
        case Apply("exp", (exponent,)):
            return _power(Form("e", "constant"), _form(exponent))
        case Apply(name, arguments):
            return _made(name, map(_form, arguments))
        case Relation((left, right), (operator,)) if operator in _TURNED:
            return _made(_TURNED[operator], map(_form, (right, left)))
        case Relation(sides, (operator,)):
            return _made(operator, map(_form, sides))
        case tuple():
            return _made("", map(_form, node))
        case None | str() | int() | Fraction():
            return Form(repr(node), "word")
    inside = (_form(getattr(node, name)) for name in node.__slots__)
    flat = [part for each in inside for part in (each.parts if each.kind == "" else (each,))]
    return _made(type(node).__name__, flat)


def _made(kind: str, parts: Iterable[Form]) -> Form:
    ordered = tuple(sorted(parts) if kind in _SYMMETRIC else parts)
    return Form(f"{kind}({','.join(part.key for part in ordered)})", kind, ordered)


def _number(value: Fraction) -> Form:
    size = Form(str(abs(value)), "number")
    return _minus(size) if value < 0 else size


def _minus(each: Form) -> Form:
    if each.kind == "minus":
        return each.parts[0]
    if each.kind == "sum":
        return _sum(map(_minus, each.parts))
    return each if each.key == "0" else _made("minus", (each,))


def _inverse(each: Form) -> Form:
    match each.kind:
        case "minus":
            return _minus(_inverse(each.parts[0]))
        case "inverse":
            return each.parts[0]
        case "product":
            return _product(map(_inverse, each.parts))
    return each if each.key == "1" else _made("inverse", (each,))


def _sum(terms: Iterable[Form]) -> Form:
    flat: list[Form] = []
    for term in terms:
        flat.extend(term.parts if term.kind == "sum" else (term,))
    kept = sorted(term for term in flat if term.key != "0")
    if len(kept) == 1:
        return kept[0]
    return _made("sum", kept) if kept else Form("0", "number")


def _product(factors: Iterable[Form]) -> Form:
    flat: list[Form] = []
    negative = False
    for factor in factors:
        bare = factor
        if factor.kind == "minus":
            negative, bare = not negative, factor.parts[0]
        flat.extend(bare.parts if bare.kind == "product" else (bare,))
    kept = sorted(factor for factor in flat if factor.key != "1")
    if len(kept) == 1:
        whole = kept[0]
    else:
        whole = _made("product", sorted(kept, key=_inverses_first)) if kept else Form("1", "number")
    return _minus(whole) if negative else whole


def _inverses_first(factor: Form) -> tuple[bool, str]:
    return factor.kind != "inverse", factor.key


def _power(base: Form, exponent: Form) -> Form:
    if exponent.key == "1":
        return base
    if exponent.kind == "number" and "/" in exponent.key:
        above, _, below = exponent.key.partition("/")
        exponent = _product((Form(above, "number"), _inverse(Form(below, "number"))))
    if base.kind == "inverse" and exponent.kind == "minus":
        return _made("power", (base, exponent))
    if exponent.kind == "minus" and exponent.parts[0].kind == "number":
        return _inverse(_power(base, exponent.parts[0]))
    return _made("power", (base, exponent))
