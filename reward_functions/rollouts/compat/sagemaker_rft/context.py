"""The rollout of the running code: the names of `sagemaker.train.rft.context`."""

from reward_functions.rollouts.request.context import (
    clear_rollout_context,
    get_inference_params,
    get_rollout_context,
    set_rollout_context,
)

__all__ = [
    "clear_rollout_context",
    "get_inference_params",
    "get_rollout_context",
    "set_rollout_context",
]
