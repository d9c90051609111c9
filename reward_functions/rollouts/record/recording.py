"""The record of one episode while it runs: what policy calls and tools report of themselves.

Whatever sends the request records the turn: a wrapped model, a client, a transport. Whatever runs
the tools records their results. Hooks of a framework mark what it threw away. Nothing is counted
twice, because a call within a call is the same call: see `policy.calls`.

A recording never harms an episode. Nothing that an agent or an engine sends raises here: what
cannot be read is left out and named in the turn's `unread`. What no longer fits is left out too,
and the trajectory is `truncated`.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.bounded import MOST, BoundedPool, Full, Unreadable
from reward_functions.rollouts.record.responses import parameters_of, read_response
from reward_functions.rollouts.record.text_tool_calls import recovered
from reward_functions.rollouts.record.tool_results import ToolResults
from reward_functions.rollouts.record.types import ToolCall, Trajectory, Turn
from reward_functions.rollouts.request.clock import steady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.rollouts.record.types import Message, ToolResult

MOST_TURNS: Final = 10_000
"""Calls of one episode that are recorded."""

NOT_KEPT: Final = -1
"""The handle of a call behind the limit."""

_log = logging.getLogger("reward_functions.rollouts")


class Recording:
    """The record of one episode; shared by threads, and by all agents of the episode.

    Args:
        clock: seconds since the epoch.
        most: bytes that are kept, about: see `bounded`.
        most_turns: calls that are recorded.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = steady,
        most: int = MOST,
        most_turns: int = MOST_TURNS,
    ) -> None:
        self._clock = clock
        self._most_turns = most_turns
        self._lock = Lock()
        self._pool = BoundedPool(most)
        self._turns: list[Turn] = []
        self._results = ToolResults()
        self._tools: tuple[Message, ...] = ()
        self._truncated = False

    def began(self, request: Mapping[str, Any]) -> int:
        """A policy call begins.

        Args:
            request: the body of a chat completion, in OpenAI's form.

        Returns:
            A handle, for what becomes of it.
        """
        with self._lock:
            if len(self._turns) >= self._most_turns:
                self._truncated = True
                return NOT_KEPT
            handle = len(self._turns)
            self._turns.append(Turn(index=handle, began=self._clock()))
            with self._reading(handle, "messages"):
                messages = self._pool.messages(request.get("messages") or ())
                self._set(handle, messages=messages)
                for turn in self._results.shown(messages):
                    self._set(turn, changed=True)
            with self._reading(handle, "tools"):
                tools = self._pool.messages(request.get("tools") or ())
                self._tools = self._tools if tools == self._tools else tools
                self._set(handle, tools=self._tools)
            with self._reading(handle, "parameters"):
                parameters = self._pool.copy(parameters_of(request))
                self._set(handle, parameters=parameters)
            return handle

    def answered(self, handle: int, response: Mapping[str, Any]) -> None:
        """The whole answer is there: a chat completion in OpenAI's form, assembled if streamed.

        Tool calls that it has as text are read too, and marked: `response` stays as it is given.
        """
        with self._lock, self._reading(handle, "response"):
            if not self._waits(handle):
                return
            self._timed(handle)
            found = read_response(response, self._pool)
            calls = found.tool_calls
            if not calls and found.response is not None:
                calls = _in_text(found.response, self._turns[handle].tools)
            self._set(
                handle,
                response=found.response,
                tool_calls=calls,
                model=found.model,
                finish_reason=found.finish_reason,
                usage=found.usage,
                tokens=found.tokens,
                changed=any(call.recovered for call in found.tool_calls),
                unread=(*self._turns[handle].unread, *found.unread),
            )
            self._results.called(handle, calls)

    def failed(self, handle: int, error: BaseException) -> None:
        """The call brought no answer; what fails behind its answer is no failure of the call."""
        with self._lock, self._reading(handle, "response"):
            if self._waits(handle):
                self._timed(handle)
                self._set(handle, error=type(error).__name__)

    def discarded(self, handle: int) -> None:
        """The answer was thrown away, because a framework asks for it again."""
        with self._lock, self._reading(handle, "response"):
            if handle != NOT_KEPT and not self._turns[handle].discarded:
                self._set(handle, discarded=True)
                self._results.discarded(handle)

    def tool(self, result: ToolResult) -> None:
        """A tool gave its result; one that is seen in a later request too counts once."""
        with self._lock, self._reading(NOT_KEPT, "tool"):
            try:
                self._pool.text(result.content)
            except Full:
                self._truncated = True
                result = replace(result, content="")
            self._results.gave(result)

    def trajectory(self, **known: Any) -> Trajectory:
        """What was recorded so far.

        Args:
            known: further fields of a `Trajectory`, its `id` among them.
        """
        with self._lock:
            turns = tuple(
                replace(turn, tool_results=self._results.of(at, turn.tool_calls))
                for at, turn in enumerate(self._turns)
            )
            return Trajectory(**{"turns": turns, "truncated": self._truncated, **known})

    def _waits(self, handle: int) -> bool:
        """Whether a call that is recorded has neither an answer nor a failure yet."""
        if handle == NOT_KEPT:
            return False
        turn = self._turns[handle]
        return turn.response is None and not turn.error

    def _timed(self, handle: int) -> None:
        self._set(handle, seconds=max(0.0, self._clock() - self._turns[handle].began))

    def _set(self, handle: int, **fields: Any) -> None:
        self._turns[handle] = replace(self._turns[handle], **fields)

    @contextmanager
    def _reading(self, handle: int, part: str) -> Iterator[None]:
        """What goes wrong in a block costs a part of a turn, and nothing else."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - an agent's objects raise what they like
            self._truncated = self._truncated or isinstance(error, Full)
            if not isinstance(error, Full | Unreadable):
                _log.warning("a part of a turn is not recorded, %s: %s", part, type(error).__name__)
            if handle != NOT_KEPT:
                self._set(handle, unread=(*self._turns[handle].unread, part))


def _in_text(message: Message, tools: tuple[Message, ...]) -> tuple[ToolCall, ...]:
    """Tool calls that an answer has as text."""
    found = recovered(message, tools)
    if found is None:
        return ()
    return tuple(
        ToolCall(
            id=call["id"],
            name=call["function"]["name"],
            arguments=call["function"]["arguments"],
            recovered=True,
        )
        for call in found["tool_calls"]
    )
