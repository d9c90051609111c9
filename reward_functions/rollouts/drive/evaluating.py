"""A batch as an evaluation: rows are run, rewards joined, and failures counted apart.

    evaluation = evaluate_batch(client.run_batch(rows, 32), rows)
    evaluation.mean                     # Share(value=0.61, low=0.55, high=0.67)
    evaluation.failures                 # {"agent": 2, "timeout": 1}

A failure has no reward and is no 0.0: the mean is that of the rollouts that were scored, and the
number of the others stands beside it. A reward for each turn is summed. Rows of one prompt are a
group, and the interval is the bootstrap's over groups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any, Final

from reward_functions.reports.statistics import Share, mean_reward
from reward_functions.rollouts.request.errors import InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Hashable, Iterable, Mapping, Sequence

    from reward_functions.rollouts.collect.batches import BatchItem

UNSCORED: Final = "unscored"
"""An agent that succeeded and stored no reward, or none that is one."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of a batch.

    Args:
        rewards: by the row's index, of rollouts that were scored.
        mean: of them, with its 95 % interval; None without one.
        failures: rollouts without a reward, by kind.
        errors: their sentences, by the row's index.
    """

    rewards: Mapping[int, float]
    mean: Share | None
    failures: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=dict)


class Joining:
    """Items of a batch, joined one by one; what is kept of each is a number or a sentence."""

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        reward: Callable[[Mapping[str, Any], Mapping[str, Any]], float] | None = None,
        group: Callable[[Mapping[str, Any]], Hashable] | None = None,
    ) -> None:
        self._rows, self._reward, self._group = rows, reward, group
        self._rewards: dict[int, float] = {}
        self._failures: Counter[str] = Counter()
        self._errors: dict[int, str] = {}

    def add(self, item: BatchItem) -> None:
        """One item: its reward, or why it has no reward."""
        index = item.index or 0
        if not item.success or item.result is None:
            self._failed(index, item.kind, item.error or "")
            return
        try:
            given = item.result.get("rewards")
            if self._reward is not None:
                given = self._reward(self._rows[index], item.result)
            self._rewards[index] = fsum(rewards_of(given))
        except InvalidReward as error:
            self._failed(index, UNSCORED, str(error))

    def ended(self) -> Evaluation:
        """The figures of all of them."""
        groups: dict[Hashable, list[float]] = defaultdict(list)
        for index, reward in sorted(self._rewards.items()):
            key = index if self._group is None else self._group(self._rows[index])
            groups[key].append(reward)
        return Evaluation(
            dict(sorted(self._rewards.items())),
            mean_reward(list(groups.values())),
            dict(sorted(self._failures.items())),
            dict(sorted(self._errors.items())),
        )

    def _failed(self, index: int, kind: str, error: str) -> None:
        self._failures[kind] += 1
        self._errors[index] = error


def evaluate_batch(
    items: Iterable[BatchItem],
    rows: Sequence[Mapping[str, Any]],
    *,
    reward: Callable[[Mapping[str, Any], Mapping[str, Any]], float] | None = None,
    group: Callable[[Mapping[str, Any]], Hashable] | None = None,
) -> Evaluation:
    """Evaluate a batch.

    Args:
        items: of `RolloutClient.run_batch`.
        rows: that were run, in the same order.
        reward: of a row and a result; the result's own `rewards` where None. Its exceptions are
            raised, but for `InvalidReward`, which counts as unscored.
        group: what rows of one prompt have in common; each row is its own where None.
    """
    joining = Joining(rows, reward, group)
    for item in items:
        joining.add(item)
    return joining.ended()


async def evaluate_batch_async(
    items: AsyncIterable[BatchItem],
    rows: Sequence[Mapping[str, Any]],
    *,
    reward: Callable[[Mapping[str, Any], Mapping[str, Any]], float] | None = None,
    group: Callable[[Mapping[str, Any]], Hashable] | None = None,
) -> Evaluation:
    """`evaluate_batch` of `RolloutClient.run_batch_async`."""
    joining = Joining(rows, reward, group)
    async for item in items:
        joining.add(item)
    return joining.ended()
