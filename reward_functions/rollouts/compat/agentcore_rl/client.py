"""The names of `agentcore_rl_toolkit.client`."""

from reward_functions.rollouts.collection.batches import AsyncBatchResult, BatchItem, BatchResult
from reward_functions.rollouts.collection.client import RolloutClient
from reward_functions.rollouts.collection.futures import RolloutFuture
from reward_functions.rollouts.collection.rate_limit import ACRRateLimiter, LocalRateLimiter

__all__ = [
    "ACRRateLimiter",
    "AsyncBatchResult",
    "BatchItem",
    "BatchResult",
    "LocalRateLimiter",
    "RolloutClient",
    "RolloutFuture",
]
