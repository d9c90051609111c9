"""The span of one episode: it begins with the run, and ends once its report is sent or kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.rollouts.record import spans

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from reward_functions.rollouts.episode.endings import Ending
    from reward_functions.rollouts.episode.episode import RolloutContext


class RolloutSpan:
    """The span of an episode, a child of the one that is current where it is made.

    Args:
        episode: that it is of.
        reported: whether anything is reported of it; else there is no span.
    """

    def __init__(self, episode: RolloutContext, *, reported: bool) -> None:
        known = episode.metadata
        which = {"rollout.job": known.job_arn, "rollout.trajectory": known.trajectory_id}
        self._episode = episode
        self._span = spans.begin("rollout", which) if reported else spans.NOTHING
        self._ended = not reported

    def current(self) -> AbstractContextManager[None]:
        """A block whose spans are children of this one."""
        return self._span.current()

    def end(self, ending: Ending) -> None:
        """It ended so; the first ending counts."""
        if self._ended:
            return
        self._ended = True
        rewards, event = ending.rewards or (), {"rollout.event": ending.event}
        self._span.set(
            event
            | {
                "rollout.status": ending.status,
                "rollout.reward": sum(rewards) if len(rewards) == 1 else None,
                "rollout.rewards": rewards if len(rewards) > 1 else None,
                "rollout.turns": self._episode.turns,
            }
        )
        for each in rewards:
            spans.add("rollout.reward", each, event)
        self._span.end(ending.error)
