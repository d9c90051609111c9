r"""Ray Data: a reward is a class for `Dataset.map_batches`.

    import ray
    from reward_functions.adapters.ray_data import RewardScorer, actors

    ray.init()
    rows = ray.data.from_items(
        [{"id": "a", "question": "6 × 7?", "answer": "42", "response": r"It is \boxed{42}."}]
    )
    scored = rows.map_batches(
        RewardScorer, fn_constructor_args=("math",), concurrency=actors(), batch_size=500
    )
    print(scored.take_all())      # each row with its "reward" and its "result"

**Columns** are `response`, `answer`, `question` and `id`, unless others are named; a row with
`messages` is one as the Lambda takes it. **Unscored** is a `reward` of NaN; `result` says why.
**Actors**: a pool that takes every processor of the cluster waits for ever, as nothing is left to
read the rows. `actors()` leaves one.

For a whole file there is `reward score --on ray`, which resumes and sums up.
"""

from __future__ import annotations

from math import nan
from typing import Any

from reward_functions.adapters._tables import Scoring
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Scored
from reward_functions.scoring import result_line


class RewardScorer(Scoring):
    """Scores batches of a data set: a reward with its columns, judge and parameters."""

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """The batch with two columns more.

        Args:
            batch: columns by name, as `batch_format="numpy"` has them.

        Returns:
            it, with `reward`, and `result`: a line as `reward score` writes it.

        Raises:
            BadSample: a row has no id.
        """
        rows = [dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True)]
        found = self.results(rows)
        values = [each.score.value if isinstance(each, Scored) else nan for each in found]
        return {**batch, "reward": values, "result": [result_line(each) for each in found]}


def actors() -> int:
    """As many actors as the cluster has processors, less one that reads.

    Raises:
        ConfigurationError: it has one alone.
    """
    import ray  # noqa: PLC0415 - the host's

    processors = int(ray.cluster_resources().get("CPU", 0))
    if processors < 2:  # noqa: PLR2004 - one reads, one scores
        raise ConfigurationError(
            "a pool of actors waits for ever on a cluster of one processor, as nothing is left to "
            "read the rows: give ray.init(num_cpus=2)"
        )
    return processors - 1
