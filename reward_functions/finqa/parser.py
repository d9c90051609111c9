"""Parses FinQA programs into steps: the flat form, the nested form, and names of rows."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from reward_functions.finqa.syntax import (
    ARITHMETIC,
    MAX_DIGITS,
    MAX_LENGTH,
    MAX_STEPS,
    OPERATIONS,
    OVER_ROWS,
    Earlier,
    Operand,
    Program,
    ProgramError,
    Step,
    read_number,
)


def parse(text: str) -> Program:
    """The program that a string is.

    Args:
        text: a program in the flat or the nested form, and nothing else.

    Raises:
        ProgramError: it is no program, or it is larger than the limits allow.
    """
    if len(text) > MAX_LENGTH:
        raise ProgramError(f"the program has more than {MAX_LENGTH:,} characters")
    if not text.strip():
        raise ProgramError("the program is empty")
    return _Parser(text).program()


class _Parser:
    """Reads calls from left to right; the steps of an inner call come before its caller's."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.nested = False
        self.numbered = False
        self.steps: list[Step] = []

    def program(self) -> Program:
        self.call()
        while self.skips(","):
            self.numbered = True
            self.call()
        if self.text[self.at :].strip():
            raise self.error("something stands after the last step")
        if self.nested and self.numbered:
            raise ProgramError("the flat and the nested form do not mix")
        return Program(tuple(self.steps))

    def call(self) -> Earlier:
        """One operation with what its parentheses hold; its result."""
        opening = _CALL.match(self.text, self.at)
        if opening is None:
            raise self.error("an operation and its parenthesis are expected")
        operation = opening[1].lower()
        self.at = opening.end()
        self.depth += 1
        if self.depth > MAX_STEPS:
            raise ProgramError(f"the program has more than {MAX_STEPS} steps")
        if operation in OVER_ROWS:
            step = Step(operation, row=self.row())
        elif operation in ARITHMETIC:
            step = Step(operation, self.operands())
        else:
            raise self.error(f"there is no operation {operation[:40]!r}")
        self.depth -= 1
        if len(self.steps) == MAX_STEPS:
            raise ProgramError(f"the program has more than {MAX_STEPS} steps")
        self.steps.append(step)
        return Earlier(len(self.steps) - 1)

    def operands(self) -> tuple[Operand, Operand]:
        first: Operand
        if _CALL.match(self.text, self.at):
            first = self.inner()
            if not self.skips(","):
                raise self.error("two operands are expected")
            second = self.inner() if _CALL.match(self.text, self.at) else self.operand(self.rest())
        else:
            inner = _INNER_CALL.search(self.text, self.at, self.closing())
            if inner is None:
                first, second = self.pair(self.rest())
            else:
                left = self.text[self.at : inner.start()].rstrip()
                if not left.endswith(","):
                    raise self.error("two operands are expected")
                self.at = inner.start()
                first, second = self.operand(left[:-1]), self.inner()
        if not self.skips(")"):
            raise self.error("a closing parenthesis is expected after two operands")
        return first, second

    def inner(self) -> Earlier:
        self.nested = True
        return self.call()

    def pair(self, text: str) -> tuple[Operand, Operand]:
        """Two operands, either of which may have commas of its own.

        A comma with a space behind it separates; without such a one, every comma is tried.
        """
        commas = list(_SPACED_COMMA.finditer(text)) or list(_COMMA.finditer(text))
        if not commas:
            raise self.error("two operands are expected")
        if len(commas) > 1 and (len(commas) > MAX_DIGITS or _SPACED_COMMA.search(text)):
            raise self.error("two operands are expected, and not more")
        if len(commas) == 1:
            return self.operand(text[: commas[0].start()]), self.operand(text[commas[0].end() :])
        halves = [(text[: comma.start()], text[comma.end() :]) for comma in commas]
        readable = [pair for pair in halves if all(map(_may_be_operand, pair))]
        if len(readable) != 1:
            raise self.error("two operands are expected, with a comma and a space between them")
        return self.operand(readable[0][0]), self.operand(readable[0][1])

    def operand(self, text: str) -> Operand:
        """A number, a constant, or the result of an earlier step."""
        text = text.strip()
        reference = _REFERENCE.fullmatch(text)
        if reference:
            self.numbered = True
            if int(reference[1]) >= len(self.steps):
                raise self.error(f"{text} is no earlier step")
            return Earlier(int(reference[1]))
        constant = _CONSTANT.match(text)
        value = read_number(text[constant.end() :] if constant else text)
        if constant and text[constant.end() :].lower() == "m1":
            value = Fraction(-1)
        if value is None:
            raise self.error(f"{text[:40]!r} is no number, constant or earlier step")
        return value

    def row(self) -> str:
        """The name of a row, up to `, none)` or to the parenthesis that closes the call.

        A name may hold commas, and parentheses that match or not, so the call is left where a
        program can go on behind it.
        """
        marked = _NONE.search(self.text, self.at)
        if marked and not _NEXT_CALL.search(self.text, self.at, marked.start()):
            name, end = self.text[self.at : marked.start()], marked.end()
        else:
            closing = self.matching()
            name, end = self.text[self.at : closing], closing + 1
        if not name.strip():
            raise self.error("the name of a row is expected")
        if _REFERENCE.fullmatch(name.strip()):
            raise self.error("the name of a row is expected, and not a result")
        self.at = end
        return name.strip()

    def matching(self) -> int:
        """Where the parenthesis that was opened last is closed."""
        depth = 1
        for mark in _PARENTHESIS.finditer(self.text, self.at):
            depth += 1 if mark[0] == "(" else -1
            if not depth:
                return mark.start()
        raise self.error("its parenthesis is never closed")

    def closing(self) -> int:
        """Where the next closing parenthesis stands."""
        found = self.text.find(")", self.at)
        if found < 0:
            raise self.error("its parenthesis is never closed")
        return found

    def rest(self) -> str:
        """What stands before the next closing parenthesis, passed over."""
        start, self.at = self.at, self.closing()
        return self.text[start : self.at]

    def skips(self, mark: str) -> bool:
        """Whether a mark comes next; if so it is passed over."""
        match = _SPACE.match(self.text, self.at)
        end = match.end() if match else self.at
        if not self.text.startswith(mark, end):
            return False
        self.at = end + len(mark)
        return True

    def error(self, reason: str) -> ProgramError:
        return ProgramError(f"step {len(self.steps) + 1}: {reason}")


def _may_be_operand(text: str) -> bool:
    text = text.strip()
    if _CONSTANT.match(text):
        return "," not in text
    return bool(_REFERENCE.fullmatch(text)) or read_number(text) is not None


_CALL: Final = re.compile(r"\s*+([A-Za-z_]++)\s*+\(")
_INNER_CALL: Final = re.compile(r"(?<![A-Za-z_])[A-Za-z_]++\s*+\(")
_NEXT_CALL: Final = re.compile(rf"\)\s*,\s*(?:{'|'.join(sorted(OPERATIONS))})\s*\(", re.IGNORECASE)
_NONE: Final = re.compile(r",\s*none\s*\)", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"#\s*(\d{1,3})")
_CONSTANT: Final = re.compile(r"const_", re.IGNORECASE)
_COMMA: Final = re.compile(",")
_SPACED_COMMA: Final = re.compile(r",(?=\s)")
_PARENTHESIS: Final = re.compile(r"[()]")
_SPACE: Final = re.compile(r"\s*")
