"""Whether an answer has done none of the arithmetic that a question asks for.

It has not when it is an expression of the question in any notation (`structural_form`), or has one
inside that is by itself the reference: then what is around it changes nothing, as in 17·23 + 1 - 1.
An equation of the question with its terms moved is not solved, where the reference is.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from reward_functions.symbolic.budget import OverBudget, Unreadable, Work
from reward_functions.symbolic.compare.dispatch import AnswerComparison
from reward_functions.symbolic.compare.scalars import ScalarComparison
from reward_functions.symbolic.compare.structural_form import (
    Form,
    form,
    is_fraction,
    stands_in,
    within,
    worked_out,
)
from reward_functions.symbolic.exact.polynomials import PolynomialField
from reward_functions.symbolic.expr.nodes import Apply, Node, Number, Product, Relation, Symbol
from reward_functions.symbolic.expr.traversal import free_names, operations, parts
from reward_functions.symbolic.parsing.document import read
from reward_functions.symbolic.parsing.parser import parse

KEPT: Final = 64
"""Questions whose forms are kept: all responses of a group meet the same one."""

COMPARED: Final = 4
"""Expressions inside an answer that are compared with the reference; felt right."""


FORMS: Final = 1_000
"""Forms of a question, from its end, and of an answer. A long question has two hundred."""


class _Question(NamedTuple):
    """The forms of a question, each with its tree, and its relations."""

    forms: dict[Form, Node]
    relations: tuple[Relation, ...]


def restated(reference: str, answer: str, expressions: tuple[str, ...]) -> bool:
    """Whether a right answer restates one of the expressions of the question.

    Args:
        reference: the right answer.
        answer: the answer, known to be equal to the reference.
        expressions: what a question has of mathematics. What cannot be read counts for nothing.
    """
    asked, stated = read(reference).tree, read(answer).tree
    if asked is None or stated is None:
        return False
    wanted, given = form(_value(asked)), form(_value(stated))
    sides = asked.operands if isinstance(asked, Relation) else ()
    if given.key == wanted.key or given in map(form, sides):
        return False
    if worked_out(given) and not (is_fraction(given) and _is_decimal(asked)):
        return False
    question = _question(expressions)
    if any(stands_in(given, outer) for outer in question.forms):
        return True
    if isinstance(_value(stated), Relation):
        unsolved = _solved(asked) and not _solved(stated)
        return unsolved and any(_equal(each, stated) for each in question.relations[:COMPARED])
    return _stands_inside(given, wanted, asked, question)


@lru_cache(KEPT)
def _question(expressions: tuple[str, ...]) -> _Question:
    forms: dict[Form, Node] = {}
    relations: list[Relation] = []
    for text in reversed(expressions):
        try:
            tree = parse(text)
        except (OverBudget, Unreadable):
            continue
        for part in parts(tree):
            if len(forms) == FORMS:
                return _Question(forms, tuple(relations))
            forms.setdefault(form(part), part)
            if isinstance(part, Relation):
                relations.append(part)
    return _Question(forms, tuple(relations))


def _value(tree: Node) -> Node:
    """What stands behind the name of a value: x = 17·23, f(x) = 2x."""
    match tree:
        case Relation((first, *_, last), operators) if set(operators) == {"="} and _is_name(first):
            return last
        case Relation((value, name), ("=",)) if _is_name(name):
            return value
    return tree


def _is_name(node: Node) -> bool:
    match node:
        case Symbol():
            return True
        case Apply(name, _):
            return len(name) == 1
        case Product((Symbol(), Symbol()), ()):
            return True
    return False


def _is_decimal(tree: Node) -> bool:
    return isinstance(tree, Number) and tree.unit is not None


def _stands_inside(given: Form, wanted: Form, asked: Node, question: _Question) -> bool:
    """Whether an expression of the question in the answer is all there is to the reference."""
    inside = {each.key: each for each in islice(within(given), FORMS)}
    left = COMPARED
    for outer, node in question.forms.items():
        if outer.key == wanted.key or worked_out(outer):
            continue
        if outer.key not in inside and not (
            all(part.key in inside for part in outer.parts)
            and any(stands_in(outer, each) for each in inside.values())
        ):
            continue
        if operations(node) and not operations(asked):
            return True
        left -= 1
        if left < 0:
            return False
        if _equal(asked, node):
            return True
    return False


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
