r"""The FinQA program language: arithmetic over the numbers of a filing and the rows of its table.

    subtract(5829, 5735), divide(#0, 5735)          flat: `#0` is the result of the first step
    divide(subtract(5829, 5735), 5735)              nested: the same, without numbered results
    table_average(net sales (a, b), none)           over the cells of one row

    add subtract multiply divide    two operands each, exact
    exp                             a power; 0^0 is 1
    greater                         "yes" or "no", and no operand for another step
    table_max  table_min  table_sum  table_average

Operands are numbers ("5,829", "-.5", "5%"), constants (`const_100`, `const_m1`) and earlier
results. Names of operations have any case and spacing. The two forms do not mix. The result of a
program is that of its last step.

Everything is computed in fractions; only a power with a fractional exponent is a decimal, of
`DECIMAL_DIGITS` digits. Limits are checked before the arithmetic they bound.

Source: Chen et al., FinQA: A Dataset of Numerical Reasoning over Financial Data, 2021 (arXiv
2109.00122), and the evaluation script published with it. A result is what that script computes,
but that row names may hold commas and parentheses, and that a table operation on a result is an
error and not the value of another row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, DecimalException
from fractions import Fraction
from typing import Final

MAX_LENGTH: Final = 4_000
"""Characters of a program. The longest of the data set has about 300."""

MAX_STEPS: Final = 20
"""Steps of a program. The longest of the data set has 9."""

MAX_DIGITS: Final = 60
"""Characters of a number in a program or a table. Filings have 12."""

MAX_CELLS: Final = 1_000
"""Cells of a row that is computed with. Filings have a dozen columns."""

MAX_EXPONENT: Final = 64
"""The largest exponent, by magnitude: interest over 64 years."""

MAX_BITS: Final = 100_000
"""Bits of a numerator or denominator. 1.0695^64 has 900; a power of it, 55,000."""

MAX_RESULT: Final = 2**1024
"""Results are smaller, as doubles are."""

DECIMAL_DIGITS: Final = 60
"""Digits of a power with a fractional exponent: four times what a double has."""

PLACES: Final = 5
"""Decimal places of an executed answer in the data set."""

Result = Fraction | str
"""A number, or "yes" or "no"."""

Rows = Sequence[Sequence[object]]
"""A table as the data set stores it: rows of cells, the name of a row in its first cell."""


class ProgramError(ValueError):
    """A program that cannot be read or executed. The message names the step and the reason."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The result of an earlier step: `#0` is that of the first."""

    step: int


Operand = Fraction | Earlier


