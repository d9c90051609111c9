"""The fields of a stage for the function that scores shards: `scale` in `cdk.json`."""

from __future__ import annotations

from pydantic import Field

from reward_functions.cdk.model.deployment import MAX_MEMORY_MB, Settings


class Scale(Settings):
    """How shards of a file are scored on AWS."""

    timeout_seconds: int = Field(
        default=900,
        ge=60,
        le=900,
        description="Lambda's timeout of the function that scores a shard; one that has no more "
        "time goes on in its next call.",
    )
    memory_mb: int = Field(
        default=512,
        ge=512,
        le=MAX_MEMORY_MB,
        description="Lambda's memory size. It asks rewards and scores nothing by itself.",
    )
    spool_mb: int = Field(
        default=2048,
        ge=512,
        le=10_240,
        description="Disk where the results of one shard wait: a compressed object is one shard, "
        "and its results are larger than it.",
    )
