"""LangChain and LangGraph: a shared chat model whose every call belongs to its rollout.

Nothing is written into the model by a call: a call of a rollout is made by a copy, with clients of
its own. The record has the answer as the engine sent it, by the transport below OpenAI's client:
arguments that are no JSON, token ids and log-probabilities. A call that was throttled or refused is
no turn; each attempt of OpenAI's client is in the record.

Clients that wait share the model's connections. Those that are awaited have connections of their
own, unless the user keeps a client: LangChain shares one among all event loops of a process, and
connections of a loop that has ended fail in the next one.

The model counts the turns of an episode and the callbacks never do: they record tools. A tool that
a model invents, or calls with arguments that do not fit, runs no callback in LangGraph: its result
is read from the next request.
"""

from __future__ import annotations

from reward_functions.core.extras import EXTRAS, require

require(
    "langchain_openai",
    "openai",
    by=__name__.replace(".policy", ""),
    extra=EXTRAS["langchain_openai"],
)

import asyncio
import copy
import os
import ssl
import time
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self, cast

import openai
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import global_ssl_context
from pydantic import Field, model_validator

from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.episode.invocation import Steps
from reward_functions.rollouts.policy.asking import Asking, current_asking
from reward_functions.rollouts.policy.calls import (
    UnsupportedModel,
    in_own_context,
    require_time,
    tool_ended,
)
from reward_functions.rollouts.policy.httpx import recording_client
from reward_functions.rollouts.policy.openai import DEFAULT_MODEL, REFUSED, ClientArgs
from reward_functions.rollouts.policy.outgoing import TOKENS, with_parameters
from reward_functions.rollouts.record.completion import joined
from reward_functions.rollouts.record.text_tool_calls import recovered
from reward_functions.rollouts.record.types import ToolResult
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.request.endpoints import region_of, signing_region

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Generator,
        Iterable,
        Iterator,
        Mapping,
    )
    from uuid import UUID

    from reward_functions.rollouts.record.types import ToolStatus


__all__ = [
    "RolloutCallbacks",
    "RolloutChatOpenAI",
    "UnsupportedModel",
    "rollout_handler",
    "wrap_chat_model",
]


