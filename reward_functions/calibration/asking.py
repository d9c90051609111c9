"""A judge asked about cases: its ratings, each a value or an invalid verdict, kept in a ledger.

A judge that compares receives a pair as one sample, whose reference is the second response. A judge
of single responses scores both, and the higher score marks the better response. No verdict is
shared between trials or taken from a cache: consistency on equal questions is to be measured.

An invalid verdict is the judge's fault and is counted. A failed call or an unreadable case is
not: such a trial has no rating, and the card counts it separately.

Trials are asked in small batches, each written to the ledger before the next, one line of JSON for
each rating, so that a resumed run repeats no call.

    {"ledger": 1, "setup": "9f2c…"}
    {"case": "pandalm-12", "swapped": false, "repeat": 0, "value": 1.0}
    {"case": "pandalm-13", "swapped": false, "repeat": 0, "value": null, "invalid": "cut"}

It holds no text of a prompt, a response or a judge. A run can be resumed with the same judge,
models, instructions and cases only. An incomplete last line is removed: an interruption left it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Self

from pydantic import BaseModel, Field, ValidationError

from reward_functions.calibration.settings import without_cache
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BudgetReached, ConfigurationError, NoVerdict
from reward_functions.core.types import Scored, Unscored
from reward_functions.data.atomic import named
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.scores import without_model
from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reward_functions.calibration.cases import LabelledCase, LabelledCases
    from reward_functions.core.spec import RewardSpec, Scale
    from reward_functions.core.types import RewardResult, Sample, Score
    from reward_functions.judge_runtime.config import JudgeConfig
    from reward_functions.judge_runtime.usage import Account


class Trial(NamedTuple):
    """One presentation of a case to a judge.

    Args:
        case: the id of the case.
        swapped: whether the responses of the pair are in the other order.
        repeat: the number of earlier trials in this order.
    """

    case: str
    swapped: bool = False
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """The judge's answer in one trial.

    Args:
        trial: which.
        value: 0 to 1, of the response that is first in the file; None for an invalid verdict.
        invalid: the kind of an invalid verdict: "malformed", "cut", "refused", "other"; else "".
        confidence: as the judge reports it, 0 to 1; None where it reports none.
        inconsistent: whether a judge that asks in both orders by itself contradicted itself; None
            for other judges.
        unasked: whether the judge decided the trial without its model.
    """

    trial: Trial
    value: float | None
    invalid: str = ""
    confidence: float | None = None
    inconsistent: bool | None = None
    unasked: bool = False


@dataclass(frozen=True, slots=True)
class Ratings:
    """All ratings of a run.

    Args:
        given: by the trial.
        missing: the reason, for each trial without a rating.
    """

    given: Mapping[Trial, Rating]
    missing: Mapping[Trial, str]

    @property
    def measured(self) -> Measured:
        """How many trials have a valid verdict."""
        valid = sum(rating.value is not None for rating in self.given.values())
        unasked = sum(rating.unasked for rating in self.given.values())
        missing = len(self.given) - valid + len(self.missing)
        return Measured("trials", valid - unasked, missing, unasked)

    def first(self, case: str) -> Rating | None:
        """The rating of the first trial of a case, in the order of the file; None without one."""
        return self.given.get(Trial(case))


def recorded(cases: LabelledCases, field: str) -> Ratings:
    """The ratings in a field of the cases, written as labels are.

    Anything else there, null included, is an invalid verdict.
    """
    given: dict[Trial, Rating] = {}
    missing: dict[Trial, str] = {}
    for case in cases.items:
        trial = Trial(case.id)
        if field not in case.row:
            missing[trial] = f"{case.where}: nothing is recorded under {field!r}"
            continue
        value = cases.labels.read(case.row[field])
        invalid = "" if value is not None else "other"
        given[trial] = Rating(trial=trial, value=value, invalid=invalid)
    return Ratings(given, missing)


def agreeing(answers: Sequence[tuple[float, float]]) -> Tally:
    """The share of pairs with equal answers."""
    return Tally(sum(one == other for one, other in answers), len(answers))


class Tally(NamedTuple):
    """A count, and the total it is part of."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """0 to 1; None where the total is 0."""
        return self.part / self.whole if self.whole else None


VERSION: Final = 1


class AnswerLedger:
    """A file of ratings, open for appending.

    Args:
        path: the file.
        setup: a hash of everything a rating depends on.
        resume: continue an existing file; without it the file must not exist.

    Raises:
        ConfigurationError: the file exists and `resume` is false, or it is not this run's ledger.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, setup: str, *, resume: bool) -> None:
        self.path = path
        self.given: Mapping[Trial, Rating] = {}
        kept = b""
        if path.exists():
            if not resume:
                raise ConfigurationError(
                    f"{path} holds answers of an earlier run: --resume continues it; delete it to "
                    "ask again"
                )
            kept = _whole_lines(path.read_bytes())
            self.given = _ratings(path, kept.decode("utf-8", "replace"), setup)
        self._stream = path.open("r+b" if path.exists() else "xb")
        self._stream.truncate(len(kept))
        self._stream.seek(len(kept))
        if not kept:
            self._write([{"ledger": VERSION, "setup": setup}])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def keep(self, ratings: Iterable[Rating]) -> None:
        """Append ratings; they are on the disk when the method returns."""
        self._write([_line(rating) for rating in ratings])

    def _write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        with named(self.path):
            self._stream.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            self._stream.flush()
            os.fsync(self._stream.fileno())


