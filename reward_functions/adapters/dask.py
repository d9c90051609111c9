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

from reward_functions.adapters._tables import Columns, Scoring
from reward_functions.scoring import result_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.adapters._scoring import Judges
    from reward_functions.core.spec import RewardFunction


def score_partition(
    rows: Iterable[Mapping[str, Any]],
    reward: str | RewardFunction,
    *,
    response: str = "response",
    reference: str = "answer",
    prompt: str = "question",
    judge: Judges | None = None,
    **parameters: Any,
) -> list[str]:
    """The results of a partition, as lines of `reward score`.

    Args:
        rows: of the partition.
        reward: its name, a spec, the path of a declared composite, or any callable; Dask has to be
            able to pickle it.
        response: the key of responses, strings or lists of turns.
        reference: the key of ground truths.
        prompt: the key of prompts.
        judge: the models that a judge asks, as a `JudgePool`.
        parameters: of the reward, by name.

    Raises:
        BadSample: a row has no id.
    """
    scoring = Scoring(reward, Columns(response, reference, prompt), judge, parameters)
    return [result_line(each) for each in scoring(list(rows))]
