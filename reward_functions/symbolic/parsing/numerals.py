"""Numbers in digits, with the digits that repeat and the base that stands below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import DIGITS, Unreadable
from reward_functions.symbolic.expr.literals import continued, number, repeating
from reward_functions.symbolic.expr.nodes import Based, Node
from reward_functions.symbolic.parsing.symbols import subscript
from reward_functions.symbolic.parsing.vocabulary import BASE_WORDS

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.cursor import Cursor
    from reward_functions.symbolic.parsing.grammar import Grammar
    from reward_functions.symbolic.parsing.lexer import Token

_LARGEST_BASE: Final = 36


def numeral(parser: Grammar, token: Token) -> Node:
    """A number, with the repeating digits below a bar."""
    parser.digits_before = token.text if token.text.isdecimal() else ""
    if "." in token.text and parser.command("overline", "bar", "dot"):
        parser.next()
        block = parser.raw_group()
        if not block.isdecimal() or len(block) > DIGITS:
            raise Unreadable("a bar over something else than digits")
        return repeating(token.text, block)
    if token.text[-1:] == "." and _digits_in_brackets(parser):
        parser.next()
        block = parser.next().text
        parser.next()
        return repeating(token.text, block)
    if "." in token.text and _goes_on(parser):
        return continued(token.text)
    return number(token.text)


def numeral_in_base(parser: Grammar) -> Node:
    """The numeral just read, with the base of its digits below it."""
    text, digits = subscript(parser).strip("{()}"), parser.digits_before
    base = BASE_WORDS.get(text) or (int(text) if text.isdecimal() and len(text) <= 2 else 0)  # noqa: PLR2004
    if not digits or not 1 < base <= _LARGEST_BASE:
        raise Unreadable("a subscript that is no base")
    if any(int(digit) >= base for digit in digits):
        raise Unreadable(f"{digits} has digits that base {base} lacks")
    return Based(digits.lstrip("0") or "0", base, int(digits, base))


def _digits_in_brackets(cursor: Cursor) -> bool:
    """Whether (6) follows, as in 0.(6), which repeats; 0.5(6) may be a product."""
    kinds = [cursor.peek(ahead).kind for ahead in range(3)]
    return kinds == ["(", "number", ")"] and cursor.peek(1).text.isdecimal()


def _goes_on(cursor: Cursor) -> bool:
    """Whether dots or a word mean that the digits go on as they began; they are taken."""
    if cursor.command("ldots", "dots", "cdots", "dotsc") or cursor.word("repeating", "recurring"):
        cursor.next()
        return True
    if [cursor.peek(ahead).kind for ahead in range(3)] != [".", ".", "."]:
        return False
    cursor.position += 3
    return True
