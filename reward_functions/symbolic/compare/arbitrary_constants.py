"""Arbitrary constants: the C of an antiderivative has any name, and goes with its term."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.exact.polynomials import UNIT, Poly, Quotient, atoms_of, names_of
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.names import symbols
from reward_functions.symbolic.expr.nodes import Apply, Node, Number, Product, Sum, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable

_ONE: Final = Number(Fraction(1))


def without_constants(reference: Node, candidate: Node) -> tuple[Node, Node] | None:
    """Both sides without their arbitrary constants; None unless each has one.

    The reference's is a capital C, a term beside something with a lower-case variable. The
    candidate's may be any letter that is used nowhere else, as a term or as a factor in a
    logarithm: ln|x| + ln C and ln|Cx| are ln|x| and any number.
    """
    mine = _without(reference, "C")
    if mine is None:
        return None
    used = symbols(mine)
    if not any(name[0].islower() for name in used):
        return None
    for name in symbols(candidate):
        if name not in used:
            theirs = _without(candidate, name) or _without_factor(candidate, name)
            if theirs is not None:
                return mine, theirs
    return None


def _without(node: Node, name: str) -> Node | None:
    """A sum without the one term that is a letter, which stands nowhere else in it."""
    if not isinstance(node, Sum):
        return None
    rest = tuple(term for term in node.terms if term != Symbol(name))
    if len(rest) != len(node.terms) - 1 or not rest or name in symbols(rest):
        return None
    return rest[0] if len(rest) == 1 else Sum(rest)


def _without_factor(node: Node, name: str) -> Node | None:
    """A sum of logarithms without the one factor in one of them that is a letter.

    The letter may take any sign, so the rest of its logarithm may too: ln(Cx) leaves ln|x|.
    """
    match node:
        case Sum(terms):
            changed = _with_one(terms, name, _without_factor)
            return Sum(changed) if changed else None
        case Product(over, under):
            factors = [each for each in (*over, *under) if name not in symbols(each)]
            above = _with_one(over, name, _without_factor)
            numbers = len(factors) == len(over) + len(under) - 1 and all(map(rational, factors))
            return Product(above, under) if above and numbers else None
        case Apply("ln" | "log" as function, (inside,)):
            rest = _unscaled(inside, name)
            return rest and Apply(function, (Apply("abs", (rest,)),))
    return None


def _unscaled(node: Node, name: str) -> Node | None:
    """A product without a factor that is a letter; None where it stands elsewhere."""
    match node:
        case Symbol(other) if other == name:
            return _ONE
        case Product(over, under):
            above = _with_one(over, name, _unscaled)
            if above is not None:
                return None if name in symbols(under) else Product(above, under)
            below = _with_one(under, name, _unscaled)
            return None if below is None or name in symbols(over) else Product(over, below)
        case Apply("abs", (inside,)):
            return _unscaled(inside, name)
    return None


def _with_one(
    nodes: tuple[Node, ...], name: str, change: Callable[[Node, str], Node | None]
) -> tuple[Node, ...] | None:
    """Nodes with the only one changed that has a name; None if that fails or there are more."""
    having = [place for place, node in enumerate(nodes) if name in symbols(node)]
    changed = change(nodes[having[0]], name) if len(having) == 1 else None
    if changed is None:
        return None
    return (*nodes[: having[0]], changed, *nodes[having[0] + 1 :])


# ---- in canonical forms


_CONSTANT: Final = "vC"
_ARBITRARY: Final = frozenset("vC vc vK vk vA vB vC_1 vC_2 vc_1 vc_2 vC_{1} vc_0 vC_0".split())


def shifted_by_constant(reference: Quotient, candidate: Quotient) -> bool:
    """A reference f + C, C arbitrary, accepts f + any number + any one unused letter.

    Read so only for a capital C that stands once, alone, beside something with a lower-case
    variable: in A + B + C it is an ordinary letter.
    """
    if not (reference.whole and candidate.whole):
        return False
    rest = _without_constant(reference.above, _CONSTANT)
    if rest is None or not any(
        name[0] not in "rk" and name[1:].islower() for name in atoms_of(rest)
    ):
        return False
    used = names_of(reference) - {_CONSTANT}
    for name in names_of(candidate) - used:
        other = _without_constant(candidate.above, name) if name[0] == "v" else None
        if other is not None:
            return _numbers_apart(rest, other)
    return False


def _without_constant(poly: Poly, name: str) -> Poly | None:
    """The polynomial without the term that is the constant alone; None when it stands elsewhere."""
    alone = ((name, Fraction(1)),)
    rest = {key: factor for key, factor in poly.items() if key != alone}
    if (
        len(rest) == len(poly)
        or name in atoms_of(rest)
        or any(name[1:] in each for each in atoms_of(rest) if each[0] not in "vrk")
    ):
        return None
    return rest


def _numbers_apart(first: Poly, second: Poly) -> bool:
    differing = {key for key in {**first, **second} if first.get(key) != second.get(key)}
    return all(
        name[0] == "r" or name in ("kπ", "ke") or (name[0] == "l" and name[2:-1].isdecimal())
        for key in differing - {UNIT}
        for name, _ in key
    )


def may_have_constant(reference: Node) -> bool:
    """Whether a reference has a letter that may be an arbitrary constant."""
    return any(map(_customary, symbols(reference)))


def renamed_constant(first: Quotient, second: Quotient) -> bool:
    """Whether the two may differ in the letter of an arbitrary constant, which proves nothing."""
    mine, theirs = names_of(first), names_of(second)
    replaced = bool((mine - theirs) & _ARBITRARY) and any(name[0] == "v" for name in theirs - mine)
    return replaced and len(mine) > 1


def other_constants(reference: Quotient, candidate: Quotient) -> bool:
    """Whether two general solutions are one with other letters for its constants.

    A constant is a customary letter, alone or with a number below it, that multiplies one term, no
    other constant in it, and stands nowhere else; at least one multiplies an exponential or an
    angle. All letters of the candidate's are unused in the reference, or those of the reference
    with their numbers exchanged. So neither a parameter nor an unknown is taken for a constant.
    """
    if not (reference.whole and candidate.whole):
        return False
    mine, theirs = _constants(reference), _constants(candidate)
    common = {name for name in mine.keys() & theirs.keys() if "_" not in name}
    own, other = sorted(mine.keys() - common), sorted(theirs.keys() - common)
    if not 0 < len(own) == len(other) <= _MOST_CONSTANTS:
        return False
    if not set(own).isdisjoint(names_of(candidate)) and own != other:
        return False
    if not any(name[:1] in "sc" or name[:2] == "fe" for each in own for name in mine[each]):
        return False
    return any(
        _under(candidate.above, dict(zip(names, own, strict=True))) == reference.above
        for names in permutations(other)
    )


_MOST_CONSTANTS: Final = 3
_CUSTOMARY: Final = frozenset("ABCDKck")


def _customary(name: str) -> bool:
    letter, _, number = name.partition("_")
    return letter in _CUSTOMARY and (number.isdecimal() or name == letter)


def _constants(value: Quotient) -> dict[str, set[str]]:
    """The constants of a polynomial, each with the names of what it multiplies."""
    inside = "".join(name for name in names_of(value) if name[0] not in "vrk")
    found: dict[str, list[set[str]]] = {}
    for monomial in value.above:
        names = {name for name, _ in monomial}
        constants = [each for each in names if each[0] == "v" and _customary(each[1:])]
        for each in constants:
            alone = len(constants) == 1 and (each, 1) in monomial
            found.setdefault(each, []).extend([names - {each}] if alone else [set(), set()])
    return {
        each: beside[0]
        for each, beside in found.items()
        if len(beside) == 1 and each[1:] not in inside
    }


def _under(poly: Poly, names: dict[str, str]) -> Poly:
    """A polynomial with other names of some of its variables."""
    return {
        tuple(sorted((names.get(name, name), power) for name, power in monomial)): factor
        for monomial, factor in poly.items()
    }
