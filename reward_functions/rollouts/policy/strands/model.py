"""Strands' own OpenAI model, in whichever rollout calls it.

Nothing is written into the model by a call, so one model serves any number of rollouts at a time.
The runtime captures each answer as a turn; the model counts it on the episode, once an answer came,
and the transport below OpenAI's client records it as the engine sent it, with its token ids, and
each attempt of that client. A call that was throttled or refused is no turn. Not handled: an answer
that got lost on its way, which OpenAI's client asks for again, is a turn of the runtime that nobody
here has seen.
"""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast

import openai
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.policy.asking import Asking, current_asking
from reward_functions.rollouts.policy.calls import in_own_context
from reward_functions.rollouts.policy.httpx.client import recording_client
from reward_functions.rollouts.policy.openai.client_args import ClientArgs
from reward_functions.rollouts.policy.outgoing import TOKENS, CallHeaders, with_parameters
from reward_functions.rollouts.policy.strands.answers import Answer
from reward_functions.rollouts.record.text_tool_calls import recovered
from reward_functions.rollouts.request.context import get_rollout_context

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping

    from strands.types.streaming import StreamEvent

_Event = TypeVar("_Event")

DEFAULT_MODEL: Final = "default"
"""What the runtime calls the policy."""

REFUSED: Final = (openai.AuthenticationError, openai.PermissionDeniedError)
"""What a call raises whose token is not taken: any more, where credentials have rotated."""

UNREADABLE: Final = (
    ValueError,
    openai.LengthFinishReasonError,
    openai.ContentFilterFinishReasonError,
)
"""What `structured_output` raises over an answer that came and does not fit its type."""


class RolloutModel(OpenAIModel):
    """An OpenAI model of Strands whose calls carry the rollout that makes them.

    Within a rollout each call has its headers, its sampling parameters, the address of its runtime
    and a bearer token that is minted when it is needed; what the user sets stays where the rollout
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
        PolicyFailure: at a call behind the deadline of its episode.
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
