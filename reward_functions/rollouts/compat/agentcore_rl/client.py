"""The names of `agentcore_rl_toolkit.client`, and its `boto3`, which tests of its users patch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3

from reward_functions.rollouts.collect import client
from reward_functions.rollouts.collect.batches import AsyncBatchResult, BatchItem, BatchResult
from reward_functions.rollouts.collect.futures import RolloutFuture
from reward_functions.rollouts.collect.rate_limit import ACRRateLimiter, LocalRateLimiter

if TYPE_CHECKING:
    from botocore.config import Config

__all__ = [
    "ACRRateLimiter",
    "AsyncBatchResult",
    "BatchItem",
    "BatchResult",
    "LocalRateLimiter",
    "RolloutClient",
    "RolloutFuture",
]


class RolloutClient(client.RolloutClient):
    """`collect.client.RolloutClient`; the `boto3` of this module makes its clients."""

    def _boto3_client(self, service: str, config: Config) -> Any:
        return boto3.client(service, region_name=self.region, config=config)
