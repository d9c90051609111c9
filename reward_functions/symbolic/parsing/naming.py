"""The names that a statement gives a value, if no product: f(x), f^{-1}(x), P(X = 3), ∠ABC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.names import FUNCTION_LETTERS
from reward_functions.symbolic.expr.nodes import Symbol
from reward_functions.symbolic.parsing.cursor import END, Cursor
from reward_functions.symbolic.parsing.grammar import symbol_name
from reward_functions.symbolic.parsing.unicode_notation import GREEK
from reward_functions.symbolic.parsing.vocabulary import CALLED_WORDS, EXPECTATIONS

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.lexer import Token

RELATIONS: Final = frozenset("=≠<≤>≥≈∈∉≡")
_ARGUMENT: Final = frozenset({"letters", "number", "+", "-"})
_OF_SETS: Final = frozenset("∩∪")
_OF_EVENTS: Final = RELATIONS | {"|", "∪", "∩"}


def name_of_value(cursor: Cursor) -> Symbol | None:
    """The f(x) of f(x) = 2x, which is a name and no product; None for anything else."""
    if cursor.kind() not in ("letters", "command"):
        return None
    if cursor.peek(1).kind in _OF_SETS:
        return _sets_together(cursor)
    start = cursor.place()
    if _names_function(cursor):
        name = _function_name(cursor)
        arguments = arguments_of_name(cursor, name)
        if arguments and cursor.kind() in RELATIONS:
            return Symbol(f"{name}({arguments})")
    elif cursor.command("angle", "measuredangle"):
        cursor.next()
        if cursor.kind() == "letters" and cursor.peek(1).kind in ("=", "≈"):
            return Symbol("∠" + cursor.next().text)
    cursor.back_to(start)
    return None


def name_of_constant(cursor: Cursor) -> Symbol | None:
    """The e of e = 1/2, an eccentricity: a letter of a constant alone on the left is a name."""
    alone = cursor.kind() == "letters" and cursor.peek().text in ("e", "i")
    if alone and cursor.peek(1).kind == "=":
        return Symbol(cursor.next().text)
    return None


def _sets_together(cursor: Cursor) -> Symbol | None:
    """The A ∩ B of A ∩ B = {2}, which names a set; None where no equation follows."""
    ahead = 0
    while cursor.peek(ahead).kind == "letters" and cursor.peek(ahead + 1).kind in _OF_SETS:
        ahead += 2
    if cursor.peek(ahead).kind != "letters" or cursor.peek(ahead + 1).kind != "=":
        return None
    tokens = [cursor.next() for _ in range(ahead + 1)]
    return Symbol("".join(each.text if each.kind == "letters" else each.kind for each in tokens))


def _names_function(cursor: Cursor) -> bool:
    """Whether a letter comes next, or a word for a probability or an expectation."""
    token = cursor.peek()
    if token.kind == "command":
        return token.text in CALLED_WORDS or token.text in GREEK
    return token.kind == "letters" and (len(token.text) == 1 or token.text in CALLED_WORDS)


def _function_name(cursor: Cursor) -> str:
    """The name of a function, with its subscript, primes or the sign of its inverse."""
    name = symbol_name(cursor, _spelled(cursor.next()))
    inverse = ["^", "{", "-", "number", "}"]
    if [cursor.peek(ahead).kind for ahead in range(5)] == inverse and cursor.peek(3).text == "1":
        cursor.position += len(inverse)
        name += "^-1"
    return name


def arguments_of_name(cursor: Cursor, name: str) -> str:
    """The part between the brackets of f(x), f(2) or P(X = 3); empty for a product.

    Any function may be named at letters or at several numbers; an event multiplies nothing.
    """
    closing = {"(": ")", "[": "]"}.get(cursor.kind(), "")
    if not closing or (closing == "]" and name not in EXPECTATIONS):
        return ""
    cursor.next()
    inside: list[Token] = []
    while cursor.kind() not in (closing, "(", "[", END.kind):
        inside.append(cursor.next())
    kinds = {"letters" if token.text in GREEK else token.kind for token in inside}
    named = kinds <= {"letters", ","} or kinds == {"number", ","}
    # But f(x + y) = f(x) + f(y) is an equation.
    if name in FUNCTION_LETTERS and kinds <= _ARGUMENT:
        named = named or all(name not in each.text for each in cursor.stream[cursor.position :])
    event = name[0].isupper() and not kinds.isdisjoint(_OF_EVENTS)
    if not cursor.take(closing) or not (named or event or name in CALLED_WORDS):
        return ""
    if not name[0].isascii() and all(
        each.text != inside[0].text for each in cursor.stream[cursor.position :]
    ):
        return ""  # φ(n) = 4 is to be solved, φ(x) = 2x is a definition
    return "".join(map(_spelled, inside))


def _spelled(token: Token) -> str:
    return GREEK.get(token.text, token.text)
