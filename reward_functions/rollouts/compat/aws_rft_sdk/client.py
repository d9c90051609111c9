"""`RolloutFeedbackClient` of aws-rft-sdk: the alpha API, signed with SigV4."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.compat.sagemaker_rft import feedback
from reward_functions.rollouts.report.settings import PREFIX

if TYPE_CHECKING:
    from reward_functions.rollouts.request.outcomes import Outcome

PUBLISHED: Final = "alpha"
"""The transport of aws-rft-sdk."""

_log = logging.getLogger("reward_functions.rollouts")


class AlphaClient(feedback.RolloutFeedbackClient):
    """Reports one rollout to the alpha service; what `rft_handler` reports with.

    Args:
        metadata: `job_arn`, `trajectory_id`, and perhaps `endpoint` and `region`; None for none.
        options: of `reporting.feedback.RolloutFeedbackClient`; `transport` is "alpha" unless
            REWARD_ROLLOUTS_TRANSPORT names one.
    """

    def __init__(self, metadata: Any, **options: Any) -> None:
        if options.get("transport") is None and not os.environ.get(f"{PREFIX}TRANSPORT"):
            options["transport"] = PUBLISHED
        super().__init__({} if metadata is None else metadata, **options)


class RolloutFeedbackClient(AlphaClient):
    """The same, for an agent's own code.

    `update_reward(rewards)` and `report_complete(reward)` are those of `reporting.feedback`.
    """

    def complete_trajectory(self) -> Outcome:
        """Seal the trajectory: no other turns follow.

        Raises:
            DeliveryFailed: it was refused, or the window has closed.
        """
        return self.complete_rollout()

    def report_error(self, error: object, reward: Any = None) -> tuple[Outcome, ...]:
        """Report an episode that could not be run.

        The alpha API knows no failure. Without a reward nothing is sent, where aws-rft-sdk sends
        0.0: an outage is no lesson for the policy.

        Args:
            error: neither sent nor logged, as it may quote a response.
            reward: completes the trajectory, and is its reward.

        Raises:
            InvalidReward, DeliveryFailed: as `report_complete`.
        """
        if self.target.transport != PUBLISHED:
            return super().report_error(error, reward)
        if reward is not None:
            return self.report_complete(reward)
        kind = "a text" if isinstance(error, str) else type(error).__name__
        _log.error("rollout %r failed: %s; the alpha API cannot say so", self._trajectory_id, kind)
        return ()
