"""rLLM: its Step, Trajectory and Episode as JSON, and a Trajectory of ours.

| rLLM | ours | note |
| --- | --- | --- |
| `Step.prompt_ids`, `response_ids` | `TokenTrace` | [] where they are missing |
| `Step.logprobs` | `TokenTrace.logprobs` | [] where they are missing, or one for each id |
| `Step.chat_completions` | `messages` and `response` | the answer is its last message |
| `Step.action` | tool calls of the response | legacy: see below |
| `Step.reward`, `Trajectory.reward` | `rewards` | one a turn, and their sum; or one |
| `Trajectory.uid`, `Episode.id` | `Trajectory.id` | an episode's is `TASK:INDEX` |
| `metadata`, or `info` of older versions | `metadata` | with all that is not known here |

What rLLM has no field for stands in `metadata["reward_functions"]` of step and trajectory, and
comes back from there. Turns that were discarded or that failed are no steps.

Steps of any generation are read. What is not known here is kept: of a trajectory in
`metadata["rllm"]`, of its steps in `metadata["rllm"]["steps"]`, one object for each.

**Legacy.** The Strands model of September 2025 (PR 206) had one action a step:
`{"type": "tool_call", "tool_call": {"id", "name", "input"}}`, later `{"type": "tool_calls",
"tool_calls": […], "final_response": …}`. Both are read; `legacy=True` writes the second, with
`info` for `metadata`. An input is an object there: arguments that are no object stand under `_raw`.

Read for this: rllm-org/rllm, `rllm/types.py` (02f0663d), `rllm/agents/agent.py` (1da00850) and
`rllm/integrations/strands.py` (fd27f72a). rLLM is not on PyPI, and its own code did not run here.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from reward_functions.rollouts.record.exchange.advantages import episode_return
from reward_functions.rollouts.record.exchange.fields import BadTrace, Fields, chosen
from reward_functions.rollouts.record.exchange.token_rows import refuse_misaligned
from reward_functions.rollouts.record.types import (
    TokenTrace,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    Trajectory,
    Turn,
)
from reward_functions.rollouts.request.errors import InvalidReward, MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


OURS: Final = "reward_functions"
"""The key of what rLLM has no field for."""

NAME: Final = "agent"
"""Of an agent that has none: rLLM's own."""

RAW: Final = "_raw"
"""Where generation 1 kept arguments that are no JSON object."""


