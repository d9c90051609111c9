"""Who scores the rows of a shard: a reward in this process, or a version of a function.

scorer = scorer_of(run)
for batch in batches(rows, BATCH_ROWS, groups=None):
results = scorer(batch)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Sample
from reward_functions.scoring.invoked import BATCH_BYTES, Invoked
from reward_functions.scoring.results import row_results
from reward_functions.scoring.rewards import ready

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reward_functions.core.spec import RewardFunction, RewardSpec
    from reward_functions.judge_runtime.verdict_store import VerdictStore
    from reward_functions.scoring.asked import Groups
    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rows import Unread


class Scorer(Protocol):
    """Scores batches of rows. Safe to use from many threads."""

    calls: int
    """Invocations so far."""

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """The results of a batch: one a row, in order, with the row's id.

        A row that cannot be scored has a result that says why. Whatever stands in a row, no
        exception is about it.

        Args:
            rows: `BATCH_ROWS` at most, of `BATCH_BYTES` at most unless it is one row; all rows of
                an object, of a reward that compares those of a group.

        Raises:
            AwsFailed: the function is gone, may not be invoked, or is throttled for too long.
            ConfigurationError: the reward's code asked for the end of the process.
        """


class Here:
    """A reward in this process.

    Args:
        spec: the reward.
        reward: with its parameters.
    """

    def __init__(self, spec: RewardSpec, reward: RewardFunction) -> None:
        self.calls = 0
        self._spec = spec
        self._reward = reward

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """As `Scorer` says."""
        found = [row.read() for row in rows]
        results = score_batch(self._reward, [row.sample for row in found])
        return row_results(self._spec, found, results, explain=False)


def scorer_of(run: Run, store: VerdictStore | None = None) -> Scorer:
    """Who scores a run: the version of a function that it pins, or the reward in this process.

    Args:
        run: the run.
        store: verdicts of a judge in this process that are kept on this machine.

    Raises:
        ConfigurationError: the reward is not here, or another version of it is.
    """
    asked = run.asked
    spec = asked.spec
    if asked.function:
        function = DeployedFunction(asked.function, session=run.session, attempts=1)
        return Invoked(spec, lambda event: function.invoke(event).body, ours=bool(asked.digest))
    if spec.version != asked.version:
        raise ConfigurationError(
            f"the run is of version {asked.version} of {spec.name}, and version {spec.version} is "
            "here: install the release that began it, or start a new run"
        )
    judge = None if asked.judge is None else json.dumps(asked.judge)
    return Here(spec, ready(spec, asked.parameters, judge, store=store))


def batches(rows: Iterable[Unread], most: int, *, groups: Groups) -> Iterator[list[Unread]]:
    """Rows in batches of so many, which do not cut what the reward compares."""
    batch: list[Unread] = []
    size = 0
    for row in rows:
        full = len(batch) >= most or size + row.size > BATCH_BYTES
        ends = full and (groups != "adjacent" or _differ(batch[-1], row))
        if batch and ends and groups != "anywhere":
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row.size
    if batch:
        yield batch


def _differ(one: Unread, other: Unread) -> bool:
    samples = [row.read().sample for row in (one, other)]
    contexts = [each.context if isinstance(each, Sample) else None for each in samples]
    return contexts[0] != contexts[1]
