"""MLflow of SageMaker's apps: the app of an account, and the runs of its jobs over REST.

    GET /api/2.0/mlflow/runs/get?run_id=
    GET /api/2.0/mlflow/metrics/get-history?run_id=&metric_key=[&max_results=&page_token=]

Signed for `sagemaker`, with the app's ARN in `x-sm-mlflow-app-arn`. Every account has one app, made
with it. Sources: sagemaker-mlflow 0.5 for the address and the header; MLflow's REST API for the
rest. Inferred: how AWS words a refusal.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from reward_functions.local.loopback_service.server import Refused, invalid
from reward_functions.local.training_double.hub import CREATED, absent
from reward_functions.local.training_double.identity import MLFLOW
from reward_functions.local.training_double.jobs import WORDS, Job
from reward_functions.local.training_double.service import Call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from reward_functions.cdk.policies.iam import Place
    from reward_functions.local.loopback_service.server import Request
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.service import Serve, Service

APP_HEADER: Final = "x-sm-mlflow-app-arn"

APP: Final = "mlflow-app/app-SIMULATION00"

EXPERIMENT: Final = "1"

PAGE: Final = 1_000
"""Values on a page that nobody limits."""

MOST: Final = 25_000


def app_arn(place: Place) -> str:
    """The ARN of an account's app."""
    return place.arn("sagemaker", APP)


def require_app(call: Call, arn: str) -> None:
    """Refuse an app that the account does not have.

    Raises:
        Refused: there is none of this ARN.
    """
    if arn != app_arn(call.place):
        raise absent(f"MLflow app {arn} does not exist")


def list_apps(call: Call) -> dict[str, Any]:
    """ListMlflowApps."""
    call.require("*")
    asked = call.parameters
    there = (
        asked.get("AccountDefaultStatus", "ENABLED") == "ENABLED"
        and asked.get("Status", "Created") == "Created"
        and "DefaultForDomainId" not in asked
    )
    app = {
        "Arn": app_arn(call.place),
        "Name": "simulation",
        "Status": "Created",
        "CreationTime": CREATED,
        "LastModifiedTime": CREATED,
        "MlflowVersion": "3.10.0",
    }
    return {"Summaries": [app] if there else []}


OPERATIONS: Final[dict[str, Serve]] = {
    "ListMlflowApps": list_apps,
}
"""By botocore's names."""


def answer(service: Service, caller: Caller, request: Request) -> bytes:
    """The body of an answer of the REST API.

    Raises:
        Refused: there is no such run, or the caller may not look at it.
    """
    wanted = request.path.removeprefix(MLFLOW)
    if request.method != "GET" or wanted not in PATHS:
        raise absent(f"simulation: {request.method} {request.path[:128]} is not served")
    action, serve = PATHS[wanted]
    service.state.throttle(action)
    call = Call(service, caller, {}, f"sagemaker-mlflow:{action}")
    app = request.header(APP_HEADER)
    if not app:
        raise invalid(f"the header {APP_HEADER} names the app, and is missing")
    call.require(app)
    require_app(call, app)
    asked = {name: values[0] for name, values in parse_qs(request.query).items()}
    run = asked.get("run_id", "")
    job = next((job for job in call.of(Job) if run and job.run == run), None)
    if job is None:
        raise absent(f"Run '{run[:64]}' not found")
    with service.state.lock:
        return json.dumps(serve(job, asked)).encode()


def _run(job: Job, asked: Mapping[str, str]) -> dict[str, Any]:
    """A run with the newest value of each metric."""
    newest = {each["key"]: each for each in _values(job)}
    identity = asked["run_id"]
    info = {
        "run_id": identity,
        "run_uuid": identity,
        "run_name": job.request["MlflowConfig"].get("MlflowRunName", job.name),
        "experiment_id": EXPERIMENT,
        "status": WORDS["mlflow"][job.status],
        "start_time": _milliseconds(job.created),
        "lifecycle_stage": "active",
    }
    if job.ended:
        info["end_time"] = _milliseconds(job.ended)
    parameters = [{"key": k, "value": str(v)} for k, v in job.hyperparameters.items()]
    data = {"metrics": [*newest.values()], "params": parameters, "tags": []}
    return {"run": {"info": info, "data": data, "inputs": {}}}


def _history(job: Job, asked: Mapping[str, str]) -> dict[str, Any]:
    """The values of a metric, a page of them."""
    start, size = asked.get("page_token", "0"), asked.get("max_results", str(PAGE))
    if not (re.fullmatch(r"[0-9]{1,9}", start) and re.fullmatch(r"[1-9][0-9]{0,8}", size)):
        raise invalid("page_token or max_results is not valid")
    values = [each for each in _values(job) if each["key"] == asked.get("metric_key")]
    end = int(start) + min(int(size), MOST)
    token = {"next_page_token": str(end)} if end < len(values) else {}
    return {"metrics": values[int(start) : end]} | token


def _values(job: Job) -> list[dict[str, Any]]:
    measured = [event for event in job.events if event.data is not None]
    return [
        {"key": name, "value": value, "timestamp": _milliseconds(event.at), "step": number}
        for number, event in enumerate(measured, 1)
        for name, value in (event.data or {}).items()
    ]


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


PATHS: Final = {
    "runs/get": ("GetRun", _run),
    "metrics/get-history": ("GetMetricHistory", _history),
}
"""Each path with its action of IAM and what answers it."""

CODES: Final = {
    "ResourceNotFound": "RESOURCE_DOES_NOT_EXIST",
    "ValidationException": "INVALID_PARAMETER_VALUE",
    "ThrottlingException": "REQUEST_LIMIT_EXCEEDED",
}


def refusal(refused: Refused) -> tuple[int, dict[str, str], bytes]:
    """A refusal as MLflow's clients read it: its status, its headers and its body."""
    status = 404 if refused.code == "ResourceNotFound" else int(refused.status)
    code = CODES.get(refused.code, "PERMISSION_DENIED")
    return status, {}, json.dumps({"error_code": code, "message": str(refused)}).encode()
