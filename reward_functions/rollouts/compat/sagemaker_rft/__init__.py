"""The names of `sagemaker.train.rft` 1.27, on our reporting.

    -from sagemaker.train.rft import sagemaker_rft_handler
    +from reward_functions.rollouts.compat.sagemaker_rft import sagemaker_rft_handler

context.py            which rollout this code runs for
headers.py            headers of policy calls
models.py             requests as pydantic models, in both spellings
feedback.py           `RolloutFeedbackClient`
decorators.py         `sagemaker_rft_handler`, `rft_handler`
token_generator.py    bearer tokens, of sagemaker.core
reward_verifier.py    `verify_reward_function`, of sagemaker.train.common_utils
adapters/             `strands.wrap_model`, `langchain.create_http_clients`

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

Not here: `AgentRFTJob`, `MultiTurnRLTrainer` and `CustomAgentLambda`, which are no agent's;
`reward job` and the stage do what they do. Reports go by bearer token, as theirs do;
`REWARD_ROLLOUTS_TRANSPORT` names another transport.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reward_functions.rollouts.compat.sagemaker_rft.context import (
        clear_rollout_context,
        get_inference_params,
        set_rollout_context,
    )
    from reward_functions.rollouts.compat.sagemaker_rft.decorators import (
        rft_handler,
        sagemaker_rft_handler,
    )
    from reward_functions.rollouts.compat.sagemaker_rft.feedback import RolloutFeedbackClient
    from reward_functions.rollouts.compat.sagemaker_rft.headers import (
        get_inference_headers,
        make_inference_headers,
    )
    from reward_functions.rollouts.compat.sagemaker_rft.models import (
        InferenceParams,
        RolloutMetadata,
        RolloutRequest,
    )
    from reward_functions.rollouts.compat.sagemaker_rft.reward_verifier import (
        verify_reward_function,
    )
    from reward_functions.rollouts.compat.sagemaker_rft.token_generator import (
        SageMakerTokenGenerator,
        generate_token,
    )

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

HOMES = {
    "context": "clear_rollout_context get_inference_params set_rollout_context",
    "decorators": "rft_handler sagemaker_rft_handler",
    "feedback": "RolloutFeedbackClient",
    "headers": "get_inference_headers make_inference_headers",
    "models": "InferenceParams RolloutMetadata RolloutRequest",
    "reward_verifier": "verify_reward_function",
    "token_generator": "SageMakerTokenGenerator generate_token",
}
"""Modules of this package, and the names of `__all__` that each has: pydantic is loaded with the
models alone."""

_MODULES = {name: module for module, names in HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
