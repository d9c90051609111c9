"""The double on the loopback interface: one port for all APIs and for its own controls.

Each request is read whole, its caller is identified, and it is answered in a thread of its own.

Which requests to the double's port are of the job runtime: those of agents.

/sample, /sample-with-response-stream, /complete-rollout, /update-reward, the alpha's two
/v1/chat/completions     with a job's header; without one it is Bedrock's
/_runtime/…              the runtime's own controls
"""

from __future__ import annotations

from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar, Final

from reward_functions.local.loopback_service.requests import SMALL, Refused, length_of
from reward_functions.local.loopback_service.server import MESSAGE, LoopbackServer
from reward_functions.local.runtime_double import RuntimeDouble
from reward_functions.local.runtime_double.runtime import (
    ALPHA_JOB,
    OPENAI,
    PREFIX,
    ROUTES,
    STREAMED,
)
from reward_functions.local.training_double import aws_api, control, openai_api, sagemaker_mlflow
from reward_functions.local.training_double.agent_runs import AgentRuns
from reward_functions.local.training_double.clients import Clients
from reward_functions.local.training_double.datafiles import LONGEST
from reward_functions.local.training_double.identity import MLFLOW, Callers
from reward_functions.local.training_double.prompts import Prompts
from reward_functions.local.training_double.rights import Rights
from reward_functions.local.training_double.runs import Runs
from reward_functions.local.training_double.service import Service
from reward_functions.local.training_double.settings import SETTINGS
from reward_functions.local.training_double.state import State
from reward_functions.rollouts.request.headers import JOB_HEADER

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from reward_functions.local.emulator import LocalAws
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.server import Reply
    from reward_functions.local.training_double.settings import SimulationSettings


OWN: Final = frozenset({*STREAMED, *ROUTES} - {OPENAI})


def is_runtime(request: Request) -> bool:
    """Whether a request is for the job runtime."""
    if request.path in OWN or request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
        return True
    jobs = request.header(JOB_HEADER) or request.header(ALPHA_JOB)
    return request.path == OPENAI and bool(jobs)


class Double(LoopbackServer):
    """A server of one double.

    Args:
        aws: the emulator beside it.
        listening: a socket that listens already; a free port where not given.
        settings: of the simulation.
    """

    connections: ClassVar[int] = RuntimeDouble.connections
    """Agents of multi-turn jobs open as many as beside the runtime double."""

    def __init__(
        self,
        aws: LocalAws,
        listening: socket.socket | None = None,
        settings: SimulationSettings = SETTINGS,
    ) -> None:
        super().__init__(listening)
        clients, state = Clients(aws), State()
        prompts = Prompts(clients)
        runs = Runs(state, clients, prompts, settings)
        self.callers = Callers(aws)
        agents = AgentRuns(state, clients, lambda: self.endpoint)
        self.service = Service(clients, Rights(clients), state, prompts, runs, agents)

    def reply(self, request: Request) -> Reply | None:
        """The status, the headers and the body of the answer to a request."""
        if is_runtime(request):
            return self.service.agents.runtime.reply(request)
        try:
            if request.path.startswith(control.PREFIX):
                if request.method != "GET":
                    self._require_root(request)
                kind, body = control.answer(self.service, request)
                return HTTPStatus.OK, {"Content-Type": kind}, body
            caller = self.callers.of(request)
            if request.path.startswith(f"{openai_api.PREFIX}/"):
                return HTTPStatus.OK, {}, openai_api.answer(self.service, caller, request)
            if request.path.startswith(MLFLOW):
                return HTTPStatus.OK, {}, sagemaker_mlflow.answer(self.service, caller, request)
            status, body = aws_api.answer(self.service, caller, request)
        except Refused as refused:
            return self.refusal(request, refused)
        return status, {}, body

    def refusal(self, request: Request, refused: Refused) -> Reply:
        """The answer to a request that is not served, as its clients read it."""
        if request.path.startswith(MLFLOW):
            return sagemaker_mlflow.refusal(refused)
        openai = request.path.startswith(f"{openai_api.PREFIX}/")
        return openai_api.refusal(refused) if openai else aws_api.refusal(refused, request)

    def _require_root(self, request: Request) -> None:
        caller = self.callers.of(request)
        if not caller.unrestricted:
            raise Refused("AccessDeniedException", f"{caller.arn} is not the root of the account")

    @contextmanager
    def room(self, request: Request) -> Iterator[int]:
        """Room for the body of a request, and its length.

        A large one has to come from somebody with a signature, and a file from somebody who is
        known before it is read: by an API key, or since everybody is root.

        Raises:
            Refused: it is longer than whoever sends it may send.
        """
        if length_of(request, LONGEST + SMALL) <= SMALL:
            yield length_of(request, SMALL)
            return
        known = not self.callers.enforcing or not request.header("authorization").startswith("AWS4")
        if known:
            self.callers.of(request)
        file = known and request.path == f"{openai_api.PREFIX}/files"
        length = length_of(request, LONGEST + SMALL if file else MESSAGE)
        with self.large():
            yield length


@contextmanager
def serving(aws: LocalAws, settings: SimulationSettings = SETTINGS) -> Iterator[Double]:
    """A double beside an emulator for a block, on a free port; its jobs are stopped at the end."""
    double = Double(aws, settings=settings)
    try:
        with double.in_background():
            yield double
    finally:
        double.service.agents.close()
        double.service.runs.close()
        double.callers.close()
