"""Trials of a judge on the cases, in small batches, each written to the ledger before the next.

A judge that compares receives a pair as one sample, whose reference is the second response. A judge
of single responses scores both, and the higher score marks the better response. No verdict is
shared between trials or taken from a cache: consistency on equal questions is to be measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.calibration.ratings import Rating, Ratings, Trial
from reward_functions.calibration.settings import without_cache
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BudgetReached, ConfigurationError, NoVerdict
from reward_functions.core.types import Scored, Unscored
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.scores import without_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.calibration.cases import LabelledCase, LabelledCases
    from reward_functions.calibration.ratings import AnswerLedger
    from reward_functions.core.spec import RewardSpec, Scale
    from reward_functions.core.types import RewardResult, Sample, Score
    from reward_functions.judge_runtime.config import JudgeConfig
    from reward_functions.judge_runtime.usage import Account

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
            rating = _rating(judge.spec.scale, trial, put, scored)
            if isinstance(rating, Rating):
                fresh.append(rating)
            else:
                missing[trial] = f"{ids[trial.case].where}: {rating}"
        if ledger:
            ledger.keep(fresh)
        given |= {each.trial: each for each in fresh}
    return Ratings(given, missing)


def _rating(
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