class RolloutChatOpenAI(ChatOpenAI):
    """An OpenAI chat model of LangChain whose calls carry the rollout that makes them.

    Within a rollout each call has its headers, its sampling parameters, the address of its runtime
    and a bearer token that is minted when it is needed. Your own settings stay where the rollout
    says nothing. Outside any rollout it is a `ChatOpenAI`. `bind_tools`, `with_structured_output`,
    streams and batches are LangChain's own.

    Args:
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: whether tool calls that the policy wrote into its text reach the agent
            as tool calls. In a stream they come at its end.
        config: of `ChatOpenAI`; `model` is "default", the runtime's name of the policy, and no
            `api_key` is needed where a token is minted.

    Raises:
        UntrustedEndpoint: at a call whose payload names a host that is not a runtime.
        UnsupportedModel: at a call that LangChain would send to the Responses API.
        PolicyFailure: at a call after the deadline of its episode.
    """

    model_name: str = Field(default=DEFAULT_MODEL, alias="model")
    trusted: tuple[str, ...] = Field(default=(), exclude=True)
    recover_tool_calls: bool = Field(default=False, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _have_a_key(cls, values: Any) -> Any:
        """A client is made with the model: a key that is not used, where there is none."""
        if {"api_key", "openai_api_key"} & values.keys():
            return values
        return values if _environment_has_a_key() else values | {"api_key": UNUSED_KEY}

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The request of a call, with the parameters of its rollout."""
        request: dict[str, Any] = super()._get_request_payload(*args, **kwargs)
        asking = current_asking()
        if asking is None:
            return request
        if "messages" not in request:
            raise UnsupportedModel(
                "the runtime of a job speaks OpenAI's chat completions only, and LangChain sends "
                "this call to the Responses API: say use_responses_api=False, and bind tools of "
                "your own in place of OpenAI's built-in ones"
            )
        request = with_parameters(request)
        asking.ask(request)
        return request

    def _create_chat_result(self, response: Any, *args: Any, **kwargs: Any) -> ChatResult:
        """The whole answer, as LangChain reads it."""
        asking = current_asking()
        if asking is None or asking.chunks:
            return super()._create_chat_result(response, *args, **kwargs)
        reply = _as_dict(response)
        if reply.get("choices"):
            asking.answered(reply)
            message = reply["choices"][0]["message"]
            if (found := self._recovered(message, asking)) is not None:
                choice = reply["choices"][0] | {"message": found, "finish_reason": "tool_calls"}
                response = reply | {"choices": [choice]}
        return super()._create_chat_result(response, *args, **kwargs)

    def _convert_chunk_to_generation_chunk(self, chunk: Any, *args: Any, **kwargs: Any) -> Any:
        """A piece of a streamed answer, as LangChain reads it."""
        if (asking := current_asking()) is not None:
            asking.answering()
            # A stream with a response format sends the chunks of the service, and others beside.
            asking.chunks.append(chunk.get("chunk") or ({} if "type" in chunk else chunk))
        return super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        if get_rollout_context() is None:
            return super()._generate(*args, **kwargs)
        began, clients = TOKENS.clock(), self._clients()
        try:
            return self._generated(clients, *args, **kwargs)
        except REFUSED:
            if not clients.mints:
                raise
        TOKENS.renew(began)
        return self._generated(clients, *args, **kwargs)

    def _generated(self, clients: CallClients, *args: Any, **kwargs: Any) -> ChatResult:
        bound = self._copied(clients.blocking())
        with Asking():
            return super(RolloutChatOpenAI, bound)._generate(*args, **kwargs)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        if get_rollout_context() is None:
            return await super()._agenerate(*args, **kwargs)
        began, clients = TOKENS.clock(), self._clients()
        try:
            return await self._agenerated(clients, *args, **kwargs)
        except REFUSED:
            if not clients.mints:
                raise
        TOKENS.renew(began)
        return await self._agenerated(clients, *args, **kwargs)

    async def _agenerated(self, clients: CallClients, *args: Any, **kwargs: Any) -> ChatResult:
        async with clients.waiting() as fields:
            bound = self._copied(fields)
            with Asking():
                return await super(RolloutChatOpenAI, bound)._agenerate(*args, **kwargs)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        if get_rollout_context() is None:
            yield from super()._stream(*args, **kwargs)
            return
        began, clients, started = TOKENS.clock(), self._clients(), False
        try:
            with closing(Steps(self._streamed(clients, *args, **kwargs), copy_context())) as chunks:
                for chunk in chunks:
                    started = True
                    yield chunk
        except REFUSED:
            if started or not clients.mints:
                raise
        else:
            return
        TOKENS.renew(began)
        yield from Steps(self._streamed(clients, *args, **kwargs), copy_context())

    def _streamed(
        self, clients: CallClients, *args: Any, **kwargs: Any
    ) -> Generator[ChatGenerationChunk, None, None]:
        bound = self._copied(clients.blocking())
        with Asking() as asking:
            yield from super(RolloutChatOpenAI, bound)._stream(*args, **kwargs)
            yield from self._ended(asking)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        if get_rollout_context() is None:
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
            return
        began, clients, started = TOKENS.clock(), self._clients(), False
        try:
            async with aclosing(
                in_own_context(self._astreamed(clients, *args, **kwargs))
            ) as chunks:
                async for chunk in chunks:
                    started = True
                    yield chunk
        except REFUSED:
            if started or not clients.mints:
                raise
        else:
            return
        TOKENS.renew(began)
        async with aclosing(in_own_context(self._astreamed(clients, *args, **kwargs))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _astreamed(
        self, clients: CallClients, *args: Any, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk, None]:
        async with clients.waiting() as fields:
            bound = self._copied(fields)
            with Asking() as asking:
                async for chunk in super(RolloutChatOpenAI, bound)._astream(*args, **kwargs):
                    yield chunk
                for chunk in self._ended(asking):
                    yield chunk

    def _ended(self, asking: Asking) -> Iterator[ChatGenerationChunk]:
        """A stream is whole: it is recorded, and tool calls in its text come behind it."""
        whole = joined(asking.chunks)
        if not whole["choices"]:
            return
        asking.answered(whole)
        message = self._recovered(whole["choices"][0]["message"], asking)
        if message is None:
            return
        calls: list[Any] = [
            {
                "type": "tool_call_chunk",
                "index": index,
                "id": call["id"],
                "name": call["function"]["name"],
                "args": call["function"]["arguments"],
            }
            for index, call in enumerate(message["tool_calls"])
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))

    def _recovered(self, message: Any, asking: Asking) -> dict[str, Any] | None:
        tools = asking.request.get("tools")
        return recovered(message, tools) if self.recover_tool_calls and tools else None

    def _clients(self) -> CallClients:
        return CallClients(self, self.trusted)

    def _copied(self, fields: Mapping[str, Any]) -> Self:
        """This model with other fields; nothing is validated, and no client is made."""
        made = copy.copy(self)
        vars(made).update(fields)
        return made


@cache
def in_rollouts(kind: type[ChatOpenAI]) -> type[RolloutChatOpenAI]:
    """The class of a chat model's own class that lives in rollouts; one that does is its own."""
    if issubclass(kind, RolloutChatOpenAI):
        return kind
    if kind is ChatOpenAI:
        return RolloutChatOpenAI
    body = {"__module__": __name__, "__doc__": RolloutChatOpenAI.__doc__}
    made: Any = type(RolloutChatOpenAI)
    return cast(
        "type[RolloutChatOpenAI]", made(f"Rollout{kind.__name__}", (RolloutChatOpenAI, kind), body)
    )


def _as_dict(response: Any) -> dict[str, Any]:
    if isinstance(response, dict):
        return response
    if not isinstance(response, openai.BaseModel):
        return {}
    parsed = {"choices": {"__all__": {"message": {"parsed"}}}}
    return response.model_dump(exclude=parsed, warnings=False)


def _environment_has_a_key() -> bool:
    """Whether LangChain finds a key by itself."""
    return (
        ChatOpenAI.model_fields["openai_api_key"].get_default(call_default_factory=True) is not None
    )


UNUSED_KEY: Final = "minted-when-it-is-needed"
"""In the place of a key, where there is none: a chat model cannot be made without."""


class CallClients:
    """The clients of the current rollout's calls.

    Args:
        model: a `ChatOpenAI`.
        trusted: endpoints that a payload may name beside AWS's.

    Raises:
        UntrustedEndpoint: the payload names a host that is not a runtime.
    """

    def __init__(self, model: Any, trusted: Iterable[str]) -> None:
        own = {"default_headers": model.default_headers, "base_url": model.openai_api_base}
        args = ClientArgs(own | {"api_key": has_own_key(model)}, trusted)
        self._model = model
        self.mints = args.mints
        self._options = {
            "base_url": args["base_url"],
            "set_default_headers": dict(args["default_headers"]),
        }
        known = region_of(read_metadata(get_rollout_context())) if self.mints else ""
        self._region = signing_region(str(args["base_url"]), known)

    def blocking(self) -> dict[str, Any]:
        """The fields of a model that calls and waits."""
        if self._model.root_client is None:
            return {}
        token = TOKENS.get(self._region) if self.mints else None
        own = self._model.root_client
        http = recording_client(own._client)  # noqa: SLF001 - a copy over the same connections
        root = own.with_options(**self._options, api_key=token, http_client=http)
        return {"root_client": root, "client": root.chat.completions}

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[dict[str, Any]]:
        """The fields of a model that awaits its answers; a token is minted beside the loop."""
        token = await asyncio.to_thread(TOKENS.get, self._region) if self.mints else None
        async with AsyncExitStack() as closing:
            http = self._model.http_async_client
            if http is None:
                http = openai.DefaultAsyncHttpxClient(
                    verify=_trust(os.environ.get("SSL_CERT_FILE"))
                )
                await closing.enter_async_context(http)
            root = self._model.root_async_client.with_options(
                **self._options, api_key=token, http_client=recording_client(http)
            )
            yield {"root_async_client": root, "async_client": root.chat.completions}


@lru_cache(1)
def _trust(file: str | None) -> ssl.SSLContext:
    """Whom clients trust, as httpx reads it: 23 of a client's 24 milliseconds do, if each does."""
    return ssl.create_default_context(cafile=file) if file else global_ssl_context


def has_own_key(model: Any) -> bool:
    """Whether a key was handed to a model: that of `OPENAI_API_KEY` is another service's."""
    key = model.openai_api_key
    if key is None or not hasattr(key, "get_secret_value"):
        return key is not None
    return key.get_secret_value() not in {"", UNUSED_KEY, os.environ.get("OPENAI_API_KEY")}


def wrap_chat_model(
    model: Any, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> RolloutChatOpenAI:
    """A copy of a chat model whose calls carry the rollout that makes them; it stays as it is.

    Args:
        model: a `ChatOpenAI` of LangChain, or of a class of your own below it, before tools are
            bound to it; one that is wrapped already is returned.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutChatOpenAI`.

    Returns:
        A model of the same class, and a `RolloutChatOpenAI`: see there what each call carries.

    Raises:
        UnsupportedModel: any other model.
    """
    if isinstance(model, RolloutChatOpenAI):
        return model
    _require_chat_completions(model)
    kind: type[RolloutChatOpenAI] = in_rollouts(model.__class__)
    made = kind.__new__(kind)
    made.__setstate__(copy.copy(model).__getstate__())
    vars(made).update(
        trusted=tuple(trusted),
        recover_tool_calls=recover_tool_calls,
        model_kwargs=copy.deepcopy(model.model_kwargs),
    )
    return made


def _require_chat_completions(model: Any) -> None:
    """Nothing, where a chat model posts chat completions to an address of the caller's."""
    kind = type(model)
    foreign = [
        each.__name__
        for each in kind.__mro__
        if issubclass(each, ChatOpenAI)
        and each is not ChatOpenAI
        and each.__module__.startswith("langchain")
    ]
    if isinstance(getattr(model, "bound", None), BaseChatModel):
        name = "a model with tools bound to it, which is wrapped before that"
    elif not isinstance(model, ChatOpenAI) or foreign:
        name = foreign[0] if foreign else kind.__name__
    elif model.use_responses_api:
        name = "a ChatOpenAI that uses the Responses API"
    else:
        return
    raise UnsupportedModel(
        "wrap_chat_model adapts LangChain's ChatOpenAI and classes of your own below it, not "
        f"{name}: the runtime of a job speaks OpenAI's chat completions only; "
        'say wrap_chat_model(ChatOpenAI(model="default")), or RolloutChatOpenAI()'
    )


RUNNING: Final = 4096
"""Tools that are remembered at once; the oldest is one whose end never came."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A tool that runs.

    Args:
        name: of the tool.
        call_id: of its tool call; "" where no model called it.
        began: in seconds, of any origin.
    """

    name: str
    call_id: str
    began: float


class RolloutCallbacks(BaseCallbackHandler):
    """Callbacks of any number of agents at a time, synchronous or not.

        agent.invoke(state, {"callbacks": [RolloutCallbacks()]})

    Once an episode is cancelled no tool is called any more: the agent ends with `PolicyFailure`, as
    the wrapped model ends it at a call. Outside a `rollout_handler` they do nothing.
    """

    raise_error = True
    """What `on_tool_start` raises ends the agent."""
    run_inline = True
    """In the task of the agent, not on a thread beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._runs: dict[UUID, _Run] = {}

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,  # noqa: ARG002 — LangChain's signature
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        """A tool begins; refused after the deadline."""
        episode = current_rollout()
        if episode is None:
            return
        require_time()
        with self._lock:
            if len(self._runs) >= RUNNING:
                del self._runs[next(iter(self._runs))]
            self._runs[run_id] = _Run(
                name=str(serialized.get("name") or ""),
                call_id=str(kwargs.get("tool_call_id") or ""),
                began=time.perf_counter(),
            )

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ARG002
        """A tool gave its result."""
        failed = getattr(output, "status", None) == "error"
        content = output if isinstance(output, str) else getattr(output, "content", "")
        self._record(
            run_id,
            content=content if isinstance(content, str) else _text(content),
            status="error" if failed else "success",
            call_id=getattr(output, "tool_call_id", None) or "",
        )

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool raised; what the policy is shown of it is in the next request."""
        self._record(
            run_id,
            content=type(error).__name__,
            status="error",
            call_id=str(kwargs.get("tool_call_id") or ""),
        )

    def _record(self, run_id: UUID, *, content: str, status: ToolStatus, call_id: str) -> None:
        with self._lock:
            run = self._runs.pop(run_id, None)
        if run is None:
            return
        call_id = call_id or run.call_id
        if call_id:
            took = time.perf_counter() - run.began
            tool_ended(
                ToolResult(call_id=call_id, content=content, status=status, seconds=took), run.name
            )


def _text(blocks: Any) -> str:
    """The text of a message's blocks."""
    if not isinstance(blocks, list):
        return ""
    texts = (each if isinstance(each, str) else each.get("text", "") for each in blocks)
    return "\n".join(text for text in texts if text)
