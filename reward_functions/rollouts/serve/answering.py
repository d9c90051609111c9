"""Answer a request for a rollout, and run the work after the answer.

| request | answer |
| --- | --- |
| with the ids of a rollout | that it is accepted, at once; the handler reports the reward |
| the same, and its sender waits | what the handler returns |
| without ids: a smoke test, a conversation | what the handler returns: nothing is reported |
| a rollout that was begun before | that it is a duplicate: the agent does not run again |

A `rollout_handler` begins before the answer: what is accepted is durable, also while it waits.

`answering_at_once` gives another server the same behaviour, such as AgentCore's own:

    app = BedrockAgentCoreApp()

    @app.entrypoint
    @answering_at_once(app=app)
    @rollout_handler
    def agent(payload): ...
"""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import Future
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.background import Background, is_async
from reward_functions.rollouts.request.contract import read_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.episode.background import Place
    from reward_functions.rollouts.request.contract import RolloutRequest

TASK: Final = "rollout"
"""What AgentCore's app calls the work that keeps its session alive."""


class TrackingApp(Protocol):
    """The part of AgentCore's `BedrockAgentCoreApp` that lets `/ping` say HealthyBusy."""

    def add_async_task(self, name: str, /) -> int:
        """Say that a task runs, and get its number."""

    def complete_async_task(self, task_id: int, /) -> bool:
        """Say that it has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """A server's facts about a request beside its payload; a handler's `context`.

    Args:
        session_id: of AgentCore's runtime session; None outside AgentCore, as in its own class.
    """

    session_id: str | None = None


class Begun(NamedTuple):
    """What has begun.

    Args:
        request: that was asked.
        future: what it gives.
        answers_at_once: whether its sender gets to know that it is accepted, and no more.
    """

    request: RolloutRequest
    future: Future[Any]
    answers_at_once: bool


class Agent:
    """A user's function: sync, async, or a generator, whose last item is its result.

    Args:
        function: of a payload, or of a payload and a context. A `rollout_handler` is admitted
            before its answer, so that what is accepted is durable.
        what: it is called in the error.

    Attributes:
        rollout: what a `rollout_handler` has.

    Raises:
        ConfigurationError: it is no function.
    """

    def __init__(self, function: Callable[..., Any], what: str = "an entrypoint") -> None:
        if not callable(function):
            raise ConfigurationError(f"{what} is a function, not {type(function).__name__}")
        self._call = called(function)
        self.rollout = getattr(function, "rollout", None)

    def begin(self, place: Place, payload: Any, context: Any) -> tuple[Future[Any], bool]:
        """Begin it in a place: what it gives, and whether it runs.

        A rollout that was begun before does not, and gives what is answered instead.

        Raises:
            BadRequest, UntrustedEndpoint: of a `rollout_handler`, as its `admit` does.
        """
        surroundings = copy_context()
        if self.rollout is not None:
            instead = surroundings.run(self.rollout.admit, payload)
            if instead is not None:
                return done(instead), False
        return surroundings.run(place.run, self._call, payload, context), True

    def interrupt(self) -> None:
        """End the rollouts of a `rollout_handler` that have not ended, as the process ends."""
        if self.rollout is not None:
            self.rollout.interrupt()


def done(result: Any) -> Future[Any]:
    """A future that has ended."""
    future: Future[Any] = Future()
    future.set_result(result)
    return future


class Answering:
    """An agent that works after its answers.

    Args:
        handler: as `Agent` takes it.
        background: where it runs.

    Raises:
        ConfigurationError: the handler is no function.
    """

    def __init__(self, handler: Callable[..., Any], background: Background) -> None:
        self.agent = Agent(handler, "a handler")
        self.background = background

    def begin(self, payload: dict[str, Any], context: Any = None) -> Begun:
        """Begin what a payload asks for; of a `rollout_handler`, it is durable then.

        Raises:
            BadRequest: it is no request.
            UntrustedEndpoint: it names an endpoint that no credential is sent to.
            TooBusy: as much runs and waits as may.
        """
        request = read_request(payload)
        with self.background.place() as place:
            future, runs = self.agent.begin(place, payload, context)
        return Begun(request, future, runs and request.metadata.complete)


def accepted(request: RolloutRequest) -> dict[str, str]:
    """The answer to a request whose work goes on after it."""
    return {"status": "accepted", "trajectory_id": request.metadata.trajectory_id}


def answering_at_once(
    handler: Callable[..., Any] | None = None,
    /,
    *,
    app: TrackingApp | None = None,
    background: Background | None = None,
) -> Callable[..., Any]:
    """The same handler, which answers a rollout at once and runs after its answer.

    Args:
        handler: as `Answering` takes it; its visible signature stays.
        app: AgentCore's, so that its `/ping` says HealthyBusy while episodes run: AgentCore ends
            the session of an agent that seems idle.
        background: where it runs; one of its own where not given. It is `.background` of the
            handler that is returned.

    Raises:
        BadRequest: by a call: the payload is no request.
        TooBusy: by a call: as much runs and waits as may.
    """
    if handler is None:
        return lambda given: answering_at_once(given, app=app, background=background)
    answering = Answering(handler, background or Background())

    @wraps(handler)
    def answer(payload: Any, context: Any = None) -> Any:
        with ExitStack() as tracked:
            if app is not None:
                tracked.callback(app.complete_async_task, app.add_async_task(TASK))
            begun = answering.begin(payload, context)
            ended = tracked.pop_all()
        begun.future.add_done_callback(lambda _: ended.close())
        return accepted(begun.request) if begun.answers_at_once else begun.future.result()

    answer.background = answering.background  # type: ignore[attr-defined]
    return answer


def called(handler: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A handler as a function of a payload and a context, with any signature of its own."""
    takes = 2 if hasattr(handler, "rollout") else _positional(handler)

    def ended(payload: Any, context: Any) -> Any:
        result = handler(*(payload, context)[:takes])
        if inspect.isawaitable(result) or inspect.isasyncgen(result):
            return asyncio.run(_awaited(result))
        return _last(result) if inspect.isgenerator(result) else result

    async def awaited(payload: Any, context: Any) -> Any:
        return await _awaited(handler(*(payload, context)[:takes]))

    return awaited if is_async(handler) or inspect.isasyncgenfunction(handler) else ended


async def _awaited(result: Any) -> Any:
    """What a coroutine returns; the last item of an async generator."""
    if not inspect.isasyncgen(result):
        return await result
    last = None
    async for item in result:
        last = item
    return last


def _last(items: Any) -> Any:
    """What a generator returns; the last item where it returns nothing."""
    last = None
    while True:
        try:
            last = next(items)
        except StopIteration as end:
            return last if end.value is None else end.value


def _positional(handler: Callable[..., Any]) -> int:
    """How many of payload and context a handler takes."""
    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):  # one that is built in says nothing
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    number = sum(each.kind in kinds for each in parameters)
    return 2 if number > 1 else 1
