"""Whether an answer has done none of the arithmetic that a question asks for.

It has not when it is an expression of the question in any notation (`structural_form`), or has one
inside that is by itself the reference. Then the parts around it change nothing, as in 17·23 + 1 -
1. An equation of the question with its terms moved is not solved, where the reference is.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.budget import OverBudget, Unreadable, Work
from reward_functions.symbolic.compare.dispatch import AnswerComparison
from reward_functions.symbolic.compare.notation import converted, repeating
from reward_functions.symbolic.compare.scalars import ScalarComparison
from reward_functions.symbolic.compare.structural_form import (
    Form,
    form,
    holds,
    stands_in,
    within,
    worked_out,
)
from reward_functions.symbolic.compare.worked_out import operators, stated
from reward_functions.symbolic.exact.polynomials import PolynomialField
from reward_functions.symbolic.expr.nodes import Apply, BuiltSet, Listing, Node, Relation, Symbol
from reward_functions.symbolic.expr.traversal import free_names, operations, parts
from reward_functions.symbolic.parsing.document import read
from reward_functions.symbolic.parsing.parser import parse
from reward_functions.symbolic.parsing.spelling import same_spelling

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT: Final = 512
"""Questions whose forms are kept: all responses of a group meet the same one."""

COMPARED: Final = 4
"""Expressions inside an answer that are compared with the reference; felt right."""


FORMS: Final = 1_000
"""Forms of a question, from its end, and of an answer. A long question has two hundred."""


class _Question(NamedTuple):
    """The forms of a question, each with its tree, and its relations."""

    forms: dict[Form, Node]
    relations: tuple[Relation, ...]
    asked: frozenset[Form]


def restated(
    reference: str, answer: str, expressions: tuple[str, ...], asked: tuple[str, ...] = ()
) -> bool:
    """Whether a right answer leaves to the reader what the question asks for.

    Args:
        reference: the right answer.
        answer: the answer, known to be equal to the reference.
        expressions: what a question has of mathematics. Unreadable parts count for nothing.
        asked: what the question asks for as a formula or number.
    """
    if same_spelling(reference, answer):
        return False
    mine, theirs = read(reference), read(answer)
    if mine.marks and mine.marks == theirs.marks:
        return False  # the very tree, which need not be read
    wanted, given = mine.tree, theirs.tree
    if wanted is None or given is None:
        return False
    value = stated(given)
    if wanted == given:
        return False
    if operators(value) and not operators(wanted):
        return True
    if any(converted(answer, text) and not converted(answer, reference) for text in asked):
        return True
    if not repeating(reference):
        asked += tuple(filter(repeating, expressions))
    question = _question(expressions, asked)
    if repeating(answer) and not repeating(reference) and form(value) in question.forms:
        return True
    return _hands_back(wanted, given, value, question)


def _hands_back(wanted: Node, given: Node, value: Node, question: _Question) -> bool:
    """Whether the arithmetic of an answer is that of an expression of the question."""
    mine, theirs = form(value), form(stated(wanted))
    sides = wanted.operands if isinstance(wanted, Relation) else ()
    if mine.key == theirs.key or mine in map(form, sides):
        return False
    if mine in question.asked:
        return True
    if worked_out(mine):
        return False
    if any(stands_in(mine, outer) for outer in question.forms):
        return True
    if isinstance(value, Relation):
        unsolved = _solved(wanted) and not _solved(given)
        return unsolved and any(_equal(each, given) for each in question.relations[:COMPARED])
    return _stands_inside(mine, theirs, wanted, question) or _regrouped(value, wanted, question)


@lru_cache(KEPT)
def _question(expressions: tuple[str, ...], asked: tuple[str, ...]) -> _Question:
    forms: dict[Form, Node] = {}
    relations: list[Relation] = []
    for tree in _trees(asked + expressions):
        for part in parts(tree):
            if len(forms) == FORMS:
                break
            forms.setdefault(form(part), part)
            if isinstance(part, Relation):
                relations.append(part)
    return _Question(forms, tuple(relations), frozenset(map(form, _trees(asked))))


def _trees(texts: tuple[str, ...]) -> Iterator[Node]:
    """What can be read of some texts, the last one first."""
    for text in reversed(texts):
        try:
            yield parse(text)
        except (OverBudget, Unreadable):
            continue


def _stands_inside(given: Form, wanted: Form, asked: Node, question: _Question) -> bool:
    """Whether an expression of the question in the answer is all there is to the reference."""
    inside = {each.key: each for each in islice(within(given), FORMS)}
    left = COMPARED
    for outer, node in question.forms.items():
        if outer.key == wanted.key or (worked_out(outer) and outer not in question.asked):
            continue
        bare = outer.parts[0] if outer.kind == "minus" else outer
        if outer.key not in inside and not (
            all(part.key in inside for part in bare.parts)
            and any(holds(each, bare) for each in inside.values())
        ):
            continue
        if operations(node) and not operations(asked):
            return True
        if isinstance(asked, BuiltSet) and not isinstance(node, BuiltSet | Relation):
            continue  # a family without its quantifier is an expression, and no set
        left -= 1
        if left < 0:
            return False
        if _equal(asked, node):
            return True
    return False


def _regrouped(value: Node, wanted: Node, question: _Question) -> bool:
    """Whether an answer keeps a function at a value that the question's expression has.

    The reference has none: sin 100° (1 + 4 cos 100°) / cos 100° for tan 100° + 4 sin 100°, which is
    -√3, is the question in other groups.
    """
    kept = [part for part in parts(value) if isinstance(part, Apply) and _is_function(part)]
    if not kept or any(isinstance(part, Apply) for part in parts(wanted)):
        return False
    left = COMPARED
    for node in question.forms.values():
        if isinstance(node, Relation | Apply | Listing) or not any(
            part in kept for part in parts(node)
        ):
            continue
        left -= 1
        if left < 0:
            return False
        if _equal(wanted, node):
            return True
    return False


def _is_function(node: Apply) -> bool:
    """Whether a function has to be worked out: not an unknown one, f(x)."""
    return len(node.name) > 1


def _solved(tree: Node) -> bool:
    """Whether a statement gives the value of a name: 2, x = 2, x > 2, y = 2x + 1."""
    if not isinstance(tree, Relation):
        return True
    names = [side.name for side in tree.operands if isinstance(side, Symbol)]
    return len(names) == 1 and not any(
        names[0] in free_names(side) for side in tree.operands if not isinstance(side, Symbol)
    )


def _equal(first: Node, second: Node) -> bool:
    try:
        return (
            AnswerComparison(ScalarComparison(PolynomialField(Work()))).compare(first, second).equal
        )
    except (OverBudget, Unreadable):
        return False
