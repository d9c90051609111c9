"""Pages of training jobs: the figures of a job, and the simulation behind them.

The course is one run of the training double's policy over generated rows; no language model is
trained.
"""

from functools import cache

from reward_functions.cli.job.metrics import _sheets
from reward_functions.jobs.figures import Series, page, series
from reward_functions.jobs.grader_log import Batch, by_minute
from reward_functions.jobs.job import MetricPoint
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
    """The service's figures by step and the grader's by minute."""
    return _figures("finqa-0a1b2c3d-1 (simulation)", series(_points()), by_minute(_batches()))


def job_figures_short():
    """A job that has made its first step: figures of one point, and no drawing of them."""
    first = [point for point in _points() if point.step == 1]
    return _figures("finqa-0a1b2c3d-1", series(first), [])


def job_figures_hostile():
    """A service that names its figures to harm, and sends values without measure."""
    courses = {NAME: (0.0, 1.0), UNBROKEN: (-1e100, 1e100), "flat": (2.0, 2.0)}
    found = [
        Series(name, "training", "step", tuple(enumerate(values)))
        for name, values in courses.items()
    ]
    return _figures(NAME, found, [])


def _figures(name, measured, grader):
    every = [*measured, *grader]
    return page(every, f"Figures of {name}", _sheets(every, ROWS_OF_STEPS, "")).html()


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
