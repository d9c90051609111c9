"""The names of symbols: a letter with its subscript and its primes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.parsing.unicode_notation import GREEK

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.cursor import Cursor


def symbol_name(cursor: Cursor, letter: str) -> str:
    """A letter with the subscript and primes that follow it."""
    name = letter
    if cursor.take("_"):
        name += "_" + subscript(cursor)
    return name + primes(cursor)


def primes(cursor: Cursor) -> str:
    """The primes that follow."""
    marks = ""
    while cursor.take("'"):
        marks += "'"
    return marks


def subscript(cursor: Cursor) -> str:
    """The characters of a subscript, which is part of a name and not evaluated."""
    if cursor.kind() == "{":
        return cursor.raw_group()
    return cursor.next().text


def variable(cursor: Cursor) -> str | None:
    """The one letter that comes next, which is taken; None when there is something else."""
    token = cursor.peek()
    if token.kind == "command" and token.text in GREEK:
        return GREEK[cursor.next().text]
    if token.kind == "letters" and len(token.text) == 1:
        return cursor.next().text
    return None
