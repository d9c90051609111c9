"""How often hard algebra may still be asked for, while one sample is scored.

Whoever compares a response with many references sets it; one comparison asks once, and needs none.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final


class Allowance:
    """A number of times.

    Args:
        times: how often `take` says yes.
    """

    __slots__ = ("left",)

    def __init__(self, times: int) -> None:
        self.left = times

    def take(self) -> bool:
        """Whether there is one more time, which is used up then."""
        self.left -= 1
        return self.left >= 0


ALGEBRA: Final[ContextVar[Allowance | None]] = ContextVar("ALGEBRA", default=None)
"""That of the sample which this thread scores; None where there is no limit."""
