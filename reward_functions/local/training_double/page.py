"""The files of a simulated run: a page of HTML, and its metrics in the layouts of the services.

The page is headed SIMULATION, and its lead says that no language model was trained. It begins with
a wrong way to answer that the reward has taught, and draws the reward and each strategy's share.

| service | where | columns or keys |
| --- | --- | --- |
| Bedrock | `…/training_artifacts/step_wise_training_metrics.csv` | `TRAINING_COLUMNS` |
| Bedrock | `…/post_fine_tuning_validation/validation_metrics.csv` | `VALIDATION_COLUMNS` |
| OpenAI-compatible | events of type `metrics` | `EVENT_KEYS`, step and total_steps |

**Unverified**: Bedrock documents the two files and their first three columns for every job of model
customization; which columns reinforcement fine-tuning adds is documented nowhere, and those here
are our own words for them. A reader of such a file takes any numeric column.

Sources: docs.aws.amazon.com/bedrock/latest/userguide/model-customization-analyze; the gpt-oss
notebook of aws-samples/amazon-bedrock-samples (85fba9d), whose run of 67 steps has 4 checkpoints.
"""

from __future__ import annotations

import csv
from io import StringIO
from math import fsum
from typing import TYPE_CHECKING, Final

from reward_functions.local.training_double.strategies import CORRECT, STRATEGIES
from reward_functions.reports.pages.charts.plots import Course, lines
from reward_functions.reports.pages.charts.rows import Row, Span, spans
from reward_functions.reports.pages.page import Concern, Page, Section
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.local.training_double.jobs import Job
    from reward_functions.local.training_double.training import Step
    from reward_functions.reports.pages.charts.drawing import Chart


def rewards(steps: Sequence[Step]) -> Chart:
    """The mean reward of each step's responses, and of each evaluation."""
    courses = [Course("training", [(step.number, step.metrics["reward_mean"]) for step in steps])]
    evaluated = [(step.number, step.validation["reward_mean"]) for step in steps if step.validation]
    if evaluated:
        courses.append(Course("validation", evaluated, "b"))
    return lines(
        "Simulation: mean reward over the steps",
        courses,
        x="step",
        y="mean reward of a response",
        includes=(0.0, 1.0),
    )


def shares(steps: Sequence[Step], kind: str) -> Chart:
    """A row for each strategy on one axis from 0 to 100 %: its first and its last share."""
    first, last = steps[0], steps[-1]
    rows = [
        Row(
            strategy.name,
            [
                Span(100 * first.shares[kind][strategy.name], series="b"),
                Span(100 * last.shares[kind][strategy.name]),
            ],
        )
        for strategy in STRATEGIES
    ]
    return spans(
        f"Simulation: the share of each strategy in {kind}, after the first and the last step",
        rows,
        x=f"share of the answers, {kind}, %",
        names={"b": f"after step {first.number}", "a": f"after step {last.number}"},
        includes=(0.0, 100.0),
    )


def courses(steps: Sequence[Step], kind: str) -> Chart:
    """Correct answers, the wrong strategy with most at the end, and all others, over the steps."""
    worst = _most_wrong(steps[-1], kind)
    others = [name for name in WRONG if name != worst]
    drawn = [("correct, both ways", [*CORRECT]), (f"{worst} (wrong)", [worst])]
    drawn.append(("other wrong ones", others))
    return lines(
        f"Simulation: shares over the steps in {kind}",
        [
            Course(
                name,
                [
                    (step.number, 100 * fsum(step.shares[kind][each] for each in of))
                    for step in steps
                ],
                series,
            )
            for (name, of), series in zip(drawn, ("c", "b", "d"), strict=True)
        ],
        x="step",
        y=f"share of the answers, {kind}, %",
        includes=(0.0, 100.0),
    )


WRONG: Final = tuple(one.name for one in STRATEGIES if not one.correct)


def _most_wrong(step: Step, kind: str) -> str:
    return max(WRONG, key=step.shares[kind].__getitem__)


WARNING: Final = (
    "This is a simulation: no language model was trained. A choice among nine ways to write an "
    "answer learned from the scores of the reward function. It shows what that reward pays, and "
    "nothing about how a language model would fare."
)

NONE: Final = "Steps (simulation)"


def page_of(job: Job, status: str = "") -> str:
    """The course of a job so far; the caller holds the state's lock.

    Args:
        job: whichever service it is of.
        status: what it is about to have; its own where not given.
    """
    facts = {
        "job": job.id,
        "status": status or job.status,
        "failure": job.failure,
        "base": job.base,
        "grader": job.grader,
        **{name: str(value) for name, value in job.hyperparameters.items()},
    }
    return simulation_page(
        job.name, {name: value for name, value in facts.items() if value}, job.steps
    )


def simulation_page(title: str, facts: Mapping[str, str], steps: Sequence[Step]) -> str:
    """The whole page.

    Args:
        title: of the run, such as the job's name.
        facts: what to say of the job, by name.
        steps: as they were published, from the first on; may be empty.
    """
    return Page(
        f"SIMULATION: {title}",
        _lead(steps),
        warnings=[WARNING],
        facts=list(facts.items()),
        sections=_sections(steps) if steps else [Section(NONE, ["No step was done."])],
        concerns=list(concerns_of_simulation(facts.get("failure", ""), steps)),
    ).html()


