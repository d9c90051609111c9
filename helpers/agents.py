"""Agents for a notebook about rollouts: each is one function, and a rollout by one line.

plain       one policy call, by boto3 alone; its response is scored by `math`
STRANDS     the file of an agent of Strands, as the docs have it, and BEFORE it was a rollout
shaped      the same agent, which rewards its turns itself: the tool, then the answer
"""

from __future__ import annotations

import json
import os
from difflib import ndiff
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import boto3

from helpers.shown import Shown
from reward_functions import Sample, get
from reward_functions.core.importing import named
from reward_functions.core.types import Message
from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts import rollout_handler

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts import RolloutContext

EXAMPLES: Final = Path(__file__).parents[1] / "docs" / "examples"

BEFORE: Final = EXAMPLES / "strands_math.py"
STRANDS: Final = EXAMPLES / "strands_math_rollout.py"

TOOL_REWARD: Final = 0.25
"""For a turn that calls the calculator: as an example, and no advice."""


def two_lines() -> Shown:
    """What makes the agent of Strands a rollout: the difference of the two files."""
    before, after = (path.read_text(encoding="utf-8").splitlines() for path in (BEFORE, STRANDS))
    changed = [line for line in ndiff(before, after) if line[0] in "+-"]
    rows = [[{"+": "added", "-": "removed"}[line[0]], line[2:]] for line in changed]
    title = f"From {BEFORE.name} to {STRANDS.name}"
    return Shown([Sheet(title, ("line", "code"), rows, words=("code",))])


@rollout_handler(reward="math")  # type: ignore[untyped-decorator]  # it keeps any signature
def plain(payload: dict[str, Any], ctx: RolloutContext) -> str:
    """Ask the policy once, and hand over what it says."""
    runtime = _runtime(os.environ["RFT_RUNTIME_ENDPOINT"], ctx.metadata.region)
    asked = {"messages": [{"role": "user", "content": payload["prompt"]}]}
    ctx.policy_call()
    answer = runtime.sample(
        JobArn=ctx.metadata.job_arn,
        TrajectoryId=ctx.metadata.trajectory_id,
        Body=json.dumps(asked).encode(),
    )
    completion = json.loads(answer["Body"].read())
    return str(completion["choices"][0]["message"]["content"])


@cache
def _runtime(endpoint: str, region: str) -> Any:
    """A client of the runtime, which any thread may use; to make one takes 70 ms."""
    return boto3.client("sagemakerjobruntime", region_name=region, endpoint_url=endpoint)


def shaped(*, to_go: bool) -> Callable[[dict[str, Any]], Any]:
    """An agent of Strands that returns a reward for each of its two turns.

    Args:
        to_go: whether they are reported as returns to go.
    """
    from reward_functions.rollouts.strands import RolloutModel  # noqa: PLC0415 - Strands

    solve = named(f"{BEFORE}:solver")(RolloutModel(model_id="default"))

    def agent(payload: dict[str, Any]) -> list[float]:
        response = solve(payload)
        turns = (
            Message(role="user", content=payload["prompt"]),
            Message(role="assistant", content=response),
        )
        reference = payload["instance"]["reference_answer"]
        sample = Sample(id="", messages=turns, reference=reference, metadata={})
        return [TOOL_REWARD, get("math")(sample).value]

    handled: Callable[[dict[str, Any]], Any] = rollout_handler(
        agent, turn_rewards="to_go" if to_go else "immediate"
    )
    return handled
