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

from reward_functions.local.loopback_service.requests import Refused, invalid
from reward_functions.local.training_double.identity import MLFLOW
from reward_functions.local.training_double.sagemaker_public_hub import CREATED
from reward_functions.local.training_double.sagemaker_state import absent, run_id
from reward_functions.local.training_double.service import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.cdk.policies.iam import Place
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.training_double.agent_state import AgentJob
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.service import Service
    from reward_functions.local.training_double.state import Job

    Measured = Job | AgentJob

APP_HEADER: Final = "x-sm-mlflow-app-arn"

APP: Final = "mlflow-app/app-SIMULATION00"

EXPERIMENT: Final = "1"

PAGE: Final = 1_000
"""Values on a page that nobody limits."""

MOST: Final = 25_000

WORDS: Final = {
    "succeeded": "FINISHED",
    "failed": "FAILED",
    "stopped": "KILLED",
    "Completed": "FINISHED",
    "Failed": "FAILED",
    "Stopped": "KILLED",
}
"""The status of a run by that of its job; others are RUNNING."""


def app_arn(place: Place) -> str:
    """The ARN of an account's app."""
    return place.arn("sagemaker", APP)


def require_app(call: Call, arn: str) -> None:
    """Nothing, where there is this app.

    Raises:
        Refused: there is none of this ARN.
    """
    if arn != app_arn(call.place):
        raise absent(f"MLflow app {arn} does not exist")


def list_apps(call: Call) -> dict[str, Any]:
    """ListMlflowApps."""
    call.require("sagemaker:ListMlflowApps", "*")
    asked = call.parameters
    there = (
        asked.get("AccountDefaultStatus", "ENABLED") == "ENABLED"
        and asked.get("Status", "Created") == "Created"
        and "DefaultForDomainId" not in asked
    )
    return {"Summaries": [_app(call.place)] if there else []}


def describe_app(call: Call) -> dict[str, Any]:
    """DescribeMlflowApp."""
    arn = call.parameters["Arn"]
    call.require("sagemaker:DescribeMlflowApp", arn)
    require_app(call, arn)
    return _app(call.place) | {"AccountDefaultStatus": "ENABLED"}


def presigned_url(call: Call) -> dict[str, Any]:
    """CreatePresignedMlflowAppUrl; the simulation's URL shows its jobs, and signs nobody in."""
    arn = call.parameters["Arn"]
    call.require("sagemaker:CreatePresignedMlflowAppUrl", arn)
    require_app(call, arn)
    return {"AuthorizedUrl": f"{call.service.clients.aws.training_endpoint}/_training/state"}


def _app(place: Place) -> dict[str, Any]:
    return {
        "Arn": app_arn(place),
        "Name": "simulation",
        "Status": "Created",
        "CreationTime": CREATED,
        "LastModifiedTime": CREATED,
        "MlflowVersion": "3.10.0",
    }


def answer(service: Service, caller: Caller, request: Request) -> bytes:
    """The body of an answer of the REST API.

    Raises:
        Refused: there is no such run, or the caller may not look at it.
    """
    wanted = request.path.removeprefix(MLFLOW)
    if request.method != "GET" or wanted not in OPERATIONS:
        raise absent(f"simulation: {request.method} {request.path[:128]} is not served")
    action, serve = OPERATIONS[wanted]
    service.state.throttle(action)
    call = Call(service, caller, {})
    app = request.header(APP_HEADER)
    if not app:
        raise invalid(f"the header {APP_HEADER} names the app, and is missing")
    call.require(f"sagemaker-mlflow:{action}", app)
    require_app(call, app)
    asked = {name: values[0] for name, values in parse_qs(request.query).items()}
    job = _job(call, asked.get("run_id", ""))
    with service.state.lock:
        return json.dumps(serve(job, asked)).encode()


def _job(call: Call, run: str) -> Measured:
    with call.state.lock:
        for job in call.state.jobs.values():
            if "MlflowConfig" in job.request and job.place == call.place and run_id(job) == run:
                return job
        for other in call.service.agents.jobs.values():
            if run and other.run == run and other.place == call.place:
                return other
    raise absent(f"Run '{run[:64]}' not found")


def _run(job: Measured, asked: Mapping[str, str]) -> dict[str, Any]:
    """A run with the newest value of each metric."""
    newest = {each["key"]: each for each in _values(job)}
    config, identity = job.request["MlflowConfig"], asked["run_id"]
    info = {
        "run_id": identity,
        "run_uuid": identity,
        "run_name": config.get("MlflowRunName", job.name),
        "experiment_id": EXPERIMENT,
        "status": WORDS.get(job.status, "RUNNING"),
        "start_time": _milliseconds(job.created.timestamp()),
        "lifecycle_stage": "active",
    }
    if job.ended:
        info["end_time"] = _milliseconds(job.ended.timestamp())
    parameters = [{"key": k, "value": str(v)} for k, v in job.hyperparameters.items()]
    data = {"metrics": [*newest.values()], "params": parameters, "tags": []}
    return {"run": {"info": info, "data": data, "inputs": {}}}


def _history(job: Measured, asked: Mapping[str, str]) -> dict[str, Any]:
    """The values of a metric, a page of them."""
    start, size = asked.get("page_token", "0"), asked.get("max_results", str(PAGE))
    if not (re.fullmatch(r"[0-9]{1,9}", start) and re.fullmatch(r"[1-9][0-9]{0,8}", size)):
        raise invalid("page_token or max_results is not valid")
    values = [each for each in _values(job) if each["key"] == asked.get("metric_key")]
    end = int(start) + min(int(size), MOST)
    token = {"next_page_token": str(end)} if end < len(values) else {}
    return {"metrics": values[int(start) : end]} | token


def _values(job: Measured) -> list[dict[str, Any]]:
    measured = [event for event in job.events if event.type == "metrics"]
    return [
        {
            "key": name,
            "value": value,
            "timestamp": _milliseconds(event.at.timestamp()),
            "step": number,
        }
        for number, event in enumerate(measured, 1)
        for name, value in event.data.items()
    ]


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


OPERATIONS: Final = {
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
