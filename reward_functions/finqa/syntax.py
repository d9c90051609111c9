"""The parts of a FinQA program: its steps, its numbers, and how large it may be.

A value as an answer states it, or why it states no value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from reward_functions.quantities.precision import Precision


MAX_LENGTH: Final = 4_000
"""Characters of a program. The longest of the data set has about 300."""

MAX_STEPS: Final = 20
"""Steps of a program. The longest of the data set has 9."""

MAX_DIGITS: Final = 60
"""Characters of a number in a program or a table. Filings have 12."""

PLACES: Final = 5
"""Decimal places of an executed answer in the data set."""

ARITHMETIC: Final = ("add", "subtract", "multiply", "divide", "exp", "greater")
"""Operations on two operands."""

OVER_ROWS: Final = ("table_max", "table_min", "table_sum", "table_average")
"""Operations on the cells of a row."""

OPERATIONS: Final = frozenset((*ARITHMETIC, *OVER_ROWS))
"""The names of the operations."""

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


def read_number(text: str) -> Fraction | None:
    """A number as programs and tables write it, or None: "5,829", "-.5", "5%" (which is 1/20)."""
    text = text.strip()
    match = _NUMBER.fullmatch(text) if len(text) <= MAX_DIGITS else None
    if match is None:
        return None
    value = Fraction(match["digits"].replace(",", ""))
    return value / 100 if match["percent"] else value


_NUMBER: Final = re.compile(
    r"(?P<digits>[-+]?(?:[0-9]+(?:,[0-9]{2,3})*(?:\.[0-9]*)?|\.[0-9]+))\s*(?P<percent>%)?"
)


TIMES: Final = "times"
"""The unit of a multiple: "2.5x". Of a percentage it is the fraction, and never the points."""

COUNT: Final = "count"
"""The unit of things that are counted: years, shares, people."""

Sign = Literal["", "-", "+"]


class Value(NamedTuple):
    """A value as it was stated.

    Args:
        value: with its sign; scale words multiplied in, percent not divided out.
        precision: how exactly it is printed.
        unit: canonical, as in `Quantity`; None where none is stated.
        sign: what a sign, accounting parentheses or a word makes it; "" where none does.
    """

    value: Fraction
    precision: Precision
    unit: str | None = None
    sign: Sign = ""

    def __str__(self) -> str:
        return f"{self.value} {self.unit}" if self.unit else str(self.value)


@dataclass(frozen=True, slots=True)
class NoValue:
    """Why an answer gives no value.

    Args:
        rule: the id of the rule that says so.
        reason: the same, as one clause.
    """

    rule: str
    reason: str
