"""Imputation: the one place that gives a number to a sample without a score.

A trainer needs one finite number per id, and nothing may turn our outage into a reward:

| attributed to | becomes | metrics that are 1 |
|---|---|---|
| the data set (`DatasetError`) | the minimum of the scale | `bad_reference` |
| what the deadline left, see below | the minimum of the scale | `unscored`, `out_of_time` |
| us, `impute` | the mean of the scored group, else of the batch | `unscored`, `imputed` |
| us, `minimum` | the minimum of the scale | `unscored` |
| us, `fail` | a failed invocation | |

All responses to a prompt share its bad reference, so the minimum gives none of them an advantage.
The answers decide how long hard algebra takes. So what the deadline leaves of it is never paid by a
mean and never fails the invocation: asked again, it would meet the same deadline. Samples that
`score_batch` did not begin in such a batch were left by the same cause, and fare alike. So do those
of a reward that bounds its own work and asks nobody: else how busy the machine is would pay them.
Where the deadline left the whole of such a batch, it was none, and the invocation fails. A group
answers one prompt: their messages before the response are equal. With every setting, the invocation
fails when our failures are more than `max_unscored` of the batch, and when nothing at all was
scored: the caller's retry is the remedy. So a batch of one that we failed always raises, unless its
algebra was out of time. Only this batch counts; nothing that a warm container keeps enters a score.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reward_functions.core.errors import (
    AlgebraOutOfTime,
    DatasetError,
    DeadlineReached,
    SampleBlocked,
    ScoringError,
)
from reward_functions.core.means import mean
from reward_functions.core.types import Metric, Sample, Scored, Unscored
from reward_functions.serving.contract import ResultObject, result_object, result_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.types import Message, RewardResult, Score

OnUnscored = Literal["impute", "minimum", "fail"]


class BatchFailed(ScoringError):
    """Too much of the batch could not be scored for its results to be used; invoke again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imputation:
    """The decision, for one reward as it was deployed.

    Args:
        minimum: the minimum of the reward's scale.
        metrics: the metrics it declares, each 0.0, for a result without a score.
        on_unscored: what our own failures become.
        max_unscored: the share of a batch, 0 to 1, that may be our failures.
        bounded: whether the reward bounds its own work and asks nobody, as our verifiers do.
    """

    minimum: float
    metrics: tuple[Metric, ...] = ()
    on_unscored: OnUnscored = "impute"
    max_unscored: float = 0.2
    bounded: bool = False

    def __call__(
        self, samples: Sequence[Sample | Unscored], results: Sequence[RewardResult]
    ) -> list[ResultObject]:
        """One result object per result, in order.

        Args:
            samples: what was scored.
            results: of `score_batch`, one per sample.

        Raises:
            BatchFailed: our failures are too many, or the setting forbids imputing them.
        """
        left = set(map(id, self.out_of_time(results)))
        ours = [
            result
            for result in results
            if isinstance(result, Unscored) and is_ours(result) and id(result) not in left
        ]
        if ours:
            self._tolerate(ours, results)
        donors = _Donors(samples, results) if ours and self.on_unscored == "impute" else None
        return [
            result_object(result)
            if isinstance(result, Scored)
            else self._unscored_row(result, at, donors, out_of_time=id(result) in left)
            for at, result in enumerate(results)
        ]

    def out_of_time(self, results: Sequence[RewardResult]) -> list[Unscored]:
        """The failures of a batch that the deadline and the answers caused together."""
        late = [
            result
            for result in results
            if isinstance(result, Unscored)
            and isinstance(result.error, DeadlineReached)
            and not isinstance(result.error, SampleBlocked)
        ]
        algebra = any(isinstance(each.error, AlgebraOutOfTime) for each in late)
        begun = self.bounded and any(isinstance(result, Scored) for result in results)
        return late if algebra or begun else []

    def _tolerate(self, ours: Sequence[Unscored], results: Sequence[RewardResult]) -> None:
        kinds = Counter(type(failure.error).__name__ for failure in ours)
        listed = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
        failed = f"{len(ours)} of {len(results)} samples could not be scored ({listed})"
        if self.on_unscored == "fail":
            raise BatchFailed(f"{failed}, and on_unscored is 'fail'")
        if not any(isinstance(result, Scored) for result in results):
            raise BatchFailed(f"{failed}, and no other was")
        if len(ours) > self.max_unscored * len(results):
            raise BatchFailed(f"{failed}, more than max_unscored={self.max_unscored:g} allows")

    def _unscored_row(
        self, result: Unscored, at: int, donors: _Donors | None, *, out_of_time: bool
    ) -> ResultObject:
        if not is_ours(result):
            return result_row(result.id, self.minimum, self.metrics, bad_reference=True)
        if out_of_time:
            return result_row(
                result.id, self.minimum, self.metrics, unscored=True, out_of_time=True
            )
        if donors is None:
            return result_row(result.id, self.minimum, self.metrics, unscored=True)
        value, metrics = donors.mean(at)
        return result_row(result.id, value, metrics, unscored=True, imputed=True)


def is_ours(result: Unscored) -> bool:
    """Whether the failure is attributed to us and not to the data set."""
    return not isinstance(result.error, DatasetError)


class _Donors:
    """The scores of a batch, and those of each prompt in it."""

    def __init__(
        self, samples: Sequence[Sample | Unscored], results: Sequence[RewardResult]
    ) -> None:
        self.prompts = [_context(sample) for sample in samples]
        self.all: list[Score] = []
        self.groups: dict[tuple[Message, ...], list[Score]] = {}
        for prompt, result in zip(self.prompts, results, strict=True):
            if isinstance(result, Scored):
                self.all.append(result.score)
                self.groups.setdefault(prompt, []).append(result.score)

    def mean(self, at: int) -> tuple[float, list[Metric]]:
        """The mean value and metrics of the group of a sample, else of the batch."""
        scores = self.groups.get(self.prompts[at], self.all)
        columns = zip(*(score.metrics for score in scores), strict=True)
        return mean([score.value for score in scores]), [
            Metric(column[0].name, mean([metric.value for metric in column]), column[0].type)
            for column in columns
        ]


def _context(sample: Sample | Unscored) -> tuple[Message, ...]:
    return () if isinstance(sample, Unscored) else sample.context
