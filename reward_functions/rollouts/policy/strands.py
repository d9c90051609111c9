"""Strands: a shared model whose every call belongs to the rollout that makes it.

Nothing is written into the model by a call, so one model serves any number of rollouts at a time.
The runtime captures each answer as a turn; the model counts it on the episode, once an answer came.
The transport below OpenAI's client records it as the engine sent it, with its token ids, and each
attempt of that client. A call that was throttled or refused is no turn. Not handled: an answer that
got lost on its way, which OpenAI's client asks for again, is a turn of the runtime that nobody here
has seen. A call that is no policy call, such as a summary by another model, is no turn either.

The hooks never count turns. An attempt that another hook has repeated (`event.retry`) is discarded
by Strands: it is counted as discarded and not as a call. Whether it was is known when the next
model call begins, so an event waits until then.

| fact of Strands 1.62 | so here |
| --- | --- |
| an agent serves one invocation at a time | what waits is kept by agent, and nothing on the hooks |
| the usage is the message's own before `AfterModelCallEvent` | a call's usage is read there |
| `accumulated_usage` grows after that event | it is not read |
| the model names the tool, and may invent one | those that do not exist have one name |

`Agent.add_middleware` is there from Strands 1.62 on. For an older one wrap the model by
`wrap_model`, and hand `RolloutHooks()` to the agent: that is the same.

Where no transport records, stream events are read as one completion in OpenAI's form:

| Strands | OpenAI |
| --- | --- |
| `contentBlockDelta` with `text` | `content` |
| the same with `reasoningContent` | `reasoning_content` |
| `contentBlockStart` with `toolUse`, and its `input` | one of `tool_calls`, as it was written |
| `messageStop` | `finish_reason` |
| `metadata` | `usage` |

Events of any other kind, as a class of a user's own may send, are not read.
"""

from __future__ import annotations

from reward_functions.core.extras import EXTRAS, require

require("strands", "openai", by=__name__.replace(".policy", ""), extra=EXTRAS["strands"])

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast
from weakref import WeakKeyDictionary

import openai
from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)
from strands.models.model import Model
from strands.models.openai import OpenAIModel

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.policy.asking import Asking, Latest, current_asking, latest_call
from reward_functions.rollouts.policy.calls import UnsupportedModel, in_own_context
from reward_functions.rollouts.policy.httpx import recording_client
from reward_functions.rollouts.policy.openai import DEFAULT_MODEL, REFUSED, ClientArgs
from reward_functions.rollouts.policy.outgoing import TOKENS, CallHeaders, with_parameters
from reward_functions.rollouts.record.text_tool_calls import recovered
from reward_functions.rollouts.record.types import ToolResult
from reward_functions.rollouts.request.context import get_rollout_context

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator

    from strands.types.streaming import StreamEvent

    from reward_functions.rollouts.episode.episode import RolloutContext


__all__ = [
    "AgentStatistics",
    "RolloutHooks",
    "RolloutModel",
    "UnsupportedModel",
    "adapt_agent",
    "rollout_handler",
    "wrap_model",
]

_Event = TypeVar("_Event")

UNREADABLE: Final = (
    ValueError,
    openai.LengthFinishReasonError,
    openai.ContentFilterFinishReasonError,
)
"""What `structured_output` raises over an answer that came and does not fit its type."""


