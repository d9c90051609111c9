"""An agent in this process: a `rollout_handler`, or a plain callable that is made one.

Coroutines share one event loop, and with it the clients that they share. Reports go to the run's
runtime through an outbox in memory: what an interrupted run has not finished is run again.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections import deque
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Self

from reward_functions.aws.shell import aws_session
from reward_functions.core.importing import last_line
from reward_functions.core.looking import Looks
from reward_functions.core.loopback import is_loopback
from reward_functions.rollouts.drive.agents import AgentAnswer, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.request.contract import RolloutRequest

NOBODY: Final = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_REGION": "us-west-2",
}
"""What a runtime double is signed to with, where the shell has no credentials: it checks the form
alone."""

ENDPOINT: Final = "RFT_RUNTIME_ENDPOINT"

LOOK: Final = 3.0
"""Seconds in which credentials are found, or are not."""


class PythonAgent:
    """A callable of this process; a context manager, which sets where it reports.

    Args:
        function: a `rollout_handler`, or a function of a payload.
        name: as it was named on the command line.
        endpoint: of the run's runtime.
        reward: what a plain function's response is scored by; None where it returns its reward.
        window: seconds from a request to the end of waiting.
        trajectories: where what it does is kept, unless it has a place of its own; "" for the
            variable's.
    """

    local = True

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        endpoint: str,
        reward: Any = None,
        window: float = 600.0,
        trajectories: str = "",
    ) -> None:
        from reward_functions.rollouts.episode.handler import rollout_handler  # noqa: PLC0415 - boto3

        self.name = name
        handled = hasattr(function, "rollout")
        self._call = (
            function if handled else rollout_handler(function, reward=reward, window=window)
        )
        self._file = _file_of(function)
        self._endpoint, self._window, self._trajectories = endpoint, window, trajectories
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(pointed(self._endpoint))
        self._reporter = self._stack.enter_context(_reporting(self._window, self._trajectories))
        self._loop = self._stack.enter_context(_looping())
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:  # noqa: ARG002
        """Call it, and run it to its end; whoever calls this lets go of one that never ends."""
        try:
            return result_of(self._finished(self._call(request.wire())))
        except BaseException as error:  # noqa: BLE001 - an agent's code; its reports decide
            return AgentAnswer("error", self._words(error))

    def reporting(self, request: RolloutRequest) -> bool:
        """Whether a report of it is in the run's outbox, and not delivered."""
        ids = request.metadata.job_arn, request.metadata.trajectory_id
        pending = self._reporter.outbox.list(["pending"])
        targets = (each.intent.target for each in pending)
        return ids in {(target.job_arn, target.trajectory_id) for target in targets}

    def release(self, request: RolloutRequest) -> None:
        """Nothing is held."""

    def _finished(self, result: Any) -> Any:
        """What a call returned, run to its end."""
        if inspect.isawaitable(result) or inspect.isasyncgen(result):
            return asyncio.run_coroutine_threadsafe(_ended(result), self._loop).result()
        if inspect.isgenerator(result):
            deque(result, maxlen=0)
        return result

    def _words(self, error: BaseException) -> str:
        """Its type, and the agent's line that ran last; never its text, which may hold a prompt."""
        kind = type(error).__name__
        line = self._file and last_line(error, self._file)
        return f"{kind} ({self._file.name}, line {line})" if self._file and line else kind


def _file_of(function: Any) -> Path | None:
    """The file of an agent's code; None where it has none, such as a class of C."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Path(code.co_filename) if code else None


@contextmanager
def _looping() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="rollouts-loop", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended(result: Any) -> Any:
    if inspect.isawaitable(result):
        return await result
    async for _ in result:
        pass
    return None


@contextmanager
def pointed(endpoint: str, environ: Any = os.environ) -> Iterator[None]:
    """The variables of a process whose agent reports to a runtime; as before behind the block.

    After Ctrl-C they stay: agents that are left behind may still read them, and the process ends.
    """
    wanted = {ENDPOINT: endpoint}
    if is_loopback(endpoint) and not Looks(LOOK).at(_credentials, otherwise=False):
        wanted |= {name: value for name, value in NOBODY.items() if not environ.get(name)}
    before: Mapping[str, str | None] = {name: environ.get(name) for name in wanted}
    environ.update(wanted)
    try:
        yield
    except KeyboardInterrupt:
        before = {}
        raise
    finally:
        for name, value in before.items():
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value


def _credentials() -> bool:

    return aws_session().get_credentials() is not None


@contextmanager
def _reporting(window: float, trajectories: str = "") -> Iterator[Reporter]:
    from dataclasses import replace  # noqa: PLC0415

    from reward_functions.rollouts.report.outbox.opening import open_outbox  # noqa: PLC0415 - boto3
    from reward_functions.rollouts.report.reporter import Reporter, reporting  # noqa: PLC0415
    from reward_functions.rollouts.report.settings import RolloutSettings  # noqa: PLC0415
    from reward_functions.rollouts.report.transports.opening import open_transport  # noqa: PLC0415

    known = RolloutSettings.from_env()
    margin = min(known.margin, window / 4)
    kept = trajectories or known.trajectories
    settings = replace(known, outbox="memory:", window=window, margin=margin, trajectories=kept)
    _ = settings.sink  # refused before anything runs
    reporter = Reporter(settings, open_outbox("memory:"), transports=open_transport)
    with reporting(reporter):
        reporter.start()
        try:
            yield reporter
        finally:
            reporter.close(patience=0.0)
