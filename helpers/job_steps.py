"""What one service says of a job beside its state.

The OpenAI-compatible API: events, figures, checkpoints.

The six figures come with events of the type `metrics`, one event a step. `FIGURES` says what each
is and how it goes in a good job; `jobs/figures.py` says what to do about a bad one.

Open-weight models: which there are, what one is called where a job runs, the key of their API.

region of the stage            a model is named by
one that trains it             its id
the local emulator's           the ARN of that region: the training double trains it anywhere
any other                      its id, and the plan says where it is trained

A job of SageMaker's serverless customization, beyond what every job has.

dry_run(job)            every call of a start, before one is made
evaluators(job)         how SageMaker knows the reward
package(job)            what the job made
evaluation_jobs(job, …) the service's own evaluation of base and tuned, by the same function
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from helpers.here import require_agreement
from helpers.shown import Shown
from helpers.training import FAST, FOLDER
from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.catalogue import OUTPUT_PREFIX
from reward_functions.aws.s3 import destinations, upload
from reward_functions.jobs import starting
from reward_functions.jobs.clients import (
    LONGEST,
    MARGIN,
    VARIABLE,
    key_source,
    openai_base_url,
)
from reward_functions.jobs.drivers.openai import OpenAIDriver
from reward_functions.jobs.evaluation_jobs import Evaluation, EvaluationJobs, evaluation_rows
from reward_functions.jobs.evaluators import Registry, name_of
from reward_functions.jobs.figures import NOISE, number, series, signs, sparkline
from reward_functions.jobs.grader import account_of
from reward_functions.jobs.hosting import Hosting
from reward_functions.jobs.job import Job
from reward_functions.jobs.models import find, models
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helpers.here import Here
    from helpers.training import Training
    from helpers.training_rows import TrainingRows
    from reward_functions.jobs.figures import Series


REWARD: Final = "critic_rewards_mean"

FIGURES: Final = {
    REWARD: ("the mean reward of the step's responses", "rises, then levels off"),
    "critic_advantages_mean": (
        "the mean advantage: how far responses lie from the mean of their group",
        "0 at every step, for each group is centred; only its spread teaches",
    ),
    "actor_pg_loss": (
        "the loss of the policy gradient",
        "small, of either sign, without a trend: it measures no success",
    ),
    "actor_entropy": ("how undecided the policy is", "falls slowly, and stays above 0"),
    "actor_grad_norm": ("how far a step moves the policy", "steady, less as groups agree"),
    "response_length_mean": ("the length of a response", "changes with the reward, or stands"),
}
"""(what it is, how it goes in a job that goes well), by the service's own name."""

REPORTED: Final = 12
"""Events that are shown, the newest."""


def events(job: Training) -> Shown:
    """The job as the service has it, and what it reported; figures apart."""
    found, driver = job.started, job.driver
    facts = [
        ["job", found.id],
        ["is called", f"{found.name}: the name of its file, for this API has no other"],
        ["files", "\n".join(found.files)],
        ["tuned model", found.tuned_model or "none"],
    ]
    reported = [[each.level, each.message] for each in driver.events(found)]
    title = f"Events, the newest {REPORTED}" if len(reported) > REPORTED else "Events"
    return Shown(
        [
            Sheet("The job", ("", "is"), facts, words=("is",)),
            Sheet(title, ("level", "message"), reported[-REPORTED:], words=("level", "message")),
        ]
    )


def how_to_read(job: Training) -> Shown:
    """The six figures: what each is, how it should go, how it went, and which signs it shows."""
    found = series(job.driver.metrics(job.started))
    by_name = {each.name: each for each in found if each.split == "training"}
    rows = [
        [name, meaning, healthy, *_course(by_name.get(name))]
        for name, (meaning, healthy) in FIGURES.items()
    ]
    heads = ("figure", "is", "in a job that goes well", "first", "last", "course")
    words = ("is", "in a job that goes well", "course")
    read = [each for each in signs(found) if each.sign.split == "training"]
    seen = [
        f"{each.sign.name} ({each.figure}): {each.sign.meaning}. What to do: {each.sign.remedy}"
        for each in read
        if each.state == "seen"
    ]
    absent = ", ".join(each.sign.name for each in read if each.state == "not seen")
    return Shown(
        [Sheet("How to read them", heads, rows, words=words)],
        [*seen, *([f"looked for, and not seen: {absent}"] if absent else [])],
    )