class RolloutModel(OpenAIModel):
    """An OpenAI model of Strands whose calls carry the rollout that makes them.

    Within a rollout each call has its headers, its sampling parameters, the address of its runtime
    and a bearer token that is minted when it is needed. Your own settings stay where the rollout
    says nothing. Outside any rollout it is an `OpenAIModel`.

    Args:
        client: an OpenAI client that the caller keeps, as of `OpenAIModel`. It brings its own
            address and its own key.
        client_args: of an OpenAI client, as of `OpenAIModel`; they are copied and cannot be changed
            afterwards.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: whether tool calls that the policy wrote into its text reach the agent
            as tool calls. An answer is held back until it is whole then.
        config: of `OpenAIModel`; `model_id` is "default", the runtime's name of the policy.

    Raises:
        UntrustedEndpoint: at a call whose payload names a host that is not a runtime.
        PolicyFailure: at a call after the deadline of its episode.
    """

    recovers = False
    """See `recover_tool_calls`."""

    wrapped: ClassVar[type[OpenAIModel] | None] = None
    """Of a class that `in_rollouts` made: the one that it was made of."""

    def __init__(
        self,
        client: Any = None,
        client_args: dict[str, Any] | None = None,
        *,
        trusted: Iterable[str] = (),
        recover_tool_calls: bool = False,
        **config: Any,
    ) -> None:
        super().__init__(client, client_args, **{"model_id": DEFAULT_MODEL} | config)
        self.client_args = ClientArgs(self.client_args, trusted)  # type: ignore[assignment]
        self.recovers = recover_tool_calls

    def format_request(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The request of a call, with the parameters of its rollout."""
        request = super().format_request(*args, **kwargs)
        metadata = get_rollout_context()
        if metadata is not None:
            request = with_parameters(request)
        if metadata is not None and self._custom_client is not None:
            request["extra_headers"] = dict(CallHeaders(request.get("extra_headers")))
        if (asking := current_asking()) is not None:
            asking.ask(request)
        return request

    async def stream(self, *args: Any, **kwargs: Any) -> AsyncGenerator[StreamEvent, None]:
        """A policy call; a turn of the episode as soon as its answer begins."""
        original = super().stream
        async with aclosing(self._called(lambda: original(*args, **kwargs))) as events:
            async for event in events:
                yield event

    async def structured_output(
        self, *args: Any, **kwargs: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """A policy call whose answer has a type; a turn of the episode whether it fits or not."""
        original = super().structured_output
        async with aclosing(self._called(lambda: original(*args, **kwargs))) as events:
            async for event in events:
                yield event

    @asynccontextmanager
    async def _get_client(self) -> AsyncIterator[Any]:
        """The client of a call. Strands before 1.20 or so makes one without asking here."""
        async with super()._get_client() as client:
            if current_asking() is None:
                yield client
            else:
                http = recording_client(client._client)  # noqa: SLF001 - over the same connections
                yield client.with_options(http_client=http)

    async def _called(
        self, call: Callable[[], AsyncGenerator[_Event, None]], *, again: bool = True
    ) -> AsyncGenerator[_Event, None]:
        """A call's events; it is made again where its token was refused."""
        began, started = TOKENS.clock(), False
        try:
            async with aclosing(in_own_context(self._attempted(call))) as events:
                async for event in events:
                    started = True
                    yield event
        except REFUSED:
            if started or not again or not self._mints():
                raise
        else:
            return
        TOKENS.renew(began)
        async with aclosing(self._called(call, again=False)) as events:
            async for event in events:
                yield event

    async def _attempted(
        self, call: Callable[[], AsyncGenerator[_Event, None]]
    ) -> AsyncGenerator[_Event, None]:
        """The events of one attempt: a turn at the first, recorded when the last is there."""
        answer, held = Answer(), []
        with Asking() as asking:
            try:
                async with aclosing(call()) as events:
                    async for event in events:
                        asking.answering()
                        answer.add(cast("Mapping[str, Any]", event))
                        if self.recovers:
                            held.append(event)
                        else:
                            yield event
            except UNREADABLE:
                asking.answering()
                raise
            if answer.whole:
                asking.answered(answer.completion(str(self.config.get("model_id", ""))))
            for event in self._recovered(answer, asking, held):
                yield event

    def _recovered(self, answer: Answer, asking: Asking, held: list[_Event]) -> Iterable[_Event]:
        """The events that were held back, or those of the tool calls in their text."""
        tools = asking.request.get("tools") or ()
        message = recovered(answer.message(), tools) if held and tools else None
        return held if message is None else cast("Iterable[_Event]", answer.saying(message))

    def _mints(self) -> bool:
        return (
            self._custom_client is None
            and isinstance(self.client_args, ClientArgs)
            and self.client_args.mints
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """A class made here cannot be found by its name: a copy and a pickle name its origin."""
        return blank, (self.wrapped or type(self),), self.__getstate__()


@cache
def in_rollouts(kind: type[OpenAIModel]) -> type[RolloutModel]:
    """The class of a model's own class that lives in rollouts; one that does is its own."""
    if issubclass(kind, RolloutModel):
        return kind
    if kind is OpenAIModel:
        return RolloutModel
    body = {"wrapped": kind, "__module__": __name__, "__doc__": RolloutModel.__doc__}
    return type(f"Rollout{kind.__name__}", (RolloutModel, kind), body)


def blank(kind: type[OpenAIModel]) -> RolloutModel:
    """A model without its state: what a copy and a pickle are filled into."""
    made = in_rollouts(kind)
    return made.__new__(made)


def wrap_model(
    model: Any, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> RolloutModel:
    """A copy of a model whose calls carry the rollout that makes them; the model stays as it is.

    Args:
        model: an `OpenAIModel` of Strands, or of a class of your own below it; one that is wrapped
            already is returned.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutModel`.

    Returns:
        A model of the same class, and a `RolloutModel`: see there what each call carries.

    Raises:
        UnsupportedModel: any other model.
    """
    if isinstance(model, RolloutModel):
        return model
    _require_chat_completions(model)
    wrapped = blank(type(model))
    own = vars(model)
    wrapped.__dict__ |= own | {
        "config": deepcopy(own["config"]),
        "client_args": ClientArgs(own["client_args"], trusted),
        "recovers": recover_tool_calls,
    }
    return wrapped


def _require_chat_completions(model: Any) -> None:
    """Nothing, where a model posts chat completions to an address of the caller's."""
    kind = type(model)
    foreign = [
        each.__name__
        for each in kind.__mro__
        if issubclass(each, Model)
        and each not in {OpenAIModel, Model}
        and each.__module__.partition(".")[0] == "strands"
    ]
    if not isinstance(model, OpenAIModel) or foreign:
        name = foreign[0] if foreign else kind.__name__
    elif getattr(model, "_bedrock_mantle_config", None) is not None:
        name = "an OpenAIModel with bedrock_mantle_config"
    else:
        return
    raise UnsupportedModel(
        f"wrap_model adapts Strands' OpenAIModel and classes of your own below it, not {name}: "
        "the runtime of a job speaks OpenAI's chat completions only; "
        'say wrap_model(OpenAIModel(model_id="default")), or RolloutModel()'
    )


Agent = TypeVar("Agent", bound=Any)


def adapt_agent(
    agent: Agent,
    *,
    hooks: RolloutHooks | None = None,
    trusted: Iterable[str] = (),
    recover_tool_calls: bool = False,
) -> Agent:
    """Have every model call of an agent carry the rollout that makes it; its model stays as it is.

    A call's model is a copy, made when the call is, of whichever model the agent has then. Behind
    the deadline neither model nor tool is called, and the agent ends. A question of an agent's
    `structured_output` passes no middleware, and so carries nothing: use
    `structured_output_model=`, or `wrap_model`.

    Args:
        agent: of Strands 1.62 or newer.
        hooks: that are shared by agents; hooks of its own where None.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutModel`.

    Returns:
        The same agent.

    Raises:
        ConfigurationError: this Strands has no middleware.
        UnsupportedModel: at a call, where the model speaks no chat completions.
    """
    if not hasattr(agent, "add_middleware"):
        raise ConfigurationError(
            "this Strands has no middleware, which 1.62 has: "
            "say Agent(model=wrap_model(model), hooks=[RolloutHooks()])"
        )
    from strands.middleware import InvokeModelStage  # noqa: PLC0415 — from 1.62

    def with_wrapped_model(context: Any) -> Any:
        model = wrap_model(context.model, trusted=trusted, recover_tool_calls=recover_tool_calls)
        return context.replace(model=model)

    agent.add_middleware(InvokeModelStage.Input, with_wrapped_model)
    agent.hooks.add_hook(hooks or RolloutHooks())
    return agent


FINISHED: Final = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
"""OpenAI's word for a stop reason of Strands; "stop" for any other."""


class Answer:
    """An answer while it comes, and when it is whole."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._stopped = ""
        self._metadata: Mapping[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Read the next event."""
        for name, value in event.items():
            if isinstance(value, Mapping) and name in READERS:
                READERS[name](self, value)

    def _start(self, value: Mapping[str, Any]) -> None:
        use = (value.get("start") or {}).get("toolUse")
        if use is not None:
            function = {"name": use.get("name"), "arguments": ""}
            call = {"id": use.get("toolUseId"), "type": "function", "function": function}
            self._calls.append(call)

    def _delta(self, value: Mapping[str, Any]) -> None:
        delta = value.get("delta") or {}
        self._text.append(delta.get("text") or "")
        self._reasoning.append((delta.get("reasoningContent") or {}).get("text") or "")
        if self._calls:
            self._calls[-1]["function"]["arguments"] += (delta.get("toolUse") or {}).get(
                "input", ""
            )

    def _stop(self, value: Mapping[str, Any]) -> None:
        self._stopped = value.get("stopReason") or "end_turn"

    def _usage(self, value: Mapping[str, Any]) -> None:
        self._metadata = value

    @property
    def whole(self) -> bool:
        """Whether the model has said that it stopped."""
        return bool(self._stopped)

    def message(self) -> dict[str, Any]:
        """The message that the model wrote."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text) or None}
        if reasoning := "".join(self._reasoning):
            message["reasoning_content"] = reasoning
        if self._calls:
            message["tool_calls"] = self._calls
        return message

    def completion(self, model: str) -> dict[str, Any]:
        """The answer as a chat completion.

        Args:
            model: that it was asked of.
        """
        finished = FINISHED.get(self._stopped, "stop")
        choice = {"index": 0, "message": self.message(), "finish_reason": finished}
        whole: dict[str, Any] = {"object": "chat.completion", "model": model, "choices": [choice]}
        if usage := self._metadata.get("usage"):
            whole["usage"] = {
                "prompt_tokens": usage["inputTokens"],
                "completion_tokens": usage["outputTokens"],
                "total_tokens": usage["totalTokens"],
                "prompt_tokens_details": {"cached_tokens": usage.get("cacheReadInputTokens")},
            }
        return whole

    def saying(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """The events of this answer, had the model written another message with tool calls."""
        yield {"messageStart": {"role": "assistant"}}
        if reasoning := message.get("reasoning_content"):
            yield from _block({}, {"reasoningContent": {"text": reasoning}})
        if text := message.get("content"):
            yield from _block({}, {"text": text})
        for call in message["tool_calls"]:
            use = {"name": call["function"]["name"], "toolUseId": call["id"]}
            yield from _block(
                {"toolUse": use}, {"toolUse": {"input": call["function"]["arguments"]}}
            )
        yield {"messageStop": {"stopReason": "tool_use"}}
        if self._metadata:
            yield cast("StreamEvent", {"metadata": self._metadata})


def _block(start: dict[str, Any], delta: dict[str, Any]) -> Iterator[StreamEvent]:
    yield cast("StreamEvent", {"contentBlockStart": {"start": start}})
    yield cast("StreamEvent", {"contentBlockDelta": {"delta": delta}})
    yield {"contentBlockStop": {}}


READERS: Final = {
    "contentBlockStart": Answer._start,  # noqa: SLF001 — of the class above
    "contentBlockDelta": Answer._delta,  # noqa: SLF001
    "messageStop": Answer._stop,  # noqa: SLF001
    "metadata": Answer._usage,  # noqa: SLF001
}


UNKNOWN_TOOL: Final = "(unknown tool)"
"""Under which calls of tools that do not exist are counted."""

OVER: Final = "the rollout's window is over"


@dataclass(slots=True)
class ToolStatistics:
    """The use of a tool in an episode.

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
    """The acts of an episode's agents.

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
        """The acts of an episode's agents, up to their last model call.

        Args:
            episode: the current one where None. It is forgotten when the episode is.

        Raises:
            LookupError: the episode has no agent.
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
