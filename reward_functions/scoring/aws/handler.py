"""The shard function: counts or scores one shard, or says what is to be done next.

    {"step": "next", "state": {"run": "s3://…"}}           a `steps` answer
    {"run": "s3://…", "task": "score", "shard": {…}}       `Done.item`

The run's folder in S3 holds everything else: an answer is lost without harm, and an order that
comes twice is done once. The function scores nothing by itself, and holds no reward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.core.spec import RewardSpec, Scale
from reward_functions.scoring.aws.steps import keep_count, next_step
from reward_functions.scoring.folder import Run
from reward_functions.scoring.invoked import Invoked
from reward_functions.scoring.places import place_of
from reward_functions.scoring.shard import work
from reward_functions.scoring.shards import Shard

if TYPE_CHECKING:
    from reward_functions.scoring.folder import Asked


class Context(Protocol):
    """What Lambda says of an invocation."""

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
    run = Run.opened(place_of(event["run"]))  # anew: a warm function may know an earlier one there
    task, shard = event["task"], Shard.of(event["shard"])
    scorer = _scorer(run.asked) if task == "score" else None
    found = work(
        run, task, shard, scorer, left=lambda: context.get_remaining_time_in_millis() / 1000
    )
    if task == "count":
        keep_count(run.place, found)
    return found.item()


def _scorer(asked: Asked) -> Invoked:
    """The version that a run pins; what else is to be known of its reward stands in the run."""
    function = DeployedFunction(asked.function)
    spec = RewardSpec(
        name=asked.reward_name,
        function=_elsewhere,
        version=asked.version,
        scale=Scale(*asked.scale),
    )
    return Invoked(spec, lambda event: function.invoke(event).body, ours=bool(asked.digest))


def _elsewhere(*_: Any, **__: Any) -> NoReturn:
    """Stands for the reward's code, which its version holds."""
    raise NotImplementedError
