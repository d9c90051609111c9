"""The numbers of an answer, each with its sign, currency, scale and unit, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.finqa import cues
from reward_functions.finqa.syntax import TIMES, NoValue, Sign, Value
from reward_functions.quantities.numerals import Quantity, quantity
from reward_functions.quantities.precision import Precision, place, precision

if TYPE_CHECKING:
    import re

MAX_NUMBERS: Final = 12
"""Numbers of an answer, with those of its context."""

MAX_DENOMINATOR: Final = 100
"""Of a fraction that is an answer. 750/4938 is the question put differently."""

NAME: Final = 12
"""Characters before a number that can make it part of a name: "S&P "."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of an answer, and where it stands."""

    value: Value
    start: int
    end: int
    year: bool


def number_alone(match: re.Match[str]) -> Value:
    """A number such as "-1,234.5%": most answers, for a third of the price."""
    whole, fraction = match["whole"].replace(",", ""), match["fraction"] or ""
    digits = whole + fraction
    sign: Sign = match["sign"]  # type: ignore[assignment]
    return Value(
        Fraction(int(sign + digits), 10 ** len(fraction)),
        Precision(place(len(fraction)), len(digits.lstrip("0"))),
        "%" if match["percent"] else "USD" if match["dollar"] else None,
        sign,
    )


def numbers(text: str) -> list[Number] | NoValue:
    """The numbers of an answer; none that is part of a name ("10-K", "S&P 500", "4th")."""
    found: list[Number] = []
    for match in cues.NUMBER.finditer(text):
        if cues.PART_OF_A_NAME.match(text, match.end()) or cues.NAMED.search(
            text[: match.start()][-NAME:]
        ):
            continue
        number = _number(text, match)
        if isinstance(number, NoValue):
            return number
        found.append(number)
        if len(found) > MAX_NUMBERS:
            return NoValue("finqa-too-long", f"the answer has more than {MAX_NUMBERS} numbers")
    return found


def _number(text: str, match: re.Match[str]) -> Number | NoValue:
    read = _quantity(match)
    if read is None:
        return NoValue("finqa-decimal-comma", f"{match[0].strip()!r} is not one number")
    bottom = match["core"].partition("/")[2]
    if cues.UNFINISHED.match(text, match.end()) or int(bottom or 1) > MAX_DENOMINATOR:
        return NoValue("finqa-not-worked-out", "a division is left to be done")
    before = text[: match.start()].rstrip()
    signs = (match["inner"] or "").strip()
    start = match.start()
    while before[-1:] in ("-", "+") and not cues.OPERAND.search(before[:-1]):
        before, signs, start = before[:-1].rstrip(), before[-1] + signs, len(before) - 1
    if len(signs) > 1:
        return NoValue("finqa-contradicting-sign", "the answer has two signs")
    sign: Sign = signs  # type: ignore[assignment]
    value = -read.value if sign == "-" else read.value
    year = cues.YEAR.fullmatch(match[0].strip()) is not None
    unit = TIMES if match["times"] and read.unit is None else read.unit
    return Number(
        Value(value, precision(match["core"], read.value), unit, sign),
        start,
        match.end(),
        year,
    )


def _quantity(match: re.Match[str]) -> Quantity | None:
    """The number with its currency, scale words and unit, its sign apart."""
    core, behind = match["number"], match["behind"] or ""
    currency = (match["currency"] or "").strip()
    short = match["short"] or match["spaced"]
    if short:  # "263M": in a filing that is no length
        read = quantity(f"{currency or '$'}{core}{short}{behind}")
        return read if currency or read is None else replace(read, unit=None)
    return quantity(f"{currency}{core} {behind}".strip())
