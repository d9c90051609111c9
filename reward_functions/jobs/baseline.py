"""Measure what a model earns before any training, and whether a job can teach it anything.

    of the model's answers                        verdict
    none earns more than the minimum              failure: teach the format first, by supervised
                                                  fine-tuning
    under 5 % earn more than the minimum          warning: sparse, most groups have zero advantage
    over 95 % of the scale is earned on average   failure: nothing to learn
    no group has two different rewards            failure: every group has zero advantage
    an eighth or more are cut off                 warning: the limit of tokens is too low

Source of the first three: "Reward functions" for open-weight models in the Bedrock user guide and
"Reinforcement fine-tuning" in the Nova user guide. A failure stands only where the sample is large
enough to be sure of it: the far end of a 95 % interval lies on the same side. Else it is a warning.
`reports.statistics` makes the intervals.

`baseline.json` is a measured baseline without a text, which `preflight` and `start` read. It counts
for a job of the same model, on the same data, with the same reward. Another version of the function
is the same reward where the catalogue says the same of both in everything of `GRADED`: one artifact
holds many rewards, so its digest alone says little. A function that the catalogue does not name is
the same by its ARN.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - read at run time by `saved`
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from reward_functions.aws.deployed.findings import CheckFinding, failure, ok, warning
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.core.types import Scored
from reward_functions.data.atomic import replaced
from reward_functions.reports.measured import Measured
from reward_functions.reports.pages.charts.rows import Row, Span, spans, tallies
from reward_functions.reports.pages.page import Concern, Kind, Page, Part, Section
from reward_functions.reports.sheets import Sheet
from reward_functions.reports.statistics import (
    Share,
    mean_reward,
    share,
    share_among,
    share_mixed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.aws.deployed.scorer import VersionScorer
    from reward_functions.core.spec import Scale
    from reward_functions.jobs.asking import AnswerAttempt, AskedPrompt, ModelAnswer

SPARSE: Final = 0.05
LEARNED: Final = 0.95
CUT_OFF: Final = 0.125

REASONS: Final = 5
"""Reasons shown, the most frequent first."""

EXAMPLE: Final = 160
"""Characters of an answer that is shown as an example: its end, where answers stand."""

FILE: Final = "baseline.json"
"""Where a record is written, and looked for, where nothing else is said."""

TUNED_FILE: Final = "tuned.json"
"""Where the record of a tuned model is written: that of its base stays what it is."""

GRADED: Final = ("reward", "version", "parameters", "response_mode", "digest")
"""What makes two versions one grader; fields of a catalogue's entry, and of a record."""


class Reason(NamedTuple):
    """Why answers earned what they did.

    Args:
        text: the reward's own words.
        answers: how many.
        reward: what the example earned.
        place: where the example's prompt stands.
        example: the text of one answer; a model wrote it.
    """

    text: str
    answers: int
    reward: float
    place: str
    example: str

    @property
    def end(self) -> str:
        """The end of the example, where answers stand; a word for one of white space."""
        return self.example[-EXAMPLE:].strip() or "(blank)"


class Baseline(BaseModel):
    """Figures of a model's answers, without their texts, but for one example of each reason.

    Args:
        prompts: that were asked.
        each: answers to a prompt.
        scored: answers that have a reward.
        unscored: answers that have none.
        mean: of the rewards, as a share of the scale; None where nothing was scored.
        at_minimum: the share of answers that earn the minimum.
        at_maximum: the share that earns the maximum.
        mixed: the share of prompts whose answers earn different rewards; a group of equal rewards
            has zero advantage. None where no prompt has two scored answers.
        cut: the share of answers that reached the limit of tokens.
        filtered: answers that the model, or a filter before it, withheld.
        output: tokens of an answer on average; 0 where the service counts none.
        reasons: the most frequent; no file holds them.
        errors: why answers have no reward, by how often; no file holds them.
    """

    model_config = ConfigDict(frozen=True)

    prompts: int
    each: int
    scored: int
    unscored: int
    mean: Share | None
    at_minimum: Share | None
    at_maximum: Share | None
    mixed: Share | None
    cut: Share
    filtered: int
    output: float
    reasons: tuple[Reason, ...] = Field(default=(), exclude=True)
    errors: dict[str, int] = Field(default_factory=dict, exclude=True)

    @property
    def measured(self) -> Measured:
        """How many answers have a reward."""
        return Measured("answers", self.scored, self.unscored)


