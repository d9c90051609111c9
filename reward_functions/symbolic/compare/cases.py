"""Congruences, and definitions by cases: values that hold under a modulus or a condition.

Cases are the same where their conditions are; else they are compared piece by piece (`pieces`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import Congruence, Node, Number, Piecewise
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.compare.members import Comparison

Branch = tuple[Node, Node | None]


def congruences(answers: Comparison, reference: Congruence, candidate: Congruence) -> Finding:
    """Congruences of one value: of the same modulus, equal when the rests are.

    3 (mod 7) does not name the value, which the question did.
    """
    moduli = answers.scalars.compare(reference.modulus, candidate.modulus)
    lefts = reference.left, candidate.left
    if not moduli.equal or not (None in lefts or answers.scalars.compare(*lefts).equal):  # type: ignore[arg-type]
        return unknown("congruence", "the congruences have other forms")
    numbers = [rational(each.right) for each in (reference, candidate)]
    modulus = rational(reference.modulus)
    if modulus is None or None in numbers:
        return answers.scalars.compare(reference.right, candidate.right)
    if not modulus:
        raise Unreadable("a division by zero")
    mine, theirs = (number for number in numbers if number is not None)
    if (mine - theirs) % modulus:
        return differ("congruence", "the remainders differ")
    return same("congruence", "the same rest")


def remainder(answers: Comparison, reference: Node, candidate: Congruence) -> Finding:
    """A single value against the rest of a congruence, which is the least one there is."""
    number, modulus = candidate.right, rational(candidate.modulus)
    least = isinstance(number, Number) and modulus and 0 <= number.value < modulus
    if candidate.left is None and least:
        return answers.compare(reference, number)
    return unknown("congruence", "one is a congruence, the other a value")


def piecewise(answers: Comparison, reference: Piecewise, candidate: Piecewise) -> Finding:
    """Definitions by cases: the same values under the same conditions, or piece by piece."""
    answers.scalars.of_parts = True
    found = under_conditions(answers, reference.branches, candidate.branches)
    return found if found.equal else piece_by_piece(answers, reference, candidate) or found


def piece_by_piece(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """Whether two definitions agree wherever the reference has a value; None where not.

    A formula is a definition with a single case.
    """
    from reward_functions.symbolic.compare.pieces import pieces  # noqa: PLC0415 - few get here

    pairs = pieces(_branches(reference), _branches(candidate), answers.scalars)
    if not pairs or not all(answers.compare(*pair).equal for pair in pairs):
        return None
    return same("cases", "the same values piece by piece")


def under_conditions(
    answers: Comparison, branches: Sequence[Branch], others: Sequence[Branch]
) -> Finding:
    """The same values under the same conditions, in any order."""
    if len(branches) != len(others):
        return unknown("cases", "the numbers of cases differ")
    left = list(others)
    for value, condition in branches:
        place = next(
            (
                place
                for place, other in enumerate(left)
                if same_condition(answers, condition, other[1])
            ),
            None,
        )
        if place is None:
            return unknown("cases", "a condition has no equal on the other side")
        found = answers.compare(value, left.pop(place)[0])
        if not found.equal:
            return differ("cases", "another value in a case") if found.different else found
    return same("cases", "the same values under the same conditions")


def same_condition(answers: Comparison, condition: Node | None, other: Node | None) -> bool:
    """Whether two conditions are the same; that of "otherwise" is None."""
    if condition is None or other is None:
        return condition is other
    return answers.compare(condition, other).equal


def _branches(node: Node) -> Sequence[Branch]:
    return node.branches if isinstance(node, Piecewise) else ((node, None),)
