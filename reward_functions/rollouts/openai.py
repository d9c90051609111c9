"""OpenAI's SDK in rollouts: the names of `rollouts.policy.openai`."""

from reward_functions.rollouts.policy.openai import (
    UnsupportedClient,
    async_rollout_client,
    rollout_client,
    rollout_handler,
    wrap_client,
)

__all__ = [
    "UnsupportedClient",
    "async_rollout_client",
    "rollout_client",
    "rollout_handler",
    "wrap_client",
]
