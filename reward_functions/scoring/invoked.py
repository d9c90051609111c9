"""A version of a function scores the rows of a shard, batch by batch.

    scorer = Invoked(spec, lambda event: DeployedFunction(arn).invoke(event).body)

A batch that fails as a whole is halved until the row that breaks it stands alone. That row is
unscored, and the others are scored: one such row of 500 takes 18 further calls. Rows that a reply
has no time for are asked again as a batch of their own. Rows that a reward compares are always
asked for together: what breaks on one of them leaves its group without scores.
"""

from __future__ import annotations

import json
from collections import deque
from time import sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.deployed.function import FLAGS, FunctionError, flagged, read
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import DatasetError, DeadlineReached, RewardError, ScoringError
from reward_functions.core.types import Evidence, Metric, Sample, Score, Scored, Unscored
from reward_functions.scoring.results import row_results
from reward_functions.serving.as_scored import ASKED
from reward_functions.serving.self_test import KEY
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import RewardResult
    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rows import Unread

BATCH_ROWS: Final = 500
"""Rows of a batch, at most."""

BATCH_BYTES: Final = 5 << 20
"""Bytes of a batch; a synchronous invocation takes 6 MB."""

TOO_LARGE: Final = FunctionError.request_too_large(0).error_type

REFUSED: Final = frozenset({"InvalidRequestContentException", "InternalError"})
"""Of a request that is not taken for what stands in a row, such as half of a surrogate pair."""

FAILED: Final = 8
"""Rows or groups of a batch that fail alone while none is scored; the rest of it is not tried."""

WAITS: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 60.0, 60.0)
"""Seconds between the attempts of a call that is throttled, or that nobody answers."""

LATE: Final = frozenset({"DeadlineReached", "AlgebraOutOfTime"})
"""Errors of rows that had no turn in the time of a reply; one that blocked it is none of them."""

_BASES: Final = {"data": DatasetError, "reward": RewardError}


class VersionFailed(ScoringError):
    """The version of the function fails on this row alone."""


class NotScored(ScoringError):
    """The version of the function returned no score for the row, and does not say why."""


class NotReadable(DatasetError):
    """The version of the function cannot use the row, or its reference."""


class Invoked:
    """A version of a function.

    Args:
        spec: of the reward that it serves.
        invoke: sends an event, and returns the bytes of the answer. Raises `FunctionError` where
            the function failed, and `AwsFailed` where it was not asked; what is throttled is tried
            again.
        ours: whether it is a function of this project, which may say why a row has no score.
        sleep: waits between attempts.
    """

    def __init__(
        self,
        spec: RewardSpec,
        invoke: Callable[[Any], bytes],
        *,
        ours: bool = True,
        sleep: Callable[[float], object] = sleep,
    ) -> None:
        self.calls = 0
        self._spec = spec
        self._invoke = invoke
        self._ours = ours
        self._sleep = sleep

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """As `Scorer` says."""
        read_rows = [row.read() for row in rows]
        results: dict[int, RewardResult] = {
            at: row.sample for at, row in enumerate(read_rows) if isinstance(row.sample, Unscored)
        }
        samples = {
            at: row.sample for at, row in enumerate(read_rows) if isinstance(row.sample, Sample)
        }
        results |= self._scored(samples)
        ordered = [results[at] for at in range(len(rows))]
        return row_results(self._spec, read_rows, ordered, explain=False)

    def _scored(self, samples: dict[int, Sample]) -> dict[int, RewardResult]:
        """The results of samples, by their positions in the batch.

        What is halved are the units of a batch: rows, or the groups that the reward compares.
        """
        results: dict[int, RewardResult] = {}
        alone = answered = 0
        left = deque([self._units(samples)] if samples else [])
        while left:
            batch = left.popleft()
            rows = [at for unit in batch for at in unit]
            if alone >= FAILED and not answered:
                why = VersionFailed(f"the version failed on {FAILED} rows of its batch, one by one")
                results |= {at: Unscored(samples[at].id, why) for at in rows}
                continue
            if len(rows) > BATCH_ROWS and len(batch) > 1:
                left.extendleft(reversed(_halves(batch)))
                continue
            try:
                found = dict(zip(rows, self._answered([samples[at] for at in rows]), strict=True))
            except (FunctionError, AwsFailed) as error:
                if isinstance(error, AwsFailed) and error.code not in REFUSED:
                    raise
                if len(batch) == 1:
                    alone += 1
                    results |= {at: Unscored(samples[at].id, _failure(error)) for at in rows}
                else:
                    left.extendleft(reversed(_halves(batch)))
                continue
            late = [unit for unit in batch if any(_is_late(found[at]) for at in unit)]
            if len(late) == len(batch) > 1:
                left.extendleft(reversed(_halves(batch)))
                continue
            answered += 1
            if late and len(batch) > 1:
                left.appendleft(late)
                found = {at: found[at] for unit in batch if unit not in late for at in unit}
            results |= found
        return results

    def _units(self, samples: dict[int, Sample]) -> list[list[int]]:
        """The positions that are asked for together: those of a group, of a reward of groups."""
        if not self._spec.needs.group:
            return [[at] for at in samples]
        found: dict[Any, list[int]] = {}
        for at, sample in samples.items():
            found.setdefault(sample.context or at, []).append(at)
        return list(found.values())

    def _answered(self, samples: Sequence[Sample]) -> list[RewardResult]:
        """What the version says of each sample.

        Raises:
            FunctionError: it failed, or its answer is not one result for each.
            AwsFailed: it was not asked.
        """
        rows: Any = [wire_row(sample) for sample in samples]
        event = {KEY: ASKED, "body": rows} if self._ours else rows
        body = self._called(json.dumps(event).encode())
        ids = [sample.id for sample in samples]
        try:
            items = json.loads(body)
        except (ValueError, RecursionError):
            items = None
        if _as_scored(items):
            return [_result(item, at) for item, at in zip(_matched(items, ids), ids, strict=True)]
        found = read(body, ids)
        if found.breaches or found.mode is None:
            raise FunctionError("BrokenContract", found.breaches[0].message)
        return [_plain(item) for item in _matched(list(found.items), ids)]

    def _called(self, event: bytes) -> bytes:
        """One answer; what AWS does not take is sent again."""
        for wait in (*WAITS, None):
            self.calls += 1
            try:
                return self._invoke(event)
            except AwsFailed as error:
                if wait is None or not error.passes:
                    raise
                self._sleep(wait)
        raise AssertionError