class BaselineOrigin(BaseModel):
    """The settings of a baseline's measurement, beside its figures."""

    model_config = ConfigDict(frozen=True)

    baseline: Literal[1] = Field(default=1, description="The version of the file's format.")
    model: str = Field(description="The job's base, which was asked.")
    asked: str = Field(description="The name it was asked under.")
    data: str = Field(description="SHA-256 of the training file.")
    temperature: float
    max_tokens: int
    reasoning_effort: str = ""
    tuned: bool = Field(default=False, description="Whether a model that a job made was asked.")
    simulation: bool = Field(
        default=False, description="Whether the training double answered, and no language model."
    )


class BaselineRecord(Baseline, BaselineOrigin):
    """A baseline as it is kept. A figure with its interval is [value, low, high]."""

    grader: str = Field(description="ARN of the version that scored.")
    digest: str = Field(description="The artifact's; empty for a function of unknown origin.")
    reward: str = Field(default="", description="Its name; empty as above, and so are the next.")
    version: int = Field(default=0, description="The reward's.")
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    response_mode: str = ""
    measured_at: datetime

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


def measured(
    prompts: Sequence[AskedPrompt],
    answers: Mapping[AnswerAttempt, ModelAnswer],
    scorer: VersionScorer,
    advance: Callable[[int], object] = lambda _: None,
) -> Baseline:
    """Score a model's answers by the deployed version, and count.

    Args:
        prompts: that were asked.
        answers: to them.
        scorer: the deployed version.
        advance: called with the number of answers of each batch that was scored.

    Raises:
        AwsFailed: the version cannot be invoked.
    """
    by_digest = {prompt.digest: prompt for prompt in prompts}
    samples = [
        by_digest[attempt.prompt].sample.answered(answer.text)
        for attempt, answer in answers.items()
    ]
    results = scorer.score(samples, advance)
    rewards = [result.score.value if isinstance(result, Scored) else None for result in results]
    scale = scorer.scale([value for value in rewards if value is not None])
    groups: dict[str, list[float]] = defaultdict(list)
    for attempt, value in zip(answers, rewards, strict=True):
        if value is not None:
            groups[attempt.prompt].append(_share(value, scale))
    problems = Counter(str(result.error) for result in results if not isinstance(result, Scored))
    given = list(answers.values())
    count = len(prompts)
    return Baseline(
        prompts=count,
        each=len(answers) // count,
        scored=sum(map(len, groups.values())),
        unscored=rewards.count(None),
        mean=mean_reward(list(groups.values())),
        at_minimum=share_among(groups.values(), lambda value: value == 0),
        at_maximum=share_among(groups.values(), lambda value: value == 1),
        mixed=share_mixed(groups.values()),
        cut=share(sum(answer.ended == "length" for answer in given), len(given), count),
        filtered=sum(answer.ended == "filtered" for answer in given),
        output=mean([answer.usage.output for answer in given]),
        reasons=_reasons(
            scorer.reasons(samples),
            rewards,
            [by_digest[attempt.prompt].place for attempt in answers],
            given,
        ),
        errors=dict(problems.most_common()),
    )


