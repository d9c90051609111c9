"""What a FinQA program is: its steps, its numbers, and how large it may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

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
