"""The OpenAI-compatible API of bedrock-mantle: files, fine-tuning jobs, chat completions.

IAM knows of it a project, in which files, jobs and inference are; here there is the default one.
It takes no role: a job acts with the rights of its starter. Inferred from AWS's notebook, in which
300 rows in batches of 4 make 67 steps and 4 checkpoints. Where no validation file is named, a tenth
of the rows is held out; and a job has four checkpoints.

Answers are of the types of the `openai` package, which the tests hold them to. The ranges of the
hyperparameters are not documented; whole numbers and positive ones are. Lists are paged by `limit`
and `after`; moments are whole seconds.

Sources: Sources: For the actions "Access and security for open-weight models" in the Bedrock user
    guide, and the Service Authorization Reference of bedrock-mantle. For what Bedrock takes and
    adds (`lambda` graders, no `suffix`, no role) "Create a fine-tuning job with the OpenAI APIs".
    OpenAI's API reference for everything else.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from functools import partial
from http import HTTPStatus
from math import isfinite, log
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple
from urllib.parse import parse_qs
from uuid import uuid4

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from reward_functions.data.lengths import prompt_tokens, tokens
from reward_functions.data.records import text_of
from reward_functions.local.loopback_service import wire
from reward_functions.local.loopback_service.server import (
    Refused,
    conflict,
    invalid,
    missing,
    read_object,
)
from reward_functions.local.runtime_double.chat import Usage, completion, read_body
from reward_functions.local.training_double.bedrock import DEFAULT_TOKENS, ids, respond
from reward_functions.local.training_double.jobs import (
    Grader,
    Job,
    Made,
    Model,
    fresh_id,
    model_of,
    now,
    seed_of,
)
from reward_functions.local.training_double.page import checkpoint_steps, event_data
from reward_functions.local.training_double.policy import MULTIPLIED, NAMES, Policy
from reward_functions.local.training_double.prompts import prompts, training_rows
from reward_functions.local.training_double.service import Call, forget
from reward_functions.local.training_double.training import JobFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from boto3.session import Session

    from reward_functions.jobs.job import HyperparameterValue
    from reward_functions.local.loopback_service.server import Request
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.service import Service
    from reward_functions.local.training_double.training import Outcome, Step

PREFIX: Final = "/v1"

PROJECT: Final = "project/default"

AGAIN_AFTER: Final = "1"
"""Seconds that a throttled client is asked to wait."""

BASES: Final = ids("openai")
"""Models that are tuned here."""

PURPOSE: Final = "fine-tune"

AUTO: Final = "auto"
"""What a hyperparameter may be that the service is to choose."""

HELD_OUT: Final = 10
"""One row of so many is held out for validation."""

SMALLEST: Final = 1e-12
"""A share below it is this: a checkpoint's logits are read from its shares."""


@dataclass(kw_only=True)
class File(Made):
    """A file."""

    content: bytes