def judged(baseline: Baseline) -> Iterator[CheckFinding]:
    """Whether a job can teach the model anything: the table of this module."""
    if baseline.mean is None or baseline.at_minimum is None:
        yield failure("baseline", "no answer of the model was scored")
        return
    positive = 1 - baseline.at_minimum.value
    most_positive = 1 - baseline.at_minimum.low
    mean = baseline.mean
    if positive == 0:
        sure = most_positive <= SPARSE
        yield CheckFinding(
            "failure" if sure else "warning",
            "baseline",
            f"none of {baseline.scored:,} answers earns more than the minimum: teach the format "
            f"first, by supervised fine-tuning{_unsure(sure, most_positive)}",
        )
    elif positive < SPARSE:
        yield warning(
            "baseline",
            f"{positive:.1%} of the answers earn more than the minimum: under {SPARSE:.0%} the "
            "reward is sparse, and most groups have zero advantage; begin with easier prompts, or "
            "with supervised fine-tuning",
        )
    elif mean.value > LEARNED:
        sure = mean.low > LEARNED
        yield CheckFinding(
            "failure" if sure else "warning",
            "baseline",
            f"the model earns {mean.value:.1%} of the scale before any training: over "
            f"{LEARNED:.0%} there is nothing to learn; take harder prompts"
            f"{_unsure(sure, mean.low)}",
        )
    else:
        yield ok(
            "baseline",
            f"the model earns {mean.value:.1%} of the scale ({mean.low:.1%} to {mean.high:.1%}); "
            f"{positive:.1%} of its answers earn more than the minimum",
        )
    yield from _further(baseline)


def _further(baseline: Baseline) -> Iterator[CheckFinding]:
    mixed = baseline.mixed
    earns = baseline.at_minimum is not None and baseline.at_minimum.value < 1
    if mixed is not None and earns and mixed.value == 0:
        sure = mixed.high <= SPARSE
        yield CheckFinding(
            "failure" if sure else "warning",
            "groups",
            f"of {baseline.prompts:,} prompts none has answers of different rewards: every group "
            f"has zero advantage{_unsure(sure, mixed.high)}",
        )
    elif mixed is not None and earns:
        yield ok(
            "groups",
            f"{mixed.value:.1%} of the prompts have answers of different rewards, with "
            f"{baseline.each} to a prompt: the other groups have zero advantage",
        )
    if baseline.cut.value >= CUT_OFF:
        yield warning(
            "cut off",
            f"{baseline.cut.value:.1%} of the answers reach the limit of tokens: raise "
            "inferenceMaxTokens, or the job punishes long answers",
        )
    if baseline.unscored:
        why = f": {next(iter(baseline.errors))}" if baseline.errors else ""
        yield warning("unscored", f"{baseline.unscored:,} answers have no reward{why}")


def _unsure(sure: bool, bound: float) -> str:  # noqa: FBT001 - reads as a word of the sentence
    if sure:
        return ""
    return f"; so few prompts leave {bound:.1%} possible: ask more with --prompts"


def _share(value: float, scale: Scale) -> float:
    return (value - scale.minimum) / (scale.maximum - scale.minimum)


def _reasons(
    words: Sequence[str | None],
    rewards: Sequence[float | None],
    places: Sequence[str],
    given: Sequence[ModelAnswer],
) -> tuple[Reason, ...]:
    counts = Counter(text for text in words if text)
    found = []
    # Those that are equally frequent by their words: answers come in any order.
    often = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    for text, count in often[:REASONS]:
        at = words.index(text)
        found.append(Reason(text, count, rewards[at] or 0.0, places[at], given[at].text))
    return tuple(found)


