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
from typing import TYPE_CHECKING, Any

from reward_functions.adapters._tables import Columns, Scoring
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Scored
from reward_functions.scoring import result_line

if TYPE_CHECKING:
    from reward_functions.adapters._scoring import Judges
    from reward_functions.core.spec import RewardFunction


class RewardScorer:
    """Scores batches.

    Args:
        reward: its name, a spec, the path of a declared composite, or any callable; Ray has to be
            able to pickle it.
        response: the column of responses, strings or lists of turns.
        reference: the column of ground truths.
        prompt: the column of prompts.
        judge: the models that a judge asks, as a `JudgePool`.
        parameters: of the reward, by name.
    """

    def __init__(
        self,
        reward: str | RewardFunction,
        *,
        response: str = "response",
        reference: str = "answer",
        prompt: str = "question",
        judge: Judges | None = None,
        **parameters: Any,
    ) -> None:
        self._scoring = Scoring(reward, Columns(response, reference, prompt), judge, parameters)

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
        found = self._scoring(rows)
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
