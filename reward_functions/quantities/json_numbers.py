"""JSON with its numbers as they are written: whole ones are compared exactly, others nearly."""

from __future__ import annotations

import json
from decimal import Context, Decimal
from math import isfinite
from typing import Any, Final, NamedTuple

from reward_functions.core.jsons import is_too_deep, no_constant, unique_names

LONGEST_NUMBER: Final = 4_000
"""Characters of a number that is compared: Python writes hardly more into JSON."""

CLOSE: Final = Decimal("1e-9")
"""The relative difference up to which two numbers are equal, one of them with a fraction."""

NEAR: Final = Decimal("1e-6")
"""The same in all, where one of the two is whole: 1e12 and nine tenths is another number."""

EXACT: Final = 2**53
"""Below it a float has every whole number, so that 1267000001.0 is not 1267000000.0."""

_CONTEXT: Final = Context(prec=40)


class JsonNumber(NamedTuple):
    """A number of JSON as it is written."""

    text: str

    def __repr__(self) -> str:
        return self.text

    @property
    def plain(self) -> Any:
        """The number as Python has it. Raises ValueError of more digits than Python reads."""
        return json.loads(self.text)

    def equals(self, other: JsonNumber) -> bool:
        """Whether both are one number: 3.0 is 3.

        Numbers without point and exponent are exact at any length up to `LONGEST_NUMBER`; where one
        of the two has any, a relative difference of `CLOSE` is allowed. It is at most `NEAR` in all
        beside one without, and where both are whole below `EXACT`.
        """
        if self.text == other.text or max(len(self.text), len(other.text)) > LONGEST_NUMBER:
            return self.text == other.text
        one, two = Decimal(self.text), Decimal(other.text)
        whole = [each.text.lstrip("-").isdigit() for each in (self, other)]
        if one == two or all(whole):
            return one == two
        gap = _CONTEXT.subtract(one, two).copy_abs()
        largest = max(one.copy_abs(), two.copy_abs())
        counts = largest < EXACT and all(each == each.to_integral_value() for each in (one, two))
        close = gap <= _CONTEXT.multiply(CLOSE, largest)
        return close and (gap <= NEAR or not (any(whole) or counts))


def json_with_numbers(text: str) -> Any:
    """A JSON value whose numbers are each a `JsonNumber`; strict, and no name twice.

    Raises:
        ValueError: it is no JSON, it is too deep, or a number of it is beyond a float.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("the JSON is too deep") from None
    if is_too_deep(value):
        raise ValueError("the JSON is too deep")
    return value


def json_or_none(text: str) -> Any:
    """The same; None of a text that is no JSON."""
    try:
        return json_with_numbers(text)
    except ValueError:
        return None


def _finite(text: str) -> JsonNumber:
    if not isfinite(float(text)):
        raise ValueError("a number is beyond a float")
    return JsonNumber(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=unique_names,
    parse_constant=no_constant,
    parse_int=JsonNumber,
    parse_float=_finite,
)
