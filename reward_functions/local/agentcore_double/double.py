"""AgentCore's data plane and a bucket behind one port of the loopback interface.

A request of neither operation is S3's. A status of the agent that is not 200 is AgentCore's
RuntimeClientError, as the service has it.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http import HTTPStatus
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, Final

from reward_functions.local.agentcore_double.agents import SESSION_HEADER
from reward_functions.local.agentcore_double.bucket import Bucket, refused
from reward_functions.local.agentcore_double.faults import Faults
from reward_functions.local.agentcore_double.sessions import Sessions
from reward_functions.local.loopback_service.refusals import Refused, missing
from reward_functions.local.loopback_service.server import Handler, LoopbackServer
from reward_functions.local.loopback_service.wire import parameters, routes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.local.agentcore_double.agents import Agent
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.server import Reply

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
