"""What a batch yields, how far it is, and what it keeps of a payload under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.collect.futures import RolloutFuture


@dataclass(frozen=True, slots=True)
class BatchItem:
    """What became of one payload.

    Args:
        success: whether there is a whole result of an agent that did not fail.
        result: what the agent stored; None where there is no success.
        error: one sentence; a traceback for an exception that this package does not raise itself;
            None where there is success.
        index: of the payload.
        elapsed: seconds from the start of its invocation.
        kind: whose a failure is: "agent", "timeout", "result", "payload" or "service"; "" for none.
        session_id: of its session; None where none was begun.
    """

    success: bool
    result: dict[str, Any] | None = None
    error: str | None = None
    index: int | None = None
    elapsed: float | None = None
    kind: str = ""
    session_id: str | None = None


class Progress(NamedTuple):
    """How far a batch is.

    Args:
        succeeded: items with a result.
        failed: items without.
        active: sessions that run.
        elapsed: seconds since the first was begun.
        oldest: seconds since the oldest that runs was begun; 0 where none runs.
    """

    succeeded: int
    failed: int
    active: int
    elapsed: float
    oldest: float


@dataclass(eq=False, slots=True)
class BatchSession:
    """A payload under way."""

    index: int
    session_id: str
    began: float
    late: float
    future: RolloutFuture | None = None
    begun: bool = False
    looking: bool = False
    settled: bool = False


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Of one batch; seconds, and how many at once."""

    at_once: int
    threads: int
    timeout: float
    log_interval: float = 30.0
    progress: Callable[[Progress], object] | None = field(default=None, compare=False)
