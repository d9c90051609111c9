"""A pool of agents for parallel tasks: each task has one for itself, as new.

    pool = AgentPool(make_agent, size=8)

    with pool.agent() as agent:            # a task; `async with` in a coroutine
        agent("What is 6 × 7?")

    solve = rollout_handler(pool, reward="math")           # or pool.arun, of asynchronous agents

An agent goes back when its task ends, also by an exception, and is reset before another task has
it. One whose reset fails is discarded, as is one whose task was cancelled: something of it may
still run. A new one is made in its place.

The first to come is served first, threads and tasks alike; a task that waits does not hold its
event loop up.

**How an agent becomes as new**, when its task is over:

| an agent | becomes as new by |
| --- | --- |
| with a `reset` method | that method, awaited where it is asynchronous |
| of Strands | its messages, state, conversation and counts as they were when it was made |
| a compiled graph of LangGraph | a thread id for each task, whose checkpoints are deleted |
| any other | nothing: it is made anew for each task |

Frameworks are known by what their objects have, and not imported.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from math import inf, isinf
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.episode.invocation import Call, agent_of
from reward_functions.rollouts.request.errors import EnvironmentFailure

if TYPE_CHECKING:
    from collections.abc import Iterator

_log = logging.getLogger("reward_functions.rollouts")

Reset = Callable[[], Any]
"""Makes an agent as new, or raises; what it returns is awaited where it can be."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An agent, ready for one task.

    Args:
        agent: what the task gets.
        reset: makes it as new after the task; None where nothing does.
    """

    agent: Any
    reset: Reset | None


class AgentPool:
    """Agents that tasks use one after the other; safe to use from threads and tasks.

    Args:
        factory: makes an agent; it is called when one is needed, by the task that needs it.
        size: how many there are at once.
        wait: seconds that a task waits for one, at most; an episode's own deadline comes first.

    Raises:
        ConfigurationError: a size below 1, or a wait that is negative.
    """

    def __init__(self, factory: Callable[[], Any], size: int = 64, *, wait: float = inf) -> None:
        if size < 1 or wait < 0:
            raise ConfigurationError("a pool has a size of 1 or more, and no negative wait")
        self._factory = factory
        self._size = size
        self._wait = wait
        self._lock = Lock()
        self._used = 0
        self._idle: list[Callable[[], Prepared]] = []
        self._waiting: deque[Future[None]] = deque()

    def agent(self) -> Lease:
        """An agent for a block: `with`, or `async with`.

        Raises:
            EnvironmentFailure: at its beginning, where none became free in time.
        """
        return Lease(self)

    def __call__(self, payload: Any, ctx: Any = None) -> Any:
        """Have a synchronous agent of the pool act, as `rollout_handler` calls an agent.

        Raises:
            TypeError: the agents are asynchronous: hand `pool.arun` to the handler.
        """
        with self.agent() as agent:
            known = agent_of(agent)
            if known.shape != "function":
                raise TypeError(f"{known.name} is a {known.shape}: hand pool.arun to the handler")
            return known.start(Call(payload=payload), ctx or current_rollout())

    async def arun(self, payload: Any, ctx: Any = None) -> Any:
        """The same of a coroutine."""
        async with self.agent() as agent:
            known = agent_of(agent)
            if known.shape != "coroutine":
                raise TypeError(f"{known.name} is a {known.shape}: hand the pool to the handler")
            return await known.start(Call(payload=payload), ctx or current_rollout())

    def take(self) -> Future[None]:
        """A place in the pool: done when it is the caller's."""
        place: Future[None] = Future()
        with self._lock:
            if self._used < self._size:
                self._used += 1
                place.set_result(None)
            else:
                self._waiting.append(place)
        return place

    def give_up(self, place: Future[None]) -> None:
        """Wait no longer; a place that came meanwhile is another's."""
        if not place.cancel():
            self.free()

    def free(self) -> None:
        """Hand a place on to who waits for the longest time."""
        with self._lock:
            while self._waiting:
                place = self._waiting.popleft()
                if place.set_running_or_notify_cancel():
                    place.set_result(None)
                    return
            self._used -= 1

    def ready(self) -> tuple[Callable[[], Prepared], Prepared]:
        """An agent that is ready for a task, made where none is idle, and what made it ready."""
        with self._lock:
            prepare = self._idle.pop() if self._idle else None
        prepare = prepare or preparing(self._factory())
        return prepare, prepare()

    def keep(self, prepare: Callable[[], Prepared]) -> None:
        """An agent is as new."""
        with self._lock:
            self._idle.append(prepare)

    def seconds(self) -> float | None:
        """How long a task may wait now; None for ever."""
        episode = current_rollout()
        seconds = self._wait if episode is None else min(self._wait, episode.remaining())
        return None if isinf(seconds) else seconds


