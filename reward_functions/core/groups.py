"""The samples of a batch with the same prompt, and what is worked out about all of them once."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from reward_functions.core.types import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Work = TypeVar("Work")


class Group(tuple[Sample, ...]):  # noqa: SLOT001 - a tuple of any length has a __dict__
    """The samples of one prompt in a batch; safe to use from many threads.

    Args:
        samples: in the order of the batch.
    """

    def __init__(self, samples: Iterable[Sample]) -> None:  # noqa: ARG002 - a tuple takes them itself
        self._lock = Lock()
        self._done: dict[Callable[[Sequence[Sample]], Any], Any] = {}

    def once(self, work: Callable[[Sequence[Sample]], Work]) -> Work:
        """What a function makes of the group; the first sample that asks has it computed."""
        with self._lock:
            if work not in self._done:
                self._done[work] = work(self)
            found: Work = self._done[work]
            return found


def once(group: Sequence[Sample], work: Callable[[Sequence[Sample]], Work]) -> Work:
    """What a function makes of a group, once for all the samples of a batch.

    Args:
        group: as a reward is given it; any other sequence is worked through at each call.
        work: from the samples; a function of a module, which is the key.
    """
    return group.once(work) if isinstance(group, Group) else work(group)
