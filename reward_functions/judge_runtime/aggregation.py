"""One score from those of several panel members."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

from reward_functions.core.means import mean
from reward_functions.core.types import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.types import Score


def aggregated(scores: Sequence[Score], aggregate: str) -> Score:
    """One score; its metrics are the means of theirs.

    Args:
        scores: at least one, all of the same reward.
        aggregate: "mean", "median", "majority" or "minimum".
    """
    values = [score.value for score in scores]
    metrics = tuple(
        Metric(column[0].name, mean([metric.value for metric in column]), column[0].type)
        for column in zip(*(score.metrics for score in scores), strict=True)
    )
    listed = ", ".join(f"{each:g}" for each in values)
    return replace(
        scores[0],
        value=_AGGREGATES[aggregate](values),
        metrics=metrics,
        reason=f"the {aggregate} of {listed}",
        parts=(),
    )


_AGGREGATES: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "mean": mean,
    "median": median,
    "majority": median,  # what more than half of the members say stands in the middle
    "minimum": min,
}
