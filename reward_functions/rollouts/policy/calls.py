"""One call of the policy: refused after the deadline, counted as a turn, recorded.

    with policy_call(request) as call:
        reply = client.post(...)       # an exception is recorded by its type
        call.answering()               # an answer begins: a turn of the episode
        call.answered(reply)           # the whole of it, in OpenAI's form

An answer that arrives after the block is `call.later()`.

A call within a call is the same call: a wrapped model over a wrapped client is one turn. Where the
inner one is made again, because it failed, each attempt is in the record. Outside an episode all of
this does nothing.

A tool that ran in an episode: into its record, and a span of what it took.

A stream of a policy call: every step of it runs in one context, which is the stream's own.

A generator runs in the context of the code that takes its next item. A value that it sets there,
such as the policy call that it is, would be seen by its reader between two items. It cannot be
taken back where another task closes it.

The refusals of models and clients that no rollout can speak through.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.episode.invocation import InContext
from reward_functions.rollouts.record import spans
from reward_functions.rollouts.request.errors import PolicyFailure, RolloutError

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        Callable,
        Iterator,
        Mapping,
    )

    from reward_functions.rollouts.episode.episode import RolloutContext
    from reward_functions.rollouts.record.types import ToolResult


class PolicyCall:
    """One call, while it is made; used by one task at a time.

    Args:
        episode: None outside any.
        request: the body of a chat completion, in OpenAI's form; None where it is not known.
    """

    def __init__(self, episode: RolloutContext | None, request: Mapping[str, Any] | None) -> None:
        self._episode = episode
        self._request = request
        self._recording = None if episode is None or request is None else episode.recording
        self._turn: int | None = None
        self._attempts = 0
        self._handle: int | None = None
        self._span: spans.Span = spans.NOTHING
        self._open = self._answered = self._later = False
        self._left: Callable[[], object] | None = None
        self.current = True
        self._begin()

    def attempt(self) -> None:
        """The request is sent; again, where an attempt before it failed.

        Raises:
            PolicyFailure: it would be sent again, and the episode's window is over.
        """
        if not self._open and not self._answered:
            require_time()
            self._begin()

    def _begin(self) -> None:
        self._open = True
        self._attempts += 1
        if self._episode is not None:
            self._span = spans.begin("policy.call", _attributes(self._episode, self._request))
            self._span.set({"rollout.attempt": self._attempts})
        if self._recording is not None and self._request is not None:
            self._handle = self._recording.began(self._request)

    def answering(self) -> None:
        """An answer begins: a turn of the episode, once."""
        if self._episode is not None and self._turn is None:
            self._turn = self._episode.policy_call()
            self._span.set({"rollout.turn": self._turn})

    @property
    def handle(self) -> int | None:
        """Of the last attempt in the episode's recording; None where nothing is recorded."""
        return self._handle

    def later(self, left: Callable[[], object] | None = None) -> None:
        """The answer comes after the block: its reader says `answered` or `failed`.

        Args:
            left: is called where the reader leaves the rest of the answer, and has all it wants.
        """
        self._later = True
        self._left = left or self._left

    def answered(self, response: Mapping[str, Any]) -> None:
        """The whole answer is there, as a chat completion in OpenAI's form; the first counts."""
        if self._answered:
            return
        if not self._open:
            self._begin()
        self.answering()
        self._open, self._answered = False, True
        if self._recording is not None and self._handle is not None:
            self._recording.answered(self._handle, response)
        self._span.set(_answer_attributes(response))
        self._span.end()

    def failed(self, error: BaseException) -> None:
        """The attempt brought no answer; nothing, where it has brought one."""
        if not self._open:
            return
        self._open = False
        if self._recording is not None and self._handle is not None:
            self._recording.failed(self._handle, error)
        self._span.end(error)

    def left(self) -> None:
        """The block is over: calls that are made from now on are others."""
        self.current = False
        if self._open and not self._later:
            self._span.end()

    @contextmanager
    def within(self) -> Iterator[None]:
        """A block whose policy calls are this call, such as one step of a stream."""
        token = _call.set(self)
        was, self.current = self.current, True
        try:
            with self._span.current():
                yield
        finally:
            self.current = was
            with suppress(ValueError):  # a generator's block was left in another context
                _call.reset(token)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """A block whose exception is the call's failure, a cancellation too."""
        try:
            yield
        except GeneratorExit as error:
            if self._left is None:
                self.failed(error)
            else:
                self._left()
            raise
        except BaseException as error:
            self.failed(error)
            raise


