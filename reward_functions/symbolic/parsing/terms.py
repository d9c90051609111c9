"""The parts of a term: factors side by side, mixed numbers, money, percentages."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from reward_functions.quantities.units import SCALE_ABBREVIATIONS, SCALES, canonical
from reward_functions.symbolic.budget import OPERANDS, OverBudget, Unreadable
from reward_functions.symbolic.expr.literals import is_whole, number, product
from reward_functions.symbolic.expr.nodes import Measured, Node, Number, Percent, Product
from reward_functions.symbolic.parsing.lookahead import starts_factor
from reward_functions.symbolic.parsing.units import (
    noun_follows,
    nouns,
    scale_follows,
    scaled,
    unit_powers,
)
from reward_functions.symbolic.parsing.vocabulary import CURRENCY_CODES, CURRENCY_SIGNS

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.cursor import Cursor
    from reward_functions.symbolic.parsing.grammar import Grammar


def afford(operands: list[Node]) -> None:
    """Raise `OverBudget` when there are more terms or factors than are read."""
    if len(operands) > OPERANDS:
        raise OverBudget(f"more than {OPERANDS} terms or factors side by side")


def amount_of_money(parser: Grammar, currency: str) -> Node:
    """An amount after its currency sign: the scale word and what one pays it for follow."""
    parser.next()
    parser.take(".")  # Rs. 500
    amount = _mixed(parser, parser.factor())
    token = parser.peek()
    if token.kind == "letters" and token.text in SCALE_ABBREVIATIONS:
        amount = product([amount, Number(Fraction(SCALES[parser.next().text]))], [])
    amount = scaled(parser, amount)
    if parser.word("dollar", "dollars", "usd", "euro", "euros", "eur"):
        parser.next()
    return Measured(amount, unit_powers(parser, ((currency, Fraction(1)),)))


def currency_follows(cursor: Cursor) -> str | None:
    """The name of the currency whose sign comes next, if one does, or its code before a number."""
    token = cursor.peek()
    if token.kind in CURRENCY_SIGNS:
        return canonical(token.kind)
    if token.text not in CURRENCY_CODES or token.kind != "letters":
        return None
    after = cursor.peek(2 if cursor.peek(1).kind == "." else 1)
    apart = after.spaced or token.roman
    return canonical(token.text) if after.kind == "number" and apart else None


def juxtaposed(parser: Grammar, over: list[Node], under: list[Node]) -> None:
    """A factor without a sign before it: a product, or the fraction of a mixed number."""
    before = over[-1]
    alone = len(over) == 1 and not under
    digits = _digits_continue(parser, before)
    mixed = _mixed(parser, before) if alone else before
    if mixed is not before:
        over[-1] = mixed
        return
    if digits:
        raise Unreadable("two numbers side by side")
    if _power_of_ten_follows(parser, over):
        over[-1] = parser.factor()
        return
    if parser.kind() == "number" and parser.peek(-1).text in ("x", "X"):
        raise Unreadable("a letter that may be a multiplication sign")
    over.append(parser.factor())


def _power_of_ten_follows(cursor: Cursor, over: list[Node]) -> bool:
    """Whether the x before is a sign, 2.5 x 10^3; no letter stands there."""
    return (
        len(over) == 2  # noqa: PLR2004
        and isinstance(over[0], Number)
        and cursor.peek(-1).text in ("x", "X")
        and cursor.peek().text == "10"
        and cursor.peek(1).kind == "^"
    )


def _digits_continue(cursor: Cursor, before: Node) -> bool:
    """Whether digits come next that print as more digits of a number: 1 2, 2{5}, {2}5."""
    if not isinstance(before, Number) or cursor.peek(-1).kind not in ("number", "}"):
        return False
    ahead = 0
    while cursor.peek(ahead).kind == "{":
        ahead += 1
    return cursor.peek(ahead).kind == "number"


def _mixed(parser: Grammar, whole: Node) -> Node:
    """A whole number with a proper fraction behind it added on; else the number itself."""
    if not is_whole(whole) or parser.peek(-1).kind != "number":
        return whole
    start = parser.place()
    if parser.command("frac") or (parser.kind() == "{" and _fraction_in_braces(parser)):
        fraction = parser.factor()
    elif [parser.peek(ahead).kind for ahead in range(3)] == ["number", "/", "number"]:
        over, under = parser.next(), (parser.next(), parser.next())[1]
        fraction = Product((number(over.text),), (number(under.text),))
    else:
        return whole
    match fraction:
        case Product((Number(part, None),), (Number(parts, None),)) if 0 < part < parts:
            if part.denominator == parts.denominator == 1:
                return Number(whole.value + part / parts)  # type: ignore[union-attr]
    parser.back_to(start)
    return whole


def _fraction_in_braces(cursor: Cursor) -> bool:
    r"""Whether a fraction comes next behind a brace: {\frac12}, {1 \over 2}."""
    over = cursor.peek(1).kind == "number" and cursor.peek(2)[:2] == ("command", "over")
    return over or cursor.peek(1)[:2] == ("command", "frac")


def percentage(parser: Grammar, body: Node) -> Node:
    """A percentage; what it is of, in a noun or two, may follow."""
    if scale_follows(parser) or (starts_factor(parser) and not noun_follows(parser)):
        raise Unreadable("a factor after a percent sign")
    nouns(parser)
    return Percent(body)
