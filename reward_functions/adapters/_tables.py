"""Rows of a table scored as one batch: what adapters of data libraries share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.adapters._scoring import bound, plain, sample_of
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadSample
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.adapters._scoring import Bound, Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult, Sample, Unscored

MESSAGES: Final = "messages"


class Scoring:
    """A reward over rows of a table.

    Args:
        reward: its name, a spec, the path of a declared composite, or any callable; who scores
            elsewhere has to be able to pickle it.
        response: the column of responses, strings or lists of turns.
        reference: the column of ground truths.
        prompt: the column of prompts; rows with `messages` need none of the three.
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
        self._bound: Bound = bound(reward, parameters, judge=judge, unnamed="reward")
        self._columns = response, reference, prompt

    def results(self, rows: Sequence[Mapping[str, Any]]) -> list[RewardResult]:
        """One result per row, in order; the responses to each prompt of a batch are one group.

        Raises:
            BadSample: a row has no id.
        """
        samples = [self._sample(row) for row in rows]
        return score_batch(self._bound.for_batch(), samples, workers=1)

    def _sample(self, row: Mapping[str, Any]) -> Sample | Unscored:
        row = {str(name): plain(value) for name, value in row.items()}
        if not isinstance(name := row.get("id"), str):
            raise BadSample(
                "a row of a table has no id, or one that is no text: a worker does not know which "
                "row of all it has, so add a column id"
            )
        if MESSAGES in row:
            return decode_row(row, 0)
        response, reference, prompt = (row.pop(each, None) for each in self._columns)
        return sample_of(name, response, reference, prompt, row)
