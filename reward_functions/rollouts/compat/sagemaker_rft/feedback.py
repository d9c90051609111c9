"""`RolloutFeedbackClient` of sagemaker.train.rft, on our reporting: durable, typed, sent again.

| what becomes of a report | sagemaker.train.rft | here |
| --- | --- | --- |
| the rollout is unknown (404) | a warning, None | a warning, `NotFound` |
| it is rewarded already (409) | raised: its phrases cannot match | a warning, `Conflict` |
| an outage, a throttled call | raised | sent again; then `pending`, and the outbox goes on |
| refused otherwise, or too late | raised | `DeliveryFailed` |
| no rollout id | a warning, None | a warning, `Skipped` |
| no job's ARN | sent with an empty one | the same |
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report import feedback
from reward_functions.rollouts.report.settings import PREFIX
from reward_functions.rollouts.request.errors import DeliveryFailed
from reward_functions.rollouts.request.outcomes import Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.rollouts.request.outcomes import Outcome

PUBLISHED: Final = "bearer"
"""The transport of sagemaker.train.rft."""


class RolloutFeedbackClient(feedback.RolloutFeedbackClient):
    """Reports one rollout as sagemaker.train.rft does: JSON with a bearer token.

    `complete_rollout(status="ready")`, `update_reward(reward)`, `report_complete(reward)` and
    `report_error(error, reward=None)` return outcomes, where theirs return None. Every report goes
    through `_bearer_post(path, body_str)`, which a test may replace, on the class too.

    Args:
        metadata: of the rollout's request: a dict in any spelling, or a `RolloutMetadata`.
        options: of `reporting.feedback.RolloutFeedbackClient`; `transport` is "bearer" unless
            REWARD_ROLLOUTS_TRANSPORT names one.

    Raises:
        TypeError: metadata of another type; the message names it.
        UntrustedEndpoint: they name a host that may not be given a credential.
    """

    def __init__(self, metadata: Any, **options: Any) -> None:
        if options.get("transport") is None and not os.environ.get(f"{PREFIX}TRANSPORT"):
            options["transport"] = PUBLISHED
        super().__init__(metadata, **options)
        dump = getattr(metadata, "model_dump", None)
        self._metadata = dump() if callable(dump) else metadata

    def _report(
        self, *, status: str | None = None, rewards: Sequence[float] | None = None
    ) -> tuple[Outcome, ...]:
        """As of the parent; what is too late to matter is returned, having been logged."""
        try:
            return super()._report(status=status, rewards=rewards)
        except DeliveryFailed as error:
            if not isinstance(error.outcome, Conflict | NotFound):
                raise
            return (error.outcome,)
