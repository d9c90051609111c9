"""`baseline.json`: a measured baseline, without a text, which `preflight` and `start` read.

It counts for a job of the same model, on the same data, with the same reward. Another version of
the function is the same reward where the catalogue says the same of both in everything of `GRADED`:
one artifact holds many rewards, so its digest alone says little. A function that the catalogue does
not name is the same by its ARN.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - read at run time by `saved`
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import replaced
from reward_functions.jobs.baseline import Baseline, judged
from reward_functions.reports.group_figures import Share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.jobs.scorer import VersionScorer

FILE: Final = "baseline.json"
"""Where a record is written, and looked for, where nothing else is said."""

TUNED_FILE: Final = "tuned.json"
"""Where the record of a tuned model is written: that of its base stays what it is."""

GRADED: Final = ("reward", "version", "parameters", "response_mode", "digest")
"""What makes two versions one grader; fields of a catalogue's entry, and of a record."""

Proportion = Annotated[float, Field(ge=0.0, le=1.0)]
Interval = tuple[Proportion, Proportion, Proportion]


class BaselineRecord(BaseModel):
    """A baseline as it is kept. A figure with its interval is (value, low, high)."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    baseline: Literal[1] = Field(description="The version of this format.")
    model: str = Field(description="The job's base, which was asked.")
    asked: str = Field(description="The name it was asked under.")
    grader: str = Field(description="ARN of the version that scored.")
    digest: str = Field(description="The artifact's; empty for a function of unknown origin.")
    reward: str = Field(default="", description="Its name; empty as above, and so are the next.")
    version: int = Field(default=0, description="The reward's.")
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    response_mode: str = ""
    data: str = Field(description="SHA-256 of the training file.")
    measured_at: datetime
    temperature: float
    max_tokens: int
    reasoning_effort: str = ""
    tuned: bool = Field(default=False, description="Whether a model that a job made was asked.")
    simulation: bool = Field(
        default=False, description="Whether the training double answered, and no language model."
    )
    prompts: int = Field(ge=1)
    each: int = Field(ge=1)
    scored: int = Field(ge=0)
    unscored: int = Field(ge=0)
    mean: Interval | None
    at_minimum: Interval | None
    at_maximum: Interval | None
    mixed: Interval | None
    cut: Interval
    filtered: int = Field(ge=0)
    output: float = Field(ge=0.0)

    def facts(self) -> list[tuple[str, str]]:
        """The settings of the measurement, for people."""
        return [
            ("model", self.model),
            ("reward", f"{self.reward}, version {self.version}" if self.reward else "not known"),
            ("grader", self.grader),
            ("training file, SHA-256", self.data),
            ("temperature", f"{self.temperature:g}"),
            ("tokens of an answer", f"at most {self.max_tokens:,}"),
            ("measured", f"{self.measured_at:%Y-%m-%d %H:%M} UTC"),
        ]

    def figures(self) -> Baseline:
        """The figures again; the reasons are not kept."""
        return Baseline(
            prompts=self.prompts,
            each=self.each,
            scored=self.scored,
            unscored=self.unscored,
            mean=_share(self.mean),
            at_minimum=_share(self.at_minimum),
            at_maximum=_share(self.at_maximum),
            mixed=_share(self.mixed),
            cut=Share(*self.cut),
            filtered=self.filtered,
            output=self.output,
        )


class BaselineFigures(BaseModel):
    """What a baseline was measured with, beside its figures."""

    model_config = ConfigDict(frozen=True)

    model: str
    asked: str
    data: str
    temperature: float
    max_tokens: int
    reasoning_effort: str = ""
    tuned: bool = False
    simulation: bool = False


def recorded(
    baseline: Baseline,
    measured: BaselineFigures,
    scorer: VersionScorer,
    now: datetime | None = None,
) -> BaselineRecord:
    """The record of figures that were just measured.

    Args:
        baseline: the figures.
        measured: what they were measured with.
        scorer: what scored.
        now: the moment; the clock's where not given.
    """
    figures = {
        name: getattr(baseline, name)
        for name in BaselineRecord.model_fields
        if name in Baseline.__dataclass_fields__
    }
    return BaselineRecord(
        baseline=1,
        grader=str(scorer.arn),
        **(_graded(scorer.deployed) if scorer.deployed else {"digest": ""}),
        measured_at=now or datetime.now(UTC),
        **measured.model_dump(),
        **figures,
    )


def save(record: BaselineRecord, path: Path) -> None:
    """Write a record over the one that is there.

    Raises:
        OSError: it cannot be written.
    """
    with replaced(path) as stream:
        stream.write(record.model_dump_json(indent=2) + "\n")


def saved(path: Path) -> BaselineRecord | None:
    """The record of a file; None where there is no file.

    Raises:
        ConfigurationError: the file is not a record.
        OSError: it cannot be read.
    """
    if not path.exists():
        return None
    try:
        return BaselineRecord.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"])) or "the file"
        raise ConfigurationError(
            f"{path} is no baseline of this version: {where}: {problem['msg']}; measure it again "
            "with `reward job baseline`"
        ) from None


def baseline_findings(
    record: BaselineRecord | None,
    *,
    model: str,
    data: str,
    scorer: VersionScorer,
    simulation: bool = False,
) -> Iterator[CheckFinding]:
    """What a record says of a job: its verdict, or why it is not the job's.

    Args:
        record: None where nothing was measured.
        model: the job's base.
        data: SHA-256 of its training file.
        scorer: its grader.
        simulation: whether the training double would run it.
    """
    if record is None:
        other = "not measured: `reward job baseline` asks the model before a job pays for it"
    else:
        other = _other(record, model=model, data=data, scorer=scorer, simulation=simulation)
    if other or record is None:
        yield CheckFinding("warning", "baseline", other)
    else:
        yield from judged(record.figures())


def _other(
    record: BaselineRecord, *, model: str, data: str, scorer: VersionScorer, simulation: bool
) -> str:
    """Why a record is not of this job; "" where it is."""
    differs = {
        "another model": record.model != model,
        "a tuned model": record.tuned,
        "another reward": not _same_reward(record, scorer),
        "other data": record.data != data,
        "a simulation": record.simulation and not simulation,
        "a real model": simulation and not record.simulation,
    }
    named = [what for what, other in differs.items() if other]
    if not named:
        return ""
    return (
        f"not measured for this job: the record of {record.measured_at:%Y-%m-%d} is of "
        f"{' and '.join(named)}; run `reward job baseline` again"
    )


def _same_reward(record: BaselineRecord, scorer: VersionScorer) -> bool:
    if scorer.deployed is None:
        return record.grader == str(scorer.arn)
    return _graded(record) == _graded(scorer.deployed)


def _graded(entry: BaselineRecord | DeployedReward) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in GRADED}


def _share(figure: Interval | None) -> Share | None:
    return None if figure is None else Share(*figure)
