"""What a multi-turn job would come to: steps, rollouts, and the agent that is asked for them.

    steps      = min(max_steps, epochs × ⌈rows ÷ global_batch_size⌉)
    rollouts   = rows of those steps × group_size
    validated  every `val_every` steps and at the end, each prompt once

Unknown, and said to be: tokens and turns, since an agent makes of a prompt what it will; how many
rollouts the trainer asks for at a time; minutes and dollars. An upper bound, as a service may stop
early. Hyperparameters and their defaults are the developer guide's (`agent_rft_hyperparameters`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from reward_functions.jobs.agent_rows import Cells, counted
from reward_functions.jobs.agents import agent_of, granted
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import require_two_files
from reward_functions.jobs.drivers.agent_rft_hyperparameters import DOCUMENTED, written
from reward_functions.jobs.models import API, find
from reward_functions.jobs.options import check_options
from reward_functions.jobs.planned import Rates
from reward_functions.jobs.tags import require_possible
from reward_functions.reports.sheets import Sheet, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.agents import Agent
    from reward_functions.jobs.configuration import JobConfiguration

UNKNOWN = "unknown"

MINUTES_OF_AN_HOUR = 60

WINDOW = 600
"""Seconds in which a rollout has to be rewarded, by a field report of `rollout_timeout`."""

SMALL_GROUP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlan:
    """A multi-turn job as it would be.

    Args:
        asked: the configuration.
        agent: that is asked for rollouts.
        region: of the job; "" where no stage was read.
        parameters: every hyperparameter that was set, as the service is given it.
        data: rows of the training file.
        validation: rows of the other; none without one.
        rates: what is known beyond AWS's documents.
    """

    asked: JobConfiguration
    agent: Agent
    region: str
    parameters: dict[str, str]
    data: Cells
    validation: Cells
    rates: Rates

    def number(self, name: str) -> int:
        """A whole hyperparameter; the developer guide's default where it is not set."""
        return int(float(self.parameters.get(name, DOCUMENTED[name].default)))

    @property
    def steps_per_epoch(self) -> int:
        """The last may be smaller."""
        return ceil(self.data.number / self.number("global_batch_size"))

    @property
    def steps(self) -> int:
        """Of the whole job, at most."""
        return min(self.number("max_steps"), self.number("max_epochs") * self.steps_per_epoch)

    @property
    def per_step(self) -> int:
        """Rollouts of a full step."""
        rows = min(self.number("global_batch_size"), self.data.number)
        return rows * self.number("group_size")

    @property
    def rollouts(self) -> int:
        """Of all steps, without validation."""
        epochs, rest = divmod(self.steps, self.steps_per_epoch)
        partial = min(rest * self.number("global_batch_size"), self.data.number)
        return (epochs * self.data.number + partial) * self.number("group_size")

    @property
    def validated(self) -> int:
        """Rollouts of validation, one of each prompt."""
        every = self.number("val_every")
        times = self.steps // every + bool(self.steps % every) if every else 1
        return times * self.validation.number

    @property
    def minutes(self) -> float | None:
        """Of training; None where nobody said how long a step takes."""
        each = self.rates.step_minutes
        return None if each is None else self.steps * each

    @property
    def usd(self) -> float | None:
        """Dollars of training; None where they cannot be known."""
        hour, minutes = self.rates.hour_usd, self.minutes
        return None if hour is None or minutes is None else hour * minutes / MINUTES_OF_AN_HOUR


def agent_plan(
    asked: JobConfiguration, stage: DeployedStage | None = None, rates: Rates | None = None
) -> AgentPlan:
    """Count what a multi-turn job would come to. Nothing is sent or started.

    Args:
        asked: the configuration.
        stage: whose jobs it would be among; None where none was read.
        rates: what is known beyond AWS's documents.

    Raises:
        BadJob: the service would refuse it, the stage does not grant the agent, or a row has no
            prompt.
        OSError: a file cannot be read.
    """
    if asked.data is None:
        raise BadJob("data: name a training file: a multi-turn job takes no invocation logs")
    check_options(asked, "agent-rft")
    require_possible(asked.tags)
    agent = granted(asked.agent, stage) if stage else agent_of(asked.agent or "")
    parameters = written(asked.hyperparameters)
    if asked.validation is not None:
        require_two_files(asked.data, asked.validation)
    data = counted(asked.data)
    if not data.number:
        raise BadJob(f"data: {str(asked.data)!r} has no rows")
    return AgentPlan(
        asked=asked,
        agent=agent,
        region=stage.region if stage else "",
        parameters=parameters,
        data=data,
        validation=counted(asked.validation) if asked.validation else Cells(0, 0),
        rates=rates or Rates(),
    )