class Lease:
    """One task's use of an agent. The asynchronous form awaits; all else is the same.

    Args:
        pool: that the agent is of.
    """

    def __init__(self, pool: AgentPool) -> None:
        self._pool = pool
        self._prepare: Callable[[], Prepared] | None = None
        self._prepared: Prepared | None = None

    def __enter__(self) -> Any:
        place = self._pool.take()
        with self._giving_up(place):
            place.result(self._pool.seconds())
        return self._begin()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._discarding():
            if (reset := self._reset(kind)) is not None:
                done = reset()
                if inspect.iscoroutine(done):
                    done.close()
                    raise TypeError("a reset that is awaited needs async with")
                self._keep()

    async def __aenter__(self) -> Any:
        place = self._pool.take()
        with self._giving_up(place):
            async with asyncio.timeout(self._pool.seconds()):
                await asyncio.shield(asyncio.wrap_future(place))
        return self._begin()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._discarding():
            if (reset := self._reset(kind)) is not None:
                done = reset()
                if inspect.isawaitable(done):
                    await done
                self._keep()

    def _begin(self) -> Any:
        try:
            self._prepare, self._prepared = self._pool.ready()
        finally:
            if self._prepared is None:
                self._pool.free()
        return self._prepared.agent

    @contextmanager
    def _giving_up(self, place: Future[None]) -> Iterator[None]:
        """A block that waits for a place; where it does not end by that, nobody waits any more."""
        came = False
        try:
            yield
            came = True
        except TimeoutError:
            raise EnvironmentFailure(
                "no agent of the pool became free in time: give the pool a larger size"
            ) from None
        finally:
            if not came:
                self._pool.give_up(place)

    def _reset(self, kind: type[BaseException] | None) -> Reset | None:
        """What makes the agent as new; None where it is discarded."""
        cancelled = kind is not None and not issubclass(kind, Exception)
        return None if cancelled or self._prepared is None else self._prepared.reset

    def _keep(self) -> None:
        if self._prepare is not None:
            self._pool.keep(self._prepare)

    @contextmanager
    def _discarding(self) -> Iterator[None]:
        """A block behind which the place is free; an agent whose reset fails there is not kept."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 — an agent is lost, and not the task's result
            _log.warning("an agent of a pool is discarded: its reset raised %s", _name(error))
        finally:
            self._pool.free()


def _name(error: Exception) -> str:
    return type(error).__name__


# How an agent becomes as new.


def preparing(agent: Any) -> Callable[[], Prepared]:
    """The functions that make an agent ready for each of its tasks."""
    return next(kind for holds, kind in KINDS if holds(agent))(agent)


def _is_strands(agent: Any) -> bool:
    return all(hasattr(agent, name) for name in ("messages", "state", "event_loop_metrics"))


STRANDS: Final = ("messages", "_model_state")
"""Attributes of an agent of Strands that are copied as they are."""


def _strands(agent: Any) -> Callable[[], Prepared]:
    """Without `take_snapshot`, which leaves out the counts and is not in every version."""
    first = {name: deepcopy(getattr(agent, name)) for name in STRANDS if hasattr(agent, name)}
    state, conversation = deepcopy(agent.state.get()), agent.conversation_manager.get_state()

    def reset() -> None:
        for name, value in first.items():
            setattr(agent, name, deepcopy(value))
        agent.state = type(agent.state)(deepcopy(state))
        agent.conversation_manager.restore_from_session(deepcopy(conversation))
        agent.event_loop_metrics = type(agent.event_loop_metrics)()
        interrupts = getattr(agent, "_interrupt_state", None)
        if interrupts is not None:
            interrupts.deactivate()

    return lambda: Prepared(agent, reset)


def _is_langgraph(agent: Any) -> bool:
    return all(hasattr(agent, name) for name in ("get_graph", "checkpointer", "with_config"))


def _langgraph(agent: Any) -> Callable[[], Prepared]:
    def prepare() -> Prepared:
        thread = str(uuid4())

        def reset() -> None:
            delete = getattr(agent.checkpointer, "delete_thread", None)
            if delete is not None:
                delete(thread)

        return Prepared(agent.with_config(configurable={"thread_id": thread}), reset)

    return prepare


KINDS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Callable[[], Prepared]]], ...]] = (
    (
        lambda agent: callable(getattr(agent, "reset", None)),
        lambda agent: lambda: Prepared(agent, agent.reset),
    ),
    (_is_strands, _strands),
    (_is_langgraph, _langgraph),
    (lambda _: True, lambda agent: lambda: Prepared(agent, None)),
)
"""The first that holds."""
