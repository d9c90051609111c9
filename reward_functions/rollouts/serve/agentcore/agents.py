"""A user's function behind an answer: begun in a place of the background, admitted first.

A `rollout_handler` is admitted before the answer, so that what is accepted is durable.
"""

from __future__ import annotations

from concurrent.futures import Future
from contextvars import copy_context
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.invocation import name_of
from reward_functions.rollouts.serve.answering import called

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.episode.background import Place


class Agent:
    """A function of a payload, or of a payload and a context: sync, async or a generator.

    Raises:
        ConfigurationError: it is no function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise ConfigurationError(f"an entrypoint is a function, not {type(function).__name__}")
        self._call = called(function)
        self._rollout = getattr(function, "rollout", None)

    def begin(self, place: Place, payload: Any, context: Any) -> Future[Any]:
        """Begin it; of a rollout that was begun before, what is answered instead.

        Raises:
            BadRequest, UntrustedEndpoint: of a `rollout_handler`, as its `admit` does.
        """
        surroundings = copy_context()
        if self._rollout is not None:
            instead = surroundings.run(self._rollout.admit, payload)
            if instead is not None:
                return done(instead)
        return surroundings.run(place.run, self._call, payload, context)

    def interrupt(self) -> None:
        """End the rollouts of a `rollout_handler` that have not ended, as the process ends."""
        if self._rollout is not None:
            self._rollout.interrupt()


def named_as(function: Any, answer: Any) -> None:
    """Give an entrypoint the name and docstring of the user's function: logs and tests look for it.

    Its signature stays its own, since AgentCore's SDK reads it to decide whether to pass a context.
    """
    answer.__name__ = answer.__qualname__ = name_of(function)
    update_wrapper(answer, function, updated=())
    del answer.__wrapped__


def done(result: Any) -> Future[Any]:
    """A future that has ended."""
    future: Future[Any] = Future()
    future.set_result(result)
    return future