class _Body(BaseModel):
    """A part of a request: no member that it does not know, and no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _number(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if value != AUTO and not (number and value > 0):
        raise ValueError(f"it must be positive, or `{AUTO}`")
    return value


def _whole(value: Any) -> Any:
    if value != AUTO and not isinstance(value, int):
        raise ValueError(f"it must be a whole number, or `{AUTO}`")
    return _number(value)


_Count = Annotated[Any, AfterValidator(_whole)]


class _Hyperparameters(_Body):
    n_epochs: _Count = AUTO
    batch_size: _Count = AUTO
    learning_rate_multiplier: Annotated[Any, AfterValidator(_number)] = AUTO


class _Function(_Body):
    function: str


class _Grader(_Body):
    type: Literal["lambda"]
    function: _Function = Field(alias="lambda")


class _Reinforcement(_Body):
    grader: _Grader
    hyperparameters: _Hyperparameters = _Hyperparameters()


class _Method(_Body):
    type: Literal["reinforcement"]
    reinforcement: _Reinforcement


class _CreateJob(_Body):
    model: str
    training_file: str
    validation_file: str | None = None
    method: _Method
    seed: int | None = None
    metadata: dict[str, Any] | None = None


def _content(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise ValueError("it is neither a string nor a list")  # noqa: TRY004 - pydantic's way
    return value


class _Turn(_Body):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[Any, AfterValidator(_content)]
    name: str | None = None


class _Chat(_Body):
    model: str
    messages: list[_Turn]
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = Field(None, ge=1, le=128)
    seed: int | None = None
    stop: Any = None
    stream: Literal[False] | None = None
    reasoning_effort: str | None = None
    user: str | None = None


def _form(request: Request) -> dict[str, Any]:
    """The fields of a form: text by name, and (name, content) of the file.

    Raises:
        Refused: it is not a multipart form.
    """
    kind = request.header("content-type")
    if not kind.lower().startswith("multipart/form-data"):
        raise invalid("A file is uploaded as multipart/form-data", "file")
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    found: dict[str, Any] = {}
    try:
        for part in BytesParser(policy=HTTP).parsebytes(head + request.body).iter_parts():
            name, file = part["content-disposition"].params.get("name"), part.get_filename()
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            found[name] = content.decode(errors="replace") if file is None else (file, content)
    except (LookupError, ValueError, AttributeError, TypeError, AssertionError):
        # What the standard library's parser raises at odd parameters, and at no form.
        raise invalid("The form cannot be read", "file") from None
    return found


def create_file(call: Call) -> dict[str, Any]:
    """Upload a file."""
    given = call.parameters
    if given.get("purpose") != PURPOSE:
        raise invalid(f"Invalid value for 'purpose': {PURPOSE} is taken", "purpose")
    if not isinstance(given.get("file"), tuple):
        raise invalid("Invalid value for 'file': it is required", "file")
    name, content = given["file"]
    identifier = f"file-{uuid4().hex}"
    file = File(id=identifier, name=name, place=call.place, content=content)
    call.state.made[file.id] = file
    # Of a file that is wrong, the job that names it will say so.
    with suppress(JobFailed):
        call.service.prompts.add(prompts(content, name))
    return _shown_file(file)


def list_files(call: Call) -> dict[str, Any]:
    """The files, newest first."""
    wanted = call.parameters.get("purpose", PURPOSE) == PURPOSE
    files = reversed(call.of(File)) if wanted else ()
    return _page([*map(_shown_file, files)], call.parameters)


def get_file(call: Call) -> dict[str, Any]:
    """One file."""
    return _shown_file(_file(call))


def delete_file(call: Call) -> dict[str, Any]:
    """Remove a file; jobs that have read it go on."""
    file = _file(call)
    forget(call, file)
    return {"id": file.id, "object": "file", "deleted": True}


def _file(call: Call) -> File:
    for file in call.of(File, call.parameters["file"]):
        return file
    raise missing(f"No such File object: {call.parameters['file'][:64]}")


def _shown_file(file: File) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": len(file.content),
        "created_at": _seconds(file.created),
        "filename": file.name,
        "purpose": PURPOSE,
        "status": "processed",
    }


def create_job(call: Call) -> dict[str, Any]:
    """Start a job."""
    given = call.parameters
    asked = read_body(_CreateJob, given)
    base, policy = _base(call, asked.model)
    training = _named_file(call, asked.training_file, "training_file")
    validation = asked.validation_file
    held_out = _named_file(call, validation, "validation_file") if validation else None
    method = asked.method.reinforcement
    where = "method.reinforcement.grader.lambda.function"
    grader = call.local_function("grader", method.grader.function.function, where)
    short = fresh_id()
    job = Job(
        id=f"ftjob-{short}", path="openai", name=f"ftjob-{short}", place=call.place, base=base,
        grader=grader, request=given, policy=policy,
        hyperparameters=bedrock_names(method.hyperparameters.model_dump()),
        seed=seed_of(training.name) if asked.seed is None else asked.seed,
        model=f"{base}:ft-simulation-{short}",
    )  # fmt: skip
    rights: Policies | None = None if call.caller.unrestricted else call.policies
    call.state.made[job.id] = job
    job.note("simulation: the job was created; no language model is trained")
    call.service.runs.start(job, rights, partial(_train, call, job, training, held_out))
    return _shown(job)


def bedrock_names(
    hyperparameters: Mapping[str, HyperparameterValue],
) -> dict[str, HyperparameterValue]:
    """Hyperparameters of this API by Bedrock's names.

    Args:
        hyperparameters: any of `n_epochs`, `batch_size` and `learning_rate_multiplier`; "auto"
            counts as left out.
    """
    given = {name: value for name, value in hyperparameters.items() if value != AUTO}
    named = {"n_epochs": "epochCount", "batch_size": "batchSize"}
    found = {name: given[theirs] for theirs, name in named.items() if theirs in given}
    multiplier = float(given.get("learning_rate_multiplier", 1.0))
    return {**found, "learningRate": multiplier * MULTIPLIED}


def _tuned(call: Call, model: str) -> Model | None:
    for each in call.of(Model, model):
        if each.job.path == "openai":
            return each
    return None


def _base(call: Call, model: str) -> tuple[str, Policy]:
    if tuned := _tuned(call, model):
        return tuned.base, tuned.policy
    if model not in BASES:
        raise invalid(
            f"The model `{model}` cannot be fine-tuned (simulation: {', '.join(BASES)} can)",
            "model",
        )
    return model, Policy.base()


def _named_file(call: Call, identifier: str, parameter: str) -> File:
    for file in call.of(File, identifier):
        return file
    raise invalid(f"The file {identifier} does not exist", parameter)


def _train(
    call: Call, job: Job, training: File, held_out: File | None, session: Session
) -> Outcome:
    """Train, and keep the checkpoints of the job as models that can be asked.

    A tenth of the rows is for validation where no file is named for it.
    """
    rows = training_rows(training.content, training.name)
    if held_out is not None:
        validation = prompts(held_out.content, held_out.name)
    else:
        last = len(rows) // HELD_OUT
        rows, validation = rows[:-last], rows[-last:]
    grader = Grader(session, job.grader)
    outcome = call.service.runs.train(job, rows, validation, grader, event_data)
    if outcome.status == "succeeded":
        with call.state.lock:
            for step in _checkpoints(job):
                name = _checkpoint_model(job, step)
                call.state.made[name] = model_of(job, name, name, _policy_at(step))
    return outcome


def _policy_at(step: Step) -> Policy:
    """The policy after a step, by the shares that it had then; base for kinds it was not shown."""
    logits = {
        kind: [log(max(shares[name], SMALLEST)) for name in NAMES]
        for kind, shares in step.shares.items()
    }
    return Policy(Policy.base().logits | logits)


def _checkpoints(job: Job) -> list[Step]:
    """The steps that a checkpoint was made after."""
    return [step for step in job.steps if step.number in checkpoint_steps(step.total)]


def _checkpoint_model(job: Job, step: Step) -> str:
    return f"{job.model}:ckpt-step-{step.number}"


def _job(call: Call) -> Job:
    """The job of a path.

    Raises:
        Refused: there is none.
    """
    for job in call.of(Job, call.parameters["job"]):
        if job.path == "openai":
            return job
    raise missing(f"Could not find fine tune: {call.parameters['job'][:64]}")


def get_job(call: Call) -> dict[str, Any]:
    """One job."""
    return _shown(_job(call))


def list_jobs(call: Call) -> dict[str, Any]:
    """The jobs, newest first."""
    with call.state.lock:
        jobs = [job for job in reversed(call.of(Job)) if job.path == "openai"]
        return _page([*map(_shown, jobs)], call.parameters)


def cancel_job(call: Call) -> dict[str, Any]:
    """Stop a job. That one which is over is refused is OpenAI's behaviour."""
    job = _job(call)
    if job.ended is not None:
        raise conflict(f"The job {job.id} is {job.word} and cannot be cancelled")
    call.service.runs.stop(job)
    return _shown(job)


