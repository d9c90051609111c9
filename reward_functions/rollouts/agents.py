"""OpenAI's Agents SDK in rollouts: the names of `rollouts.policy.agents`."""

from reward_functions.rollouts.policy.agents import (
    RolloutRunHooks,
    UnsupportedModel,
    rollout_handler,
    rollout_model,
    wrap_model,
)

__all__ = [
    "RolloutRunHooks",
    "UnsupportedModel",
    "rollout_handler",
    "rollout_model",
    "wrap_model",
]
