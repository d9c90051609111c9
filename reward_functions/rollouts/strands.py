"""Strands in rollouts: the names of `rollouts.policy.strands`."""

from reward_functions.rollouts.policy.strands import (
    AgentStatistics,
    RolloutHooks,
    RolloutModel,
    UnsupportedModel,
    adapt_agent,
    rollout_handler,
    wrap_model,
)

__all__ = [
    "AgentStatistics",
    "RolloutHooks",
    "RolloutModel",
    "UnsupportedModel",
    "adapt_agent",
    "rollout_handler",
    "wrap_model",
]