def checkpoints(job: Training) -> Shown:
    """The models of the middle of the job: each can be asked at once, by its id.

    Raises:
        TypeError: the job is of the other API, which has no checkpoints.
    """
    if not isinstance(job.driver, OpenAIDriver):
        raise TypeError("only jobs of the OpenAI-compatible API have checkpoints")
    found = sorted(job.driver.checkpoints(job.started), key=lambda each: each.step)
    rows = [[str(each.step), number(each.metrics.get(REWARD)), each.model] for each in found]
    heads = ("after step", REWARD, "asked as")
    notes = [] if found else ["no checkpoints: the job has not trained so far"]
    return Shown([Sheet("Checkpoints", heads, rows, words=("asked as",))] if found else [], notes)


def _course(found: Series | None) -> tuple[str, str, str]:
    if found is None or not found.points:
        return "-", "-", "not measured"
    values = found.values
    if max(map(abs, values)) < NOISE:
        return "0", "0", "constant"
    return number(values[0]), number(values[-1]), sparkline(values, 24)


API: Final = "openai"

HOUR: Final = 3_600

SOURCE: Final = "table of models"
"""The row of a plan that says where its model's row was read: it differs, and changes nothing."""


def open_weight_models() -> Shown:
    """One row a model that the OpenAI-compatible API tunes by reinforcement."""
    rows = [
        [
            each.id,
            ", ".join(each.regions),
            f"{each.context:,}",
            f"{each.max_output:,}",
            " / ".join(f"{price:.2f}" for price in each.price.inference)
            if each.price
            else "unknown",
        ]
        for each in models()
        if each.driver == API
    ]
    heads = ("model", "trained in", "context", "longest answer", "USD per million, read / written")
    return Shown([Sheet("Open-weight models", heads, rows, words=heads[:2])])


def named(model: str, here: Here) -> str:
    """What a job on a stage calls a model: its id, or on the local emulator its ARN.

    Args:
        model: its id.
        here: where the job is to run.

    Raises:
        BadJob: there is no such model.
    """
    region = here.place.stage.region
    known = find(model).known
    if not here.local or known is None or region in known.regions:
        return model
    return f"arn:aws:bedrock:{region}::foundation-model/{model}"


def key(here: Here) -> Shown:
    """Where the API's key comes from and how long it lasts; the key itself is shown by nothing."""
    region, session = here.place.stage.region, here.place.session
    source = key_source(region, session)
    given = source().expires is None
    rows = [
        ["the API", openai_base_url(region, session)],
        ["the key", f"given in {VARIABLE}" if given else "made here, of this caller's credentials"],
        ["printed, it is", repr(source())],
        ["lasts", "nobody here knows" if given else f"{LONGEST // HOUR} hours at most"],
        [
            "is renewed",
            "by whoever made it" if given else f"{MARGIN.seconds // 60} minutes before its end",
        ],
    ]
    return Shown([Sheet("", ("the key of the API", "is"), rows, words=("is",))])


def beside(job: Training, model: str) -> Shown:
    """What a plan says of another model, where that differs.

    Args:
        job: the one that is planned.
        model: the other one's id, or its ARN.

    Raises:
        BadJob: there is no such model.
    """
    other = replace(job, model=model)
    mine, others = (
        {
            (sheet.title, row[0]): row[1]
            for sheet in each.plan().sheets
            for row in sheet.rows
            if len(row) == len(("what", "is"))
        }
        for each in (job, other)
    )
    rows = [
        [name, value, others.get((title, name), "-")]
        for (title, name), value in mine.items()
        if others.get((title, name)) != value and name != SOURCE
    ]
    known = [each.base.known.name if each.base.known else each.model for each in (job, other)]
    sheet = Sheet("What differs", ("", *known), rows, words=known)
    return Shown([sheet], ["all else is the same: the reward, the data, the hyperparameters"])


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
    packages = Hosting(where.stage.region, where.session)
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
