"""What only a double has: `/_training/…`, for whoever rehearses an accident.

    GET  ready       {}
    GET  state       how many jobs, models, deployments and files there are
    POST throttle    {"operation": NAME, "times": N}: the next N calls are refused
    POST fail        {"job": NAME or id, "message": TEXT}: it fails, as if the service had
    POST speed       {"seconds_per_step": S, "seconds_to_host": T}: how long a step of a job and a
                     deployment of a model take from now on; either may be left out
    POST data        {"name": FILE, "content": JSONL}: prompts that it answers from now on
    POST reset       everything that was made is forgotten
    GET  jobs/ID     the course of a job as a page of HTML; ID is its name, or its id's last part

Everybody on this machine may look. What changes something is signed by root, where the emulator
beside it enforces permissions; where it does not, everybody is root.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.requests import invalid, missing, read_json
from reward_functions.local.training_double.aws_api import SAGEMAKER, SERVING
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.datafiles import prompts
from reward_functions.local.training_double.openai_api import OPERATIONS as OPENAI
from reward_functions.local.training_double.page import page_of
from reward_functions.local.training_double.sagemaker_mlflow import OPERATIONS as MLFLOW

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.training_double.service import Service
    from reward_functions.local.training_double.state import Job

PREFIX: Final = "/_training/"
PAGES: Final = f"{PREFIX}jobs/"

KNOWN: Final = frozenset(
    {
        *SERVING,
        *SAGEMAKER,
        *(operation.action for operation in OPENAI),
        *(action for action, _ in MLFLOW.values()),
    }
)
"""Operations that can be throttled."""

SPEEDS: Final = ("seconds_per_step", "seconds_to_host")

SLOWEST: Final = 3600.0
"""Seconds."""


def answer(service: Service, request: Request) -> tuple[str, bytes]:
    """The type and the body of an answer.

    Raises:
        Refused: there is no such thing, or it cannot be done.
    """
    if request.method == "GET" and request.path.startswith(PAGES):
        return "text/html; charset=utf-8", _page(service, request.path.removeprefix(PAGES))
    wanted = f"{request.method} {request.path.removeprefix(PREFIX)}"
    if wanted not in ACTIONS:
        raise missing(f"{request.method} {request.path[:128]} is none of {', '.join(ACTIONS)}")
    given = read_json(request.body) if request.body else {}
    if not isinstance(given, dict):
        raise invalid("the request body is not a JSON object")
    return "application/json", json.dumps(ACTIONS[wanted](service, given)).encode()


def _ready(_: Service, __: dict[str, Any]) -> dict[str, Any]:
    return {}


def _state(service: Service, _: dict[str, Any]) -> dict[str, Any]:
    state = service.state
    with state.lock:
        kinds = ("jobs", "models", "deployments", "files")
        return {
            **{kind: len(getattr(state, kind)) for kind in kinds},
            "running": sum(job.ended is None for job in state.jobs.values()),
            "throttled": dict(+state.throttled),
            **{name: getattr(state, name) for name in SPEEDS},
        }


def _throttle(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    operation, times = given.get("operation"), given.get("times", 1)
    if not isinstance(operation, str) or operation not in KNOWN:
        raise invalid(f"operation: one of {', '.join(sorted(KNOWN))}")
    if not isinstance(times, int) or isinstance(times, bool) or times < 0:
        raise invalid("times: a whole number from 0 on")
    with service.state.lock:
        service.state.throttled[operation] = times
    return {}


def _fail(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    wanted, reason = str(given.get("job")), given.get("message", "Internal error")
    if not isinstance(reason, str) or not reason:
        raise invalid("message: a string")
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
            for job in service.state.jobs.values()
            if wanted in {job.id, job.name, job.id.rpartition("/")[2], job.short}
        ]
    if not found:
        raise missing("job: no job has this name or id")
    return max(found, key=lambda job: (job.ended is None, job.created))


def _page(service: Service, wanted: str) -> bytes:
    job = _job(service, wanted)
    with service.state.lock:
        return page_of(job).encode()


def _speed(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    for name, seconds in given.items():
        if name not in SPEEDS:
            raise invalid(f"{name[:64]}: one of {', '.join(SPEEDS)}")
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not number or not 0 <= seconds <= SLOWEST:
            raise invalid(f"{name}: a number from 0 to {SLOWEST:g}")
    with service.state.changed:
        for name, seconds in given.items():
            setattr(service.state, name, float(seconds))
        service.state.changed.notify_all()
    return {}


def _data(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    name, content = given.get("name"), given.get("content")
    if not (isinstance(name, str) and isinstance(content, str)):
        raise invalid("name, content: strings")
    try:
        service.prompts.add(prompts(content.encode(), name[:256]))
    except JobFailed as failed:
        raise invalid(str(failed)) from None
    return {}


def _reset(service: Service, _: dict[str, Any]) -> dict[str, Any]:
    service.runs.close()
    service.prompts.forget()
    service.state.clear()
    service.sagemaker.clear()
    service.imports.clear()
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
