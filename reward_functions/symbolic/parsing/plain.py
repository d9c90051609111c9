r"""Plain numbers and fractions, read without the grammar: the fast path of nearly every comparison.

`18`, `-3`, `1,234.5`, `.5`, `3/4` and `\frac{3}{4}` are decided here in a microsecond or two;
anything else goes to the lexer, which reads the same numbers with the same meaning.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.symbolic.budget import DIGITS


class Literal(NamedTuple):
    """A number as it was written: an integer over a positive one.

    Attributes:
        above: the numerator, with the sign.
        below: the denominator; a power of ten for a decimal, 1 for an integer.
        places: digits after the point; 0 for integers and fractions.
    """

    above: int
    below: int = 1
    places: int = 0

    def equals(self, other: Literal) -> bool:
        """Whether two literals have one value: 0.50 and 1/2, 5. and 05."""
        return self.above * other.below == other.above * self.below

    def __str__(self) -> str:
        """The literal without separators."""
        if not self.places:
            return str(self.above) if self.below == 1 else f"{self.above}/{self.below}"
        text = str(abs(self.above)).rjust(self.places + 1, "0")
        sign = "-" if self.above < 0 else ""
        return f"{sign}{text[: -self.places]}.{text[-self.places :]}"


KEPT: Final = 1024
"""Strings whose numbers are kept: all responses of a group meet one reference, and many agree."""

KEPT_LENGTH: Final = 40
"""Characters of a string that is kept."""

_NUMBER: Final = re.compile(
    r"([+-]?)([1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)?(?:\.([0-9]*))?", re.ASCII
).fullmatch
_FRACTION: Final = re.compile(
    r"([+-]?)(?:\\[dtc]?frac\{([0-9]{1,40})\}\{([0-9]{1,40})\}|([0-9]{1,40})/([0-9]{1,40}))"
).fullmatch


def literal(text: str) -> Literal | None:
    """The number that a string is; None for anything else, and for too many digits."""
    if len(text) <= KEPT_LENGTH:
        return _kept(text)
    return _read(text) if len(text) <= DIGITS else None


def _read(text: str) -> Literal | None:
    if text.isdecimal() and text.isascii():
        return Literal(int(text))
    if text.startswith("$") and text.endswith("$"):
        text = text[1:-1].strip()
    number = _NUMBER(text)
    if number is None:
        return _fraction(text)
    sign, whole, decimals = number.groups(default="")
    if not whole and not decimals:
        return None
    digits = int(whole.replace(",", "") + decimals)
    places = len(decimals)
    return Literal(-digits if sign == "-" else digits, 10**places, places)


_kept = lru_cache(KEPT)(_read)


def _fraction(text: str) -> Literal | None:
    fraction = _FRACTION(text)
    if fraction is None:
        return None
    sign, above, below, left, right = fraction.groups()
    numerator, denominator = int(above or left), int(below or right)
    if not denominator:
        return None
    return Literal(-numerator if sign == "-" else numerator, denominator)
