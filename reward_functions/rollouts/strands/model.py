"""Strands' own OpenAI model, in whichever rollout calls it.

Nothing is written into the model by a call, so one model serves any number of rollouts at a time.
The runtime captures each answer as a turn; the model counts it on the episode, once an answer came.
A call that was throttled or refused is no turn. Not handled: an answer that got lost on its way,
which OpenAI's client asks for again, is a turn of the runtime that nobody here has seen.
"""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import openai
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.context import get_rollout_context
from reward_functions.rollouts.episodes.episode import current_rollout
from reward_functions.rollouts.errors import PolicyFailure, RolloutError
from reward_functions.rollouts.headers import LiveParams, make_inference_headers
from reward_functions.rollouts.strands.client_args import ClientArgs
from reward_functions.rollouts.strands.tokens import TOKENS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

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
        config: of `OpenAIModel`; `model_id` is "default", the runtime's name of the policy.

    Raises:
        UntrustedEndpoint: at a call whose payload names a host that is not a runtime.
        PolicyFailure: at a call behind the deadline of its episode.
    """

    wrapped: ClassVar[type[OpenAIModel] | None] = None
    """Of a class that `in_rollouts` made: the one that it was made of."""

    def __init__(
        self,
        client: Any = None,
        client_args: dict[str, Any] | None = None,
        *,
        trusted: Iterable[str] = (),
        **config: Any,
    ) -> None:
        super().__init__(client, client_args, **{"model_id": DEFAULT_MODEL} | config)
        self.client_args = ClientArgs(self.client_args, trusted)  # type: ignore[assignment]

    def format_request(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The request of a call, with the parameters of its rollout."""
        own = super().format_request(*args, **kwargs)
        metadata = get_rollout_context()
        if metadata is None:
            return own
        request = dict(LiveParams(own))
        if "max_completion_tokens" in own and "max_tokens" in request:
            del request["max_completion_tokens"]  # the service refuses both
        if self._custom_client is not None:
            headers = own.get("extra_headers") or {}
            request["extra_headers"] = headers | make_inference_headers(metadata)
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
        try:
            async with aclosing(self._called(lambda: original(*args, **kwargs))) as events:
                async for event in events:
                    yield event
        except RolloutError:
            raise
        except UNREADABLE:
            _count()
            raise

    async def _called(
        self, call: Callable[[], AsyncGenerator[_Event, None]], *, again: bool = True
    ) -> AsyncGenerator[_Event, None]:
        """A call's events, counted at the first; made again where its token was refused."""
        _require_time()
        began, counted = TOKENS.clock(), False
        try:
            async with aclosing(call()) as events:
                async for event in events:
                    counted = counted or _count()
                    yield event
        except REFUSED:
            if counted or not again or not self._mints():
                raise
        else:
            return
        TOKENS.renew(began)
        async with aclosing(self._called(call, again=False)) as events:
            async for event in events:
                yield event

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


def _count() -> bool:
    episode = current_rollout()
    if episode is not None:
        episode.policy_call()
    return True


def _require_time() -> None:
    episode = current_rollout()
    if episode is not None and episode.cancelled.is_set():
        raise PolicyFailure("the rollout's window is over: the policy is not called again")
