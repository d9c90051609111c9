"""rLLM: its Step, Trajectory and Episode as JSON, and a Trajectory of ours.

| rLLM | ours | note |
| --- | --- | --- |
| `Step.prompt_ids`, `response_ids` | `TokenTrace` | [] where they are missing |
| `Step.logprobs` | `TokenTrace.logprobs` | [] where they are missing, or one for each id |
| `Step.chat_completions` | `messages` and `response` | the answer is its last message |
| `Step.action` | tool calls of the response | |
| `Step.reward`, `Trajectory.reward` | `rewards` | one a turn, and their sum; or one |
| `Trajectory.uid`, `Episode.id` | `Trajectory.id` | an episode's is `TASK:INDEX` |
| `metadata` | `metadata` | |

Facts that rLLM has no field for stand in `metadata["reward_functions"]` of step and trajectory.
Turns that were discarded or that failed are no steps.

Read for this: rllm-org/rllm, `rllm/types.py` (02f0663d) and
`rllm/agents/agent.py` (1da00850). rLLM is not on PyPI, and its own code did not run here.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.exchange.advantages import episode_return
from reward_functions.rollouts.record.exchange.fields import BadTrace, chosen
from reward_functions.rollouts.record.exchange.token_rows import refuse_misaligned
from reward_functions.rollouts.record.types import (
    TokenTrace,
    Trajectory,
    Turn,
)
from reward_functions.rollouts.request.errors import InvalidReward, MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


OURS: Final = "reward_functions"
"""The key of what rLLM has no field for."""

NAME: Final = "agent"
"""Of an agent that has none: rLLM's own."""


def rllm_trajectory(
    trajectory: Trajectory, *, name: str = NAME, task: Any = None
) -> dict[str, Any]:
    """A trajectory as rLLM's JSON; its steps are the turns that were answered and kept.

    Args:
        trajectory: of ours.
        name: of the agent.
        task: JSON data of the task.

    Raises:
        InvalidReward: it has another number of rewards than turns, or a return that is too large.
        MisalignedTokens: a turn has tokens and log-probabilities that do not belong together.
    """
    refuse_misaligned(trajectory)
    known = chosen(
        {
            "rewards": list(trajectory.rewards) if trajectory.rewards else None,
            "status": trajectory.status,
            "job": trajectory.job,
            "truncated": trajectory.truncated,
        },
        "",
        False,
    )
    rewards = _of_turns(trajectory)
    last = len(rewards) - 1
    steps = [
        _step(turn, reward, done=at == last)
        for at, (turn, reward) in enumerate(zip(trajectory.kept, rewards, strict=True))
    ]
    total = episode_return(trajectory.rewards) if trajectory.rewards else None
    fields = {"uid": trajectory.id, "name": name, "task": task, "steps": steps, "reward": total}
    metadata = {**trajectory.metadata, OURS: known}
    output = trajectory.kept[-1].response if trajectory.kept else None
    answer = None if output is None else output.get("content")
    return fields | {"input": None, "output": answer, "signals": {}, "metadata": metadata}


def rllm_episode(
    trajectories: Sequence[Trajectory],
    *,
    task_id: str,
    index: int = 0,
    task: Any = None,
    correct_from: float = 1.0,
) -> dict[str, Any]:
    """Trajectories of one episode as rLLM's JSON.

    Args:
        trajectories: at least one.
        task_id: without a colon: rLLM cuts the episode's id there.
        index: of the rollout in its group.
        task: JSON data of the task.
        correct_from: the return from which it counts as correct.

    Raises:
        BadTrace: there is no trajectory, or the task's id has a colon.
        InvalidReward, MisalignedTokens: as of `rllm_trajectory`.
    """
    if not trajectories:
        raise BadTrace("an episode has at least one trajectory")
    if ":" in task_id:
        raise BadTrace("the id of a task has no colon: rLLM cuts the episode's id there")
    returns = [episode_return(each.rewards) for each in trajectories if each.rewards]
    inner = [rllm_trajectory(each, task=task) for each in trajectories]
    fields = {
        "id": f"{task_id}:{index}",
        "task": task,
        "termination_reason": None,
        "is_correct": bool(returns) and max(returns) >= correct_from,
        "trajectories": inner,
        "metrics": {},
    }
    return fields | {"session_id": trajectories[0].id, "artifacts": {}, "metadata": {}}


def is_cumulative(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the messages of each step begin with those of the one before: rLLM's own rule."""
    chats = [list(step.get("chat_completions") or ()) for step in steps]
    return all(after[: len(before)] == before for before, after in pairwise(chats))


def _of_turns(trajectory: Trajectory) -> list[float]:
    """The reward of each kept turn; 0.0, rLLM's own "none here", where the episode has one."""
    kept, rewards = trajectory.kept, trajectory.rewards or ()
    if len(rewards) in {0, 1}:
        return [0.0] * len(kept)
    answered = [turn for turn in trajectory.turns if not turn.error]
    for turns in (kept, answered):
        if len(turns) == len(rewards):
            by_turn = {turn.index: reward for turn, reward in zip(turns, rewards, strict=True)}
            return [by_turn[turn.index] for turn in kept]
    raise InvalidReward(f"there are {len(rewards)} rewards for {len(kept)} turns")


def _step(turn: Turn, reward: float, *, done: bool) -> dict[str, Any]:
    tokens = turn.tokens or TokenTrace()
    if tokens.logprobs is not None and len(tokens.logprobs) != len(tokens.completion_ids or ()):
        raise MisalignedTokens(
            f"turn {turn.index} has {len(tokens.logprobs)} log-probabilities for "
            f"{len(tokens.completion_ids or ())} tokens"
        )
    response = turn.response or {}
    fields = {
        "prompt_ids": list(tokens.prompt_ids or ()),
        "response_ids": list(tokens.completion_ids or ()),
        "logprobs": list(tokens.logprobs or ()),
        "chat_completions": [*turn.messages, *([response] if response else [])],
        "observation": turn.messages[-1].get("content") if turn.messages else None,
        "thought": _text(response.get("reasoning_content") or response.get("reasoning")),
        "action": response.get("tool_calls"),
        "model_response": _text(response.get("content")),
        "model_output": None,
        "reward": reward,
        "done": done,
        "mc_return": 0.0,
        "advantage": None,
        "weight_version": None,
    }
    more = {"id": f"{turn.index}", "input": None, "output": None, "routing_matrices": None}
    return more | fields | {"metadata": {OURS: _known(turn)}}


def _known(turn: Turn) -> dict[str, Any]:
    """What a step of rLLM has no field for."""
    return chosen(
        {
            "index": turn.index,
            "model": turn.model,
            "finish_reason": turn.finish_reason,
            "began": turn.began,
            "seconds": turn.seconds,
            "parameters": dict(turn.parameters),
            "tools": list(turn.tools),
            "tool_results": [chosen(asdict(result)) for result in turn.tool_results],
            "changed": turn.changed,
            "unread": list(turn.unread),
            "recovered": [call.id for call in turn.tool_calls if call.recovered],
            "usage": chosen(asdict(turn.usage)),
        },
        "",
        {},
        [],
        False,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
