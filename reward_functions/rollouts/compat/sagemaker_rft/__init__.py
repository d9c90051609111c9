"""The names of `sagemaker.train.rft` 1.27, on our reporting.

    -from sagemaker.train.rft import sagemaker_rft_handler
    +from reward_functions.rollouts.compat.sagemaker_rft import sagemaker_rft_handler

The toolkit's own sub-modules can be imported too: `context`, `headers`, `models`, `feedback`,
`decorators`, `adapters.strands`, `adapters.langchain`; `token_generator` is of sagemaker.core, and
`reward_verifier` of sagemaker.train.common_utils.

| what differs on purpose | sagemaker.train.rft | here |
| --- | --- | --- |
| a report meets an outage | logged and dropped | durable, sent again, by the next process too |
| a refusal is judged | by "404" and two phrases in a text | by status and error type |
| a result that is a number | nothing is reported | reported |
| None, a string | nothing is reported | the rollout is completed |
| `"0.5"`, True, NaN, [] as a reward | sent | `InvalidReward`; a handler's rollout is failed |
| an exception whose text has a phrase of theirs | `{"status": "skipped"}` | failed, and raised |
| the same rollout twice | the agent runs twice | once |
| a payload that names another host | gets a bearer token | `UntrustedEndpoint` |
| one model, many rollouts | calls carry other rollouts' headers | each carries its own |
| a model that cannot carry headers | silently sends none | `UnsupportedModel` |
| the documented payload in `RolloutRequest` | 4 validation errors | read |

The outcomes of a report:

| a report's end | sagemaker.train.rft | here |
| --- | --- | --- |
| the rollout is unknown (404) | a warning, None | a warning, `NotFound` |
| it is rewarded already (409) | raised: its phrases cannot match | a warning, `Conflict` |
| an outage, a throttled call | raised | sent again; then `pending`, and the outbox goes on |
| refused otherwise, or too late | raised | `DeliveryFailed` |
| no rollout id | a warning, None | a warning, `Skipped` |
| no job's ARN | sent with an empty one | the same |

Not here: `AgentRFTJob`, `MultiTurnRLTrainer` and `CustomAgentLambda`, which are no agent's;
`reward job` and the stage do what they do. Reports go by bearer token, as theirs do;
`REWARD_ROLLOUTS_TRANSPORT` names another transport.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from reward_functions.rollouts.episode.handler import RolloutHandler
from reward_functions.rollouts.episode.options import Options
from reward_functions.rollouts.report import feedback as reporting
from reward_functions.rollouts.report.credentials import LONGEST, generate_token, mint
from reward_functions.rollouts.report.settings import PREFIX
from reward_functions.rollouts.request.context import (
    clear_rollout_context,
    get_inference_params,
    set_rollout_context,
)
from reward_functions.rollouts.request.errors import DeliveryFailed
from reward_functions.rollouts.request.headers import get_inference_headers, make_inference_headers
from reward_functions.rollouts.request.outcomes import Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.rollouts.compat.sagemaker_rft.models import (
        InferenceParams,
        RolloutMetadata,
        RolloutRequest,
    )
    from reward_functions.rollouts.compat.sagemaker_rft.reward_verifier import (
        verify_reward_function,
    )
    from reward_functions.rollouts.request.outcomes import Outcome

__version__ = "0.1.0"

__all__ = [
    "InferenceParams",
    "RolloutFeedbackClient",
    "RolloutMetadata",
    "RolloutRequest",
    "SageMakerTokenGenerator",
    "clear_rollout_context",
    "generate_token",
    "get_inference_headers",
    "get_inference_params",
    "make_inference_headers",
    "rft_handler",
    "sagemaker_rft_handler",
    "set_rollout_context",
    "verify_reward_function",
]

LATER = {
    **dict.fromkeys(("InferenceParams", "RolloutMetadata", "RolloutRequest"), "models"),
    "verify_reward_function": "reward_verifier",
}
"""Names whose modules load pydantic, and where each is."""


class RolloutFeedbackClient(reporting.RolloutFeedbackClient):
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

    published: ClassVar = "bearer"
    """The transport of sagemaker.train.rft."""

    def __init__(self, metadata: Any, **options: Any) -> None:
        if options.get("transport") is None and not os.environ.get(f"{PREFIX}TRANSPORT"):
            options["transport"] = self.published
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


def sagemaker_rft_handler(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make an agent a rollout handler that reports as sagemaker.train.rft does.

    `reward_functions.rollouts.rollout_handler` has options, a reward among them.

    Args:
        func: called with a payload, and a context where it takes one.

    Returns:
        The same kind of callable; it returns what the agent returns, and raises what it raises.

    Raises:
        TypeError: it cannot be called with a payload.
    """
    return RolloutHandler(func, Options(client=RolloutFeedbackClient)).run


rft_handler = sagemaker_rft_handler
"""What docstrings of sagemaker.train.rft call it."""


class SageMakerTokenGenerator:
    """Makes tokens that live for 12 hours, or as long as the credentials that sign them.

    The bytes are those of sagemaker.core 2.27.
    """

    def get_token(self, credentials: Any, region: str) -> str:
        """A token.

        Args:
            credentials: of botocore.
            region: of the runtime.

        Raises:
            ValueError: no credentials, or no region.
        """
        if not credentials:
            raise ValueError("no credentials: pass botocore's")
        if not region or not isinstance(region, str):
            raise ValueError("no region: pass its name, such as us-east-1")
        freeze = getattr(credentials, "get_frozen_credentials", None)
        return mint(freeze() if callable(freeze) else credentials, region, LONGEST)


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LATER[name]}"), name)
