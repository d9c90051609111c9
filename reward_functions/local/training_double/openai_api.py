"""The OpenAI-compatible API of bedrock-mantle: what is asked for, by method and path.

IAM knows of it a project, in which files, jobs and inference are; here there is the default one.

Sources: "Access and security for open-weight models" in the Bedrock user guide and the Service
Authorization Reference of bedrock-mantle for the actions; OpenAI's API reference for paths and
errors.
"""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote

from reward_functions.local.loopback_service.requests import Refused, invalid, missing, read_json
from reward_functions.local.training_double import openai_files, openai_jobs, openai_models
from reward_functions.local.training_double.openai_files import form
from reward_functions.local.training_double.openai_shapes import (
    CHECKPOINT,
    COMPLETION,
    DELETED,
    EVENT,
    FILE,
    JOB,
    MODEL,
    Field,
    listed,
    require_answer,
)
from reward_functions.local.training_double.service import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.service import Service

PREFIX: Final = "/v1"

PROJECT: Final = "project/default"

AGAIN_AFTER: Final = "1"
"""Seconds that a throttled client is asked to wait."""


class Operation(NamedTuple):
    """A row of the table.

    Args:
        method: of HTTP.
        path: below `/v1`; names in braces become parameters.
        action: of bedrock-mantle that the caller must be allowed; it names the operation too.
        serve: answers it.
        answer: the table of its answer.
    """

    method: str
    path: str
    action: str
    serve: Callable[[Call], dict[str, Any]]
    answer: Field

    def labels(self, request: Request) -> dict[str, str] | None:
        """What the path holds, by name; None where it is another operation's."""
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", PREFIX + self.path)
        found = re.fullmatch(pattern, request.path) if request.method == self.method else None
        return found and {name: unquote(text) for name, text in found.groupdict().items()}


OPERATIONS: Final = tuple(
    Operation(*row)
    for row in (
        ("POST", "/files", "CreateFile", openai_files.create, FILE),
        ("GET", "/files", "ListFiles", openai_files.list_, listed(FILE)),
        ("GET", "/files/{file}", "GetFile", openai_files.retrieve, FILE),
        ("DELETE", "/files/{file}", "DeleteFile", openai_files.delete, DELETED),
        ("POST", "/fine_tuning/jobs", "CreateFineTuningJob", openai_jobs.create, JOB),
        ("GET", "/fine_tuning/jobs", "ListFineTuningJobs", openai_jobs.list_, listed(JOB)),
        ("GET", "/fine_tuning/jobs/{job}", "GetFineTuningJob", openai_jobs.retrieve, JOB),
        ("POST", "/fine_tuning/jobs/{job}/cancel", "CancelFineTuningJob", openai_jobs.cancel, JOB),
        (
            *("GET", "/fine_tuning/jobs/{job}/events", "GetFineTuningJob"),
            *(openai_jobs.events, listed(EVENT)),
        ),
        (
            *("GET", "/fine_tuning/jobs/{job}/checkpoints", "GetFineTuningJob"),
            *(openai_jobs.checkpoints, listed(CHECKPOINT)),
        ),
        ("GET", "/models", "ListModels", openai_models.list_, listed(MODEL)),
        ("GET", "/models/{model}", "GetModel", openai_models.retrieve, MODEL),
        ("POST", "/chat/completions", "CreateInference", openai_models.complete, COMPLETION),
    )
)


def answer(service: Service, caller: Caller, request: Request) -> bytes:
    """The body of an answer.

    Raises:
        Refused: the request is not served.
        BadAnswer: the answer would not be the API's.
    """
    for operation in OPERATIONS:
        labels = operation.labels(request)
        if labels is not None:
            return _answered(operation, labels, service, caller, request)
    raise missing(f"Invalid URL ({request.method} {request.path[:128]})")


def _answered(
    operation: Operation,
    labels: dict[str, str],
    service: Service,
    caller: Caller,
    request: Request,
) -> bytes:
    service.state.throttle(operation.action)
    call = Call(service, caller, _parameters(request) | labels)
    if caller.bearer:
        call.require("bedrock-mantle:CallWithBearerToken", "*")
    project = call.place.arn("bedrock-mantle", PROJECT)
    call.require(f"bedrock-mantle:{operation.action}", project)
    result = operation.serve(call)
    require_answer(operation.answer, result)
    return json.dumps(result).encode()


def _parameters(request: Request) -> dict[str, Any]:
    if request.method == "GET" or not request.body:
        query = parse_qs(request.query, keep_blank_values=True)
        return {name: values[0] for name, values in query.items()}
    if request.header("content-type").lower().startswith("multipart/"):
        return form(request)
    body = read_json(request.body)
    if not isinstance(body, dict):
        raise invalid("the request body is not a JSON object")
    return body


def refusal(refused: Refused) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """A refusal as OpenAI's clients read it: its status, its headers and its body."""
    denied = refused.code == "AccessDeniedException"
    unknown = refused.status == HTTPStatus.FORBIDDEN and not denied
    status = HTTPStatus.UNAUTHORIZED if unknown else refused.status
    kind = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    error = {
        "message": str(refused),
        "type": kind,
        "param": refused.parameter or None,
        "code": refused.code,
    }
    throttled = status == HTTPStatus.TOO_MANY_REQUESTS
    return (
        status,
        {"Retry-After": AGAIN_AFTER} if throttled else {},
        json.dumps({"error": error}).encode(),
    )
