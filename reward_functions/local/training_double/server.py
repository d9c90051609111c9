"""The double on the loopback interface: one port for all APIs and for its own controls.

Each request is read whole, its caller is identified, and it is answered in a thread of its own.

The requests to the double's port that are of the job runtime: those of agents.

/sample, /sample-with-response-stream, /complete-rollout, /update-reward, the alpha's two
/v1/chat/completions     with a job's header; without one it is Bedrock's
/_runtime/…              the runtime's own controls

Routes of a double alone: `/_training/…`, to rehearse an accident.

    GET  ready       {}
    GET  state       how many jobs, models, deployments and files there are
    POST throttle    {"operation": NAME, "times": N}: the next N calls are refused
    POST fail        {"job": NAME or id, "message": TEXT}: it fails, as if the service had
    POST speed       {"seconds_per_step": S, "seconds_to_host": T}: how long a step of a job and a
                     deployment of a model take from now on; either may be left out
    POST data        {"name": FILE, "content": JSONL}: prompts that it answers from now on
    POST reset       everything that was made is forgotten
    GET  jobs/ID     the course of a job as a page of HTML; ID is its name, or its id's last part

Everybody on this machine may look. A request that changes something is signed by root, where the
emulator beside it enforces permissions. Where it does not, everybody is root.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.request_validation import service_model
from reward_functions.local.loopback_service import wire
from reward_functions.local.loopback_service.server import (
    SMALL,
    LoopbackServer,
    Refused,
    invalid,
    missing,
    read_object,
)
from reward_functions.local.runtime_double import RuntimeSettings
from reward_functions.local.runtime_double.runtime import (
    ALPHA_JOB,
    OPENAI,
    ROUTES,
    STREAMED,
    Runtime,
)
from reward_functions.local.runtime_double.runtime import PREFIX as RUNTIME
from reward_functions.local.training_double import (
    agent_rft,
    bedrock,
    hub,
    mlflow,
    openai_api,
    sagemaker,
)
from reward_functions.local.training_double.identity import MLFLOW, Callers
from reward_functions.local.training_double.jobs import Job, Model, Runs, State
from reward_functions.local.training_double.page import page_of
from reward_functions.local.training_double.policy import SETTINGS, AgentPolicy
from reward_functions.local.training_double.prompts import LONGEST, Prompts, prompts
from reward_functions.local.training_double.rights import Clients
from reward_functions.local.training_double.service import Call, Service
from reward_functions.local.training_double.training import JobFailed
from reward_functions.rollouts.request.headers import JOB_HEADER

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from reward_functions.local.emulator import LocalAws
    from reward_functions.local.loopback_service.server import Reply, Request
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.policy import SimulationSettings
    from reward_functions.local.training_double.service import Serve

RUNTIMES: Final = frozenset({*STREAMED, *ROUTES} - {OPENAI})
"""Paths of the job runtime alone."""

PREFIX: Final = "/_training/"
PAGES: Final = f"{PREFIX}jobs/"

REST: Final[dict[str, dict[str, Serve]]] = {
    "bedrock": bedrock.OPERATIONS,
    "bedrock-runtime": {"Converse": bedrock.converse},
}
"""By botocore's names of the services and of their operations; rest-json."""

SAGEMAKER: Final[dict[str, Serve]] = {
    **agent_rft.OPERATIONS,
    **hub.OPERATIONS,
    **sagemaker.OPERATIONS,
    **mlflow.OPERATIONS,
}
"""By botocore's names of SageMaker's operations; awsJson 1.1."""

KNOWN: Final = frozenset(
    {*bedrock.OPERATIONS, *REST["bedrock-runtime"], *SAGEMAKER}
    | {operation.action for operation in openai_api.OPERATIONS}
    | {action for action, _ in mlflow.PATHS.values()}
)
"""Operations that can be throttled."""

TARGETS: Final = "SageMaker"
"""How the targets of its requests begin."""

SPEEDS: Final = ("seconds_per_step", "seconds_to_host")


def answer(service: Service, caller: Caller, request: Request) -> tuple[int, bytes]:
    """The status and the body of an answer of an AWS API.

    Raises:
        Refused: the request is not served.
        BadAnswer: the service could not say what was about to be answered.
    """
    if name := wire.operation_of(request, TARGETS):
        if name not in SAGEMAKER:
            raise _unknown(f"SageMaker's {name[:128]}")
        service.state.throttle(name)
        operation = service_model("sagemaker").operation_model(name)
        given = wire.parameters(operation, {}, request)
        call = Call(service, caller, given, f"sagemaker:{name}")
        return HTTPStatus.OK, wire.answer(operation, SAGEMAKER[name](call))
    for api, operations in REST.items():
        for name, serve in operations.items():
            operation = service_model(api).operation_model(name)
            labels = wire.labels(operation, request)
            if labels is None:
                continue
            service.state.throttle(name)
            if caller.bearer:
                Call(service, caller, {}, "bedrock:CallWithBearerToken").require("*")
            given = wire.parameters(operation, labels, request)
            body = wire.answer(operation, serve(Call(service, caller, given, f"bedrock:{name}")))
            return operation.http.get("responseCode", 200), body
    raise _unknown(f"{request.method} {request.path[:128]}")


def _unknown(what: str) -> Refused:
    message = f"simulation: the training double does not serve {what}"
    return Refused("UnknownOperationException", message)


