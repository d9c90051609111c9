"""A job of SageMaker's serverless customization, beyond what every job has.

dry_run(job)            every call of a start, before one is made
evaluators(job)         how SageMaker knows the reward
package(job)            what the job made
evaluation_jobs(job, …) the service's own evaluation of base and tuned, by the same function
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from helpers.agreement import require_agreement
from helpers.shown import Shown
from helpers.training import FAST, FOLDER
from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.catalogue import OUTPUT_PREFIX
from reward_functions.aws.uploading import destinations, upload
from reward_functions.jobs import starting
from reward_functions.jobs.evaluation_jobs import EvaluationJobs
from reward_functions.jobs.evaluation_request import Evaluation, evaluation_rows
from reward_functions.jobs.evaluators import Registry, name_of
from reward_functions.jobs.grader import account_of
from reward_functions.jobs.job import Job
from reward_functions.jobs.packages import Packages
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helpers.training import Training
    from helpers.training_rows import TrainingRows

GREEDY: Final = {"max_new_tokens": 2_048, "temperature": 0.0}


def dry_run(job: Training) -> Shown:
    """Every call that a start would make: `reward job start --dry-run`. AWS is read, that is all.

    Raises:
        BadJob: the job cannot run as it is asked for.
    """
    where = job.here.place
    found = starting.dry_run(job.asked, where.stage, job.driver, session=where.session)
    if isinstance(found, Job):
        return Shown(notes=[f"{found.name} was started before: nothing would be sent"])
    heads = ("member", "is")
    sheets = [
        Sheet(call.operation, heads, [list(row) for row in _members(call.request)], words=heads)
        for call in found.calls
    ]
    files = [f"would be uploaded: {address}" for address in found.uploads.values()]
    return Shown(sheets, [*files, "nothing was uploaded, registered or started"])


def evaluators(job: Training) -> Shown:
    """The registered evaluators of this account and region: `reward job evaluators`."""
    heads = ("evaluator", "version", "refers to", "status")
    rows = [[each.name, each.version, each.reference, each.status] for each in _registry(job).all()]
    return Shown([Sheet("Evaluators", heads, rows, words=heads)])


def package(job: Training) -> Shown:
    """The model package that the job made: `reward job show`."""
    where = job.here.place
    packages = Packages(where.stage.region, where.session)
    found = packages.package(job.started.tuned_model)
    if found is None:
        return Shown(notes=[f"there is no model package {job.started.tuned_model}"])
    rows = [
        ["model package", found.arn],
        ["status", found.status],
        ["made from", found.base],
        ["by the recipe", found.recipe or "not said"],
        ["its files", found.location or "kept by SageMaker"],
        ["whole weights", packages.whole_model(found) or "none: an adapter alone"],
    ]
    return Shown([Sheet("What the job made", ("", "is"), rows, words=("is",))])


def evaluation_jobs(job: Training, rows: TrainingRows, *, agree: bool = False) -> Shown:
    """SageMaker asks base and tuned model itself, and has the same function score the answers.

    Args:
        job: that has succeeded.
        rows: held out; one question of text each, with a system prompt.
        agree: to what both jobs cost, in an account.

    Raises:
        Stopped: nobody agreed to the cost; nothing was started.
        BadJob: a row asks more, or a job cannot run.
        AwsFailed: SageMaker refused, or left no results.
    """
    cost = f"two evaluation jobs of SageMaker, {len(rows.rows):,} prompts each; dollars unknown"
    require_agreement(job.here, "evaluation_jobs", lambda: [cost], agree=agree)
    where, jobs = job.here.place, EvaluationJobs(job.driver.region, job.here.place.session)
    scorer, uploaded = _evaluator(job), _uploaded(job, rows)
    lines = []
    for side, package_of in (("base", ""), ("tuned", job.started.tuned_model)):
        begun = jobs.start(
            Evaluation(
                name=f"{job.started.name}-{side}",
                model=job.started.model,
                scorer=scorer,
                rows=uploaded,
                output=f"s3://{where.stage.bucket}/{OUTPUT_PREFIX}{job.started.name}/evaluation",
                role=where.stage.sagemaker_role_arn or "",
                package=package_of,
                inference=GREEDY,
            )
        )
        *_, ended = jobs.follow(begun, FAST if where.simulated else None)
        found = jobs.results(ended)
        lines += [[side, name, f"{value:.4f}"] for name, value in found.aggregates.items()]
    sheet = Sheet(f"Evaluation jobs of {len(rows.rows):,} rows", ("model", "figure", "is"), lines)
    return Shown([sheet], [f"scored by {scorer}"])


def _members(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a request, by the members that lead to it."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _members(each, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _members(each, f"{path}[{at}]")
    else:
        yield path, str(value)


def _registry(job: Training) -> Registry:
    where = job.here.place
    return Registry(where.stage.region, account_of(where.stage), where.session)


def _evaluator(job: Training) -> str:
    """The ARN of the version that graded the job."""
    grader = job.started.grader
    found, _ = _registry(job).planned(name_of(FunctionArn.parse(grader)), "RewardFunction", grader)
    return found.arn


def _uploaded(job: Training, rows: TrainingRows) -> str:
    """The address of the rows in the shape of an evaluation job."""
    path = Path(rows.path.parent, "evaluation.jsonl")
    lines = (f"{json.dumps(row)}\n" for row in evaluation_rows(rows.rows))
    path.write_text("".join(lines), encoding="utf-8")
    where = job.here.place
    folder = f"s3://{where.stage.bucket}/{FOLDER}{job.name}/"
    list(upload(where.session.client("s3"), destinations([str(path)], folder)))
    return f"{folder}{path.name}"
