"""A double of this process as the runtime of a run."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.drive.agents import ENDED, SeenRollout, seen_in

if TYPE_CHECKING:
    from collections.abc import Collection

    from reward_functions.local.runtime_double import RuntimeDouble

LOOK: Final = 0.25
"""Seconds between two looks at a runtime of this process, for a state that is not the last one."""


class OwnRuntime:
    """A runtime double of this process.

    Args:
        double: that serves.
    """

    def __init__(self, double: RuntimeDouble) -> None:
        self.endpoint = double.endpoint
        self._double = double

    def register(self, job: str, rollout: str) -> None:
        """Let a rollout begin."""
        self._double.register(job, rollout)

    def wait(self, job: str, rollout: str, states: Collection[str], timeout: float) -> SeenRollout:
        """What it knows once the rollout is in one of these states, or the time is over.

        The double waits for a rollout's end; another state is looked for now and then.
        """
        end = monotonic() + timeout
        longest = timeout if set(states) <= ENDED else LOOK
        while True:
            left = max(0.0, end - monotonic())
            found = self._double.wait(job, rollout, timeout=min(longest, left))
            if found.state in states or not left:
                return seen_in(found.json(last=True))
