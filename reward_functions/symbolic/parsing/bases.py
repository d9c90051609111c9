r"""Numbers in a base, in every way of writing it: 0x2E, (1011)_2, 345 (base 6), 2e_{16}.

Their tokens become one, of the kind "based". A run of digits and letters above a subscript, as in
2E_{16}, may be a product with a name that has an index; it is read so in another reading only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.symbolic.budget import DIGITS
from reward_functions.symbolic.expr.nodes import Based, Node
from reward_functions.symbolic.parsing.lexer import Token
from reward_functions.symbolic.parsing.vocabulary import BASE_NAMES, BASE_WORDS, LARGEST_BASE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.parsing.grammar import Grammar

LETTERS_ABOVE: Final = re.compile(
    r"(?:[0-9][A-Za-z]|[A-Z][A-Z0-9])[0-9A-Za-z]{0,20}\}?\s?_[{(\s]{0,3}(?:[1-3][0-9]|\\text|[a-z]{3})"
)
"""What a string has where letters above a subscript may be digits."""

_SIGNS: Final = tuple("0x 0X 0b 0B 0o 0O )_ )\\_ ）_ base inary ctal hex Hex 进制".split())
"""One of them stands in a string with a base that is more than a subscript."""

_PREFIXES: Final = {"x": 16, "b": 2, "o": 8}
_BRACKETS: Final = frozenset("()")
_FEW: Final = 4
"""Tokens of a subscript that is a base."""

_Base = tuple[int, int]
"""A base, and the place behind it; the base is 0 where there is none."""


def with_bases(stream: list[Token], text: str, *, letters: bool) -> list[Token]:
    """The tokens of a string with one for each number in a base.

    Args:
        stream: the tokens.
        text: the string.
        letters: whether letters above a subscript are digits.
    """
    if not letters and not any(map(text.__contains__, _SIGNS)):
        return stream
    found: list[Token] = []
    place = 0
    while place < len(stream):
        token = stream[place]
        digits, base, end = _number(stream, place, letters=letters)
        if base:
            found.append(Token("based", f"{digits}_{base}", token.spaced))
            place = end
        else:
            found.append(token)
            place += 1
    return found


def based(_parser: Grammar, token: Token) -> Node:
    """The value of such a token."""
    digits, _, base = token.text.partition("_")
    return Based(digits, int(base), int(digits, int(base)))


def _number(stream: Sequence[Token], place: int, *, letters: bool) -> tuple[str, int, int]:
    """The digits and the base of a number that begins at a place, and the place behind it."""
    token = stream[place]
    opened = token.kind == "("
    inside = place and not token.spaced and stream[place - 1].kind in ("number", "letters")
    if inside or not (opened or token.kind in ("number", "letters")):
        return "", 0, place
    digits, end = _run(stream, place + opened)
    if opened:
        base, end = _below(stream, end + 1) if _kind(stream, end) == ")" else (0, place)
    elif digits[:1] == "0" and digits[1:2].lower() in _PREFIXES:
        digits, base = digits[2:], _PREFIXES[digits[1].lower()]
    else:
        base, after = _in_words(stream, end)
        if not base and letters and _may_be_digits(digits):
            base, after = _below(stream, end)
        end = after
    return digits.upper().lstrip("0") or "0", base * _has(base, digits), end


def _run(stream: Sequence[Token], place: int) -> tuple[str, int]:
    """The digits and letters from a place on, without spaces between, and the place behind them."""
    end = place
    while _kind(stream, end) in ("number", "letters") and (end == place or not stream[end].spaced):
        end += 1
    return "".join(token.text for token in stream[place:end]), end


def _may_be_digits(run: str) -> bool:
    """Whether letters have a digit before them, or are capitals: ab_{12} is a product."""
    letters = not run.isdecimal() and len(run) > 1
    return letters and (any(map(str.isdecimal, run)) or run.isupper())


def _has(base: int, digits: str) -> bool:
    """Whether a base has these digits."""
    if not 1 < base <= LARGEST_BASE or not 0 < len(digits) <= DIGITS:
        return False
    known = digits.isascii() and digits.isalnum()
    return known and all(int(digit, LARGEST_BASE) < base for digit in digits)


def _below(stream: Sequence[Token], place: int) -> _Base:
    r"""The base below a place: _2, _{16}, _{(6)}, _{\text{base six}}."""
    if _kind(stream, place) != "_" or place + 1 == len(stream):
        return 0, place
    if stream[place + 1].kind != "{":
        return _base(stream[place + 1]), place + 2
    for end in range(place + 2, min(place + 3 + _FEW, len(stream))):
        if stream[end].kind == "}":
            kept = [each for each in stream[place + 2 : end] if each.kind not in _BRACKETS]
            kept = [each for each in kept if each.text != "base"]
            return (_base(kept[0]) if len(kept) == 1 else 0), end + 1
    return 0, place


def _in_words(stream: Sequence[Token], place: int) -> _Base:
    """The base that words behind a number name, in brackets or not: (base 6), in binary."""
    opened = _kind(stream, place) == "("
    end = place + opened
    end += _word(stream, end) == "in"
    base = BASE_NAMES.get(_word(stream, end), 0)
    if _word(stream, end) == "base":
        end += 1 + (_kind(stream, end + 1) == "-")
        base = _base(stream[end]) if end < len(stream) else 0
    ends = _kind(stream, end + 1) == ")" if opened else _kind(stream, end + 1) != "letters"
    return base * ends, end + 1 + opened


def _base(token: Token) -> int:
    """The base that a number or a word is; 0 for any other."""
    if token.kind == "number" and token.text.isdecimal() and len(token.text) <= 2:  # noqa: PLR2004
        return int(token.text)
    return BASE_WORDS.get(token.text.lower(), 0)


def _kind(stream: Sequence[Token], place: int) -> str:
    """The kind of a token; "" behind the last one."""
    return stream[place].kind if place < len(stream) else ""


def _word(stream: Sequence[Token], place: int) -> str:
    """A word in lower case; "" where there is none."""
    return stream[place].text.lower() if _kind(stream, place) == "letters" else ""
