"""FinQA programs, computed in fractions; limits are checked before the arithmetic they bound."""

from __future__ import annotations

from decimal import Context, Decimal, DecimalException
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.finqa.syntax import (
    PLACES,
    Earlier,
    Operand,
    Program,
    ProgramError,
    Result,
    Rows,
    Step,
    read_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
