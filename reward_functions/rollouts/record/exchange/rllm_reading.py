"""rLLM's JSON as a Trajectory of ours: the table of `rllm`, read from left to right.

Steps of any generation are read. What is not known here is kept: of a trajectory in
`metadata["rllm"]`, of its steps in `metadata["rllm"]["steps"]`, one object for each.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from reward_functions.rollouts.record.exchange.fields import BadTrace, Fields, chosen
from reward_functions.rollouts.record.exchange.rllm import NAME, OURS, RAW
from reward_functions.rollouts.record.types import (
    TokenTrace,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    Trajectory,
    Turn,
)
from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