def rllm_trajectory(
    trajectory: Trajectory, *, name: str = NAME, task: Any = None, legacy: bool = False
) -> dict[str, Any]:
    """A trajectory as rLLM's JSON; its steps are the turns that were answered and kept.

    Args:
        trajectory: of ours.
        name: of the agent.
        task: JSON data of the task.
        legacy: whether it has the shape of generation 1.

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
        _step(turn, reward, done=at == last, legacy=legacy)
        for at, (turn, reward) in enumerate(zip(trajectory.kept, rewards, strict=True))
    ]
    total = episode_return(trajectory.rewards) if trajectory.rewards else None
    fields = {"uid": trajectory.id, "name": name, "task": task, "steps": steps, "reward": total}
    metadata = {**trajectory.metadata, OURS: known}
    if legacy:
        return fields | {"info": metadata}
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
    legacy: bool = False,
) -> dict[str, Any]:
    """Trajectories of one episode as rLLM's JSON.

    Args:
        trajectories: at least one.
        task_id: without a colon: rLLM cuts the episode's id there.
        index: of the rollout in its group.
        task: JSON data of the task.
        correct_from: the return from which it counts as correct.
        legacy: whether it has the shape of generation 1.

    Raises:
        BadTrace: there is no trajectory, or the task's id has a colon.
        InvalidReward, MisalignedTokens: as of `rllm_trajectory`.
    """
    if not trajectories:
        raise BadTrace("an episode has at least one trajectory")
    if ":" in task_id:
        raise BadTrace("the id of a task has no colon: rLLM cuts the episode's id there")
    returns = [episode_return(each.rewards) for each in trajectories if each.rewards]
    inner = [rllm_trajectory(each, task=task, legacy=legacy) for each in trajectories]
    fields = {
        "id": f"{task_id}:{index}",
        "task": task,
        "termination_reason": None,
        "is_correct": bool(returns) and max(returns) >= correct_from,
        "trajectories": inner,
        "metrics": {},
    }
    if legacy:
        return fields | {"info": {}}
    return fields | {"session_id": trajectories[0].id, "artifacts": {}, "metadata": {}}


def rllm_group(
    trajectories: Sequence[Trajectory], *, task_id: str, name: str = NAME
) -> dict[str, Any]:
    """Trajectories of one prompt as rLLM's TrajectoryGroup, whose rewards are compared.

    Raises:
        InvalidReward, MisalignedTokens: as of `rllm_trajectory`.
    """
    return {
        "trajectories": [rllm_trajectory(each, name=name) for each in trajectories],
        "group_id": f"{task_id}:{name}",
        "metadata": [dict(each.metadata) for each in trajectories],
        "weight_version": 0,
    }


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


def _step(turn: Turn, reward: float, *, done: bool, legacy: bool) -> dict[str, Any]:
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
        "action": _legacy_action(turn) if legacy else response.get("tool_calls"),
        "model_response": _text(response.get("content")),
        "model_output": None,
        "reward": reward,
        "done": done,
        "mc_return": 0.0,
        "advantage": None,
        "weight_version": None,
    }
    if legacy:
        return fields | {"info": {OURS: _known(turn)}}
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


def _legacy_action(turn: Turn) -> Any:
    calls = [
        {"id": call.id, "name": call.name, "input": _input(call.arguments)}
        for call in turn.tool_calls
    ]
    answer = _text((turn.response or {}).get("content"))
    if not calls:
        return answer
    return {"type": "tool_calls", "tool_calls": calls, "final_response": answer}


def _input(arguments: str) -> dict[str, Any]:
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {RAW: arguments}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


STATUSES: Final[tuple[ToolStatus, ...]] = get_args(ToolStatus)

ANSWERED: Final = "assistant"

DERIVED: Final = frozenset({"input", "output", "observation", "model_response", "thought", "id"})
"""Fields that repeat what the messages say; kept where there are no messages to say it."""

EMPTY: Final[tuple[Any, ...]] = ("", [], {}, 0)
"""Values of a field that say nothing."""


class _Read(NamedTuple):
    """A step: its turn, its reward, and what is not known here."""

    turn: Turn
    reward: float
    rest: dict[str, Any]


def read_rllm_trajectory(given: Any) -> Trajectory:
    """A trajectory of rLLM's JSON, of any generation; unknown fields are kept in its metadata.

    Raises:
        BadTrace: a field is of another type. The message names it.
        MisalignedTokens: a step has log-probabilities for other tokens.
    """
    fields = Fields(given, "trajectory of rLLM")
    metadata = _metadata(fields)
    known = Fields(metadata.pop(OURS, None) or {}, f"{OURS} of a trajectory")
    steps = [_read_step(step, at) for at, step in enumerate(fields.list("steps"))]
    uid, reward = fields.text("uid"), fields.number("reward")
    written = known.numbers("rewards") or _rewards(steps, reward)
    rest = [step.rest for step in steps]
    unknown = {name: value for name, value in fields.rest.items() if name not in DERIVED}
    more = chosen({**unknown, "steps": rest if any(rest) else None}, *EMPTY, NAME)
    return Trajectory(
        id=uid,
        job=known.text("job"),
        turns=tuple(step.turn for step in steps),
        rewards=written or None,
        status=known.text("status", "ready"),
        truncated=known.flag("truncated"),
        metadata=metadata | ({"rllm": more} if more else {}),
    )


def read_rllm_episode(given: Any) -> tuple[Trajectory, ...]:
    """The trajectories of an episode; each one's metadata names the episode and the group.

    Raises:
        BadTrace: a field is of another type. The message names it.
        MisalignedTokens: a step has log-probabilities for other tokens.
    """
    fields = Fields(given, "episode of rLLM")
    found = [read_rllm_trajectory(each) for each in fields.list("trajectories")]
    id = fields.text("id")  # noqa: A001 - the field's name
    shared = chosen({"episode": id, "group": id.partition(":")[0]}, "")
    return tuple(
        Trajectory(
            id=each.id,
            job=each.job,
            turns=each.turns,
            rewards=each.rewards,
            status=each.status,
            truncated=each.truncated,
            metadata=shared | dict(each.metadata),
        )
        for each in found
    )


def _metadata(fields: Fields) -> dict[str, Any]:
    """`metadata`, with the `info` of older versions below it."""
    return fields.object("info") | fields.object("metadata")


def _rewards(steps: list[_Read], reward: float | None) -> tuple[float, ...]:
    """One a step where a step has one that is not 0.0; else the episode's."""
    of_steps = tuple(step.reward for step in steps)
    if any(of_steps):
        return of_steps
    return () if reward is None else (reward,)


