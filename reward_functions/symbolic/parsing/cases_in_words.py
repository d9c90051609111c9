r"""Cases written out in a row, x \text{ if } x \ge 0, -x \text{ otherwise}, and their conditions.

The parity of a letter is a condition in words: n is even, for odd n, 2 \mid n.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.expr.nodes import Congruence, Node, Number, Piecewise, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.symbolic.parsing.cursor import Cursor
    from reward_functions.symbolic.parsing.lexer import Token

INTRODUCING: Final = ("if", "for", "when", "where", "as")
OTHERWISE: Final = ("otherwise", "else", "elsewhere")
_SPLITTING: Final = frozenset(INTRODUCING[:3])
_PARITY: Final = {"even": 0, "odd": 1}
_COPULAS: Final = ("is", "are")
_OPENING: Final = frozenset(("(", "[", "{", "\\{", "begin"))
_CLOSING: Final = frozenset((")", "]", "}", "\\}", "end"))
_TWO: Final = Number(Fraction(2))

Case = tuple[list["Token"], list["Token"]]


def in_a_row(
    stream: list[Token],
    value: Callable[[list[Token]], Node],
    condition: Callable[[list[Token]], Node | None],
) -> Piecewise | None:
    """A definition by two or more cases in a row; None where it is not read as one.

    Args:
        stream: the tokens of an answer.
        value: reads the value of a case.
        condition: reads its condition, with the word that introduces it.
    """
    if _SPLITTING.isdisjoint([token.text for token in stream]):
        return None
    found = [_case(part) for part in _parts(stream)]
    cases = [case for case in found if case is not None]
    if not len(cases) == len(found) > 1:
        return None
    try:
        return Piecewise(tuple((value(each), condition(when)) for each, when in cases))
    except Unreadable:
        return None


def _parts(stream: list[Token]) -> list[list[Token]]:
    """The parts of a stream between its commas, semicolons and "and", but for those in brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in stream:
        depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
        if depth or (token.kind not in (",", ";") and token.text != "and"):
            parts[-1].append(token)
        elif parts[-1]:
            parts.append([])
    return parts if parts[-1] else parts[:-1]


def _case(part: list[Token]) -> Case | None:
    """A value, and the condition behind the one word that introduces it."""
    words = [
        place
        for place, token in enumerate(part)
        if token.kind == "letters" and (token.text in _SPLITTING or token.text in OTHERWISE)
    ]
    if len(words) != 1 or not words[0]:
        return None
    return part[: words[0]], part[words[0] :]


def parity(cursor: Cursor) -> Node | None:
    """The congruence that the parity of a letter is, whose words are taken; None for others."""
    for shape, place, even in _SHAPES:
        ahead = [cursor.peek(each) for each in range(len(shape))]
        if not all(token.text in words for token, words in zip(ahead, shape, strict=True) if words):
            continue
        letter = ahead[place]
        if letter.kind != "letters" or len(letter.text) != 1:
            continue
        cursor.position += len(shape)
        rest = _PARITY.get(ahead[even].text, int(ahead[even].text == "nmid"))
        return Congruence(Symbol(letter.text), Number(Fraction(rest)), _TWO)
    return None


_ANY: Final = ()
_EITHER: Final = tuple(_PARITY)
_SHAPES: Final = (
    ((_ANY, _COPULAS, _EITHER), 0, 2),
    ((_ANY, _EITHER), 0, 1),
    ((_EITHER, _ANY), 1, 0),
    ((("2",), ("|", "mid", "vert", "nmid"), _ANY), 2, 1),
)
"""Parities as tokens: what each may be, the place of the letter, and that of the parity."""