class _Line(BaseModel):
    """A rating as a line of the ledger."""

    case: str
    swapped: bool
    repeat: int
    value: Annotated[float | None, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
    invalid: str = ""
    confidence: float | None = None
    inconsistent: bool | None = None
    unasked: bool = False

    @property
    def rating(self) -> Rating:
        """What it says."""
        further = self.model_dump(include={"value", "invalid", "confidence", "inconsistent"})
        trial = Trial(self.case, self.swapped, self.repeat)
        return Rating(trial=trial, unasked=self.unasked, **further)


def _line(rating: Rating) -> dict[str, Any]:
    line = _Line(
        **rating.trial._asdict(),
        **{
            each.name: getattr(rating, each.name) for each in fields(rating) if each.name != "trial"
        },
    )
    return line.model_dump(exclude_defaults=True)


def _whole_lines(content: bytes) -> bytes:
    """The content without an incomplete last line."""
    return content[: content.rfind(b"\n") + 1]


def _ratings(path: Path, content: str, setup: str) -> dict[Trial, Rating]:
    first, *lines = content.splitlines() or [""]
    if not first:
        return {}
    try:
        header = json.loads(first)
        known = header.pop("ledger") == VERSION
    except (ValueError, AttributeError, KeyError):
        known = False
    if not known:
        raise ConfigurationError(f"{path}, line 1: not the ledger of a calibration")
    if header.get("setup") != setup:
        raise ConfigurationError(
            f"{path} belongs to another run: the judge, its models or the cases have changed"
        )
    given = {}
    for number, line in enumerate(lines, 2):
        try:
            rating = _Line.model_validate_json(line).rating
        except ValidationError:
            raise ConfigurationError(
                f"{path}, line {number}: not a rating of a calibration"
            ) from None
        given[rating.trial] = rating
    return given


AT_ONCE: Final = 4
"""Trials between two writes of the ledger, for each concurrent call. An interruption loses at most
these; fewer would leave calls idle at the end of each batch."""

OWN_ORDERS: Final = "inconsistent"
"""The metric that only a judge of pairs reports, which asks in both orders."""


class TrialPlan(NamedTuple):
    """The trials of every case.

    Args:
        repeats: trials in each order.
        both_orders: whether there are trials with the responses swapped.
    """

    repeats: int = 1
    both_orders: bool = False

    def trials(self, cases: LabelledCases) -> Iterator[Trial]:
        """Every trial; each case has its first before any has its second."""
        for repeat in range(self.repeats):
            for swapped in (False, True)[: 1 + self.both_orders]:
                for case in cases.items:
                    yield Trial(case.id, swapped, repeat)


class JudgeInput(NamedTuple):
    """A case as samples for a judge.

    A judge that compares receives the second response as its reference, which must not be empty. An
    empty second response is therefore put first, where it loses.

    Args:
        samples: to score: a response, or a pair as one sample or as two.
        mirrored: whether the first response there is the second one of the file.
    """

    samples: tuple[Sample, ...]
    mirrored: bool = False


@dataclass(slots=True)
class Spending:
    """The cost of the run; safe to use from many threads."""

    usd: float = 0.0
    calls: int = 0
    unpriced: int = 0
    _lock: Lock = field(default_factory=Lock)

    def add(self, account: Account) -> None:
        """Count the calls of a batch."""
        with self._lock:
            self.usd += account.usd
            self.calls += account["judge_calls"]
            self.unpriced += account["judge_unpriced_calls"]


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge with its models opened.

    Args:
        spec: the reward.
        parameters: its parameters that differ from their defaults.
        config: the models and their limits.
        pool: the models, without a cache.
        spent: the cost so far.
    """

    spec: RewardSpec
    parameters: Mapping[str, Any]
    config: JudgeConfig
    pool: JudgePool
    spent: Spending

    @classmethod
    def opened(cls, spec: RewardSpec, parameters: Mapping[str, Any], config: JudgeConfig) -> Judge:
        """The judge, its models opened.

        Raises:
            BadJudge: the settings of a model cannot be used.
            BadParameter: the reward has no such parameter.
        """
        pool = JudgePool(without_cache(config))
        pool.batch(spec, parameters)  # raises for wrong parameters before the first call
        return cls(spec, parameters, config, pool, Spending())

    def input(
        self, cases: LabelledCases, case: LabelledCase, *, swapped: bool = False
    ) -> JudgeInput:
        """The samples of a case, with the responses of a pair swapped on demand."""
        if cases.labels.kind == "graded":
            return JudgeInput((case.sample,))
        compares = OWN_ORDERS in self.spec.metrics
        first, second = case.sample.response, case.second_response
        if swapped:
            first, second = second, first
        mirrored = swapped
        if compares and not second.strip():
            first, second, mirrored = second, first, not swapped
        one, other = case.sample.answered(first), case.sample.answered(second)
        return JudgeInput((replace(one, reference=second),) if compares else (one, other), mirrored)

    def score(self, sample: Sample, /) -> Score:
        """Score one sample as a batch of its own.

        Raises:
            RewardError: as the judge does; `BudgetReached` where max_usd is spent.
        """
        limit = self.config.max_usd
        if limit and self.spent.usd >= limit:
            raise BudgetReached(f"max_usd is reached: {limit:g} dollars")
        batch_judge = self.pool.batch(self.spec, self.parameters)
        try:
            return batch_judge(sample)
        finally:
            self.spent.add(batch_judge.account)


def ask(
    judge: Judge,
    cases: LabelledCases,
    plan: TrialPlan,
    ledger: AnswerLedger | None,
    watched: Callable[[Sequence[Trial]], Iterable[Trial]] = iter,
) -> Ratings:
    """The judge's ratings of the cases.

    Args:
        judge: the judge.
        cases: to rate.
        plan: the trials of each case.
        ledger: holds earlier ratings and receives new ones; None for none.
        watched: passes the trials on, and may show progress.

    Raises:
        ConfigurationError: the judge cannot be used at all.
    """
    ids = {case.id: case for case in cases.items}
    given = dict(ledger.given) if ledger else {}
    missing: dict[Trial, str] = {}
    trials = iter(watched([trial for trial in plan.trials(cases) if trial not in given]))
    while some := list(islice(trials, AT_ONCE * judge.config.concurrency)):
        inputs = [judge.input(cases, ids[trial.case], swapped=trial.swapped) for trial in some]
        samples = [sample for each in inputs for sample in each.samples]
        workers = judge.config.max_concurrency
        results = iter(score_batch(judge.score, samples, workers=workers))
        fresh = []
        for trial, put in zip(some, inputs, strict=True):
            scored = list(islice(results, len(put.samples)))
            rating = _rated(judge.spec.scale, trial, put, scored)
            if isinstance(rating, Rating):
                fresh.append(rating)
            else:
                missing[trial] = f"{ids[trial.case].where}: {rating}"
        if ledger:
            ledger.keep(fresh)
        given |= {each.trial: each for each in fresh}
    return Ratings(given, missing)


def _rated(
    scale: Scale, trial: Trial, put: JudgeInput, results: Sequence[RewardResult]
) -> Rating | str:
    """The rating from the scores; the reason where no answer of the judge came."""
    failed = [result.error for result in results if isinstance(result, Unscored)]
    for error in failed:
        if isinstance(error, ConfigurationError):
            raise error
        if not isinstance(error, NoVerdict):
            return f"{type(error).__name__}: {error}"
    for error in failed:
        if isinstance(error, NoVerdict):
            return Rating(trial=trial, value=None, invalid=error.kind)
    scores = [result.score for result in results if isinstance(result, Scored)]
    shares = [(score.value - scale.minimum) / (scale.maximum - scale.minimum) for score in scores]
    value = shares[0] if len(shares) == 1 else _better(*shares)
    confidences = [each for score in scores if (each := _metric(score, "confidence")) is not None]
    own = _metric(scores[0], OWN_ORDERS)
    return Rating(
        trial=trial,
        value=1 - value if put.mirrored else value,
        confidence=min(confidences, default=None),
        inconsistent=None if own is None else bool(own),
        unasked=all(map(without_model, scores)),
    )


def _better(first: float, second: float) -> float:
    """1 where the first is higher, 0 where the second is, 0.5 where they are equal."""
    return 0.5 + 0.5 * ((first > second) - (first < second))


def _metric(score: Score, name: str) -> float | None:
    return next((metric.value for metric in score.metrics if metric.name == name), None)
