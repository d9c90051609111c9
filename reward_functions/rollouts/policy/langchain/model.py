"""LangChain's own OpenAI chat model, in whichever rollout calls it.

Nothing is written into the model by a call: a call of a rollout is made by a copy, with clients of
its own. The record has the answer as the engine sent it, by the transport below OpenAI's client:
arguments that are no JSON, token ids and log-probabilities.

A call that was throttled or refused is no turn; each attempt of OpenAI's client is in the record.
"""

from __future__ import annotations

import copy
from contextlib import aclosing, closing
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Self, cast

import openai
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import Field, model_validator

from reward_functions.rollouts.episode.invocation import Steps
from reward_functions.rollouts.policy.answers import joined
from reward_functions.rollouts.policy.asking import Asking, current_asking
from reward_functions.rollouts.policy.calls import UnsupportedModel, in_own_context
from reward_functions.rollouts.policy.langchain.clients import UNUSED_KEY, CallClients
from reward_functions.rollouts.policy.outgoing import TOKENS, with_parameters
from reward_functions.rollouts.record.text_tool_calls import recovered
from reward_functions.rollouts.request.context import get_rollout_context

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping

DEFAULT_MODEL: Final = "default"
"""What the runtime calls the policy."""

REFUSED: Final = (openai.AuthenticationError, openai.PermissionDeniedError)
"""What a call raises whose token is not taken: any more, where credentials have rotated."""


class RolloutChatOpenAI(ChatOpenAI):
    """An OpenAI chat model of LangChain whose calls carry the rollout that makes them.

    Within a rollout each call has its headers, its sampling parameters, the address of its runtime
    and a bearer token that is minted when it is needed; what the user sets stays where the rollout
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
        PolicyFailure: at a call behind the deadline of its episode.
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
