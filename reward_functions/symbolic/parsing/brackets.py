"""The contents of brackets: groups, points, intervals, sets, absolute values, vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import ITEMS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import product
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Braces,
    Bracket,
    BuiltSet,
    Listing,
    Node,
    Relation,
)
from reward_functions.symbolic.parsing.conditions import set_conditions

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.grammar import Grammar
    from reward_functions.symbolic.parsing.lexer import Token

_CLOSERS: Final = {"(": ")", "[": "]"}
_FENCES: Final = {"lfloor": "rfloor", "lceil": "rceil", "langle": "rangle"}
_ROUNDED: Final = {"lfloor": "floor", "lceil": "ceil"}


def group(parser: Grammar, _brace: Token) -> Node:
    """A group in braces, which print nothing: a value, or a list whose set braces got lost."""
    parser.down()
    bars, parser.bars = parser.bars, 0
    node = over_the_rest(parser, parser.listing())
    parser.bars = bars
    parser.up()
    parser.expect("}")
    return node


def over_the_rest(parser: Grammar, above: Node) -> Node:
    r"""The part before \over or \choose, over the rest of its group: {x+1 \over 2}."""
    if not parser.command("over", "choose"):
        return above
    name = parser.next().text
    below = parser.listing()
    if any(isinstance(each, Listing | Relation) for each in (above, below)):
        raise Unreadable(f"\\{name} between statements")
    return Apply("binom", (above, below)) if name == "choose" else product([above], [below])


def bracket(parser: Grammar, opening: Token) -> Node:
    """Round or square brackets: one value is grouped, several are a point or an interval.

    A square bracket turned outwards leaves the end out: ]0,1] is (0,1].
    """
    parser.down()
    bars, parser.bars = parser.bars, 0
    parser.opened += 1
    items = [parser.statement()]
    while parser.take(",") or parser.take(";"):
        items.append(parser.statement())
        if len(items) > ITEMS:
            raise OverBudget(f"more than {ITEMS} entries")
    parser.bars = bars
    parser.opened -= 1
    parser.up()
    left, right = opening.kind, parser.next().kind
    if right not in (")", "]", "["):
        raise Unreadable("a bracket is not closed")
    if left == "]" or right == "[":
        if len(items) != 2:  # noqa: PLR2004 - the ends
            raise Unreadable("brackets turned outwards around no interval")
        left, right = left.replace("]", "("), right.replace("[", ")")
    if len(items) > 1:
        return Bracket(left, tuple(items), right)
    if right != _CLOSERS[left]:
        raise Unreadable("brackets that do not match")
    return items[0]


def bracketed(parser: Grammar) -> tuple[Node, ...]:
    """The arguments between round brackets, the first of which comes next."""
    inside = bracket(parser, parser.next())
    return inside.items if isinstance(inside, Bracket) else (inside,)


def braces(parser: Grammar, _opening: Token) -> Node:
    """A set by its members or by a condition."""
    if parser.take("\\}"):
        return Braces(())
    parser.down()
    bars, parser.bars = parser.bars, 1
    first = parser.statement()
    parser.bars = bars
    if parser.kind() in ("|", ":"):
        parser.next()
        conditions = set_conditions(parser)
        parser.up()
        parser.expect("\\}")
        return BuiltSet(first, conditions)
    items = [first]
    while parser.separator() is not None:
        items.append(parser.statement())
        if len(items) > ITEMS:
            raise OverBudget(f"a set of more than {ITEMS}")
    parser.up()
    parser.expect("\\}")
    return Braces(tuple(items))


def between_bars(parser: Grammar, _opening: Token) -> Node:
    """An absolute value."""
    parser.down()
    parser.bars += 1
    node = parser.sum()
    parser.bars -= 1
    parser.up()
    parser.expect("|")
    return Apply("abs", (node,))


def fenced(parser: Grammar, opening: Token) -> Node:
    """Floor, ceiling, or a vector in angle brackets."""
    name = opening.text
    parser.down()
    items = [parser.sum()]
    while parser.take(","):
        items.append(parser.sum())
    parser.up()
    if not parser.command(_FENCES[name]):
        raise Unreadable(f"\\{name} is not closed")
    parser.next()
    if name == "langle":
        return Bracket("<", tuple(items), ">")
    if len(items) > 1:
        raise Unreadable(f"\\{name} around a list")
    return Apply(_ROUNDED[name], (items[0],))