def list_events(call: Call) -> dict[str, Any]:
    """The messages of the service about a job, newest first."""
    job = _job(call)
    with call.state.lock:
        listed = [
            {
                "id": event.id,
                "object": "fine_tuning.job.event",
                "created_at": _seconds(event.at),
                "level": event.level,
                "type": "message" if event.data is None else "metrics",
                "message": event.message,
                "data": event.data or {},
            }
            for event in reversed(job.events)
        ]
    return _page(listed, call.parameters)


def list_checkpoints(call: Call) -> dict[str, Any]:
    """The checkpoints of a job that has succeeded, newest first."""
    job = _job(call)
    with call.state.lock:
        there = _checkpoints(job) if job.status == "succeeded" else []
        made = [
            {
                "id": f"ftckpt_{job.short}_{step.number}",
                "object": "fine_tuning.job.checkpoint",
                "created_at": _seconds(job.modified),
                "fine_tuned_model_checkpoint": _checkpoint_model(job, step),
                "fine_tuning_job_id": job.id,
                "step_number": step.number,
                "metrics": event_data(step),
            }
            for step in reversed(there)
        ]
    return _page(made, call.parameters)


def _shown(job: Job) -> dict[str, Any]:
    given = job.request
    validating = job.status == "queued" and "dataProcessing" not in job.phases
    error = {"code": "job_failed", "message": job.failure, "param": None}
    return {
        "id": job.id,
        "object": "fine_tuning.job",
        "created_at": _seconds(job.created),
        "finished_at": _seconds(job.ended) if job.ended else None,
        "model": given["model"],
        "fine_tuned_model": job.model if job.status == "succeeded" else None,
        "organization_id": "simulation",
        "status": "validating_files" if validating else job.word,
        "training_file": given["training_file"],
        "validation_file": given.get("validation_file"),
        "result_files": [],
        "trained_tokens": None,
        "seed": job.seed,
        "error": error if job.status == "failed" else None,
        "hyperparameters": given["method"]["reinforcement"].get("hyperparameters", {}),
        "method": given["method"],
        "metadata": given.get("metadata"),
    }


