"""httpx in rollouts: the names of `rollouts.policy.httpx`."""

from reward_functions.rollouts.policy.httpx import (
    AsyncRolloutTransport,
    RolloutAuth,
    RolloutTransport,
    async_rollout_http_client,
    rollout_http_client,
    wrap_http_client,
)

__all__ = [
    "AsyncRolloutTransport",
    "RolloutAuth",
    "RolloutTransport",
    "async_rollout_http_client",
    "rollout_http_client",
    "wrap_http_client",
]
