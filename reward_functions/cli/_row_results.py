"""What comes of a row, in the form it is written and counted: worked out where it is scored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from reward_functions.cli._results import row_object
from reward_functions.core.batch import score_batch
from reward_functions.core.types import Scored
from reward_functions.tools.score_report.row_facts import RowFacts, facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.cli._rows import Read
    from reward_functions.core.spec import RewardFunction, RewardSpec
    from reward_functions.core.types import RewardResult


class RowResult(NamedTuple):
    """The result of a row.

    Args:
        id: the row's.
        line: its result object as JSON, in ASCII.
        facts: for the digest.
        message: of its error, with its place; "" for a scored row.
    """

    id: str
    line: str
    facts: RowFacts
    message: str


def scored_rows(
    spec: RewardSpec, reward: RewardFunction, rows: Sequence[Read], *, explain: bool
) -> list[RowResult]:
    """Score rows one after another; each has a result, as `score_batch` promises."""
    results = score_batch(reward, [row.sample for row in rows], workers=1)
    return row_results(spec, rows, results, explain=explain)


def row_results(
    spec: RewardSpec, rows: Sequence[Read], results: Sequence[RewardResult], *, explain: bool
) -> list[RowResult]:
    """The results of rows in the form they are written and counted."""
    return [
        _row_result(spec, row, result, explain=explain)
        for row, result in zip(rows, results, strict=True)
    ]


def _row_result(spec: RewardSpec, row: Read, result: RewardResult, *, explain: bool) -> RowResult:
    shown = row_object(result, row.place, explain=explain, reward=spec.name)
    message = "" if isinstance(result, Scored) else shown["error"]["message"]
    return RowResult(result.id, json.dumps(shown), facts_of(spec, row.sample, result), message)
