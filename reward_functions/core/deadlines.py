"""The time and the hard algebra that are left, for code inside a reward.

`score_batch` sets the deadline around each sample, in the thread that scores the sample. A thread
that a reward starts by itself has none. A caller that compares a response with many references sets
how often hard algebra may be asked for. One comparison asks once, and needs no limit.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

DEADLINE: Final[ContextVar[float | None]] = ContextVar("DEADLINE", default=None)
"""A reading of `time.monotonic()`; None where the caller sets no deadline."""


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
