"""Answers with conditions after them: families x = π/4 + kπ, k ∈ ℤ, and values for all x.

The index of a family has any name, and its quantifier may be left out on one side. A condition may
be left out on one side too; where both have one, the conditions must be the same.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.compare.assignments import name_of
from reward_functions.symbolic.compare.relations import members
from reward_functions.symbolic.expr.names import in_order_of_names, with_names
from reward_functions.symbolic.expr.nodes import (
    Bracket,
    BuiltSet,
    Congruence,
    Given,
    Listing,
    NamedSet,
    Node,
    Product,
    Relation,
    Sum,
    Symbol,
    Union,
)
from reward_functions.symbolic.expr.traversal import free_names, names_in, parts
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.symbolic.compare.members import Comparison

MAY_BE_FAMILIES: Final = (Given, Listing, BuiltSet, Congruence)
_WHOLE: Final = frozenset(("Z", "N", "N0", "Z+"))
_CUSTOMARY: Final = frozenset("jklmnpqrst")
_INDEX: Final = "#k"
"""The index of the values of a congruence, which no answer has."""
_MOST_INDICES: Final = 2
"""Indices of one family that are matched by trying; nobody writes three."""


class Family(NamedTuple):
    """An answer, for every value of some indices.

    Attributes:
        whole: the answer without its conditions.
        bodies: the alternatives in it, without the name that they are values of.
        named: that name, x in x = kπ; empty without one, or where it is bound.
        indices: the indices, each with its set of numbers.
        conditions: what else is said to hold.
    """

    whole: Node
    bodies: tuple[Node, ...]
    named: str = ""
    indices: Mapping[str, str] = {}
    conditions: tuple[Node, ...] = ()

    def names(self) -> set[str]:
        """The letters that the bodies depend on."""
        return set().union(*map(free_names, self.bodies))

    def under(self, names: Mapping[str, str]) -> tuple[Node, ...]:
        """The bodies with other names of the indices."""
        return tuple(with_names(each, names) for each in self.bodies)


def families(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """Both without their conditions, under one name of each index; None without conditions."""
    if isinstance(reference, Congruence) == isinstance(candidate, Congruence):
        mine, theirs = _family(reference), _family(candidate)
    else:
        mine, theirs = _family(_progression(reference)), _family(_progression(candidate))
    if mine is None and theirs is None:
        return None
    mine, theirs = mine or _bare(reference), theirs or _bare(candidate)
    if mine.conditions and theirs.conditions and not alike(answers, mine, theirs):
        return unknown("condition-differs", "the answers hold under other conditions")
    if theirs.conditions and not mine.conditions and _restricted(theirs):
        return unknown("condition-restricts", "the answer holds for some values only")
    if not mine.indices and not theirs.indices:
        return answers.compare(mine.whole, theirs.whole)
    if mine.named and theirs.named and mine.named != theirs.named:
        return differ("names", f"{mine.named} is not {theirs.named}")
    return indexed(answers, mine, theirs)


def alike(answers: Comparison, mine: Family, theirs: Family) -> bool:
    """Whether conditions are the same, where a quantified letter may have another name."""
    first, second = ({_unnamed(each) for each in side.conditions} for side in (mine, theirs))
    return first == second or members(answers, mine.conditions, theirs.conditions).equal


def indexed(answers: Comparison, mine: Family, theirs: Family) -> Finding:
    """Two families, one of which may lack its quantifier."""
    own, other = _letters(mine, theirs), _letters(theirs, mine)
    if not 0 < len(own) == len(other) <= _MOST_INDICES:
        return unknown("family", "the numbers of indices differ")
    kinds = [sorted(each.indices.values()) for each in (mine, theirs) if each.indices]
    if kinds[0] != kinds[-1]:
        return unknown("family", "the indices run through other numbers")
    fresh = {name: f"#{place}" for place, name in enumerate(own)}
    bodies = mine.under(fresh)
    for names in permutations(other):
        renamed = theirs.under(dict(zip(names, fresh.values(), strict=True)))
        if _paired(answers, bodies, renamed):
            return same("family-index-renamed", "the same family but for the names of indices")
        if len(own) == 1 and kinds[0] == ["Z"] and (mine.indices or _turns(mine)):
            from reward_functions.symbolic.compare import periods  # noqa: PLC0415 - few get here

            found = periods.same_progressions(bodies, renamed, "#0", answers.scalars)
            if found is not None and (found.equal or mine.indices):
                return found
    return unknown("family", "the families are not shown to be equal")


def _paired(answers: Comparison, bodies: Sequence[Node], others: Sequence[Node]) -> bool:
    if len(bodies) == len(others) == 1:
        return answers.compare(bodies[0], others[0]).equal
    return members(answers, bodies, others).equal


def _restricted(side: Family) -> bool:
    """Whether a condition holds for some values only of a letter in the answer: 2/x for x > 1.

    That something is not zero, or is a number, goes without saying.
    """
    inside = free_names(side.whole)
    return any(
        not inside.isdisjoint(free_names(each))
        for each in side.conditions
        if isinstance(each, Relation)
        and each.operators != ("≠",)
        and not isinstance(each.operands[-1], NamedSet)
    )


def _letters(side: Family, other: Family) -> list[str]:
    """The indices of a family; without a quantifier, the letters that the other side lacks."""
    if side.indices:
        return list(side.indices)
    if side.named in side.names():
        return []  # n = 4n + 1 is to be solved
    fixed = other.names() - set(other.indices)
    found = sorted(side.names() - fixed)
    customary = set(found) <= _CUSTOMARY and (side.named or _turns(side))
    known = set(found) == set(other.indices) or customary or "," in side.named
    return found if known else []


def _turns(side: Family) -> bool:
    """Whether a family has angles or intervals in it, as those without a name do."""
    return any(isinstance(each, Bracket) or "π" in names_in(each) for each in side.bodies)


def _family(node: Node) -> Family | None:
    """An answer with its conditions taken off; None for one that has none."""
    match node:
        case Given(body, conditions):
            return _sorted_out(body, conditions)
        case Listing(items, word):
            located = [each for each in items if _index(each)]
            bodies = tuple(each for each in items if not _index(each))
            if located and bodies and not _bounds(bodies, set(map(_index, located))):
                body = bodies[0] if len(bodies) == 1 else Listing(bodies, word)
                return _only_indexed(_sorted_out(body, located))
        case BuiltSet(Symbol(name), conditions):
            real = Relation((Symbol(name), NamedSet("R")), ("∈",))
            located = [each for each in conditions if _index(each)]
            stated = [each for each in conditions if each != real and each not in located]
            if located and len(stated) == 1 and name not in map(_index, located):
                found = _only_indexed(_sorted_out(stated[0], located))
                about = found and (found.named == name or not found.named)
                return found._replace(named="", whole=node) if found and about else None
        case BuiltSet(member, conditions) if not isinstance(member, Relation):
            return _only_indexed(_sorted_out(member, conditions))
    return None


def _progression(node: Node) -> Node:
    """The values that a congruence says a letter has, n = 4k + 1, k ∈ ℤ; another node as it is."""
    match node:
        case Congruence(Symbol() as left, right, modulus):
            index = Symbol(_INDEX)
            values = Sum((Product((modulus, index)), right))
            whole = Relation((index, NamedSet("Z")), ("∈",))
            return Given(Relation((left, values), ("=",)), (whole,))
    return node


def _bounds(bodies: Sequence[Node], indices: set[str]) -> bool:
    """Whether a condition bounds an index itself: x > 2, x ∈ ℤ is a set of whole numbers."""
    operands = (side for each in bodies if isinstance(each, Relation) for side in each.operands)
    return any(isinstance(each, Symbol) and each.name in indices for each in operands)


def _arguments(whole: Node) -> set[str]:
    """The letters that functions are defined at: n of f(n) = 2n, a name, is no index."""
    names = (each.name for each in parts(whole) if isinstance(each, Symbol))
    return set().union(*(name.partition("(")[2] for name in names))


def _only_indexed(found: Family) -> Family | None:
    return found if found.indices and not found.conditions else None


def _bare(node: Node) -> Family:
    """An answer without conditions."""
    return _sorted_out(node, ())


def _sorted_out(whole: Node, conditions: Sequence[Node]) -> Family:
    alternatives = tuple(_alternatives(whole))
    stated = {_name(each) for each in alternatives}
    named = stated.pop() if len(stated) == 1 else ""
    bodies = tuple(map(_value, alternatives)) if named else alternatives
    flat = tuple(part for each in bodies for part in _alternatives(each))
    inside = set().union(*map(free_names, flat)) - _arguments(whole)
    located = {_index(each): each for each in conditions if _index(each) in inside}
    indices = {name: _kind(each) for name, each in located.items()}
    others = tuple(each for each in conditions if each not in located.values())
    return Family(whole, flat, named, indices, others)


def _alternatives(node: Node) -> Iterator[Node]:
    match node:
        case Listing(items) | Union(items, False):
            yield from items
        case _:
            yield node


def _index(node: Node) -> str:
    """The letter that a condition says to be a whole number; empty for other conditions."""
    match node:
        case Relation((Symbol(name), NamedSet(kind)), ("∈",)) if kind in _WHOLE:
            return name
    return ""


def _kind(node: Node) -> str:
    """The set of numbers that an index runs through."""
    match node:
        case Relation((_, NamedSet(kind)), _):
            return kind
    raise AssertionError("the condition of an index")


def _unnamed(condition: Node) -> Node:
    match condition:
        case Relation((Symbol(), NamedSet()), ("∈",)):
            return in_order_of_names(condition)
    return condition


def _name(body: Node) -> str:
    """What an answer gives values to: x in x = kπ and x ∈ [kπ, kπ + 1]."""
    match body:
        case Relation((Symbol(name), _), ("∈",)):
            return name
        case Relation((left, _), ("=",)):
            return name_of(left) or ""
    return ""


def _value(body: Node) -> Node:
    match body:
        case Relation((_, value)):
            return value
    return body