@dataclass(frozen=True, slots=True)
class Step:
    """One operation.

    Args:
        operation: its name in lower case.
        operands: two of an arithmetic operation, none of a table operation.
        row: the name of the row a table operation reads; "" of an arithmetic one.
    """

    operation: str
    operands: tuple[Operand, ...] = ()
    row: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of a program, in order; those of a nested one as its flat form has them."""

    steps: tuple[Step, ...]


def parse(text: str) -> Program:
    """The program a text is.

    Args:
        text: a program in the flat or the nested form, and nothing else.

    Raises:
        ProgramError: it is none, or it is larger than the limits allow.
    """
    if len(text) > MAX_LENGTH:
        raise ProgramError(f"the program has more than {MAX_LENGTH:,} characters")
    if not text.strip():
        raise ProgramError("the program is empty")
    return _Parser(text).program()


def execute(program: Program, table: Rows = ()) -> Result:
    """The exact result of a program.

    Args:
        program: as `parse` returns it.
        table: the rows its table operations read. The header is a row like any other; of rows with
            one name the last counts. A cell counts up to its first parenthesis and without dollar
            signs; every cell of a row that is read must be a number.

    Raises:
        ProgramError: division by zero, a power that is no real number, an exponent or a result
            beyond the limits, "yes" used as a number, a row that is missing or not numeric.
    """
    results: list[Result] = []
    for number, step in enumerate(program.steps, start=1):
        try:
            results.append(_computed(step, results, table))
        except ProgramError as error:
            raise ProgramError(f"step {number} ({step.operation}): {error}") from None
    return results[-1]


def rounded(result: Result) -> float | str:
    """A result as the data set stores it: at five places of the nearest double."""
    return result if isinstance(result, str) else round(float(result), PLACES)


def read_number(text: str) -> Fraction | None:
    """A number as programs and tables write it, or None: "5,829", "-.5", "5%" (which is 1/20)."""
    text = text.strip()
    match = _NUMBER.fullmatch(text) if len(text) <= MAX_DIGITS else None
    if match is None:
        return None
    value = Fraction(match["digits"].replace(",", ""))
    return value / 100 if match["percent"] else value


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
            raise self.error("something stands behind the last step")
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
        if operation in _OVER_ROWS:
            step = Step(operation, row=self.row())
        elif operation in _ARITHMETIC:
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
            inner = _CALL.search(self.text, self.at, self.closing())
            if inner is None:
                first, second = self.pair(self.rest())
            else:
                left = self.text[self.at : inner.start()].rstrip()
                if not left.endswith(","):
                    raise self.error("two operands are expected")
                self.at = inner.start()
                first, second = self.operand(left[:-1]), self.inner()
        if not self.skips(")"):
            raise self.error("a closing parenthesis is expected behind two operands")
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
    return bool(_REFERENCE.fullmatch(text) or _CONSTANT.match(text)) or (
        read_number(text) is not None
    )


def _computed(step: Step, results: Sequence[Result], table: Rows) -> Result:
    if step.row:
        return _bounded(_OVER_ROWS[step.operation](_cells(step.row, table)))
    values = [_value(operand, results) for operand in step.operands]
    result = _ARITHMETIC[step.operation](*values)
    return result if isinstance(result, str) else _bounded(result)


def _value(operand: Operand, results: Sequence[Result]) -> Fraction:
    value = results[operand.step] if isinstance(operand, Earlier) else operand
    if isinstance(value, str):
        raise ProgramError(f'"{value}" is no number')
    return value


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ProgramError(f"the result has more than {MAX_BITS:,} bits")
    if abs(value) >= MAX_RESULT:
        raise ProgramError("the result is too large for a double")
    return value


def _divide(left: Fraction, right: Fraction) -> Fraction:
    if not right:
        raise ProgramError("division by zero")
    return left / right


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if abs(exponent) > MAX_EXPONENT:
        raise ProgramError(f"the exponent is larger than {MAX_EXPONENT}")
    if not base and exponent < 0:
        raise ProgramError("division by zero")
    if exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(exponent) > MAX_BITS:
            raise ProgramError(f"the result has more than {MAX_BITS:,} bits")
        return base**exponent.numerator
    if base < 0:
        raise ProgramError("a negative number has no real power of a fractional exponent")
    return _root(base, exponent) if base else base


def _root(base: Fraction, exponent: Fraction) -> Fraction:
    context = Context(prec=DECIMAL_DIGITS)
    try:
        power = context.power(_decimal(base, context), _decimal(exponent, context))
    except DecimalException:
        raise ProgramError("the result is too large or too small") from None
    return Fraction(power)


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _cells(name: str, table: Rows) -> list[Fraction]:
    """The numbers of the last row of that name."""
    found = [row for row in table if row and str(row[0]).strip() == name]
    if not found:
        raise ProgramError(f"the table has no row {name[:80]!r}")
    row = found[-1][1:]
    if not row:
        raise ProgramError(f"the row {name[:80]!r} has no cells")
    if len(row) > MAX_CELLS:
        raise ProgramError(f"the row {name[:80]!r} has more than {MAX_CELLS:,} cells")
    return [_cell(cell, name, column) for column, cell in enumerate(row, start=2)]


def _cell(cell: object, name: str, column: int) -> Fraction:
    value = read_number(str(cell).replace("$", "").partition("(")[0])
    if value is None:
        raise ProgramError(f"column {column} of the row {name[:80]!r} is no number")
    return value


_ARITHMETIC: Final[dict[str, Callable[[Fraction, Fraction], Result]]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "divide": _divide,
    "exp": _power,
    "greater": lambda left, right: "yes" if left > right else "no",
}
_OVER_ROWS: Final[dict[str, Callable[[list[Fraction]], Fraction]]] = {
    "table_max": max,
    "table_min": min,
    "table_sum": lambda cells: sum(cells, Fraction()),
    "table_average": lambda cells: sum(cells, Fraction()) / len(cells),
}
OPERATIONS: Final = frozenset([*_ARITHMETIC, *_OVER_ROWS])
"""The names of the operations."""

_CALL: Final = re.compile(r"\s*([A-Za-z_]+)\s*\(")
_NEXT_CALL: Final = re.compile(rf"\)\s*,\s*(?:{'|'.join(sorted(OPERATIONS))})\s*\(", re.IGNORECASE)
_NONE: Final = re.compile(r",\s*none\s*\)", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"#\s*(\d{1,3})")
_CONSTANT: Final = re.compile(r"const_", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"(?P<digits>[-+]?(?:[0-9]+(?:,[0-9]{2,3})*(?:\.[0-9]*)?|\.[0-9]+))\s*(?P<percent>%)?"
)
_COMMA: Final = re.compile(",")
_SPACED_COMMA: Final = re.compile(r",(?=\s)")
_PARENTHESIS: Final = re.compile(r"[()]")
_SPACE: Final = re.compile(r"\s*")
