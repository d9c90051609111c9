"""A job as it would be: its hyperparameters, its figures, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from reward_functions.calibration.estimating import Estimate, TrainingRun
    from reward_functions.jobs.account import AccountLimits
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.hyperparameters import Hyperparameter
    from reward_functions.jobs.job import DriverName, HyperparameterValue
    from reward_functions.jobs.models import Base
    from reward_functions.jobs.recipes import Recipe
    from reward_functions.jobs.sizes import Sizes

ROLES: Final[dict[DriverName, dict[str, str]]] = {
    "bedrock": {
        "epochs": "epochCount",
        "batch": "batchSize",
        "samples": "trainingSamplePerPrompt",
        "prompt": "maxPromptLength",
        "answer": "inferenceMaxTokens",
        "effort": "reasoningEffort",
        "interval": "evalInterval",
    },
    "openai": {"epochs": "n_epochs", "batch": "batch_size"},
    "sagemaker": {
        "epochs": "max_epochs",
        "batch": "global_batch_size",
        "samples": "rollout_n",
        "prompt": "max_prompt_length",
        "answer": "max_response_length",
        "effort": "reasoning_effort",
    },
    "agent-rft": {},
}
"""What the arithmetic needs, by each API's own name."""


RATES: Final = {
    "step_minutes": "the minutes of a step are",
    "hour_usd": "the price of an hour is",
    "token_usd": "the price of a million tokens is",
}
"""How each of `Rates` is called in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What whoever plans knows and AWS does not document.

    Args:
        step_minutes: minutes of an optimiser step.
        hour_usd: dollars of an hour of training.
        token_usd: dollars of a million tokens, of prompts and answers alike.

    Raises:
        BadJob: one of them is below 0, or not finite.
    """

    step_minutes: float | None = None
    hour_usd: float | None = None
    token_usd: float | None = None

    def __post_init__(self) -> None:
        for name, words in RATES.items():
            value = getattr(self, name)
            if value is not None and not 0 <= value < inf:
                raise BadJob(f"{words} {value:g}: write a number from 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSetting:
    """One hyperparameter of the job.

    Args:
        hyperparameter: its range, and what others set.
        given: what was asked for; None where the service chooses.
        value: what the plan counts with; None where nobody states a value.
        origin: whose value that is; "" where it was given.
        suggested: by the data, or else by this project's recommendation.
    """

    hyperparameter: Hyperparameter
    given: HyperparameterValue | None
    value: HyperparameterValue | None
    origin: str
    suggested: HyperparameterValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The arithmetic of a job.

    Args:
        run: steps and rollouts.
        prompt_tokens: of all rollouts, estimated; None where the data are logs.
        generated_tokens: of all rollouts at most; None where no limit of an answer is known.
        evaluations: of the validation file.
        validation_answers: scored in them, from one answer a prompt to a whole group; None without
            a validation file.
        samples_in_a_call: rollouts of the longest kind that an invocation can hold; None where the
            length of a row or of an answer is unknown.
        minutes: of training; None where the time of a step is unknown.
        training_usd: dollars of training; None where the price is unknown.
        judge: the cost of judging; None where no model judges, or its settings are unknown.
    """

    run: TrainingRun
    prompt_tokens: int | None
    generated_tokens: int | None
    evaluations: int
    validation_answers: tuple[int, int] | None
    samples_in_a_call: int | None
    minutes: float | None
    training_usd: float | None
    judge: Estimate | None

    @property
    def grader_calls(self) -> tuple[int, int]:
        """The fewest and the most: a step in each, or a rollout in each."""
        return self.run.steps, self.run.responses


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A job as it would be.

    Args:
        asked: the configuration.
        base: the model it starts from.
        region: where it runs; "" where no stage was read.
        grader: the ARN that the job would be given; "" where no stage was read.
        judged: whether the reward asks a judge model; None where the reward is not known.
        settings: every hyperparameter of the API, or of the recipe, in its order.
        recipe: of a serverless job; None where no hub was read.
        sizes: of the data; None where nobody counted the logs.
        account: of the grader; None where it was not read.
        figures: None where the number of rows is unknown.
        assumptions: what the figures rest on, in sentences.
        warnings: what deserves a look before it starts, in sentences.
    """

    asked: JobConfiguration
    base: Base
    region: str
    grader: str
    judged: bool | None
    settings: tuple[PlannedSetting, ...]
    sizes: Sizes | None
    account: AccountLimits | None
    figures: Figures | None = None
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    recipe: Recipe | None = None

    @property
    def reward(self) -> str:
        """What grades, as it was asked for."""
        chosen = self.asked.sagemaker
        own = (chosen.preset_reward or chosen.judge) if chosen else None
        return self.asked.deployment or own or self.asked.agent or ""

    def setting(self, role: str) -> PlannedSetting | None:
        """The hyperparameter of a role of `ROLES`; None where the API has none."""
        name = ROLES[self.base.driver].get(role)
        return next((each for each in self.settings if each.hyperparameter.name == name), None)

    def value(self, role: str) -> Any:
        """What the plan counts with in a role; None where that is unknown."""
        setting = self.setting(role)
        return setting.value if setting else None

    @property
    def longest_answer(self) -> int | None:
        """Tokens of an answer at most; None where neither job nor model has a known limit."""
        limit = self.value("answer")
        known = self.base.known
        return limit if limit is not None else known.max_output if known else None