def complete(call: Call) -> dict[str, Any]:
    """A chat completion."""
    given = call.parameters
    policy = _policy(call, read_body(_Chat, given).model)
    prompt = [
        {"role": turn["role"], "content": text_of(turn["content"])} for turn in given["messages"]
    ]
    most = given.get("max_completion_tokens") or given.get("max_tokens") or DEFAULT_TOKENS
    heat = given.get("temperature")
    answers = [
        respond(call, policy, prompt, temperature=1.0 if heat is None else heat, most=most)
        for _ in range(given.get("n") or 1)
    ]
    choices = [
        ({"role": "assistant", "content": text, "refusal": None}, "stop" if whole else "length")
        for text, whole in answers
    ]
    usage = Usage(prompt_tokens(prompt), sum(tokens(text) for text, _ in answers))
    return completion(f"chatcmpl-{uuid4().hex}", now().timestamp(), given["model"], choices, usage)


def _policy(call: Call, model: str) -> Policy:
    if tuned := _tuned(call, model):
        return tuned.policy
    if model not in BASES:
        raise missing(f"The model `{model[:128]}` does not exist or you do not have access to it.")
    return Policy.base()


DEFAULT: Final = 20
"""Items of a page that nobody limits: OpenAI's reference."""

MOST: Final = 100


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def _page(items: Sequence[dict[str, Any]], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """One page of a list.

    Args:
        items: all of it, each with its `id`.
        parameters: `limit`, and `after`, the id of the last item of the page before.

    Raises:
        Refused: the limit is not a number from 1 to 100, or no item has the id.
    """
    limit, after = parameters.get("limit", str(DEFAULT)), parameters.get("after")
    if not (re.fullmatch(r"[0-9]{1,3}", limit) and 1 <= int(limit) <= MOST):
        raise invalid(f"Invalid value for 'limit': a number from 1 to {MOST} is taken", "limit")
    start = 0
    if after:
        places = [at for at, item in enumerate(items, 1) if item["id"] == after]
        if not places:
            raise invalid(f"Invalid value for 'after': no item has the id {after[:64]}", "after")
        start = places[0]
    shown = items[start : start + int(limit)]
    return {
        "object": "list",
        "data": [*shown],
        "has_more": start + len(shown) < len(items),
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
    }


class Operation(NamedTuple):
    """A row of the table.

    Args:
        method: of HTTP.
        path: below `/v1`; names in braces become parameters.
        action: of bedrock-mantle that the caller must be allowed; it names the operation too.
        serve: answers it.
    """

    method: str
    path: str
    action: str
    serve: Callable[[Call], dict[str, Any]]


OPERATIONS: Final = tuple(
    Operation(*row)
    for row in (
        ("POST", "/files", "CreateFile", create_file),
        ("GET", "/files", "ListFiles", list_files),
        ("GET", "/files/{file}", "GetFile", get_file),
        ("DELETE", "/files/{file}", "DeleteFile", delete_file),
        ("POST", "/fine_tuning/jobs", "CreateFineTuningJob", create_job),
        ("GET", "/fine_tuning/jobs", "ListFineTuningJobs", list_jobs),
        ("GET", "/fine_tuning/jobs/{job}", "GetFineTuningJob", get_job),
        ("POST", "/fine_tuning/jobs/{job}/cancel", "CancelFineTuningJob", cancel_job),
        ("GET", "/fine_tuning/jobs/{job}/events", "GetFineTuningJob", list_events),
        ("GET", "/fine_tuning/jobs/{job}/checkpoints", "GetFineTuningJob", list_checkpoints),
        ("POST", "/chat/completions", "CreateInference", complete),
    )
)


def answer(service: Service, caller: Caller, request: Request) -> bytes:
    """The body of an answer.

    Raises:
        Refused: the request is not served.
    """
    path = request.path.removeprefix(PREFIX)
    for operation in OPERATIONS:
        labels = wire.labels_in(path, operation.path)
        if labels is None or request.method != operation.method:
            continue
        service.state.throttle(operation.action)
        action = f"bedrock-mantle:{operation.action}"
        call = Call(service, caller, _parameters(request) | labels, action)
        if caller.bearer:
            call.require("*", action="bedrock-mantle:CallWithBearerToken")
        call.require(call.place.arn("bedrock-mantle", PROJECT))
        return json.dumps(operation.serve(call)).encode()
    raise missing(f"Invalid URL ({request.method} {request.path[:128]})")


def _parameters(request: Request) -> dict[str, Any]:
    if request.method == "GET" or not request.body:
        query = parse_qs(request.query, keep_blank_values=True)
        return {name: values[0] for name, values in query.items()}
    if request.header("content-type").lower().startswith("multipart/"):
        return _form(request)
    return read_object(request.body)


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
