"""The names of aws-rft-sdk, the alpha kit, on our reporting.

    -from aws_rft_sdk import RolloutFeedbackClient, rft_handler
    +from reward_functions.rollouts.compat.aws_rft_sdk import RolloutFeedbackClient, rft_handler

Its sub-modules `client`, `context`, `decorator` and `adapters.strands` can be imported too.

| what differs on purpose | aws-rft-sdk | here |
| --- | --- | --- |
| another thread's headers | none, or another rollout's | those of its Context |
| an agent that raises | completed, rewarded with 0.0 | nothing: the API knows no failure |
| what an agent returns | is not reported | a reward is; any other result completes |
| a report meets an outage | raised, or logged and dropped | durable, and sent again |
| `wrap_model` | `extra_headers`, which Strands drops | headers of each request |

`REWARD_ROLLOUTS_ON_FAILURE=minimum` reports the minimum of an agent that raises.

Source: public copies of the kit, of March 2026; the pull request 5596 of sagemaker-python-sdk.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import uuid4

from reward_functions.rollouts.compat import sagemaker_rft
from reward_functions.rollouts.episode.episode import SPAN_HEADER
from reward_functions.rollouts.episode.handler import RolloutHandler
from reward_functions.rollouts.episode.options import Options
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.headers import Live

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.request.outcomes import Outcome

__all__ = ["RFTContext", "RolloutFeedbackClient", "rft_handler"]

JOB_HEADER: Final = "X-Rft-Job-Arn"
TRAJECTORY_HEADER: Final = "X-Trajectory-Id"

_log = logging.getLogger("reward_functions.rollouts")


class AlphaClient(sagemaker_rft.RolloutFeedbackClient):
    """Reports one rollout to the alpha service; what `rft_handler` reports with.

    Args:
        metadata: `job_arn`, `trajectory_id`, and perhaps `endpoint` and `region`; None for none.
        options: of `reporting.feedback.RolloutFeedbackClient`; `transport` is "alpha" unless
            REWARD_ROLLOUTS_TRANSPORT names one.
    """

    published: ClassVar = "alpha"
    """The transport of aws-rft-sdk."""

    def __init__(self, metadata: Any, **options: Any) -> None:
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
        if self.target.transport != self.published:
            return super().report_error(error, reward)
        if reward is not None:
            return self.report_complete(reward)
        kind = "a text" if isinstance(error, str) else type(error).__name__
        _log.error("rollout %r failed: %s; the alpha API cannot say so", self._trajectory_id, kind)
        return ()


class RFTContext:
    """The current rollout, as `rft_handler` opens it."""

    @staticmethod
    def get_headers() -> dict[str, str]:
        """Headers of one policy call: job, trajectory, and a span id that is new each time.

        Empty outside any rollout; a header whose value is missing is left out.
        """
        given = get_rollout_context()
        if given is None:
            return {}
        known = read_metadata(given)
        headers = {JOB_HEADER: known.job_arn} if known.job_arn else {}
        if known.trajectory_id:
            headers |= {TRAJECTORY_HEADER: known.trajectory_id, SPAN_HEADER: str(uuid4())}
        return headers


class SpanHeaders(Live):
    """The same as a mapping that a shared client is handed once.

    Args:
        own: headers that every call carries.
    """

    def __init__(self, own: Any = None) -> None:
        self._own = dict(own or {})

    def _now(self) -> dict[str, Any]:
        return self._own | RFTContext.get_headers()


def rft_handler(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make an agent a rollout handler that reports to the alpha service.

    Args:
        func: called with a payload, and a context where it takes one. It may report by a
            `RolloutFeedbackClient` of its own.

    Raises:
        TypeError: it cannot be called with a payload.
    """
    return RolloutHandler(func, Options(client=AlphaClient)).run
