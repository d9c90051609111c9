"""`evaluation.json`: an evaluation as it is kept. No prompt is in it; answers only where asked for.

Scores and differences are shares of the reward's scale: a mean is from 0 to 1, a difference from -1
to 1, tuned less base. An interval is a 95 % interval.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path  # noqa: TC003 - read at run time
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from reward_functions.data.atomic import replaced
from reward_functions.reports.measured import Measured
from reward_functions.reports.statistics import Difference, McNemar

Side = Literal["base", "tuned"]
Mode = Literal["greedy", "sampled"]
Verdict = Literal["better", "worse", "no difference shown"]

FROZEN: Final = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Compared(BaseModel):
    """Both models on the same prompts, drawn the same way."""

    model_config = FROZEN

    mode: Mode
    base: float = Field(description="Mean of the prompts' scores.")
    tuned: float
    difference: Difference
    left_out: int = Field(ge=0, description="Prompts without a score of one model or of both.")

    @property
    def measured(self) -> Measured:
        """How many prompts have a score of both models."""
        return Measured("prompts", self.difference.prompts, self.left_out)


class PassAtK(BaseModel):
    """pass@k of both models."""

    model_config = FROZEN

    k: int = Field(ge=1)
    base: float = Field(ge=0, le=1)
    tuned: float = Field(ge=0, le=1)
    difference: Difference


class Group(BaseModel):
    """A group of prompts; greedy answers."""

    model_config = FROZEN

    name: str
    base: float
    tuned: float
    difference: Difference
    gained: int = Field(ge=0)
    lost: int = Field(ge=0)
    p_value: float = Field(ge=0, le=1)
    adjusted: float = Field(ge=0, le=1, description="By Holm, for the number of groups.")


class Power(BaseModel):
    """The smallest difference that a split of this size can show, four times in five."""

    model_config = FROZEN

    mean_square: float = Field(ge=0, le=1, description="How much prompts differ, squared.")
    care: float = Field(gt=0, le=1, description="The difference one cares about.")
    needed: int | None = Field(description="Prompts that show it; null where nothing differed.")
    smallest: float | None = Field(description="What this split shows; null as above.")


class Beside(BaseModel):
    """The figures beside the mean, of one model's answers of one mode."""

    model_config = FROZEN

    side: Side
    mode: Mode
    answers: int = Field(ge=1)
    unscored: int = Field(ge=0, description="Answers without a score; never counted as 0.")
    empty: int = Field(ge=0)
    filtered: int = Field(ge=0, description="Refused, or withheld by a filter.")
    cut: int = Field(ge=0, description="Ended at the limit of tokens.")
    tokens_read: int = Field(ge=0)
    tokens_written: int = Field(ge=0)
    tokens_mean: float = Field(ge=0)
    tokens_p50: float = Field(ge=0)
    tokens_p95: float = Field(ge=0)
    seconds_p50: float | None = Field(description="null where nothing was timed.")
    seconds_p95: float | None
    usd: float | None = Field(description="null where the price is not known.")


class Flip(BaseModel):
    """A prompt that turned right or wrong; greedy answers."""

    model_config = FROZEN

    place: str
    turned: Literal["right", "wrong"]
    base_score: float
    tuned_score: float
    base_reason: str = Field(default="", description='"" where the reward here gives none.')
    tuned_reason: str = ""
    base_text: str | None = Field(default=None, description="null unless --texts.")
    tuned_text: str | None = None


class EvaluationRecord(BaseModel):
    """All of an evaluation."""

    model_config = FROZEN

    evaluation: Literal[1] = Field(default=1, description="The version of this format.")
    job: str = Field(description="Its name; empty where models were named by hand.")
    base: str = Field(description="The name that the base was asked under.")
    tuned: str
    grader: str = Field(description="ARN of the version that scored both.")
    reward: str = ""
    reward_version: int = 0
    simulation: bool
    measured_at: datetime
    split: str = Field(description="The file's name.")
    split_sha256: str
    compared_with: tuple[str, ...] = Field(description="The job's files that share no prompt.")
    prompts: int = Field(ge=1)
    repeated: int = Field(ge=0, description="Rows that ask what another row asks.")
    unread: int = Field(ge=0, description="Rows that are not valid samples.")
    answers: int = Field(ge=0, description="Sampled answers to a prompt.")
    temperature: float
    max_tokens: int
    reasoning_effort: str = ""
    success: float = Field(description="From which share of the scale an answer is right.")
    seed: int
    verdict: Verdict
    conclusion: str = Field(description="The verdict as a sentence.")
    warnings: tuple[str, ...]
    greedy: Compared
    mcnemar: McNemar
    power: Power
    sampled: Compared | None
    pass_at_k: tuple[PassAtK, ...]
    grouped_by: str
    groups: tuple[Group, ...]
    beside: tuple[Beside, ...]
    flips: tuple[Flip, ...]

    def without_texts(self) -> EvaluationRecord:
        """The same without an answer in it."""
        flips = tuple(
            flip.model_copy(update={"base_text": None, "tuned_text": None}) for flip in self.flips
        )
        return self.model_copy(update={"flips": flips})


def save(record: EvaluationRecord, path: Path) -> None:
    """Write a record over the one that is there.

    Raises:
        OSError: it cannot be written.
    """
    with replaced(path) as stream:
        stream.write(record.model_dump_json(indent=2) + "\n")
