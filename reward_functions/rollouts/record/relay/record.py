"""The turns of one session, while it is open and as it was when it closed.

Messages that a call repeats are kept once: each call of an agent sends the whole conversation so
far. A call that ends behind the closing of its session changes nothing.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.record.relay.bounded_json import written
from reward_functions.rollouts.record.relay.completions import finish_of, message_of, usage_of
from reward_functions.rollouts.record.relay.requests import SAMPLING
from reward_functions.rollouts.record.types import (
    GAPS,
    MISALIGNED,
    TokenTrace,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.rollouts.record.relay.capture import Captured

    _Called = Callable[[Any], "ToolCall | None"]

CLOSED = "SessionClosed"
"""The error of a turn that was not answered when its session closed."""

POINTER = 8
"""Bytes of a place in a turn's list of messages; what agents repeat is kept once, but named."""


class Record:
    """The turns of a session; shared by threads.

    Args:
        clock: seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._turns: list[Turn] = []
        self._running: set[int] = set()
        self._reasons: dict[int, str] = {}
        self._callers: dict[str, list[int]] = {}
        self._closed = False

    def began(self, request: Mapping[str, Any]) -> tuple[int, int]:
        """A call begins.

        Args:
            request: as the engine is sent it.

        Returns:
            Its number, and the bytes of what it brought that was not kept before, and of its lists.
        """
        with self._lock:
            before = self._turns[-1] if self._turns else Turn(index=-1)
            messages, new = _shared(before.messages, request["messages"])
            tools, new_tools = _shared(before.tools, request.get("tools") or ())
            number = len(self._turns)
            parameters = {name: request[name] for name in SAMPLING if name in request}
            turn = Turn(
                index=number,
                messages=messages,
                tools=tools,
                parameters=parameters,
                model=str(request.get("model") or ""),
                began=self._clock(),
            )
            if not self._closed:
                self._turns.append(turn)
                self._running.add(number)
                self._attach(new)
        brought = sum(len(written(each)) for each in (*new, *new_tools, parameters, turn.model))
        return number, brought + POINTER * (len(messages) + len(tools))

    def as_written(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Messages whose tool calls have the arguments that the policy wrote.

        Frameworks keep arguments as objects and write them anew, with other spaces: the same JSON,
        and other tokens than the policy's.
        """
        with self._lock:
            return [_as_written(message, self._called) for message in messages]

    def answered(self, number: int, completion: Mapping[str, Any], captured: Captured) -> int:
        """The whole answer of a call is there.

        Returns:
            Its bytes.
        """
        (choice,) = completion["choices"]
        message = message_of(choice)
        fields: dict[str, Any] = {
            "response": message,
            "tool_calls": tuple(map(_tool_call, message.get("tool_calls") or ())),
            "finish_reason": finish_of(choice),
            "usage": usage_of(completion),
            "tokens": captured.trace,
        }
        model = completion.get("model")
        if isinstance(model, str) and model:
            fields["model"] = model
        self._end(number, captured.reason, **fields)
        texts = (message, fields["finish_reason"], fields.get("model"))
        return sum(len(written(each)) for each in texts) + captured.size

    def failed(self, number: int, error: str) -> None:
        """A call brought no answer, or nobody who got it: nothing is learned from it."""
        nothing = {"response": None, "tool_calls": (), "finish_reason": "", "tokens": None}
        self._end(number, "", error=error, **nothing)

    def close(self) -> None:
        """Take nothing more; what is not answered is marked."""
        with self._lock:
            self._closed = True
            for number in self._running:
                self._turns[number] = replace(self._turns[number], error=CLOSED)
            self._running.clear()

    def trajectory(self, **known: Any) -> Trajectory:
        """What was recorded so far.

        Args:
            known: further fields of a `Trajectory`.
        """
        with self._lock:
            reasons = {str(number): text for number, text in sorted(self._reasons.items())}
            metadata = {**known.pop("metadata", {})} | ({GAPS: reasons} if reasons else {})
            return Trajectory(turns=tuple(self._turns), metadata=metadata, **known)

    def traces(self) -> list[TokenTrace | None]:
        """The tokens of each turn that was answered, in order; None where the engine gave none.

        Raises:
            MisalignedTokens: of one, ids and log-probabilities do not belong together.
        """
        with self._lock:
            for number, reason in sorted(self._reasons.items()):
                if reason.startswith(MISALIGNED):
                    raise MisalignedTokens(f"turn {number} is {reason}")
            return [turn.tokens for turn in self._turns if turn.response is not None]

    def _end(self, number: int, reason: str, **fields: Any) -> None:
        with self._lock:
            if self._closed:
                return
            self._running.discard(number)
            self._reasons.pop(number, None)
            if reason:
                self._reasons[number] = reason
            now = self._turns[number]
            self._turns[number] = replace(now, seconds=self._clock() - now.began, **fields)
            for call in now.tool_calls:
                self._callers[call.id].remove(number)
            for call in self._turns[number].tool_calls:
                self._callers.setdefault(call.id, []).append(number)

    def _called(self, identity: Any) -> ToolCall | None:
        """The call of an id that was made last."""
        numbers = self._callers.get(identity) if isinstance(identity, str) and identity else None
        if not numbers:
            return None
        return next(call for call in self._turns[numbers[-1]].tool_calls if call.id == identity)

    def _attach(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Results of tools in new messages, to the turn that called them last."""
        for message in messages:
            identity = message.get("tool_call_id")
            if message.get("role") != "tool" or not isinstance(identity, str):
                continue
            for at in self._callers.get(identity, ())[-1:]:
                self._turns[at] = _with_result(self._turns[at], identity, message)


def _shared(
    before: tuple[dict[str, Any], ...], now: Sequence[dict[str, Any]]
) -> tuple[tuple[dict[str, Any], ...], list[dict[str, Any]]]:
    """The same messages, those of before where they begin so; and those that are new."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return (*before[:same], *now[same:]), list(now[same:])


def _as_written(message: dict[str, Any], known: _Called) -> dict[str, Any]:
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, list):
        return message
    return message | {"tool_calls": [_original(call, known) for call in calls]}


def _original(call: Any, known: _Called) -> Any:
    """A call, with the arguments that were written where these are the same JSON."""
    function = call.get("function") if isinstance(call, dict) else None
    written_so = known(call.get("id")) if isinstance(call, dict) else None
    if written_so is None or not isinstance(function, dict):
        return call
    try:
        same = json.loads(function["arguments"]) == json.loads(written_so.arguments)
    except (ValueError, TypeError, KeyError, RecursionError):
        return call
    same = same and function.get("name") == written_so.name
    return call | {"function": function | {"arguments": written_so.arguments}} if same else call


def _with_result(turn: Turn, identity: str, message: Mapping[str, Any]) -> Turn:
    if identity in {result.call_id for result in turn.tool_results}:
        return turn
    content = message.get("content")
    text = content if isinstance(content, str) else _shown(content)
    results = {each.call_id: each for each in turn.tool_results}
    results[identity] = ToolResult(call_id=identity, content=text)
    order = [call.id for call in turn.tool_calls if call.id in results]
    return replace(turn, tool_results=tuple(results[each] for each in dict.fromkeys(order)))


def _shown(content: Any) -> str:
    return "" if content is None else written(content).decode("utf-8", "replace")


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    return ToolCall(
        id=call.get("id") or "",
        name=function["name"],
        arguments=function.get("arguments") or "{}",
    )