def _read_step(given: Any, at: int) -> _Read:
    fields = Fields(given, "step of rLLM")
    metadata = _metadata(fields)
    known = Fields(metadata.pop(OURS, None) or {}, f"{OURS} of a step")
    messages, response = _messages(fields)
    index = known.whole("index", at)
    recovered = set(map(str, known.list("recovered")))
    turn = Turn(
        index=at if index is None else index,
        messages=messages,
        response=response,
        tool_calls=tuple(_calls(response, fields.any("action"), recovered)),
        tool_results=tuple(_result(each) for each in known.list("tool_results")),
        tools=known.messages("tools"),
        parameters=known.object("parameters"),
        model=known.text("model"),
        finish_reason=known.text("finish_reason"),
        usage=_usage(known.object("usage")),
        tokens=_tokens(fields, at),
        began=known.number("began") or 0.0,
        seconds=known.number("seconds") or 0.0,
        changed=known.flag("changed"),
        unread=tuple(map(str, known.list("unread"))),
    )
    reward = fields.number("reward") or 0.0
    fields.flag("done")
    derived = DERIVED if messages or response else frozenset()
    unknown = {name: value for name, value in fields.rest.items() if name not in derived}
    return _Read(turn, reward, chosen(unknown, *EMPTY) | metadata)


def _messages(fields: Fields) -> tuple[tuple[dict[str, Any], ...], dict[str, Any] | None]:
    """What the policy was shown, and what it wrote: the last message, or the model's response."""
    chat = fields.messages("chat_completions")
    if chat and chat[-1].get("role") == ANSWERED:
        return chat[:-1], chat[-1]
    written = fields.text("model_response")
    return chat, {"role": ANSWERED, "content": written} if written else None


def _tokens(fields: Fields, at: int) -> TokenTrace | None:
    prompt, written = fields.ids("prompt_ids"), fields.ids("response_ids")
    logprobs = fields.numbers("logprobs")
    if logprobs and len(logprobs) != len(written):
        raise MisalignedTokens(
            f"turn {at} has {len(logprobs)} log-probabilities for {len(written)} tokens"
        )
    if not (prompt or written):
        return None
    return TokenTrace(prompt_ids=prompt or None, completion_ids=written, logprobs=logprobs or None)


def _calls(
    response: Mapping[str, Any] | None, action: Any, recovered: set[str]
) -> Iterator[ToolCall]:
    """The tool calls of a response, or those of an action of generation 1."""
    written = (response or {}).get("tool_calls")
    if not isinstance(written, list):
        yield from _legacy_calls(action)
        return
    for each in written:
        call = Fields(each, "tool call")
        function = Fields(call.object("function"), "function of a tool call")
        id = call.text("id")  # noqa: A001 - the field's name
        yield ToolCall(
            id=id,
            name=function.text("name"),
            arguments=function.text("arguments", "{}"),
            recovered=id in recovered,
        )


def _legacy_calls(action: Any) -> Iterator[ToolCall]:
    if not isinstance(action, dict) or action.get("type") not in {"tool_call", "tool_calls"}:
        return
    fields = Fields(action, "action of rLLM")
    one = fields.any("tool_call")
    for each in [one] if one is not None else fields.list("tool_calls"):
        call = Fields(each, "tool call")
        given = call.object("input")
        raw = given.get(RAW)
        yield ToolCall(
            id=call.text("id"),
            name=call.text("name"),
            arguments=raw if isinstance(raw, str) else json.dumps(given, ensure_ascii=False),
        )


def _result(given: Any) -> ToolResult:
    fields = Fields(given, "tool result")
    status = fields.text("status", "success")
    if status not in STATUSES:
        raise BadTrace(f"status of a tool result is one of {', '.join(STATUSES)}")
    return ToolResult(
        call_id=fields.text("call_id"),
        content=fields.text("content"),
        status=next(each for each in STATUSES if each == status),
        seconds=fields.number("seconds"),
        discarded=fields.whole("discarded") or 0,
    )


def _usage(given: dict[str, Any]) -> TokenUsage:
    fields = Fields(given, "usage")
    return TokenUsage(
        input=fields.whole("input"),
        output=fields.whole("output"),
        cached=fields.whole("cached"),
        reasoning=fields.whole("reasoning"),
    )
