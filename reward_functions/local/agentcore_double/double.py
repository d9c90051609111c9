"""AgentCore's data plane and a bucket behind one port of the loopback interface.

A request of neither operation is S3's. A status of the agent that is not 200 is AgentCore's
RuntimeClientError, as the service has it.

Sessions of a double: which run, and how often each was invoked and stopped.

Accidents by a plan that is the same in every run.

| kind | what happens |
| --- | --- |
| `throttle` | 429 ThrottlingException; nothing is done |
| `conflict` | 409 RetryableConflictException; nothing is done |
| `error` | 500; nothing is done |
| `forbidden` | 403; nothing is done |
| `slow` | the answer comes after `slow_seconds` |
| `dropped` | it is done, and the connection closes without an answer |

Operations are `invoke`, `stop`, `head` and `get`. Which accident a call has is a function of the
seed, the session or key, the operation and the number of the attempt; `most` in a row fail at most.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from threading import Condition, Event, Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.local.agentcore_double.agents import SESSION_HEADER
from reward_functions.local.agentcore_double.bucket import Bucket, refused
from reward_functions.local.loopback_service.requests import Refused, missing
from reward_functions.local.loopback_service.server import Handler, LoopbackServer
from reward_functions.local.loopback_service.wire import parameters, routes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.local.agentcore_double.agents import Agent
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.server import Reply


KINDS: Final = ("throttle", "conflict", "error", "forbidden", "slow", "dropped")
OPERATIONS: Final = ("invoke", "stop", "head", "get")


@dataclass(frozen=True, slots=True)
class Faults:
    """Which calls meet with an accident.

    Args:
        shares: by "operation.kind", each from 0 to 1.
        seed: another one, other calls.
        slow_seconds: how long a slow answer takes.
        most: calls of one operation of one session that fail in a row.

    Raises:
        ConfigurationError: an unknown operation or kind, or a share out of its range.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    slow_seconds: float = 0.2
    most: int = 2
    _rows: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _attempts: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, share in self.shares.items():
            operation, _, kind = name.partition(".")
            if operation not in OPERATIONS or kind not in KINDS or not 0 <= share <= 1:
                raise ConfigurationError(f"faults: {name[:64]!r} is no share of an accident")

    def next(self, operation: str, whose: str) -> str:
        """The accident of the next call; "" for none."""
        call = f"{operation}\0{whose}"
        with self._lock:
            attempt = self._attempts[call]
            self._attempts[call] += 1
            digest = sha256(f"{self.seed}\0{call}\0{attempt}".encode()).digest()
            drawn = int.from_bytes(digest[:8]) / 2**64
            for kind in KINDS:
                drawn -= self.shares.get(f"{operation}.{kind}", 0.0)
                if drawn < 0 and (kind == "slow" or self._rows[call] < self.most):
                    self._rows[call] += kind != "slow"
                    return kind
            self._rows[call] = 0
        return ""


class Sessions:
    """All sessions that a double has seen."""

    def __init__(self) -> None:
        self._changed = Condition()
        self.invoked: Counter[str] = Counter()
        self.stopped: Counter[str] = Counter()
        self._running: set[str] = set()
        self.most_running = 0

    @property
    def running(self) -> set[str]:
        """Those that were invoked and not stopped since."""
        with self._changed:
            return set(self._running)

    def invoke(self, session: str) -> None:
        """It runs from now on."""
        with self._changed:
            self.invoked[session] += 1
            self._running.add(session)
            self.most_running = max(self.most_running, len(self._running))
            self._changed.notify_all()

    def stop(self, session: str) -> bool:
        """It runs no more; whether it was ever invoked."""
        with self._changed:
            known = session in self.invoked
            if known:
                self.stopped[session] += 1
            self._running.discard(session)
            self._changed.notify_all()
            return known

    def wait_idle(self, timeout: float) -> bool:
        """Wait until none runs; whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, timeout)

    def wait_running(self, count: int, timeout: float) -> bool:
        """Wait until so many run; whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._running) >= count, timeout)


STATUS: Final = {
    "throttle": (HTTPStatus.TOO_MANY_REQUESTS, "ThrottlingException"),
    "conflict": (HTTPStatus.CONFLICT, "RetryableConflictException"),
    "error": (HTTPStatus.INTERNAL_SERVER_ERROR, "InternalServerException"),
    "forbidden": (HTTPStatus.FORBIDDEN, "AccessDeniedException"),
}
"""Of accidents."""

