"""Plain numbers, read without the grammar: the fast path of nearly every comparison.

`18`, `-3`, `1,234.5` and `.5` are decided here in a microsecond or two; anything with a letter or
space goes to the lexer, which reads the same numbers with the same meaning.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reward_functions.symbolic.limits import DIGITS


class Plain(NamedTuple):
    """A decimal literal as an integer over a power of ten.

    Attributes:
        digits: the number without its point, with its sign.
        places: digits after the point; 0 for an integer.
    """

    digits: int
    places: int

    def __str__(self) -> str:
        """The literal without separators."""
        if not self.places:
            return str(self.digits)
        text = str(abs(self.digits)).rjust(self.places + 1, "0")
        sign = "-" if self.digits < 0 else ""
        return f"{sign}{text[: -self.places]}.{text[-self.places :]}"


_NUMBER: Final = re.compile(
    r"([+-]?)([1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)?(?:\.([0-9]*))?", re.ASCII
).fullmatch


def plain(text: str) -> Plain | None:
    """The number a text is, when it is nothing else; None otherwise (also for too many digits)."""
    if len(text) > DIGITS:
        return None
    if text.isdecimal() and text.isascii():
        return Plain(int(text), 0)
    match = _NUMBER(text)
    if match is None:
        return None
    sign, whole, fraction = match.groups(default="")
    if not whole and not fraction:
        return None
    number = int(whole.replace(",", "") + fraction)
    return Plain(-number if sign == "-" else number, len(fraction))


def same_value(first: Plain, second: Plain) -> bool:
    """Whether two literals have one value: 0.50 and .5, 5. and 05."""
    left: int = first.digits * 10**second.places
    right: int = second.digits * 10**first.places
    return left == right
