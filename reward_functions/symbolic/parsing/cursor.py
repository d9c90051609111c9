"""A cursor over tokens: what every rule of the grammar looks and steps with.

The tokens are never changed. A rule that takes a part of one (the first digit of a braceless
fraction, one letter of a run) leaves the cursor inside it. So a rule that steps back reads again
what was written.
"""

from __future__ import annotations

from typing import Final

from reward_functions.symbolic.budget import DEPTH, OverBudget, Unreadable
from reward_functions.symbolic.parsing.lexer import Token

END: Final = Token("end of text", "")
_END_KIND: Final = END.kind
_BEFORE: Final = 4
_BEHIND: Final = 2
_SHOWN: Final = 20
"""Tokens before and behind the cursor that a message shows, and characters of each. Felt right."""


class Cursor:
    """A place in a list of tokens, and how deep in brackets it is."""

    def __init__(self, stream: list[Token]) -> None:
        self.stream = stream
        self.position = 0
        # Characters taken of the token under the cursor.
        self.taken = 0
        self.depth = 0

    def peek(self, ahead: int = 0) -> Token:
        """The token under the cursor, or some places ahead of it."""
        try:
            token = self.stream[self.position + ahead]
        except IndexError:
            return END
        if self.taken and not ahead:
            return token._replace(text=token.text[self.taken :], spaced=False)
        return token

    def kind(self) -> str:
        """The kind of the token under the cursor."""
        try:
            return self.stream[self.position].kind
        except IndexError:
            return _END_KIND

    def next(self) -> Token:
        """The token under the cursor, which is taken."""
        token = self.peek()
        self.position += 1
        self.taken = 0
        return token

    def next_character(self) -> str:
        """The first character under the cursor, which is taken; the rest of its token stays."""
        token = self.peek()
        if len(token.text) == 1:
            return self.next().text
        self.taken += 1
        return token.text[0]

    def give_back(self, characters: int) -> None:
        """Put the last characters of the token just taken under the cursor again."""
        if not self.taken:
            self.position -= 1
            self.taken = len(self.stream[self.position].text)
        self.taken -= characters

    def place(self) -> tuple[int, int]:
        """Where the cursor is, for `back_to`."""
        return self.position, self.taken

    def back_to(self, place: tuple[int, int]) -> None:
        """Return to a place."""
        self.position, self.taken = place

    def take(self, kind: str) -> bool:
        """Take a token of a kind, if it is the next one."""
        if self.peek().kind != kind:
            return False
        self.next()
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

    def near(self) -> str:
        """The text around the cursor, for a message to the owner of a reference."""
        around = self.stream[max(0, self.position - _BEFORE) : self.position + _BEHIND]
        shown = (f"\\{token.text}" if token.kind == "command" else token.text for token in around)
        end = "" if self.position + _BEHIND < len(self.stream) else " at the end"
        return "“" + " ".join(text[:_SHOWN] for text in shown) + f"”{end}"

    def raw_group(self) -> str:
        """The text of a group or of one token, unread; several tokens keep their braces."""
        if not self.take("{"):
            return self.next().text
        self.down()
        parts: list[str] = []
        while not self.take("}"):
            if self.peek() is END:
                raise Unreadable("a group is not closed")
            parts.append(self.raw_group())
        self.up()
        return parts[0] if len(parts) == 1 else "{" + "".join(parts) + "}"