def _halves(batch: list[list[int]]) -> list[list[list[int]]]:
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]


def _is_late(result: RewardResult) -> bool:
    return isinstance(result, Unscored) and type(result.error).__name__ in LATE


def _failure(error: FunctionError | AwsFailed) -> VersionFailed:
    """The kind alone: a message of Lambda names the request, and no two are the same."""
    if isinstance(error, AwsFailed):
        return VersionFailed(f"Lambda does not take it as a request: {error.code}")
    if error.error_type == TOO_LARGE:
        return VersionFailed("it is over 6 MB as a request, and Lambda takes no more")
    return VersionFailed(f"the version fails on it: {error.error_type}")


def _as_scored(items: Any) -> bool:
    return isinstance(items, list) and all(
        isinstance(each, dict) and ("reason" in each or "error" in each) for each in items
    )


def _matched(items: list[Any], ids: Sequence[str]) -> list[dict[str, Any]]:
    """The results in the order of the samples, which they are in.

    Raises:
        FunctionError: they are of other ids.
    """
    if [each.get("id") for each in items] != list(ids):
        raise FunctionError("BrokenContract", "the results are of other ids than the samples")
    return items


def _result(item: dict[str, Any], name: str) -> RewardResult:
    """A result as it was scored.

    Raises:
        FunctionError: it is none.
    """
    try:
        if (error := item.get("error")) is None:
            rule = item.get("rule")
            return _scored(item, item["reason"], Evidence(rule) if rule is not None else None)
        kind = type(
            error["type"] if str(error["type"]).isidentifier() else "VersionFailed",
            (_BASES.get(error["of"], Exception),),
            {"kind": str(error["kind"])},
        )
        return Unscored(name, kind(str(error["message"])))
    except (KeyError, TypeError, ValueError) as error:
        raise FunctionError("BrokenContract", f"it is no result: {error!r}") from None


def _scored(item: dict[str, Any], reason: str, evidence: Evidence | None) -> Scored:
    own = [each for each in item["metrics_list"] or () if each["name"] not in FLAGS]
    metrics = tuple(Metric(each["name"], float(each["value"]), each["type"]) for each in own)
    value = float(item["aggregate_reward_score"])
    return Scored(item["id"], Score(value, metrics, reason=reason, evidence=evidence))


def _plain(item: dict[str, Any]) -> RewardResult:
    """A result as a trainer gets it; the number of one that is flagged is no score."""
    raised = flagged(item)
    if "out_of_time" in raised:
        return Unscored(item["id"], DeadlineReached("the version had no time for it"))
    if "bad_reference" in raised:
        return Unscored(item["id"], NotReadable("the row or its reference cannot be used"))
    if raised:
        return Unscored(item["id"], NotScored("the version could not score it"))
    return _scored({"metrics_list": (), **item}, "", None)
