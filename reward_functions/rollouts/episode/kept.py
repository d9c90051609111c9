"""What an episode did is kept when it ends, once, as it was reported.

| ending | status | rewards |
| --- | --- | --- |
| a reward, a policy's failure, the deadline | `ready` | as reported |
| a failure of ours | `failed` | None: the number that a failed report carries is no reward |
| a failure of ours, reported as the minimum | `ready` | the minimum, as reported |
| the reward is deferred | `deferred` | None |
| the agent skipped | `skipped` | None |
| another report came first, of the agent's own client perhaps | `conflict` | None: it has them |
| a payload without the ids of a rollout | `unreported` | None |

`metadata` has the ending by the name that it is counted under, and the type of what was raised.
What an agent does behind its deadline is not in the trajectory.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from reward_functions.rollouts.record.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.episode.endings import Ending
    from reward_functions.rollouts.episode.episode import RolloutContext
    from reward_functions.rollouts.record.sink import TrajectorySink


class Kept:
    """The record of one episode, and who keeps it.

    Args:
        sink: None where nobody does; then nothing is recorded.
        clock: seconds since the epoch.

    Attributes:
        recording: None where nothing is recorded.
    """

    def __init__(self, sink: TrajectorySink | None, clock: Callable[[], float]) -> None:
        self.recording = None if sink is None else Recording(clock=clock)
        self._sink = sink
        self._first = Lock()

    def ended(self, episode: RolloutContext, ending: Ending, *, counts: bool) -> None:
        """Keep an episode that has been reported.

        Args:
            episode: as the agent saw it.
            ending: as it was reported.
            counts: whether this report does, and no other one.
        """
        status: str = ending.status or ending.event
        rewards = ending.rewards if status == "ready" and counts else None
        self._keep(episode, status if counts else "conflict", rewards, ending.event, ending.error)

    def unreported(self, episode: RolloutContext, error: BaseException | None = None) -> None:
        """Keep an episode that nobody reports."""
        self._keep(episode, "unreported", None, "" if error is None else "agent_failed", error)

    def _keep(
        self,
        episode: RolloutContext,
        status: str,
        rewards: tuple[float, ...] | None,
        event: str,
        error: BaseException | None,
    ) -> None:
        if self._sink is None or self.recording is None or not self._first.acquire(blocking=False):
            return
        metadata = {"ending": event, "error": "" if error is None else type(error).__name__}
        self._sink.keep(
            self.recording.trajectory(
                id=episode.metadata.trajectory_id or str(uuid4()),
                job=episode.metadata.job_arn,
                status=status,
                rewards=rewards,
                metadata={name: value for name, value in metadata.items() if value},
            )
        )