def recorded(
    baseline: Baseline,
    origin: BaselineOrigin,
    scorer: VersionScorer,
    now: datetime | None = None,
) -> BaselineRecord:
    """The record of figures that were just measured.

    Args:
        baseline: the figures.
        origin: what they were measured with.
        scorer: what scored.
        now: the moment; the clock's where not given.
    """
    return BaselineRecord(
        grader=str(scorer.arn),
        **(_graded(scorer.deployed) if scorer.deployed else {"digest": ""}),
        measured_at=now or datetime.now(UTC),
        **origin.model_dump(),
        **baseline.model_dump(),
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
    """The findings of a record about a job: its verdict, or why it is not the job's.

    Args:
        record: None where nothing was measured.
        model: the job's base.
        data: SHA-256 of its training file.
        scorer: its grader.
        simulation: whether the training double would run it.
    """
    if record is None:
        other = "not measured: `reward job baseline` asks the model before a job pays for it"
        yield warning("baseline", other)
    elif other := _other(record, model=model, data=data, scorer=scorer, simulation=simulation):
        yield warning("baseline", other)
    else:
        yield from judged(record)


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


def shares(measured: Baseline) -> dict[str, Share | None]:
    """The figures that have an interval; None where nothing was scored."""
    return {
        "mean, of the scale": measured.mean,
        "share at the minimum": measured.at_minimum,
        "share at the maximum": measured.at_maximum,
        "prompts whose answers differ in reward": measured.mixed,
        "share cut off": measured.cut,
    }


def counts(measured: Baseline) -> dict[str, str]:
    """The figures that have none."""
    return {
        "prompts × answers": f"{measured.prompts:,} × {measured.each}",
        "unscored": f"{measured.unscored:,}",
        "withheld by a filter": f"{measured.filtered:,}",
        "tokens of an answer": f"{measured.output:,.0f}",
    }


def page(
    measured: Baseline,
    findings: Sequence[CheckFinding],
    model: str,
    facts: Sequence[tuple[str, str]] = (),
) -> Page:
    """The whole page.

    Args:
        measured: the figures.
        findings: what a job can learn from them; empty of a tuned model.
        model: which one answered.
        facts: what else there is to say of the measurement.
    """
    return Page(
        f"Baseline of {model}",
        "What the model earns before any training, as the deployed version scores it.",
        facts=facts,
        sections=list(_sections(measured, findings)),
        concerns=[_concern(each) for each in findings if each.verdict != "ok"],
    )


ABOUT: Final[Mapping[str, Kind]] = {"unscored": "unscored", "cut off": "truncation"}
"""What a finding is about, by its question; the others are about what the model earns."""


def _concern(finding: CheckFinding) -> Concern:
    kind: Kind = "failed" if finding.verdict == "failure" else "reasons"
    section = UNREWARDED if finding.question == "unscored" else EARNS
    return Concern(ABOUT.get(finding.question, kind), _sentence(finding), section)


def _sentence(finding: CheckFinding) -> str:
    return f"{finding.message[:1].upper()}{finding.message[1:]}."


EARNS: Final = "What it earns"
UNREWARDED: Final = "Without a reward"
"""Titles of sections that findings lead to."""


def _sections(measured: Baseline, findings: Sequence[CheckFinding]) -> Iterator[Section]:
    if good := [_sentence(each) for each in findings if each.verdict == "ok"]:
        yield Section("What a job can learn from it", good)
    yield Section(EARNS, [_intervals(measured), _figures(measured)])
    if measured.reasons:
        reasons = [(each.text, each.answers) for each in measured.reasons]
        drawn = tallies("Answers by the reason of their reward", reasons, x="answers")
        yield Section("Reasons", [drawn, _reason_sheet(measured)])
    if measured.errors:
        rows = [(error, f"{count:,}") for error, count in measured.errors.items()]
        yield Section(UNREWARDED, [Sheet(UNREWARDED, ("error", "answers"), rows)])


def _intervals(measured: Baseline) -> Part:
    rows = [
        Row(name, [Span(share.value, (share.low, share.high))])
        for name, share in shares(measured).items()
        if share is not None
    ]
    label = "Shares of the baseline with their 95% intervals"
    return spans(label, rows, x="share, with its 95 % interval by prompt")


def _figures(measured: Baseline) -> Sheet:
    known = [
        (name, f"{share.value:.1%}", f"{share.low:.1%} to {share.high:.1%}")
        for name, share in shares(measured).items()
        if share is not None
    ]
    others = [(name, value, "") for name, value in counts(measured).items()]
    return Sheet("Figures", ("figure", "value", "95 % interval"), [*known, *others])


def _reason_sheet(measured: Baseline) -> Sheet:
    return Sheet(
        "Reasons",
        ("reason", "answers", "reward", "an answer ends"),
        [
            (each.text, f"{each.answers:,}", f"{each.reward:g}", each.end)
            for each in measured.reasons
        ],
        words=("an answer ends",),
    )
