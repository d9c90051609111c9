r"""LaTeX environments: matrices, determinants, systems of equations and definitions by cases.

matrix       \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
cases        \begin{cases} value & if condition \\ value & otherwise \end{cases}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import ITEMS, OverBudget, Unreadable
from reward_functions.symbolic.expr.nodes import Apply, Listing, Matrix, Node, Piecewise
from reward_functions.symbolic.parsing.cases_in_words import INTRODUCING, OTHERWISE, parity

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar, Rule
    from reward_functions.symbolic.parsing.lexer import Token

_NONE: Final[Node] = Listing(())
"""The condition of a case that has none; no answer can state it."""


def environment(parser: Grammar, begin: Token) -> Node:
    """The value of an environment, by its name."""
    rule = ENVIRONMENTS.get(begin.text)
    if rule is None:
        raise Unreadable(f"the environment {begin.text} is not read")
    return rule(parser, begin)


def determinant(parser: Grammar, begin: Token) -> Node:
    """The determinant of a matrix between bars."""
    return Apply("det", (matrix(parser, begin),))


def matrix(parser: Grammar, begin: Token) -> Node:
    """A matrix or vector, in any brackets."""
    parser.down()
    rows = _rows(parser)
    parser.up()
    if parser.next().text != begin.text:
        raise Unreadable("a matrix that is not closed")
    if len({len(row) for row in rows}) != 1:
        raise Unreadable("rows of different lengths")
    return Matrix(tuple(rows))


def _rows(parser: Grammar) -> list[tuple[Node, ...]]:
    """The rows of a matrix up to its end, the last row break being optional."""
    rows: list[tuple[Node, ...]] = []
    row = [parser.statement()]
    while parser.kind() != "end":
        if parser.take("&"):
            row.append(parser.statement())
        elif parser.command("\\"):
            parser.next()
            rows.append(tuple(row))
            if parser.kind() == "end":
                return rows
            row = [parser.statement()]
        else:
            raise Unreadable("a matrix that is not closed")
        if len(rows) * len(row) > ITEMS:
            raise OverBudget(f"a matrix of more than {ITEMS} entries")
    return [*rows, tuple(row)]


def cases(parser: Grammar, _begin: Token) -> Node:
    """Values with their conditions; without any conditions a system, all of which holds."""
    parser.down()
    branches = [_branch(parser)]
    while parser.command("\\"):
        parser.next()
        if parser.kind() != "end":
            branches.append(_branch(parser))
        if len(branches) > ITEMS:
            raise OverBudget(f"more than {ITEMS} cases")
    parser.up()
    if parser.next().text != "cases":
        raise Unreadable("cases that do not end")
    conditions = [condition for _, condition in branches]
    if all(condition is _NONE for condition in conditions):
        return Listing(tuple(value for value, _ in branches), "and")
    if _NONE in conditions:
        raise Unreadable("a case without a condition")
    return Piecewise(tuple(branches))


def _branch(parser: Grammar) -> tuple[Node, Node | None]:
    """One value and its condition; a comma or ampersand or both stand between them."""
    value = parser.statement()
    separated = parser.take(",") | parser.take("&")
    if not separated or parser.command("\\") or parser.kind() == "end":
        return value, _NONE
    condition = condition_of(parser)
    if not parser.take(","):
        parser.take(".")
    return value, condition


def condition_of(parser: Grammar) -> Node | None:
    """A condition without the word that introduces it; None for "otherwise"."""
    while parser.word(*INTRODUCING):
        parser.next()
    if parser.word(*OTHERWISE):
        parser.next()
        return None
    return parity(parser) or parser.statement()


ENVIRONMENTS: Final[dict[str, Rule]] = {
    **dict.fromkeys(("pmatrix", "bmatrix", "matrix", "array", "smallmatrix"), matrix),
    "vmatrix": determinant,
    "cases": cases,
}
"""The rule of each environment that is read."""
