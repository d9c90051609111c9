"""The deadline of the batch that is being scored, for what waits inside a reward.

`score_batch` sets it around each sample, in the thread that scores the sample. A thread that a
reward starts by itself has none.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

DEADLINE: Final[ContextVar[float | None]] = ContextVar("DEADLINE", default=None)
"""A reading of `time.monotonic()`; None where the caller sets no deadline."""