def controlled(service: Service, request: Request) -> tuple[str, bytes]:
    """The type and the body of an answer of the controls.

    Raises:
        Refused: there is no such thing, or it cannot be done.
    """
    if request.method == "GET" and request.path.startswith(PAGES):
        job = _job(service, request.path.removeprefix(PAGES))
        with service.state.lock:
            return "text/html; charset=utf-8", page_of(job).encode()
    wanted = f"{request.method} {request.path.removeprefix(PREFIX)}"
    if wanted not in ACTIONS:
        raise missing(f"{request.method} {request.path[:128]} is none of {', '.join(ACTIONS)}")
    given = read_object(request.body) if request.body else {}
    return "application/json", json.dumps(ACTIONS[wanted](service, given)).encode()


def _ready(_: Service, __: dict[str, Any]) -> dict[str, Any]:
    return {}


def _state(service: Service, _: dict[str, Any]) -> dict[str, Any]:
    state = service.state
    with state.lock:
        jobs, hosted = state.of(Job), [":custom-model-deployment/" in arn for arn in state.made]
        return {
            "jobs": len(jobs),
            "models": len(state.of(Model)),
            "deployments": sum(hosted),
            "files": len(state.of(openai_api.File)),
            "running": sum(job.ended is None for job in jobs),
            "throttled": dict(+state.throttled),
            **{name: getattr(state, name) for name in SPEEDS},
        }


def _throttle(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    operation, times = given.get("operation"), given.get("times", 1)
    if not isinstance(operation, str) or operation not in KNOWN:
        raise invalid(f"operation: one of {', '.join(sorted(KNOWN))}")
    with service.state.lock:
        service.state.throttled[operation] = times
    return {}


def _fail(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    wanted, reason = str(given.get("job")), given.get("message", "Internal error")
    job = _job(service, wanted)
    if job.ended is not None:
        raise invalid(f"job: {job.name} has {job.status} already")
    service.runs.fail(job, f"simulation: {reason}")
    return {}


def _job(service: Service, wanted: object) -> Job:
    """A job by its name, its id, or what its id ends with.

    Two services may each have a job of one name: the one that runs is meant, then the newest.
    """
    with service.state.lock:
        found = [
            job
            for job in service.state.of(Job)
            if wanted in {job.id, job.name, job.id.rpartition("/")[2], job.short}
        ]
    if not found:
        raise missing("job: no job has this name or id")
    return max(found, key=lambda job: (job.ended is None, job.created))


def _speed(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    if unknown := given.keys() - set(SPEEDS):
        raise invalid(f"{min(unknown)[:64]}: one of {', '.join(SPEEDS)}")
    with service.state.changed:
        for name, seconds in given.items():
            setattr(service.state, name, float(seconds))
        service.state.changed.notify_all()
    return {}


def _data(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    try:
        service.prompts.add(prompts(given["content"].encode(), given["name"]))
    except JobFailed as failed:
        raise invalid(str(failed)) from None
    return {}


def _reset(service: Service, _: dict[str, Any]) -> dict[str, Any]:
    service.runs.close()
    service.prompts.forget()
    service.state.clear()
    return {}


ACTIONS: Final = {
    "GET ready": _ready,
    "GET state": _state,
    "POST throttle": _throttle,
    "POST fail": _fail,
    "POST speed": _speed,
    "POST data": _data,
    "POST reset": _reset,
}


def is_runtime(request: Request) -> bool:
    """Whether a request is for the job runtime."""
    if (
        request.path in RUNTIMES
        or request.path == RUNTIME
        or request.path.startswith(f"{RUNTIME}/")
    ):
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

    def __init__(
        self,
        aws: LocalAws,
        listening: socket.socket | None = None,
        settings: SimulationSettings = SETTINGS,
    ) -> None:
        super().__init__(listening, largest=LONGEST + SMALL)
        clients, state, agents = Clients(aws), State(), AgentPolicy()
        known = Prompts(clients)
        runs = Runs(state, clients, known, settings)
        runtime = Runtime(RuntimeSettings(agents))
        self.callers = Callers(aws)
        self.service = Service(clients, state, known, runs, runtime, agents, lambda: self.endpoint)

    def answer(self, request: Request) -> Reply | None:
        """The status, the headers and the body of the answer to a request."""
        if is_runtime(request):
            return self.service.runtime.answer(request)
        if request.path.startswith(PREFIX):
            if request.method != "GET":
                self._require_root(request)
            kind, body = controlled(self.service, request)
            return HTTPStatus.OK, {"Content-Type": kind}, body
        caller = self.callers.of(request)
        if request.path.startswith(f"{openai_api.PREFIX}/"):
            return HTTPStatus.OK, {}, openai_api.answer(self.service, caller, request)
        if request.path.startswith(MLFLOW):
            return HTTPStatus.OK, {}, mlflow.answer(self.service, caller, request)
        status, body = answer(self.service, caller, request)
        return status, {}, body

    def denial(self, request: Request, refused: Refused) -> Reply:
        """The answer to a request that is not served, as the clients of its API read it."""
        if request.path.startswith(MLFLOW):
            return mlflow.refusal(refused)
        if request.path.startswith(f"{openai_api.PREFIX}/"):
            return openai_api.refusal(refused)
        if wire.operation_of(request, TARGETS):
            return wire.refusal(refused)
        body = json.dumps({"message": str(refused)}).encode()
        return refused.status, {"x-amzn-ErrorType": refused.code}, body

    def close(self) -> None:
        """Stop every job, and return once none runs."""
        self.service.runs.close()
        self.service.runtime.end()

    def _require_root(self, request: Request) -> None:
        caller = self.callers.of(request)
        if not caller.unrestricted:
            raise Refused("AccessDeniedException", f"{caller.arn} is not the root of the account")


@contextmanager
def serving(aws: LocalAws, settings: SimulationSettings = SETTINGS) -> Iterator[Double]:
    """A double beside an emulator for a block, on a free port; its jobs are stopped at the end."""
    double = Double(aws, settings=settings)
    try:
        with double.in_background():
            yield double
    finally:
        double.close()
