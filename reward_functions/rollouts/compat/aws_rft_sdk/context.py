"""`RFTContext` of aws-rft-sdk: headers by ContextVar, where its first copies were thread-local."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from reward_functions.rollouts.episode.episode import SPAN_HEADER
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.headers import Live

JOB_HEADER: Final = "X-Rft-Job-Arn"
TRAJECTORY_HEADER: Final = "X-Trajectory-Id"


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
