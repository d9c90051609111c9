"""Pages of training jobs: the figures of a job, and the simulation behind them.

The course is one run of the training double's policy over generated rows; no language model is
trained.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from reward_functions.cli.job.metrics import _sheets
from reward_functions.jobs.figures import Series, series
from reward_functions.jobs.grader_log import Batch, by_minute
from reward_functions.jobs.job import Job, JobEvent, MetricPoint
from reward_functions.jobs.page import JobView, job_page
from reward_functions.jobs.tags import OURS
from reward_functions.local.training_double.page import simulation_page
from tests.gallery.hostile import NAME, UNBROKEN
from tests.rehearsals import REHEARSAL, generated_rows, rehearse

HYPERPARAMETERS = REHEARSAL | {"epochCount": 6, "batchSize": 8, "trainingSamplePerPrompt": 4}
SECONDS_PER_STEP = 25
ROWS_OF_STEPS = 10


@cache
def _steps():
    data = generated_rows("finqa", 40, 20)
    return rehearse("finqa", 1, data=data, hyperparameters=HYPERPARAMETERS).steps


def simulation():
    """A run over data with four kinds of answers, so that the page has every plot."""
    facts = {
        "job": "arn:aws:bedrock:us-east-1:000000000000:model-customization-job/amazon.nova/abc123",
        "status": "Completed",
        "base": "amazon.nova-2-lite-v1:0:256k",
        "grader": "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-finqa:7",
        **{name: str(value) for name, value in HYPERPARAMETERS.items()},
    }
    return simulation_page("finqa-0a1b2c3d-1", facts, _steps())


def simulation_begun():
    """A job that waits for its first step."""
    return simulation_page("finqa-0a1b2c3d-1", {"status": "InProgress"}, [])


def simulation_hostile():
    """A job whose name, model and failure are an enemy's."""
    return simulation_page(NAME, {NAME: NAME, "failure": UNBROKEN}, _steps()[:1])


def job_figures():
    """The service's figures by step and the grader's by minute, of a job that succeeded."""
    return _job_page(series(_points()), by_minute(_batches()), simulated=True)


def job_failed():
    """A job that the service ended, whose rewards say that nothing was learned."""
    flat = [MetricPoint(step, "critic/rewards/mean", 0.0) for step in range(1, 13)]
    flat += [MetricPoint(step, "frac_reward_zero_std", 1.0) for step in range(1, 13)]
    failed = replace(JOB, status="failed", failure="The reward function timed out.", tuned_model="")
    return _job_page(series(flat), [], failed)


def job_figures_short():
    """A job that has made its first step: figures of one point, and no drawing of them."""
    first = [point for point in _points() if point.step == 1]
    running = replace(JOB, status="running", ended=None, phase="Training", tuned_model="")
    return _job_page(series(first), [], running, notes=["the grader's own figures: no log yet"])


def job_figures_hostile():
    """A service that names its figures to harm, and sends values without measure."""
    courses = {NAME: (0.0, 1.0), UNBROKEN: (-1e100, 1e100), "flat": (2.0, 2.0)}
    found = [
        Series(name, "training", "step", tuple(enumerate(values)))
        for name, values in courses.items()
    ]
    harmful = replace(
        JOB,
        **dict.fromkeys(("name", "id", "model", "grader", "failure", "tuned_model"), NAME),
        status="failed",
        files=(NAME, UNBROKEN),
        hyperparameters={NAME: NAME, UNBROKEN: UNBROKEN},
        tags=dict.fromkeys(JOB.tags, NAME),
    )
    events = [JobEvent("1", BEGIN, NAME, UNBROKEN)]
    return _job_page(found, [], harmful, notes=[NAME], events=events)


BEGIN = datetime(2026, 11, 22, 9, 0, 12, tzinfo=UTC)

ACCOUNT = "us-east-1:000000000000"

JOB = Job(
    driver="bedrock",
    id=f"arn:aws:bedrock:{ACCOUNT}:model-customization-job/amazon.nova-2-lite-v1:0:256k/0a1b2c3d",
    name="finqa-0a1b2c3d-1",
    status="succeeded",
    model="amazon.nova-2-lite-v1:0:256k",
    created=BEGIN,
    grader=f"arn:aws:lambda:{ACCOUNT}:function:SageMaker-reward-dev-finqa:7",
    ended=BEGIN + timedelta(minutes=14),
    tuned_model=f"arn:aws:bedrock:{ACCOUNT}:custom-model/amazon.nova-2-lite-v1:0:256k/e4f5",
    hyperparameters=HYPERPARAMETERS,
    output="s3://reward-functions-dev/rft-output/finqa-0a1b2c3d-1/",
    tags={
        f"{OURS}{key}": value
        for key, value in {
            "reward": "finqa",
            "version": "6",
            "function-version": "7",
            "deployment": "finqa",
            "stage": "dev",
            "rows": "40",
            "configuration": "1c7e5a90",
        }.items()
    },
    files=("s3://reward-functions-dev/data/finqa-train.jsonl",),
)


def _job_page(measured, grader, job=JOB, *, notes=(), events=None, simulated=False):
    every = [*measured, *grader]
    if events is None:
        times = {"created": 0, "training began": 96, "training ended": 780, "succeeded": 840}
        events = [
            JobEvent(message, BEGIN + timedelta(seconds=at), "info", message)
            for message, at in times.items()
        ]
    now = BEGIN + timedelta(minutes=20)
    course = JobView(job, every, now, events, notes, simulated=simulated)
    return job_page(course, _sheets(every, ROWS_OF_STEPS, "")).html()


def _points():
    for step in _steps():
        for name, value in step.metrics.items():
            yield MetricPoint(step.number, name, value)
        for name, value in step.validation.items():
            yield MetricPoint(step.number, f"validation_{name}", value, "validation")


def _batches():
    """What the function would have measured of those steps."""
    for step in _steps():
        yield Batch(
            at=SECONDS_PER_STEP * step.number,
            samples=HYPERPARAMETERS["batchSize"] * HYPERPARAMETERS["trainingSamplePerPrompt"],
            unscored=0.0,
            bad_references=0.0,
            milliseconds=12.0,
            mean=step.metrics["reward_mean"],
            at_minimum=1 - step.metrics["reward_mean"],
            std=step.metrics["reward_std"],
        )
