"""Numbers in digits, with the digits that repeat and the base that stands below them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from reward_functions.symbolic.budget import DIGITS, Unreadable
from reward_functions.symbolic.expr.literals import continued, number, repeating
from reward_functions.symbolic.expr.nodes import Based, Node
from reward_functions.symbolic.parsing.cursor import END
from reward_functions.symbolic.parsing.grammar import subscript
from reward_functions.symbolic.parsing.vocabulary import BASE_WORDS, LARGEST_BASE, ORDINAL_ENDINGS

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.cursor import Cursor
    from reward_functions.symbolic.parsing.grammar import Grammar
    from reward_functions.symbolic.parsing.lexer import Token


def numeral(parser: Grammar, token: Token) -> Node:
    """A number, with the repeating digits below a bar."""
    parser.digits_before = token.text
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
    if token.text.isdecimal() and parser.kind() in ("letters", "^"):
        parser.position += _ordinal_ending(parser, token.text)
    return number(token.text)


def numeral_in_base(parser: Grammar) -> Node:
    """The numeral just read, with the base of its digits below it."""
    text, digits = subscript(parser).strip("{()}").removeprefix("base"), parser.digits_before
    base = BASE_WORDS.get(text) or (int(text) if text.isdecimal() and len(text) <= 2 else 0)  # noqa: PLR2004
    whole, _, fraction = digits.partition(".")
    if not (whole + fraction).isalnum() or not 1 < base <= LARGEST_BASE:
        raise Unreadable("a subscript that is no base")
    if any(int(digit, LARGEST_BASE) >= base for digit in whole + fraction):
        raise Unreadable(f"{digits} has digits that base {base} lacks")
    whole, fraction = whole.upper().lstrip("0") or "0", fraction.upper().rstrip("0")
    value = int(whole + fraction, base)
    if not fraction:
        return Based(whole, base, value)
    return Based(f"{whole}.{fraction}", base, Fraction(value, base ** len(fraction)))


def _digits_in_brackets(cursor: Cursor) -> bool:
    """Whether (6) follows, as in 0.(6), which repeats; 0.5(6) may be a product."""
    kinds = [cursor.peek(ahead).kind for ahead in range(3)]
    return kinds == ["(", "number", ")"] and cursor.peek(1).text.isdecimal()


def ordinal_ending(digits: str) -> str:
    """The letters that make an ordinal of digits: 1st, 11th."""
    teen = digits[-2:-1] == "1"
    return "th" if teen else ORDINAL_ENDINGS.get(digits[-1], "th")


def _ordinal_ending(cursor: Cursor, digits: str) -> int:
    """The tokens that make a numeral an ordinal: the rd of 3rd, beside its digits or raised.

    An ordinal equals its number. In italics the letters must end the amount: 3rd x may multiply.
    """
    raised = int(cursor.kind() == "^")
    braced = int(raised and cursor.peek(1).kind == "{")
    token, after = cursor.peek(raised + braced), cursor.peek(raised + 2 * braced + 1)
    if (
        token.text != ordinal_ending(digits)
        or token.spaced
        or (braced and cursor.peek(3).kind != "}")
    ):
        return 0
    ends = token.roman or after.kind == END.kind or (after.kind == "letters" and after.spaced)
    return raised + 2 * braced + 1 if ends else 0


def _goes_on(cursor: Cursor) -> bool:
    """Whether dots or a word mean that the digits go on as they began; they are taken."""
    if cursor.command("ldots", "dots", "cdots", "dotsc") or cursor.word("repeating", "recurring"):
        cursor.next()
        return True
    if [cursor.peek(ahead).kind for ahead in range(3)] != [".", ".", "."]:
        return False
    cursor.position += 3
    return True