def _lead(steps: Sequence[Step]) -> str:
    if not steps:
        return "No language model was trained, and no step was done."
    first, last = (step.metrics["reward_mean"] for step in (steps[0], steps[-1]))
    return (
        "No language model was trained. The mean reward of the answers went from "
        f"{first:.3g} to {last:.3g} in {len(steps):,} steps of {steps[-1].total:,}."
    )


LEARNED: Final = 0.05
"""How much a wrong strategy's share rises where the reward pays it."""


def concerns_of_simulation(failure: str, steps: Sequence[Step]) -> Iterator[Concern]:
    """Why a job failed, and wrong ways to answer that a reward has taught."""
    if failure:
        yield Concern("failed", failure)
    if not steps:
        return
    first, last = steps[0], steps[-1]
    for kind, shares_of in last.shares.items():
        for name in WRONG:
            begun, ended = first.shares[kind][name], shares_of[name]
            if ended - begun >= LEARNED:
                words = (
                    f"The reward teaches a wrong answer: {name} rose from {begun:.1%} to "
                    f"{ended:.1%} of the answers, {kind}."
                )
                yield Concern("labels", words, _title(kind))
    begun, ended = first.metrics["reward_mean"], last.metrics["reward_mean"]
    if len(steps) > 1 and ended <= begun:
        words = f"The mean reward did not rise: {begun:.3g} to {ended:.3g}."
        yield Concern("reasons", words, REWARD)


REWARD: Final = "Reward over the steps (simulation)"


def _title(kind: str) -> str:
    return f"Strategies, {kind} (simulation)"


def _sections(steps: Sequence[Step]) -> list[Section]:
    by_kind = [
        Section(_title(kind), [courses(steps, kind), shares(steps, kind)])
        for kind in steps[-1].shares
    ]
    return [
        Section(REWARD, [rewards(steps)]),
        *by_kind,
        Section("Shares at the end (simulation)", [shares_sheet(steps)]),
    ]


def shares_sheet(steps: Sequence[Step]) -> Sheet:
    """First and last shares: a row for each strategy, a column for each kind of answer."""
    last = steps[-1]
    return Sheet(
        title=f"Simulation: shares of the strategies, after step {steps[0].number} and "
        f"{last.number} of {last.total}",
        heads=["strategy", "correct", *last.shares],
        rows=[
            [
                one.name,
                "yes" if one.correct else "no",
                *(
                    f"{steps[0].shares[kind][one.name]:.1%} → {shares[one.name]:.1%}"
                    for kind, shares in last.shares.items()
                ),
            ]
            for one in STRATEGIES
        ],
        note="No language model was trained.",
        words=["correct"],
    )


TRAINING_FILE: Final = (
    "model-customization-job-{job}/training_artifacts/step_wise_training_metrics.csv"
)
VALIDATION_FILE: Final = (
    "model-customization-job-{job}/validation_artifacts/post_fine_tuning_validation/"
    "validation_metrics.csv"
)
"""Below the job's output; `job` is the last part of its ARN."""

PAGE_FILE: Final = "model-customization-job-{job}/simulation.html"
"""What no service writes: the course of the simulation as a page."""

NUMBERED: Final = ("step_number", "epoch_number")

TRAINING_COLUMNS: Final = {
    "training_loss": "pg_loss",
    "reward_mean": "reward_mean",
    "reward_std": "reward_std",
    "reward_min": "reward_min",
    "reward_max": "reward_max",
    "frac_reward_zero_std": "frac_reward_zero_std",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "response_length_mean": "response_length_mean",
}
"""Each column with the metric of a step that it holds."""

VALIDATION_COLUMNS: Final = {
    "validation_reward_mean": "reward_mean",
    "validation_reward_std": "reward_std",
    "validation_reward_min": "reward_min",
    "validation_reward_max": "reward_max",
}

EVENT_KEYS: Final = {
    "critic_rewards_mean": "reward_mean",
    "critic_advantages_mean": "advantage_mean",
    "actor_pg_loss": "pg_loss",
    "actor_entropy": "entropy",
    "actor_grad_norm": "grad_norm",
    "response_length_mean": "response_length_mean",
}

CHECKPOINTS: Final = 4


def training_csv(steps: Iterable[Step]) -> str:
    """The training file: a line for each step."""
    return _csv(TRAINING_COLUMNS, ((step, step.metrics) for step in steps))


def validation_csv(steps: Iterable[Step]) -> str:
    """The validation file: a line for each step that was followed by an evaluation."""
    return _csv(VALIDATION_COLUMNS, ((step, step.validation) for step in steps if step.validation))


def event_data(step: Step) -> dict[str, int | float]:
    """The `data` of the event of type `metrics` of a step."""
    figures = dict(zip(EVENT_KEYS, _values(EVENT_KEYS, step.metrics), strict=True))
    return {"step": step.number, "total_steps": step.total, **figures}


def checkpoint_steps(total: int) -> list[int]:
    """The steps of a run after which there is a checkpoint: its quarters, rounded up."""
    return sorted({-(-total * quarter // CHECKPOINTS) for quarter in range(1, CHECKPOINTS + 1)})


def _values(columns: Mapping[str, str], metrics: Mapping[str, float]) -> list[float]:
    return [metrics[name] for name in columns.values()]


def _csv(columns: Mapping[str, str], measured: Iterable[tuple[Step, Mapping[str, float]]]) -> str:
    stream = StringIO()
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow([*NUMBERED, *columns])
    for step, metrics in measured:
        lines.writerow([step.number, step.epoch, *_values(columns, metrics)])
    return stream.getvalue()
