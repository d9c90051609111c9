"""A cursor over tokens: what every rule of the grammar looks and steps with."""

from __future__ import annotations

from typing import Final

from reward_functions.symbolic.lexer import Token
from reward_functions.symbolic.limits import DEPTH, OverBudget, Unreadable

END: Final = Token("end of text", "")


class Cursor:
    """A place in a list of tokens, and how deep in brackets it is."""

    def __init__(self, stream: list[Token]) -> None:
        self.stream = stream
        self.position = 0
        self.depth = 0
        # Inside |...| a bar closes; inside a set-builder's first part it separates.
        self.bars = 0
        # Letters that name the variable of a sum, whatever they mean elsewhere.
        self.bound: list[str] = []

    def peek(self, ahead: int = 0) -> Token:
        """The token under the cursor, or some places ahead of it."""
        place = self.position + ahead
        return self.stream[place] if place < len(self.stream) else END

    def kind(self) -> str:
        """The kind of the token under the cursor."""
        return self.peek().kind

    def next(self) -> Token:
        """The token under the cursor, which is taken."""
        token = self.peek()
        self.position += 1
        return token

    def take(self, kind: str) -> bool:
        """Take a token of a kind, if it is the next one."""
        if self.peek().kind != kind:
            return False
        self.position += 1
        return True

    def expect(self, kind: str) -> None:
        """Take a token of a kind. Raises `Unreadable` when there is another one."""
        if not self.take(kind):
            raise Unreadable(f"{kind} expected, {self.peek().kind} found")

    def word(self, *words: str) -> bool:
        """Whether the next token is one of these words, in either type."""
        token = self.peek()
        return token.kind == "letters" and token.text.lower() in words

    def command(self, *names: str) -> bool:
        """Whether the next token is one of these commands."""
        token = self.peek()
        return token.kind == "command" and token.text in names

    def down(self) -> None:
        """Enter a level of nesting. Raises `OverBudget` when it is too deep."""
        self.depth += 1
        if self.depth > DEPTH:
            raise OverBudget(f"nested deeper than {DEPTH}")

    def up(self) -> None:
        """Leave a level of nesting."""
        self.depth -= 1

    def raw_group(self) -> str:
        """The text of a group or of one token, unread."""
        if not self.take("{"):
            return self.next().text
        depth, texts = 1, list[str]()
        while True:
            token = self.next()
            if token is END:
                raise Unreadable("a group is not closed")
            depth += {"{": 1, "}": -1}.get(token.kind, 0)
            if not depth:
                return "".join(texts)
            texts.append(token.text)
