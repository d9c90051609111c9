"""A value as an answer states it, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

    from reward_functions.quantities.precision import Precision

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