@contextmanager
def policy_call(request: Mapping[str, Any] | None = None) -> Iterator[PolicyCall]:
    """A call of the policy in the current episode.

    Args:
        request: the body of a chat completion, in OpenAI's form; None where it is not known.

    Raises:
        PolicyFailure: the episode's window is over.
    """
    outer = _call.get()
    if outer is not None and outer.current:
        outer.attempt()
        yield outer
        return
    require_time()
    call = PolicyCall(current_rollout(), request)
    try:
        with call.failing(), call.within():
            yield call
    finally:
        call.left()


def open_call(request: Mapping[str, Any] | None = None) -> PolicyCall:
    """As `policy_call`, where no block can stand: its caller says `answered` or `failed`.

    Raises:
        PolicyFailure: the episode's window is over.
    """
    outer = _call.get()
    if outer is not None and outer.current:
        outer.attempt()
        return outer
    require_time()
    call = PolicyCall(current_rollout(), request)
    call.current = False
    call.later()
    return call


def require_time() -> None:
    """Nothing, unless the window of the current episode is over.

    Raises:
        PolicyFailure: it is.
    """
    episode = current_rollout()
    if episode is not None and episode.cancelled.is_set():
        raise PolicyFailure("the rollout's window is over: the policy is not called again")


REQUESTED: Final = {
    "model": "gen_ai.request.model",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": "gen_ai.request.max_tokens",
}
"""Fields of a request, and what OpenTelemetry's conventions call them."""

COUNTED: Final = {
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
}


def _attributes(episode: RolloutContext, request: Mapping[str, Any] | None) -> dict[str, Any]:
    named = {new: (request or {}).get(old) for old, new in REQUESTED.items()}
    return {"gen_ai.operation.name": "chat"} | rollout_attributes(episode) | named


def rollout_attributes(episode: RolloutContext) -> dict[str, Any]:
    """The attributes of a span: the rollout that it belongs to."""
    known = episode.metadata
    return {"rollout.job": known.job_arn, "rollout.trajectory": known.trajectory_id}


def _answer_attributes(response: Mapping[str, Any]) -> dict[str, Any]:
    usage = response.get("usage") or {}
    choices = response.get("choices") or ()
    reasons = [each.get("finish_reason") for each in choices if isinstance(each, dict)]
    counted = {new: usage.get(old) for old, new in COUNTED.items()}
    known = [each for each in reasons if isinstance(each, str)]
    return {
        "gen_ai.response.model": response.get("model"),
        "gen_ai.response.finish_reasons": known,
    } | counted


_call: ContextVar[PolicyCall | None] = ContextVar("policy_call", default=None)


LONGEST: Final = 128
"""Characters of an id that are shown: a policy may write it."""


def tool_ended(result: ToolResult, name: str) -> None:
    """Record a tool's result in the current episode; nothing happens outside any.

    Args:
        result: that the policy is shown.
        name: of a tool that exists: what a policy invents is no name of a span.
    """
    episode = current_rollout()
    if episode is None:
        return
    if episode.recording is not None:
        episode.recording.tool(result)
    if not spans.tracing():
        return
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": result.call_id[:LONGEST],
        "rollout.status": result.status,
    }
    began = time.time() - (result.seconds or 0.0)
    spans.begin("tool", attributes | rollout_attributes(episode), began=began).end()


T = TypeVar("T")


async def in_own_context(items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The items of an asynchronous generator, which runs in a copy of this context."""
    context = copy_context()
    try:
        while True:
            try:
                item = await InContext(anext(items), context)
            except StopAsyncIteration:
                return
            yield item
    finally:
        await InContext(items.aclose(), context)


class UnsupportedModel(RolloutError, ConfigurationError, TypeError):
    """A model that does not speak to the runtime of a job. The message says which ones do."""


class UnsupportedClient(RolloutError, ConfigurationError, TypeError):
    """A client that cannot be wrapped, or calls no policy. The message says which ones can."""
