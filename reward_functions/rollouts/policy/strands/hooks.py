"""What an agent did in an episode, and its end at the deadline.

An attempt that another hook has repeated (`event.retry`) is discarded by Strands: it is counted as
discarded and not as a call. Whether it was is known when the next model call begins, so an event
waits until then.

| fact of Strands 1.62 | so here |
| --- | --- |
| an agent serves one invocation at a time | what waits is kept by agent, and nothing on the hooks |
| the usage is the message's own before `AfterModelCallEvent` | a call's usage is read there |
| `accumulated_usage` grows behind that event | it is not read |
| the model names the tool, and may invent one | those that do not exist have one name |

The model records turns; the hooks record what tools gave back, and mark the turns whose answer was
thrown away.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)

from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.policy.asking import Latest, latest_call
from reward_functions.rollouts.record.types import ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.rollouts.episode.episode import RolloutContext

UNKNOWN_TOOL: Final = "(unknown tool)"
"""Under which calls of tools that do not exist are counted."""

OVER: Final = "the rollout's window is over"


@dataclass(slots=True)
class ToolStatistics:
    """What a tool was used for in an episode.

    Args:
        calls: whose result the model saw.
        failures: of these, the ones whose status is "error".
        discarded: attempts that were repeated.
        seconds: of all calls and attempts.
    """

    calls: int = 0
    failures: int = 0
    discarded: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One answer of a model that an agent went on with.

    Args:
        stop_reason: in Strands' words, such as "tool_use" or "end_turn".
        input_tokens: as the model's service counts them; 0 where it does not.
        output_tokens: likewise.
    """

    stop_reason: str
    input_tokens: int
    output_tokens: int


@dataclass(slots=True)
class AgentStatistics:
    """What the agents of an episode did.

    Args:
        model_calls: in their order. No turns: `episode.turns` counts what the runtime has captured.
        discarded: answers that were thrown away, because a hook had them repeated.
        failures: calls that brought no answer, throttled ones among them.
        tools: by name.
    """

    model_calls: list[ModelCall] = field(default_factory=list)
    discarded: int = 0
    failures: int = 0
    tools: dict[str, ToolStatistics] = field(default_factory=dict)

    @property
    def input_tokens(self) -> int:
        """Of all answers that were not discarded."""
        return sum(call.input_tokens for call in self.model_calls)

    @property
    def output_tokens(self) -> int:
        """Likewise."""
        return sum(call.output_tokens for call in self.model_calls)


@dataclass(slots=True)
class _Waiting:
    """What an agent did since its last model call began.

    Args:
        events: in their order.
        latest: the policy call of the answer that is waited for.
    """

    events: list[AfterModelCallEvent | AfterToolCallEvent] = field(default_factory=list)
    latest: Latest = field(default_factory=Latest)


class RolloutHooks(HookProvider):
    """Hooks of any number of agents at a time: `Agent(..., hooks=[RolloutHooks()])`.

    Once an episode is cancelled no model and no tool is called any more, and the agent ends.
    Outside a `rollout_handler` they do nothing.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._episodes: WeakKeyDictionary[RolloutContext, AgentStatistics] = WeakKeyDictionary()
        self._waiting: WeakKeyDictionary[Any, _Waiting] = WeakKeyDictionary()

    def of(self, episode: RolloutContext | None = None) -> AgentStatistics:
        """What the agents of an episode did, up to their last model call.

        Args:
            episode: the current one where None. It is forgotten when the episode is.

        Raises:
            LookupError: there is none.
        """
        episode = episode or current_rollout()
        if episode is None:
            raise LookupError("no episode here: statistics are kept inside a rollout_handler")
        with self._lock:
            return self._episodes.setdefault(episode, AgentStatistics())

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Subscribe to what an agent does."""
        registry.add_callback(BeforeModelCallEvent, self._before_model_call)
        registry.add_callback(BeforeToolCallEvent, self._before_tool_call)
        registry.add_callback(AfterModelCallEvent, self._wait)
        registry.add_callback(AfterToolCallEvent, self._wait)
        registry.add_callback(AfterInvocationEvent, self._settle)

    def _before_model_call(self, event: BeforeModelCallEvent) -> None:
        self._settle(event)
        if current_rollout() is not None:
            with self._lock:
                self._waiting[event.agent] = _Waiting(latest=latest_call())
        if _over():
            event.cancel = OVER

    def _before_tool_call(self, event: BeforeToolCallEvent) -> None:
        if _over():
            event.cancel_tool = OVER

    def _wait(self, event: AfterModelCallEvent | AfterToolCallEvent) -> None:
        if current_rollout() is None:
            return
        with self._lock:
            self._waiting.setdefault(event.agent, _Waiting()).events.append(event)

    def _settle(self, event: BeforeModelCallEvent | AfterInvocationEvent) -> None:
        """Count what waited: whether it was repeated is known by now."""
        with self._lock:
            waited = self._waiting.pop(event.agent, _Waiting())
        if not waited.events:
            return
        statistics = self.of()
        with self._lock:
            for each in waited.events:
                if isinstance(each, AfterModelCallEvent):
                    _count_model_call(statistics, each)
                else:
                    _count_tool_call(statistics, each)
        _record(waited)


def _over() -> bool:
    episode = current_rollout()
    return episode is not None and episode.cancelled.is_set()


def _count_model_call(statistics: AgentStatistics, event: AfterModelCallEvent) -> None:
    if event.stop_response is None:
        statistics.failures += 1
        return
    metadata = event.stop_response.message.get("metadata")
    if metadata is None:
        return  # a hook cancelled the call: the message is its own
    if event.retry:
        statistics.discarded += 1
        return
    usage = metadata["usage"]
    statistics.model_calls.append(
        ModelCall(event.stop_response.stop_reason, usage["inputTokens"], usage["outputTokens"])
    )


def _count_tool_call(statistics: AgentStatistics, event: AfterToolCallEvent) -> None:
    if event.cancel_message is not None:
        return
    name = UNKNOWN_TOOL if event.selected_tool is None else event.selected_tool.tool_name
    tool = statistics.tools.setdefault(name, ToolStatistics())
    tool.seconds += event.duration or 0.0
    if event.retry:
        tool.discarded += 1
        return
    tool.calls += 1
    tool.failures += event.result["status"] == "error"


def _record(waited: _Waiting) -> None:
    """Into the trajectory of the episode, where one is kept."""
    episode = current_rollout()
    if episode is None or (recording := episode.recording) is None:
        return
    discarded: Counter[str] = Counter()
    for event in waited.events:
        if isinstance(event, AfterToolCallEvent):
            if event.retry:
                discarded[event.tool_use["toolUseId"]] += 1
            else:
                recording.tool(_result(event, discarded[event.tool_use["toolUseId"]]))
        elif event.retry and event.stop_response is not None:
            call = waited.latest.call
            if call is not None and call.handle is not None:
                recording.discarded(call.handle)


def _result(event: AfterToolCallEvent, discarded: int) -> ToolResult:
    return ToolResult(
        call_id=event.tool_use["toolUseId"],
        content=_shown(event.result.get("content") or ()),
        status="error" if event.result["status"] == "error" else "success",
        seconds=event.duration,
        discarded=discarded,
    )


def _shown(content: Iterable[Mapping[str, Any]]) -> str:
    """What the policy is shown of a result, as Strands' OpenAI model writes it; no pictures."""
    return "\n".join(
        json.dumps(block["json"], ensure_ascii=False, default=str)
        if "json" in block
        else block["text"]
        for block in content
        if "json" in block or "text" in block
    )
