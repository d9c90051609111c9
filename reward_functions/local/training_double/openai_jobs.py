"""Fine-tuning jobs of the OpenAI-compatible API.

There is no role: a job acts with the rights of whoever started it. Inferred from AWS's notebook, in
which 300 rows in batches of 4 make 67 steps and 4 checkpoints: where no validation file is named, a
tenth of the rows is held out; and a job has four checkpoints.
"""

from __future__ import annotations

from functools import partial
from math import log
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.requests import conflict, invalid, missing
from reward_functions.local.training_double.bases import OPENAI
from reward_functions.local.training_double.bedrock_jobs import local_grader
from reward_functions.local.training_double.datafiles import prompts, training_rows
from reward_functions.local.training_double.metric_files import checkpoint_steps, event_data
from reward_functions.local.training_double.openai_shapes import (
    CREATE_JOB,
    page_of,
    require_request,
    seconds,
)
from reward_functions.local.training_double.policy import NAMES, Policy
from reward_functions.local.training_double.runs import Errand, seed_of
from reward_functions.local.training_double.state import Job, Model, fresh_id
from reward_functions.local.training_double.training import bedrock_names

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.local.training_double.datafiles import Row
    from reward_functions.local.training_double.service import Call
    from reward_functions.local.training_double.state import File
    from reward_functions.local.training_double.training import Step

WORDS: Final = {
    "queued": "queued",
    "running": "running",
    "stopping": "running",
    "succeeded": "succeeded",
    "failed": "failed",
    "stopped": "cancelled",
}
"""The status of a job in OpenAI's words, once its files are validated."""

HELD_OUT: Final = 10
"""One row of so many is held out for validation."""

SMALLEST: Final = 1e-12
"""A share below it is this: a checkpoint's logits are read from its shares."""


def create(call: Call) -> dict[str, Any]:
    """Start a job."""
    given = call.parameters
    require_request(CREATE_JOB, given)
    base, policy = _base(call, given["model"])
    training = _file(call, given["training_file"], "training_file")
    validation = given.get("validation_file")
    held_out = _file(call, validation, "validation_file") if validation else None
    method = given["method"]["reinforcement"]
    place = "method.reinforcement.grader.lambda.function"
    grader = local_grader(call, method["grader"]["lambda"]["function"], place)
    short = fresh_id()
    seed = given.get("seed")
    chosen = bedrock_names(method.get("hyperparameters", {}))
    job = Job(
        id=f"ftjob-{short}", path="openai", name=f"ftjob-{short}", place=call.place, base=base,
        grader=grader, request=given, hyperparameters=chosen, policy=policy,
        seed=seed_of(training.name) if seed is None else seed,
        model=f"{base}:ft-simulation-{short}",
    )  # fmt: skip
    rights = None if call.caller.unrestricted else call.policies
    with call.state.lock:
        call.state.jobs[job.id] = job
    call.service.runs.note(job, "simulation: the job was created; no language model is trained")
    errand = Errand(
        rights, partial(_read, training, held_out), partial(_keep, call, job), event_data
    )
    call.service.runs.start(job, errand)
    return shown(job)


def _base(call: Call, model: str) -> tuple[str, Policy]:
    tuned = call.state.models.get(model)
    if tuned is not None and tuned.job.path == "openai" and tuned.place == call.place:
        return tuned.base, tuned.policy
    if model not in OPENAI:
        raise invalid(
            f"The model `{model}` cannot be fine-tuned (simulation: {', '.join(OPENAI)} can)",
            "model",
        )
    return model, Policy.base()


def _file(call: Call, identifier: str, parameter: str) -> File:
    found = call.state.files.get(identifier)
    if found is None or found.place != call.place:
        raise invalid(f"The file {identifier} does not exist", parameter)
    return found


def _read(training: File, held_out: File | None, _: Session) -> tuple[list[Row], list[Row]]:
    """The rows of a job, a tenth of them for validation where no file is named for it."""
    rows = training_rows(training.content, training.name)
    if held_out is not None:
        return rows, prompts(held_out.content, held_out.name)
    last = len(rows) // HELD_OUT
    return rows[:-last], rows[-last:]


def _keep(call: Call, job: Job, _: Session, __: Policy) -> None:
    """The checkpoints of a job, as models that can be asked."""
    with call.state.lock:
        for step in _checkpoints(job):
            name = _checkpoint_model(job, step)
            policy = _policy_at(step)
            call.state.models[name] = Model(name, name, job.place, job.base, policy, job)


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


def found(call: Call) -> Job:
    """The job of a path.

    Raises:
        Refused: there is none.
    """
    job = call.state.jobs.get(call.parameters["job"])
    if job is None or job.path != "openai" or job.place != call.place:
        raise missing(f"Could not find fine tune: {call.parameters['job'][:64]}")
    return job


def retrieve(call: Call) -> dict[str, Any]:
    """One job."""
    return shown(found(call))


def list_(call: Call) -> dict[str, Any]:
    """The jobs, newest first."""
    with call.state.lock:
        jobs = [
            job
            for job in reversed(call.state.jobs.values())
            if job.path == "openai" and job.place == call.place
        ]
        return page_of([*map(shown, jobs)], call.parameters)


def cancel(call: Call) -> dict[str, Any]:
    """Stop a job. That one which is over is refused is OpenAI's behaviour."""
    job = found(call)
    if job.ended is not None:
        raise conflict(f"The job {job.id} is {WORDS[job.status]} and cannot be cancelled")
    call.service.runs.stop(job)
    return shown(job)


def events(call: Call) -> dict[str, Any]:
    """What the service said of a job, newest first."""
    job = found(call)
    with call.state.lock:
        listed = [
            {
                "id": event.id,
                "object": "fine_tuning.job.event",
                "created_at": seconds(event.at),
                "level": event.level,
                "type": event.type,
                "message": event.message,
                "data": event.data,
            }
            for event in reversed(job.events)
        ]
    return page_of(listed, call.parameters)


def checkpoints(call: Call) -> dict[str, Any]:
    """The checkpoints of a job that has succeeded, newest first."""
    job = found(call)
    with call.state.lock:
        there = _checkpoints(job) if job.status == "succeeded" else []
        made = [
            {
                "id": f"ftckpt_{job.short}_{step.number}",
                "object": "fine_tuning.job.checkpoint",
                "created_at": seconds(job.modified),
                "fine_tuned_model_checkpoint": _checkpoint_model(job, step),
                "fine_tuning_job_id": job.id,
                "step_number": step.number,
                "metrics": event_data(step),
            }
            for step in reversed(there)
        ]
    return page_of(made, call.parameters)


def shown(job: Job) -> dict[str, Any]:
    """A job as the API describes it."""
    given = job.request
    validating = job.status == "queued" and "dataProcessing" not in job.phases
    error = {"code": "job_failed", "message": job.failure, "param": None}
    return {
        "id": job.id,
        "object": "fine_tuning.job",
        "created_at": seconds(job.created),
        "finished_at": seconds(job.ended) if job.ended else None,
        "model": given["model"],
        "fine_tuned_model": job.model if job.status == "succeeded" else None,
        "organization_id": "simulation",
        "status": "validating_files" if validating else WORDS[job.status],
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
