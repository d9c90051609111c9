"""Two charts of a simulated run: the reward over the steps, and each strategy's share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.local.training_double.strategies import CORRECT, STRATEGIES
from reward_functions.reports.pages.charts.bands import bands
from reward_functions.reports.pages.charts.lines import Course, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

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
