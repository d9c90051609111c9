"""Threads that report, apart from those that agents run on.

An agent may fill the default threads of its event loop with tools that wait; its reports must not
wait for them. A process that is forked has threads of its own.
"""

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Condition, Event

T = TypeVar("T")

THREADS: Final = 64
"""As many as there are episodes at once on an agent's server; started when needed."""

GLANCE: Final = 0.05
"""Seconds between two looks whether somebody is in a hurry."""

_log = logging.getLogger("reward_functions.rollouts")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="rollout-report")


os.register_at_fork(after_in_child=_pool.cache_clear)


async def in_thread(
    function: Callable[..., T],
    *arguments: Any,
    abandoned: Callable[[T, BaseException], object] | None = None,
) -> T:
    """The result of a function, which runs in a copy of this context and to its end.

    A task that is cancelled meanwhile stops waiting for it; the function goes on.

    Args:
        function: runs on a thread.
        arguments: of the function.
        abandoned: is called, on a thread too, with what the function returned although nobody
            waits for it any more, and with the cancellation.
    """
    running = _pool().submit(copy_context().run, function, *arguments)
    try:
        return await asyncio.shield(asyncio.wrap_future(running))
    except asyncio.CancelledError as error:
        if abandoned is not None:
            behind(partial(_handed_on, running, abandoned, error))
        raise


def _handed_on(
    running: Future[T], abandoned: Callable[[T, BaseException], object], error: BaseException
) -> None:
    abandoned(running.result(), error)


def wait_hurried(
    changed: Condition, true: Callable[[], bool], seconds: float, hurried: Event | None = None
) -> bool:
    """Wait until something is true, or somebody is in a hurry; whether it is true.

    Args:
        changed: held; notified where it may have become true.
        true: what is waited for.
        seconds: to wait.
        hurried: ends the waiting; a signal's handler sets it, which may notify nobody.
    """
    late = monotonic() + seconds
    while not (found := true()) and (left := late - monotonic()) > 0:
        if hurried is not None and hurried.is_set():
            break
        changed.wait(left if hurried is None else min(GLANCE, left))
    return found


def behind(function: Callable[[], object]) -> None:
    """Run a function after the caller returns; its exception is logged by its type."""
    try:
        _pool().submit(function).add_done_callback(_logged)
    except RuntimeError:
        # The interpreter ends. What was durable is the next process's.
        _log.warning("the process ends: a report is left to the next one")


def _logged(done: Future[Any]) -> None:
    if (error := done.exception()) is not None:
        _log.error("reporting after an episode failed: %s", type(error).__name__)
