"""The bench: who sits in judgement for a deployment, and one sitting of it for each batch.

A `Bench` outlives batches: it holds the models, their pace and the memory of verdicts. A `Sitting`
is the reward of one batch, with the batch's deadline and account; several jurors' scores become one
here. A failed juror does not count; where fewer than the quorum came to a score, there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from math import inf
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadJudge, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Metric, Score
from reward_functions.judge_runtime.cache import Memory, Shelf, Table, Warm
from reward_functions.judge_runtime.pipeline import Once, Paced, Patient, Remembered, WithStandIn
from reward_functions.judge_runtime.rate_limit import Pace
from reward_functions.judge_runtime.usage import Account, Price, price_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.asking import Ask
    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import Sample
    from reward_functions.judge_runtime.config import JudgeModel, Judging

SURE: Final = 0.5
"""The confidence from which one juror is enough."""


@dataclass(frozen=True, slots=True)
class _Seat:
    """A model with what outlives a batch."""

    model: JudgeModel
    ask: Ask
    pace: Pace
    price: Price | None


class Bench:
    """The judges of one deployment; safe to use from many threads.

    Args:
        judging: who and within which limits.
        asks: in place of the models' own APIs, one by model id: for tests and recordings.

    Raises:
        BadJudge: a model cannot be asked as it is set: no key, no such file, no price for a limit
            in dollars, no region.
    """

    def __init__(self, judging: Judging, *, asks: Mapping[str, Ask] | None = None) -> None:
        from reward_functions.judge_runtime.backends import open_model  # noqa: PLC0415 - may be heavy

        self.judging = judging
        given = asks or {}

        def seat(model: JudgeModel) -> _Seat:
            return _Seat(
                model=model,
                ask=given.get(model.model) or open_model(model, judging.max_concurrency),
                pace=Pace(judging.concurrency, judging.max_concurrency, model.rpm, model.tpm),
                price=price_of(model, judging),
            )

        self.seats = [seat(model) for model in judging.models]
        self.stand_in = seat(judging.fallback) if judging.fallback else None
        self.memory = Memory(_shelves(judging))

    def sit(
        self,
        spec: RewardSpec,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float = inf,
    ) -> Sitting:
        """The reward of one batch.

        Args:
            spec: a judge.
            parameters: its settings.
            deadline: the reading of `time.monotonic()` by which every answer is there.

        Raises:
            BadParameter: it has no such parameter, or one of another type.
        """
        account = Account(self.judging.max_usd)
        asks = [self._ask(seat, account, deadline) for seat in self.seats]
        jurors = [spec.bind(parameters or {}, ask=ask) for ask in asks]
        return Sitting(spec=spec, jurors=jurors, judging=self.judging, account=account)

    def _ask(self, seat: _Seat, account: Account, deadline: float) -> Ask:
        """A seat with all its patience, until the deadline."""
        ask = self._patient(seat, account)
        if self.stand_in:
            ask = WithStandIn(ask, self._patient(self.stand_in, account), account)
        return partial(Once(ask, account), deadline=deadline)

    def _patient(self, seat: _Seat, account: Account) -> Ask:
        paced = Paced(seat.ask, seat.model, seat.pace, account, seat.price)
        patient = Patient(paced, self.judging.retries, account)
        return Remembered(patient, seat.model, self.memory, account)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """The reward of one batch; scores samples as any reward does.

    Args:
        spec: the judge.
        jurors: it, once for each model.
        judging: how their scores become one.
        account: what the batch has cost so far.
    """

    spec: RewardSpec
    jurors: Sequence[Callable[..., Score]]
    judging: Judging
    account: Account

    def __call__(self, sample: Sample, /, *, group: Sequence[Sample] = ()) -> Score:
        """Score one sample.

        Raises:
            DatasetError: the reference or the row is at fault.
            JudgeUnavailable: too few jurors could be asked.
            NoVerdict: too few gave a legal verdict.
        """
        group_argument = {"group": group} if group else {}
        if len(self.jurors) == 1:
            return self.jurors[0](sample, **group_argument)
        if self.judging.aggregate == "rotate":
            return self.jurors[_turn(sample) % len(self.jurors)](sample, **group_argument)
        return self._jury(sample, group_argument)

    def _jury(self, sample: Sample, group_argument: Mapping[str, Any]) -> Score:
        scores: list[Score] = []
        failure: JudgeUnavailable | NoVerdict | None = None
        for juror in self.jurors:
            try:
                scores.append(juror(sample, **group_argument))
            except (JudgeUnavailable, NoVerdict) as error:
                failure = error
            if self.judging.doubt and len(scores) == 1 and _sure(scores[0]):
                return scores[0]
        if failure and len(scores) < (self.judging.quorum or len(self.jurors)):
            raise failure
        return _together(scores, self.judging.aggregate)


def _turn(sample: Sample) -> int:
    """A number that a group shares and other prompts hardly do."""
    told = repr([(turn.role, turn.content) for turn in sample.context])
    return int.from_bytes(sha256(told.encode("utf-8", "replace")).digest()[:8])


def _sure(score: Score) -> bool:
    """Whether a juror is confident; one that does not say is."""
    said = [metric.value for metric in score.metrics if metric.name == "confidence"]
    return not said or said[0] >= SURE


def _together(scores: Sequence[Score], aggregate: str) -> Score:
    """One score of several. Metrics are averaged."""
    values = [score.value for score in scores]
    value = _AGGREGATES[aggregate](values)
    metrics = tuple(
        Metric(column[0].name, fmean(metric.value for metric in column), column[0].type)
        for column in zip(*(score.metrics for score in scores), strict=True)
    )
    told = ", ".join(f"{each:g}" for each in values)
    return replace(scores[0], value=value, metrics=metrics, reason=f"the {aggregate} of {told}")


def _majority(values: Sequence[float]) -> float:
    """The value most jurors gave; the median where no value has a majority."""
    for value in set(values):
        if values.count(value) * 2 > len(values):
            return value
    return median(values)


_AGGREGATES: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "mean": fmean,
    "median": median,
    "majority": _majority,
    "minimum": min,
}


def _shelves(judging: Judging) -> list[Shelf]:
    shelves: list[Shelf] = [Warm(judging.cache_size)] if judging.cache_size else []
    if judging.cache_table:
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - heavy

        from reward_functions.judge_runtime.backends.aws import client  # noqa: PLC0415

        try:
            table = client("dynamodb", timeout=2.0)
        except BotoCoreError as error:
            raise BadJudge(f"the table {judging.cache_table}: {error}") from None
        shelves.append(Table(table, judging.cache_table, judging.cache_days))
    return shelves
