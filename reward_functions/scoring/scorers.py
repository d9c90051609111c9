"""The scorers of a shard's rows: a reward in this process, or a version of a function.

scorer = scorer_of(run)
for batch in batches(rows, BATCH_ROWS, groups=None):
results = scorer(batch)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Sample
from reward_functions.scoring.invoked import BATCH_BYTES, Invoked
from reward_functions.scoring.results import row_results
from reward_functions.scoring.rewards import ready

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reward_functions.core.spec import RewardFunction, RewardSpec
    from reward_functions.judge_runtime.verdict_store import VerdictStore
    from reward_functions.scoring.asked import Groups
    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rows import Unread


Scorer = Callable[[Sequence["Unread"]], list["RowResult"]]
"""Scores a batch of rows: a result a row, in order, with the row's id.

A batch has `BATCH_ROWS` rows and `BATCH_BYTES` bytes at most, or is one row; of a reward that
compares the rows of a group it may have all rows of an object. A row that cannot be scored has a
result that says why: no exception is about what stands in a row. It is called from many threads,
and raises `AwsFailed` where a function is gone, may not be asked, or is throttled for too long.
"""


def here(spec: RewardSpec, reward: RewardFunction) -> Scorer:
    """A reward in this process, with its parameters."""

    def scored(rows: Sequence[Unread]) -> list[RowResult]:
        found = [row.read() for row in rows]
        results = score_batch(reward, [row.sample for row in found])
        return row_results(spec, found, results, explain=False)

    return scored


def scorer_of(run: Run, store: VerdictStore | None = None) -> Scorer:
    """The scorer of a run: the version of a function that it pins, or the reward in this process.

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
    return here(spec, ready(spec, asked.parameters, judge, store=store))


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
