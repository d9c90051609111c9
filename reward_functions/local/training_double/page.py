"""A simulated run as one page of HTML.

It is headed SIMULATION, and says in its first sentence that no language model was trained.

Two charts of a simulated run: the reward over the steps, and each strategy's share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.local.training_double.strategies import CORRECT, STRATEGIES
from reward_functions.reports.pages.charts.plots import Course, lines
from reward_functions.reports.pages.charts.rows import bands
from reward_functions.reports.pages.page import Page, Section
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    """A band for each strategy, from 0 to 100 %, with its first and its last share."""
    courses = [
        Course(
            strategy.name,
            [(step.number, step.shares[kind][strategy.name]) for step in steps],
            "c" if strategy.name in CORRECT else "b",
        )
        for strategy in STRATEGIES
    ]
    return bands(
        f"Simulation: shares of the strategies over the steps, from 0 to 100 % each, {kind}",
        courses,
        x="step",
        ends=(0.0, 1.0),
        title=f"{kind}: share of each strategy, 0 to 100 %",
        names={"c": "answers correctly", "b": "does not"},
        shown=lambda share: f"{share:.1%}",
    )


WARNING: Final = (
    "This is a simulation: no language model was trained. A choice among nine ways to write an "
    "answer learned from the scores of the reward function. It shows what that reward pays, and "
    "nothing about how a language model would fare."
)

NONE: Final = "Steps (simulation)"


def page_of(job: Job, status: str = "") -> str:
    """The course of a job so far; whoever asks holds the state's lock.

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
        warnings=[WARNING],
        facts=list(facts.items()),
        sections=_sections(steps) if steps else [Section(NONE, ["No step was done."])],
    ).html()


def _sections(steps: Sequence[Step]) -> list[Section]:
    return [
        Section("Reward over the steps (simulation)", [rewards(steps)]),
        Section(
            "Strategies over the steps (simulation)",
            [shares(steps, kind) for kind in steps[-1].shares],
        ),
        Section("Shares at the end (simulation)", [shares_sheet(steps)]),
    ]


def shares_sheet(steps: Sequence[Step]) -> Sheet:
    """The shares after the last step: a row for each strategy, a column for each kind of answer."""
    last = steps[-1]
    return Sheet(
        title=f"Simulation: shares of the strategies after step {last.number} of {last.total}",
        heads=["strategy", "correct", *last.shares],
        rows=[
            [
                one.name,
                "yes" if one.correct else "no",
                *(f"{shares[one.name]:.3f}" for shares in last.shares.values()),
            ]
            for one in STRATEGIES
        ],
        note="No language model was trained.",
        words=["correct"],
    )
