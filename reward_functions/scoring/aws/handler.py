"""The shard function: counts or scores one shard, or says what is to be done next.

    {"step": "next", "state": {"run": "s3://…"}}           a `steps` answer
    {"run": "s3://…", "task": "score", "shard": {…}}       `Done.item`

The run's folder in S3 holds everything else: an answer is lost without harm, and an order that
comes twice is done once. The function scores nothing by itself, and holds no reward.
"""

from __future__ import annotations

from typing import Any, Protocol

from reward_functions.scoring.aws.steps import keep_count, next_step
from reward_functions.scoring.shard import run_at, worked
from reward_functions.scoring.shards import Done


class Context(Protocol):
    """Lambda's facts about an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until it ends."""


def handler(event: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what an order says.

    Raises:
        RunNotUsable, RunIncomplete: the run ends without a summary.
        AwsFailed, OSError: its folder cannot be read or written.
    """
    if event.get("step") == "next":
        return next_step(event["state"])
    found = worked(event, left=lambda: context.get_remaining_time_in_millis() / 1000)
    if event["task"] == "count":
        keep_count(run_at(event["run"]).place, Done.of(found))
    return found
