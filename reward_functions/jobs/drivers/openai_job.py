"""A job of the OpenAI-compatible API: how it is asked for, and what the service answers about it.

    a status of the service             ours          shown as the phase
    validating_files                    queued        validating_files
    queued                              queued
    running                             running
    paused                              running       paused
    succeeded, failed, cancelled        succeeded, failed, stopped
    any other word                      running       the word

Source: AWS's guide to Bedrock, "Create and manage fine-tuning jobs for open-weight models using
OpenAI APIs"; the members of a job, an event and a checkpoint, OpenAI's API reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import (
    hyperparameters,
    moment,
    number,
    text,
    within,
)
from reward_functions.jobs.drivers.openai_api import identifier
from reward_functions.jobs.failures import UNREADABLE
from reward_functions.jobs.job import Job, JobEvent, MetricPoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from reward_functions.jobs.job import JobRequest, JobStatus

STATUSES: Final[Mapping[str, JobStatus]] = {
    "validating_files": "queued",
    "queued": "queued",
    "running": "running",
    "paused": "running",
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "stopped",
}

PLAIN: Final = frozenset(STATUSES) - {"validating_files", "paused"}
"""Statuses that say no more than ours do."""

SUFFIX: Final = ".jsonl"

FILES: Final = ("training_file", "validation_file")
"""Members of a job that are ids of files."""

METRICS: Final = "metrics"
"""The type of events that hold figures."""

STEP: Final = "step"

VALIDATION: Final = ("val", "full_val", "eval")
"""How the names of figures begin that are of validation data."""

MAX_STEP: Final = 1_000_000_000
MAX_FIGURES: Final = 200
MAX_NAME: Final = 200

UNSUPPORTED: Final = {
    "logs": "invocation logs in place of a file",
    "model_key": "a KMS key for the model",
    "vpc": "a network of your own",
}
"""Fields of a request that this API has no place for."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model of the middle of a job, which can be asked at once.

    Args:
        id: the service's own.
        step: after which it was kept.
        model: the id to ask with.
        metrics: figures of that step, by the service's own names.
        created: when; None where the service does not say.
    """

    id: str
    step: int
    model: str
    metrics: Mapping[str, float]
    created: datetime | None


def request_of(request: JobRequest) -> dict[str, Any]:
    """The body of `POST /fine_tuning/jobs`; it has no place for a name, a role or tags.

    Raises:
        BadJob: the request has what this API cannot do.
    """
    for field, words in UNSUPPORTED.items():
        if getattr(request, field):
            raise BadJob(f"{field}: the OpenAI-compatible API takes no {words}")
    grader = {"type": "lambda", "lambda": {"function": request.grader}}
    reinforcement: dict[str, Any] = {"grader": grader}
    if request.hyperparameters:
        reinforcement["hyperparameters"] = dict(request.hyperparameters)
    body: dict[str, Any] = {
        "model": request.model,
        "training_file": request.training,
        "method": {"type": "reinforcement", "reinforcement": reinforcement},
    }
    if request.validation:
        body["validation_file"] = request.validation
    return body


def job_of(answer: Mapping[str, Any], file_name: str) -> Job:
    """The job of an answer.

    Args:
        answer: the service's.
        file_name: of its training file, which carries the job's name; "" where it is gone.

    Raises:
        AwsFailed: the answer lacks what every job has.
    """
    what = "reading a job"
    created, status = moment(answer.get("created_at")), text(answer.get("status"), MAX_NAME)
    found = identifier(text(answer.get("id")), what)
    if created is None or not status:
        raise AwsFailed(f"{what}: {UNREADABLE}")
    method = within(answer, "method", "reinforcement")
    failure = text(within(answer, "error", "message"))
    return Job(
        driver="openai",
        id=found,
        name=file_name.removesuffix(SUFFIX) or found,
        status=STATUSES.get(status, "running"),
        phase="" if status in PLAIN else status,
        model=text(answer.get("model")),
        grader=text(within(method, "grader", "lambda", "function")),
        created=created,
        ended=moment(answer.get("finished_at")),
        failure=failure or text(within(answer, "error", "code")),
        tuned_model=text(answer.get("fine_tuned_model")),
        hyperparameters=hyperparameters(within(method, "hyperparameters")),
        files=tuple(filter(None, (text(answer.get(each)) for each in FILES))),
    )


def reinforcement(answer: Mapping[str, Any]) -> bool:
    """Whether a job is one of reinforcement fine-tuning; one that does not say is taken for one."""
    return within(answer, "method", "type") in {None, "reinforcement"}


def events_of(answers: list[dict[str, Any]]) -> Iterator[JobEvent]:
    """Events without figures, oldest first; the service lists them in either order."""
    for answer in _oldest_first(answers):
        at = moment(answer.get("created_at"))
        if at is not None and answer.get("type") != METRICS:
            yield JobEvent(
                text(answer.get("id"), MAX_NAME),
                at,
                text(answer.get("level"), MAX_NAME) or "info",
                text(answer.get("message")),
            )


def points_of(answers: list[dict[str, Any]]) -> Iterator[MetricPoint]:
    """The figures of events, by step; of two for one step, the later."""
    found: dict[tuple[int, str], MetricPoint] = {}
    for answer in _oldest_first(answers):
        if answer.get("type") == METRICS:
            for point in _points(answer.get("data")):
                found[point.step, point.name] = point
    yield from sorted(found.values(), key=lambda point: point.step)


def checkpoint_of(answer: Mapping[str, Any]) -> Checkpoint:
    """A checkpoint of an answer, with what of it can be read."""
    given = answer.get("metrics")
    metrics = dict(list(given.items())[:MAX_FIGURES]) if isinstance(given, dict) else {}
    return Checkpoint(
        text(answer.get("id"), MAX_NAME),
        int(number(answer.get("step_number")) or 0),
        text(answer.get("fine_tuned_model_checkpoint")),
        {
            text(name, MAX_NAME): value
            for name, each in metrics.items()
            if (value := number(each)) is not None
        },
        moment(answer.get("created_at")),
    )


def _points(data: Any) -> Iterator[MetricPoint]:
    step = number(within(data, STEP))
    if step is None or not 0 <= step <= MAX_STEP:
        return
    for given, each in list(data.items())[:MAX_FIGURES]:
        name, value = text(given, MAX_NAME), number(each)
        if value is not None and name != STEP:
            if name.startswith(VALIDATION):
                yield MetricPoint(int(step), name, value, "validation")
            else:
                yield MetricPoint(int(step), name, value)


def _oldest_first(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By time; within one second in the order of the list, which begins with the newest."""
    timed = [(moment(each.get("created_at")), each) for each in answers]
    known = [(at, each) for at, each in timed if at is not None]
    if known and known[0][0] >= known[-1][0]:
        known.reverse()
    return [each for _, each in sorted(known, key=lambda pair: pair[0])]
