"""AgentCore's contract on this project's own server, where AgentCore's SDK is not installed.

`POST /invocations`, `GET /ping`, port 8080. It has of `BedrockAgentCoreApp` what the apps here
need: `entrypoint`, `add_async_task`, `complete_async_task`, `run`. It streams nothing: of a
generator the last item is answered.

Both hosts read bodies and refuse requests as this one does:

| refused | status |
| --- | --- |
| `BadRequest`, `UntrustedBucket`, `UntrustedEndpoint` | 400 |
| `TooBusy` | 503 |
| `StateUnavailable` | 500, as agentcore-rl-toolkit answers it |

Each is `{"error": …}`, one sentence. A body is an object of strict JSON, of 100 MB at most, in
which objects and lists nest 64 deep at most and no name stands twice.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from functools import update_wrapper
from http import HTTPStatus
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.http_server.messages import Refused, Reply, Request
from reward_functions.core.jsons import json_kind, no_constant, unique_names
from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.episode.invocation import name_of
from reward_functions.rollouts.report.deferred import DEEPEST, deeper
from reward_functions.rollouts.request.errors import (
    BadRequest,
    StateUnavailable,
    TooBusy,
    UntrustedBucket,
    UntrustedEndpoint,
)
from reward_functions.rollouts.serve.agentcore.results import LARGEST
from reward_functions.rollouts.serve.answering import Agent, RequestContext
from reward_functions.rollouts.serve.app import (
    GRACE_SECONDS,
    LOOPBACK,
    PORT,
    SESSION,
    RolloutApp,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from threading import Event

EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - AgentCore asks from outside the container
"""The address in a container."""


STATUSES: Final = {
    BadRequest: HTTPStatus.BAD_REQUEST,
    UntrustedBucket: HTTPStatus.BAD_REQUEST,
    UntrustedEndpoint: HTTPStatus.BAD_REQUEST,
    TooBusy: HTTPStatus.SERVICE_UNAVAILABLE,
    StateUnavailable: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""Of what a request is refused by."""

REFUSALS: Final = tuple(STATUSES)


def address_of(host: str | None) -> str:
    """Where an app listens: where it is told to, in a container everywhere, else on loopback."""
    in_container = Path("/.dockerenv").exists() or os.environ.get("DOCKER_CONTAINER")
    return host or (EVERYWHERE if in_container else LOOPBACK)


def status_of(error: BaseException) -> HTTPStatus:
    """The status of a refusal."""
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def read_body(body: bytes) -> dict[str, Any]:
    """The payload of a request.

    Raises:
        BadRequest: it is not an object of strict JSON, or too deep or large.
    """
    if len(body) > LARGEST:
        raise BadRequest(f"a payload has more than {LARGEST:,} bytes")
    try:
        payload = json.loads(body, object_pairs_hook=unique_names, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise BadRequest("the payload is not strict JSON, or names a field twice") from None
    if not isinstance(payload, dict):
        raise BadRequest(f"the payload is {json_kind(payload)}, not an object")
    if deeper(payload, DEEPEST):
        raise BadRequest(f"the payload nests more than {DEEPEST} levels")
    return payload


def named_as(function: Any, answer: Any) -> None:
    """Give an entrypoint the name and docstring of the user's function: logs and tests look for it.

    Its signature stays its own, since AgentCore's SDK reads it to decide whether to pass a context.
    """
    answer.__name__ = answer.__qualname__ = name_of(function)
    update_wrapper(answer, function, updated=())
    del answer.__wrapped__


class OwnHost:
    """An app that HTTP reaches, without AgentCore's SDK.

    Args:
        executor: where agents run.
        grace: seconds that they may go on once the process is asked to end.
        api_key: as `RolloutApp` takes it.

    Attributes:
        asked: what runs while its sender waits.
    """

    def __init__(
        self,
        *,
        executor: Background | None = None,
        grace: float = GRACE_SECONDS,
        api_key: str | None = None,
    ) -> None:
        self.executor = executor or Background()
        self.handlers: dict[str, Callable[..., Any]] = {}
        self.grace = grace
        self._api_key = api_key
        self._numbers = count(1)
        self._tasks: set[int] = set()
        self.asked: set[Future[Any]] = set()

    def entrypoint(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Answer requests by a function of a payload, or of a payload and a context."""
        return self.register(lambda _, __: None, function)

    def register(
        self, begin: Callable[[Any, Any], Future[Any] | None], function: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Answer requests by what `begin` returns; where that is None, by a function."""
        agent = Agent(function)

        def answer(payload: Any, context: Any) -> Any:
            future = begin(payload, context)
            if future is not None:
                return future.result()
            with self.executor.place() as place:
                ordinary, _ = agent.begin(place, payload, context)
            self.asked.add(ordinary)
            ordinary.add_done_callback(self.asked.discard)
            error = ordinary.exception()
            if error is not None:
                sentence = f"the agent raised {type(error).__name__}"
                raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, sentence)
            return ordinary.result()

        named_as(function, answer)
        self.handlers["main"] = answer
        return function

    def add_async_task(self, _name: str, /) -> int:
        """Say that a task runs, and get its number."""
        number = next(self._numbers)
        self._tasks.add(number)
        return number

    def complete_async_task(self, task_id: int, /) -> bool:
        """Say that it has ended."""
        running = task_id in self._tasks
        self._tasks.discard(task_id)
        return running

    @property
    def busy(self) -> bool:
        """Whether a task runs."""
        return bool(self._tasks)

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """End what runs; an app says how."""

    def run(self, port: int = PORT, host: str | None = None) -> None:
        """Serve until SIGTERM or SIGINT.

        Args:
            port: 0 for a free one, which the log says.
            host: all addresses in a container, else loopback.

        Raises:
            CannotListen: the address is taken, or not this machine's.
        """
        self._served().run(address_of(host), port, grace=self.grace)

    @contextmanager
    def serving(self, host: str = LOOPBACK, port: int = 0) -> Iterator[str]:
        """Serve for a block, on a free port where none is given: its URL."""
        with self._served().serving(host, port, grace=self.grace) as url:
            yield url

    def _served(self) -> _Served:
        return _Served(self, api_key=self._api_key)


class _Served(RolloutApp):
    """The server, whose answers are an app's."""

    largest = LARGEST

    def __init__(self, host: OwnHost, *, api_key: str | None) -> None:
        super().__init__(_no_handler, background=host.executor, api_key=api_key)
        self._host = host

    def _invocation(self, request: Request) -> Reply:
        if self._draining.is_set():
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the agent is ending", Retry_After="1")
        handler = self._host.handlers.get("main")
        if handler is None:
            raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "No entrypoint defined")
        context = RequestContext(session_id=request.headers.get(SESSION))
        try:
            answer = handler(read_body(request.body), context)
        except REFUSALS as error:
            raise Refused(status_of(error), str(error)) from None
        return Reply(HTTPStatus.OK, plain(answer))

    def _is_busy(self) -> bool:
        return self._host.busy or self._draining.is_set()

    def _wait(self, grace: float, hurried: Event) -> None:
        late = monotonic() + grace
        self._host.drain(grace, hurried)
        super()._wait(late - monotonic(), hurried)

    def _runs(self) -> bool:
        return bool(self._host.asked)


def _no_handler(payload: Any) -> None:
    """The handler of a server whose answers are an app's: never called."""
    del payload
