"""The limits: how much of an answer is read, and how much arithmetic it may cause.

They are checked before the work they bound, in units that do not depend on the machine, so the same
answer gets the same verdict everywhere. They bound one comparison; a caller with many answers still
watches its own deadline.
"""

from __future__ import annotations

from typing import Final

CHARACTERS: Final = 2_000
"""Characters of an answer that is read as mathematics. The longest answer met in public data sets
has 500; reading costs two to three microseconds a character."""

DEPTH: Final = 50
"""Levels of nesting; a bracket, fraction or exponent takes two. People write at most about eight
brackets deep, and 25 take some 280 of the thousand frames that the interpreter allows."""

TOKENS: Final = 1_000
"""Tokens of one answer. The longest one met has 130, a matrix of ten by ten fractions 900."""

ITEMS: Final = 500
"""Members of a list, set or matrix. Matching unordered lists is quadratic in this."""

OPERANDS: Final = 100
"""Terms of a sum and factors of a product, as written. People expand to some twenty terms."""

DIGITS: Final = 2_000
"""Digits of one number as written. Below CPython's own limit of 4,300 for reading an integer."""

BITS: Final = 1 << 15
"""Bits of any number that arithmetic makes: 2004! has 19,000. One product takes some 50 µs."""

COEFFICIENT_BITS: Final = 1 << 12
"""Bits of a coefficient of a polynomial with more than one term; there are many of them."""

EXPONENT: Final = 200
"""A power that is multiplied out, and with it the degree that one factor can add."""

TERMS: Final = 2_000
"""Terms of a polynomial. (a+b+c+d)^9 has 220."""

WORK: Final = 6_000
"""Steps of polynomial arithmetic in one comparison, each one to two microseconds. Expanding
(a+b+c+d)^9 takes about half of them."""

FACTOR: Final = 1_000
"""Trial divisors for taking roots: enough for every radicand under a million, and those that
people write. A larger remainder stays under the root and makes the comparison less decisive."""


class OverBudget(ValueError):
    """A string or a computation passes a limit. A candidate then scores the minimum."""


class Unreadable(ValueError):
    """A string is not in the grammar, or denotes nothing (a division by zero, 0^0).

    Attributes:
        near: what stands where reading stopped; empty where the whole is meant.
    """

    near: str = ""


class Work:
    """The arithmetic that one comparison may still cause."""

    __slots__ = ("left",)

    def __init__(self, left: int = WORK) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        """Take steps off, before they are done. Raises `OverBudget` when they are not there."""
        self.left -= steps
        if self.left < 0:
            raise OverBudget(f"more than {WORK} steps of arithmetic")
