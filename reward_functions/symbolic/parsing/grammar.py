"""The tools of a grammar's rule: a cursor over the tokens, and the levels of the grammar.

A rule is a function that takes the parser and the token that begins it, reads what follows that
token, and leaves the cursor after it. The levels call each other in circles (a sum holds factors, a
factor may be a bracket, a bracket holds sums), so rules reach them through this interface, which
`parser` implements.

The names of symbols: a letter with its subscript and its primes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from reward_functions.symbolic.parsing.cursor import Cursor
from reward_functions.symbolic.parsing.unicode_notation import GREEK

if TYPE_CHECKING:
    from reward_functions.symbolic.expr.nodes import Node
    from reward_functions.symbolic.parsing.lexer import Token


class Grammar(Cursor, ABC):
    """A cursor, what encloses it, and the levels from lists down to atoms.

    Attributes:
        opened: the round and square brackets around the cursor.
        bars: inside |...| a bar closes; inside a set-builder's first part it separates.
        bound: the letters that name the variable of a sum, though they mean something else
            elsewhere.
        integrals: the integrals whose differential has not been met.
        differentials: the variables of the differentials met inside these integrals.
        digits_before: the digits of the numeral just read, for the base that may stand below them.
    """

    def __init__(self, stream: list[Token]) -> None:
        super().__init__(stream)
        self.opened = 0
        self.bars = 0
        self.bound: list[str] = []
        self.integrals = 0
        self.differentials: list[str] = []
        self.digits_before = ""

    @abstractmethod
    def listing(self) -> Node:
        """Statements side by side."""

    @abstractmethod
    def separator(self) -> str | None:
        """Take the separator of the members of a list; None where nothing separates them."""

    @abstractmethod
    def statement(self) -> Node:
        """A value or a chain of relations."""

    @abstractmethod
    def ratio(self) -> Node:
        """Terms in proportion."""

    @abstractmethod
    def sum(self) -> Node:
        """Signed terms."""

    @abstractmethod
    def signed_term(self) -> Node:
        """A term with its signs."""

    @abstractmethod
    def signed_factor(self) -> Node:
        """A factor that may carry a sign."""

    @abstractmethod
    def factor(self) -> Node:
        """An atom with what is written after and above it."""

    @abstractmethod
    def atom(self) -> Node:
        """The smallest complete value."""


Rule = Callable[[Grammar, "Token"], "Node"]
"""What reads the value that a token begins; the token has been taken."""


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