FAILED_DEPENDENCY: Final = HTTPStatus.FAILED_DEPENDENCY


class ObjectHandler(Handler):
    """A connection that may look at objects."""

    do_HEAD = Handler.do_GET  # noqa: N815 - http.server calls it so


class AgentCoreDouble(LoopbackServer):
    """A server of one agent; `serving` runs one for a block.

    Args:
        agent: what an invocation is handed to.
        faults: which calls meet with an accident.
        port: where it listens; a free one where 0.

    Attributes:
        sessions: what became of each.
        bucket: what agents stored.

    Raises:
        OSError: something else listens there.
    """

    connections: ClassVar[int] = 512

    def __init__(self, agent: Agent, faults: Faults | None = None, *, port: int = 0) -> None:
        super().__init__(port=port)
        self._agent, self._faults = agent, Faults() if faults is None else faults
        self.sessions, self.bucket = Sessions(), Bucket()
        self._ending = Event()
        self._routes = routes("bedrock-agentcore", ["InvokeAgentRuntime", "StopRuntimeSession"])

    @property
    def handler(self) -> type[Handler]:
        """S3 is asked by HEAD, too."""
        return ObjectHandler

    def reply(self, request: Request) -> Reply | None:
        """The answer of AgentCore or of S3."""
        for route in self._routes:
            if (labels := route.labels(request)) is not None:
                try:
                    given = parameters(route.operation, labels, request)
                except Refused as error:
                    return self.refusal(request, error)
                invoked = route.operation.name == "InvokeAgentRuntime"
                return self._invoke(given) if invoked else self._stop(given)
        operation = {"HEAD": "head", "GET": "get"}.get(request.method, "")
        accident = self._faults.next(operation, request.path) if operation else ""
        if accident in STATUS:
            status, code = STATUS[accident]
            return refused(status, code)
        return self._late(accident, self.bucket.reply(request))

    def refusal(self, request: Request, refused: Refused) -> Reply:  # noqa: ARG002
        """As AgentCore refuses."""
        return _error(refused.status, refused.code, str(refused))

    def shutdown(self) -> None:
        """End; slow answers are sent at once."""
        self._ending.set()
        super().shutdown()

    def _invoke(self, given: dict[str, Any]) -> Reply | None:
        session = given["runtimeSessionId"]
        accident = self._faults.next("invoke", session)
        if accident in STATUS:
            status, code = STATUS[accident]
            return _error(status, code, "simulation: an accident by plan")
        self.sessions.invoke(session)
        status_code, body = self._agent(given["payload"], session, self.bucket)
        if status_code != HTTPStatus.OK:
            text = f"the agent answered {status_code}"
            return _error(FAILED_DEPENDENCY, "RuntimeClientError", text)
        return self._late(accident, (HTTPStatus.OK, {SESSION_HEADER: session}, body))

    def _stop(self, given: dict[str, Any]) -> Reply | None:
        session = given["runtimeSessionId"]
        accident = self._faults.next("stop", session)
        if accident in STATUS:
            status, code = STATUS[accident]
            return _error(status, code, "simulation: an accident by plan")
        if not self.sessions.stop(session):
            return self.refusal_of(missing("there is no such session"))
        return self._late(accident, (HTTPStatus.OK, {SESSION_HEADER: session}, b"{}"))

    def refusal_of(self, refused: Refused) -> Reply:
        """The answer to what is not there."""
        return _error(refused.status, refused.code, str(refused))

    def _late(self, accident: str, reply: Reply) -> Reply | None:
        if accident == "slow":
            self._ending.wait(self._faults.slow_seconds)
        return None if accident == "dropped" else reply


def _error(status: HTTPStatus, code: str, message: str) -> Reply:
    headers = {"x-amzn-ErrorType": code}
    return status, headers, json.dumps({"message": message}).encode()


@contextmanager
def serving(agent: Agent, faults: Faults | None = None) -> Iterator[AgentCoreDouble]:
    """A double for a block, on a free port."""
    double = AgentCoreDouble(agent, faults)
    with double.in_background():
        yield double
