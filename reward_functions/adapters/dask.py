r"""Dask: a function for `Bag.map_partitions`.

    import dask.bag
    from reward_functions.adapters.dask import score_partition

    rows = dask.bag.from_sequence(
        [{"id": "a", "question": "6 × 7?", "answer": "42", "response": r"It is \boxed{42}."}]
    )
    rows.map_partitions(score_partition, "math").to_textfiles("scores-*.jsonl")

**Rows** are dicts with `response`, `answer`, `question` and `id`, unless others are named; one with
`messages` is as the Lambda takes it. **Unscored** is a line whose reward is null, and says why.

For a whole file there is `reward score --on dask`, which resumes and sums up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.adapters._tables import Scoring
from reward_functions.scoring import result_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.core.spec import RewardFunction


def score_partition(
    rows: Iterable[Mapping[str, Any]], reward: str | RewardFunction, **options: Any
) -> list[str]:
    """The results of a partition, as lines of `reward score`.

    Args:
        rows: of the partition.
        reward: as of `Scoring`.
        options: of `Scoring`: columns, a judge, and parameters of the reward.

    Raises:
        BadSample: a row has no id.
    """
    return [result_line(each) for each in Scoring(reward, **options).results(list(rows))]
