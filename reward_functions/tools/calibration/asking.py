"""A judge put to the cases, a few at a time, every reading kept before the next are asked for.

A pair is put to a judge that compares as one sample, whose reference is the second response. A
judge that sees one response at a time scores both, and the better score is the better response.
Every case is asked by itself: neither equal questions nor remembered verdicts are shared, for a
judge that answers equal questions differently is what is to be found out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Scored, Unscored, Usage
from reward_functions.judge_runtime.panel import Bench
from reward_functions.tools.calibration.readings import Reading, Readings, Turn
from reward_functions.tools.judging.settings import forgetful

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.spec import RewardSpec, Scale
    from reward_functions.core.types import RewardResult, Sample, Score
    from reward_functions.judge_runtime.config import Judging
    from reward_functions.tools.calibration.cases import Case, Cases
    from reward_functions.tools.calibration.ledger import Ledger

AT_ONCE: Final = 4
"""Turns asked between two writes of the ledger, for each call at once: what an interruption costs
is so many answers, and the last of them are waited for alone."""

OWN_ORDERS: Final = "inconsistent"
"""The metric of a judge that compares two responses, and asks in both orders."""


class Plan(NamedTuple):
    """What is asked of every case.

    Args:
        repeats: how often.
        both_orders: whether pairs are asked with the responses swapped as well.
    """

    repeats: int = 1
    both_orders: bool = False

    def turns(self, cases: Cases) -> Iterator[Turn]:
        """Every turn; all cases are asked once before any is asked again."""
        for repeat in range(self.repeats):
            for swapped in (False, True)[: 1 + self.both_orders]:
                for case in cases.items:
                    yield Turn(case.id, swapped, repeat)


class Put(NamedTuple):
    """How a case is put to a judge.

    A judge that compares is given the second response as a reference, which must say something. An
    empty second response therefore stands first, and loses there.

    Args:
        samples: what is scored.
        mirrored: whether what stands first there is the second response of the file.
    """

    samples: tuple[Sample, ...]
    mirrored: bool = False


@dataclass(slots=True)
class Spent:
    """What the run has cost; safe to use from many threads."""

    usage: Usage
    usd: float
    calls: int
    _lock: Lock

    @classmethod
    def nothing(cls) -> Spent:
        """Nothing yet."""
        return cls(Usage(), 0.0, 0, Lock())

    def add(self, usage: Usage, usd: float, calls: int) -> None:
        """Count further calls."""
        with self._lock:
            self.usage += usage
            self.usd += usd
            self.calls += calls


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge with its models, ready to be put to cases.

    Args:
        spec: the reward.
        parameters: its settings.
        judging: who is asked, and within which limits.
        bench: their seats, without a memory.
        spent: what it has cost.
    """

    spec: RewardSpec
    parameters: Mapping[str, Any]
    judging: Judging
    bench: Bench
    spent: Spent

    @classmethod
    def seated(cls, spec: RewardSpec, parameters: Mapping[str, Any], judging: Judging) -> Judge:
        """The judge, its models opened.

        Raises:
            BadJudge: a model cannot be asked as it is set.
            BadParameter: the reward has no such parameter.
        """
        bench = Bench(forgetful(judging))
        bench.sit(
            spec, parameters
        )  # what is wrong with the parameters is found before anybody is asked
        return cls(spec, parameters, judging, bench, Spent.nothing())

    def put(self, cases: Cases, case: Case, *, swapped: bool = False) -> Put:
        """What it scores of a case: a response, or a pair as one sample or as two."""
        if cases.labels.kind == "graded":
            return Put((case.sample,))
        compares = OWN_ORDERS in self.spec.metrics
        first, second = case.sample.response, case.rival
        if swapped:
            first, second = second, first
        mirrored = swapped
        if compares and not second.strip():
            first, second, mirrored = second, first, not swapped
        one, other = case.sample.answered(first), case.sample.answered(second)
        return Put((replace(one, reference=second),) if compares else (one, other), mirrored)

    def score(self, sample: Sample, /) -> Score:
        """Score one sample in a sitting of its own.

        Raises:
            RewardError: as the judge does; `JudgeUnavailable` where the money is spent.
        """
        limit = self.judging.max_usd
        if limit and self.spent.usd >= limit:
            raise JudgeUnavailable(f"max_usd is reached: {limit:g} dollars", "budget")
        sitting = self.bench.sit(self.spec, self.parameters)
        try:
            return sitting(sample)
        finally:
            account = sitting.account
            self.spent.add(account.usage, account.usd, account["judge_calls"])


def ask(
    judge: Judge,
    cases: Cases,
    plan: Plan,
    ledger: Ledger | None,
    watched: Callable[[Sequence[Turn]], Iterable[Turn]] = iter,
) -> Readings:
    """What the judge says of the cases.

    Args:
        judge: whom to ask.
        cases: about what.
        plan: how often, and in which orders.
        ledger: where readings are kept, and the earlier ones are; None for nowhere.
        watched: passes turns on, and may tell how many have passed.
    """
    ids = {case.id: case for case in cases.items}
    given = dict(ledger.given) if ledger else {}
    missing: dict[Turn, str] = {}
    turns = iter(watched([turn for turn in plan.turns(cases) if turn not in given]))
    while some := list(islice(turns, AT_ONCE * judge.judging.concurrency)):
        puts = [judge.put(cases, ids[turn.case], swapped=turn.swapped) for turn in some]
        samples = [sample for put in puts for sample in put.samples]
        workers = judge.judging.max_concurrency
        results = iter(score_batch(judge.score, samples, workers=workers))
        fresh = []
        for turn, put in zip(some, puts, strict=True):
            heard = _heard(judge.spec.scale, turn, put, list(islice(results, len(put.samples))))
            if isinstance(heard, Reading):
                fresh.append(heard)
            else:
                missing[turn] = f"{ids[turn.case].where}: {heard}"
        if ledger:
            ledger.keep(fresh)
        given |= {reading.turn: reading for reading in fresh}
    return Readings(given, missing)


def _heard(scale: Scale, turn: Turn, put: Put, results: Sequence[RewardResult]) -> Reading | str:
    """The reading of the scores; why there is none where something else failed than a verdict."""
    failed = [result.error for result in results if isinstance(result, Unscored)]
    for error in failed:
        if isinstance(error, ConfigurationError):
            raise error
        if not isinstance(error, NoVerdict):
            return f"{type(error).__name__}: {error}"
    for error in failed:
        if isinstance(error, NoVerdict):
            return Reading(turn=turn, value=None, unusable=error.kind)
    scores = [result.score for result in results if isinstance(result, Scored)]
    shares = [(score.value - scale.minimum) / (scale.maximum - scale.minimum) for score in scores]
    value = shares[0] if len(shares) == 1 else _better(*shares)
    sure = [told for score in scores if (told := _metric(score, "confidence")) is not None]
    own = _metric(scores[0], OWN_ORDERS)
    return Reading(
        turn=turn,
        value=1 - value if put.mirrored else value,
        confidence=min(sure, default=None),
        inconsistent=None if own is None else bool(own),
    )


def _better(first: float, second: float) -> float:
    """1 for the first, 0 for the second, between them where they are the same."""
    return 0.5 + 0.5 * ((first > second) - (first < second))


def _metric(score: Score, name: str) -> float | None:
    return next((metric.value for metric in score.metrics if metric.name == name), None)