def sheets(planned: AgentPlan) -> Iterator[Sheet]:
    """The tables of a plan: what it is, its hyperparameters, what it comes to."""
    base = find(planned.asked.model, planned.region or None, "agent-rft")
    about = [
        ("model", base.identifier),
        ("API", API["agent-rft"]),
        ("region", planned.region or "no stage was read"),
        ("agent", planned.agent.arn),
        ("rows", f"{planned.data.number:,}"),
    ]
    if planned.validation.number:
        about.append(("validation rows", f"{planned.validation.number:,}"))
    yield Sheet("The job", ["", "is"], [*map(list, about)], words=("is",))
    newer = [name for name in planned.parameters if name not in DOCUMENTED]
    rows = [
        [name, planned.parameters.get(name, "-"), each.range, each.default]
        for name, each in DOCUMENTED.items()
    ]
    rows += [[name, planned.parameters[name], "no page says", "-"] for name in newer]
    heads = ["hyperparameter", "set", "range", "default"]
    yield Sheet("Hyperparameters", heads, rows, words=("range",), spare=("default",))
    yield Sheet("What it comes to", ["", "is"], [*map(list, _figures(planned))], words=("is",))


def assumptions(planned: AgentPlan) -> Iterator[str]:
    """What the figures rest on, in sentences."""
    for name in ("global_batch_size", "group_size", "max_epochs", "max_steps"):
        if name not in planned.parameters:
            value = DOCUMENTED[name].default
            yield f"{name} is not set: counted with {value}, the developer guide's default"
    yield "the service may stop early: an upper bound"
    yield (
        f"a rollout that is not rewarded within {WINDOW} s is said to end the whole job, and so is "
        "one that fails or never asks the policy; AWS documents none of it"
    )
    yield "turns and tokens depend on the agent: `reward rollouts run` counts them before the job"
    if planned.rates.step_minutes is None:
        yield "how long a step takes is not documented: --step-minutes plans with yours"
    if planned.usd is None:
        yield (
            "no page that could be read has a price of multi-turn jobs: --hour-price (with "
            "--step-minutes) plans with yours"
        )


def warnings(planned: AgentPlan) -> Iterator[str]:
    """What deserves a look before it starts, in sentences."""
    batch = planned.number("global_batch_size")
    if planned.number("group_size") == SMALL_GROUP:
        yield (
            "group_size is 2: the baseline of a group is the mean of two rewards, and groups of "
            "equal rewards teach nothing; 4 or more are less noisy"
        )
    if batch > planned.data.number:
        yield (
            f"global_batch_size is {batch:,}, and the data have {planned.data.number:,} rows: an "
            "epoch is one step, and not a full one"
        )
    if planned.validation.number and not planned.number("val_every"):
        yield "val_every is 0: the validation file is asked at the end alone, if at all"


def as_data(planned: AgentPlan) -> dict[str, Any]:
    """A plan as JSON data; null is unknown."""
    return {
        "model": planned.asked.model,
        "driver": "agent-rft",
        "region": planned.region or None,
        "agent": planned.agent.arn,
        "hyperparameters": {
            name: {
                "set": planned.parameters.get(name),
                "default": each.default,
                "range": each.range,
            }
            for name, each in DOCUMENTED.items()
        },
        "data": {"rows": planned.data.number, "validation_rows": planned.validation.number},
        "figures": {
            "steps": planned.steps,
            "rollouts": planned.rollouts,
            "rollouts_of_a_step": planned.per_step,
            "validation_rollouts": planned.validated,
            "prompt_tokens": None,
            "generated_tokens_at_most": None,
            "training_usd": planned.usd,
            "minutes": planned.minutes,
        },
        "assumptions": [*assumptions(planned)],
        "warnings": [*warnings(planned)],
    }


def markdown(planned: AgentPlan) -> Iterator[str]:
    """The lines of a whole plan."""
    yield f"# Plan: {escaped(planned.agent.short)}"
    for sheet in sheets(planned):
        yield ""
        yield from sheet.markdown()
    for title, sentences in (("Assumed", assumptions(planned)), ("Warnings", warnings(planned))):
        if listed := [f"- {escaped(each)}" for each in sentences]:
            yield from ("", f"## {title}", "", *listed)


def _figures(planned: AgentPlan) -> Iterator[tuple[str, str]]:
    yield "steps", f"{planned.steps:,}, each of {planned.per_step:,} rollouts or fewer"
    yield "rollouts", f"{planned.rollouts:,}"
    if planned.validation.number:
        yield "of validation", f"{planned.validated:,}"
    yield "at a time", f"unknown: 1 to {planned.per_step:,}"
    yield "a rollout's window", f"{WINDOW:,} s, by a field report"
    yield "turns, tokens", UNKNOWN
    yield "minutes", UNKNOWN if planned.minutes is None else f"{planned.minutes:,.0f}"
    yield "dollars of training", UNKNOWN if planned.usd is None else f"{planned.usd:,.2f}"
