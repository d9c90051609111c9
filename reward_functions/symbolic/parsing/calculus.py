r"""Operators with a variable of their own: sums, products, integrals, derivatives, limits.

    sum         \sum_{k=1}^n term       or \sum_{1 ≤ k ≤ n} term
    integral    \int_a^b term dx        or \int \frac{dx}{x}
    derivative  \frac{d}{dx} term       or \frac{d^2 y}{dx^2}, \frac{\partial f}{\partial x}
    limit       \lim_{x \to 0^+} term
    union       \bigcup_{k=1}^n set

The body is one term, up to the next sign; that of an integral goes on to its differential. Inside
it the variable is a symbol, even where it is called i or e.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.expr.literals import negated
from reward_functions.symbolic.expr.nodes import (
    BuiltSet,
    Constant,
    Derivative,
    Integral,
    Iterated,
    Limit,
    NamedSet,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Symbol,
    Union,
)
from reward_functions.symbolic.parsing.arguments import argument
from reward_functions.symbolic.parsing.brackets import group
from reward_functions.symbolic.parsing.cursor import END, Cursor
from reward_functions.symbolic.parsing.functions import fraction
from reward_functions.symbolic.parsing.grammar import variable
from reward_functions.symbolic.parsing.lookahead import side_follows, starts_factor
from reward_functions.symbolic.parsing.unicode_notation import GREEK

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.symbolic.parsing.grammar import Grammar
    from reward_functions.symbolic.parsing.lexer import Token

_ORDERS: Final = 10
"""The highest derivative that is read. Felt right."""

_DIGITS: Final = 2
"""Digits of an order that are read; no order has more."""

_INTEGRALS: Final = {"int": 1, "iint": 2, "iiint": 3}
_ARROWS: Final = ("to", "rightarrow", "longrightarrow", "Rightarrow")
_INFINITY: Final = Constant("∞")


# ---- sums, products and unions


def iterated(parser: Grammar, command: Token) -> Node:
    """A sum or product with its bounds."""
    run, body = _over_a_range(parser, parser.signed_term)
    low, variable_, high = run.operands
    return Iterated(command.text, body, variable_, low, high)  # type: ignore[arg-type]


def united(parser: Grammar) -> Node:
    """The union of a set for every whole number of a range, as a set by that condition.

    Nothing is worked out in it: it equals the same union over another letter.
    """
    parser.next()
    run, body = _over_a_range(parser, parser.ratio)
    return BuiltSet(Union((body,)), (run,))


def _over_a_range(parser: Grammar, read: Callable[[], Node]) -> tuple[Relation, Node]:
    """A variable between its bounds, low ≤ k ≤ high, and what is read behind them."""
    parser.expect("_")
    parser.expect("{")
    parser.down()
    index = _index(parser)
    parser.bound.append(index)
    range_ = parser.statement()
    parser.expect("}")
    high = _end_of_range(parser) if parser.take("^") else None
    body = read()
    parser.bound.pop()
    parser.up()
    match range_:
        case Relation((Symbol(name) as running, low), ("=",)) if name == index and high:
            return Relation((low, running, high), ("≤", "≤")), body
        case Relation((_, Symbol(name), _), ("≤", "≤")) if name == index and high is None:
            return range_, body
        case Relation((Symbol() as running, NamedSet("Z")), ("∈",)) if high is None:
            return Relation((negated(_INFINITY), running, _INFINITY), ("≤", "≤")), body
    raise Unreadable("a sum without bounds that are understood")


def _index(cursor: Cursor) -> str:
    """The name of the variable that runs: before the equals sign, or between two ≤."""
    ahead = 0
    while cursor.peek(ahead).kind not in ("=", "≤", "∈", "}", END.kind):
        ahead += 1
    place = ahead + 1 if cursor.peek(ahead).kind == "≤" else ahead - 1
    token = cursor.peek(place)
    if token.kind != "letters" or len(token.text) != 1:
        raise Unreadable("a sum over something else than one letter")
    return token.text


def _end_of_range(parser: Grammar) -> Node:
    """A bound: a group or a single atom, since what follows it is another bound."""
    if parser.kind() == "{":
        return group(parser, parser.next())
    negative = parser.take("-")
    parser.down()
    node = parser.atom()
    parser.up()
    return negated(node) if negative else node


# ---- integrals


def integral(parser: Grammar, command: Token) -> Node:
    """An integral, or one for each sign, the inner one first."""
    signs = _INTEGRALS[command.text]
    low, high = _ends(parser)
    if (low is None) != (high is None) or (signs > 1 and low is not None):
        raise Unreadable("an integral with bounds that are not understood")
    known = len(parser.differentials)
    node = _integrand(parser, known + signs)
    for _ in range(signs):
        if len(parser.differentials) == known:
            raise Unreadable("an integral without a differential")
        node = Integral(node, Symbol(parser.differentials.pop(known)), low, high)
    return node


def _ends(parser: Grammar) -> tuple[Node | None, Node | None]:
    """The lower and the upper end, in whichever order they are written."""
    low = high = None
    while parser.kind() in ("_", "^"):
        if parser.next().kind == "_":
            low = _end_of_range(parser)
        else:
            high = _end_of_range(parser)
    return low, high


def _integrand(parser: Grammar, differentials: int) -> Node:
    """The terms up to the one in which the last of so many differentials stands."""
    parser.down()
    parser.integrals += 1
    terms = [parser.signed_term()]
    while len(parser.differentials) < differentials and parser.kind() in ("+", "-"):
        terms.append(parser.signed_term())
    parser.integrals -= 1
    parser.up()
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


# ---- derivatives


def fraction_or_derivative(parser: Grammar, command: Token) -> Node:
    """A quotient of differentials, applied to the expression above or after it; else a fraction.

    A fraction of the letter d is one where the orders differ, or nothing is differentiated.
    """
    if parser.kind() != "{" or not _starts_differential(parser, 1):
        return fraction(parser, command)
    below = _closing_brace(parser) + 1
    if parser.peek(below).kind != "{" or not _starts_differential(parser, below + 1):
        return fraction(parser, command)
    if parser.peek(1).kind == "letters" and not _differentiates(parser, below):
        return fraction(parser, command)
    return _derivative(parser)


def _differentiates(parser: Grammar, below: int) -> bool:
    """Whether the orders above and below a bar agree, and something is differentiated."""
    order, body = _power(parser, 2) if len(parser.peek(1).text) == 1 else (1, 1)
    orders, end = _differentials(parser, below + 1)
    if parser.peek(end).kind != "}" or sum(orders) != order:
        return False
    return parser.peek(body).kind != "}" or _factor_follows(parser, end + 1)


def _differentials(cursor: Cursor, ahead: int) -> tuple[list[int], int]:
    """The orders of the differentials dx, dy^2 from a place ahead on, and where they end."""
    orders = []
    while _starts_differential(cursor, ahead):
        ahead += cursor.peek(ahead).kind == "command" or len(cursor.peek(ahead).text) == 1
        token = cursor.peek(ahead)
        named = token.kind == "letters" or (token.kind == "command" and token.text in GREEK)
        if not named:
            break
        order, ahead = _power(cursor, ahead + 1)
        orders.append(order)
    return orders, ahead


def _power(cursor: Cursor, ahead: int) -> tuple[int, int]:
    """The whole number raised at a place ahead, 1 without any and 0 for anything else; its end."""
    if cursor.peek(ahead).kind != "^":
        return 1, ahead
    braced = cursor.peek(ahead + 1).kind == "{"
    number = cursor.peek(ahead + 1 + braced)
    closed = not braced or cursor.peek(ahead + 3).kind == "}"
    plain = number.kind == "number" and number.text.isdecimal() and closed
    return (int(number.text[:_DIGITS]) if plain else 0), ahead + (4 if braced else 2)


def _factor_follows(parser: Grammar, ahead: int) -> bool:
    """Whether a factor begins at a place ahead."""
    here = parser.place()
    parser.back_to((here[0] + ahead, 0))
    found = starts_factor(parser)
    parser.back_to(here)
    return found


def _derivative(parser: Grammar) -> Node:
    """A quotient of differentials, each in its braces."""
    parser.next()
    parser.down()
    _differential_sign(parser)
    order = _order(parser)
    inside = None if parser.kind() == "}" else parser.sum()
    parser.expect("}")
    parser.expect("{")
    _differential_sign(parser)
    name = variable(parser)
    if name is None or _order(parser) != order:
        raise Unreadable("a derivative by what is not understood")
    parser.expect("}")
    node = Derivative(parser.signed_term() if inside is None else inside, Symbol(name), order)
    parser.up()
    return node


def _starts_differential(cursor: Cursor, ahead: int) -> bool:
    """Whether a token ahead is a sign of differentials: d, dx or ∂."""
    token = cursor.peek(ahead)
    if token.kind == "command":
        return token.text == "partial"
    return token.kind == "letters" and token.text[0] == "d" and len(token.text) <= 2  # noqa: PLR2004


def _differential_sign(cursor: Cursor) -> None:
    """Take the sign, and leave the letter behind it when both are one run."""
    if cursor.kind() == "letters":
        cursor.next_character()
    else:
        cursor.next()


def _order(parser: Grammar) -> int:
    """The order of a derivative: the number raised behind a differential, else 1."""
    if not parser.take("^"):
        return 1
    node = argument(parser)
    if not isinstance(node, Number) or not 1 <= node.value <= _ORDERS:
        raise Unreadable("a derivative of an order that is not understood")
    return int(node.value)


def _closing_brace(cursor: Cursor) -> int:
    """How far ahead the brace closes that comes next."""
    ahead = depth = 0
    while True:
        kind = cursor.peek(ahead).kind
        depth += {"{": 1, "}": -1, END.kind: -depth}.get(kind, 0)
        if depth <= 0:
            return ahead
        ahead += 1


def refuse_derivative(cursor: Cursor, over: list[Node]) -> None:
    """Raise `Unreadable` for dy over dx after a slash, where d is no factor that cancels."""
    ahead = 1 if cursor.kind() == "{" else 0
    sign, name = cursor.peek(ahead), cursor.peek(ahead + 1)
    below = sign[:2] == ("command", "partial") or (
        sign.kind == "letters"
        and sign.text[0] == "d"
        and (len(sign.text) > 1 or (name.kind == "command" and name.text in GREEK))
    )
    if below and any(map(_begins_differential, over)):
        raise Unreadable("a derivative")


def _begins_differential(node: Node) -> bool:
    """Whether a factor begins with the sign of a differential: d, d^2, dy."""
    match node:
        case Symbol("d" | "partial") | Power(Symbol("d" | "partial"), _):
            return True
        case Product((first, *_), ()):
            return _begins_differential(first)
    return False


# ---- limits


def limit(parser: Grammar, _command: Token) -> Node:
    """A limit, from one side when a sign is raised after the point."""
    parser.expect("_")
    if parser.kind() != "{":
        raise Unreadable("a limit without its point")
    parser.next()
    name = variable(parser)
    if name is None or not parser.command(*_ARROWS):
        raise Unreadable("a limit without its point")
    parser.next()
    parser.down()
    point, side = parser.sum(), _side(parser)
    parser.expect("}")
    node = Limit(parser.signed_term(), Symbol(name), point, side)
    parser.up()
    return node


def _side(cursor: Cursor) -> str:
    """The sign raised behind a point, if there is one."""
    if not side_follows(cursor):
        return ""
    cursor.next()
    braced = cursor.take("{")
    sign = cursor.next().kind
    if braced:
        cursor.expect("}")
    return sign
