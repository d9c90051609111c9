"""The result of a row, in the form it is written and counted: worked out where it is scored."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.batch import score_batch
from reward_functions.core.types import Scored
from reward_functions.reports.evidence import rendered
from reward_functions.reports.score_report.digest import RowFacts, facts_of
from reward_functions.serving.as_scored import complaint, origin
from reward_functions.serving.contract import result_object, result_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.spec import RewardFunction, RewardSpec
    from reward_functions.core.types import RewardResult, Score, Unscored
    from reward_functions.scoring.rows import Read


def exit_message(error: SystemExit) -> str:
    """The act of a reward's code that asked for the end of the command, and where."""
    return f"{origin(error) or 'a reward'}: called sys.exit({error.code!r})"


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
    if isinstance(result, Scored) and not explain:
        return RowResult(result.id, scored_line(result), facts_of(spec, row.sample, result), "")
    shown = row_object(result, row.place, explain=explain, reward=spec.name)
    message = "" if isinstance(result, Scored) else shown["error"]["message"]
    return RowResult(result.id, json.dumps(shown), facts_of(spec, row.sample, result), message)


def scored_line(scored: Scored) -> str:
    """The object of a scored row as JSON, at a fifth of the price of making and writing it."""
    score = scored.score
    metrics = [
        f'{{"name": {_quoted(each.name)}, "value": {float(each.value)!r}, "type": "{each.type}"}}'
        for each in score.metrics
    ]
    listed = ", ".join([*metrics, _flags()])
    return (
        f'{{"id": {_encoded(scored.id)}, "aggregate_reward_score": {float(score.value)!r}, '
        f'"metrics_list": [{listed}]}}'
    )


def result_line(result: RewardResult, place: str = "") -> str:
    """A result as a line of `reward score`'s output, without its end: ASCII, the same bytes.

    Args:
        result: of a row.
        place: where the row stands in its file, "input line 3"; part of an error.
    """
    return (
        scored_line(result) if isinstance(result, Scored) else json.dumps(row_object(result, place))
    )


_encoded: Final = json.JSONEncoder().encode

_quoted: Final = lru_cache(_encoded)
"""A name as JSON; every row has the same."""


@cache
def _flags() -> str:
    """The flags of a scored sample as JSON, which stand behind its metrics."""
    flags = result_row("", 0.0, ()).get("metrics_list", [])
    return json.dumps(flags)[1:-1]


def row_object(
    result: RewardResult, place: str = "", *, explain: bool = False, reward: str = ""
) -> dict[str, Any]:
    """A result as JSON has it: the Lambda's own object for what was scored.

    Args:
        result: of a row.
        place: where the row stands in its file; part of an error.
        explain: add an "explanation", null where nothing was scored.
        reward: the name of the reward, for an explanation.
    """
    if isinstance(result, Scored):
        row: dict[str, Any] = dict(result_object(result))
    else:
        error = error_of(result, place)
        row = {"id": result.id, "aggregate_reward_score": None, "error": error}
    return row | {"explanation": explanation(result, reward)} if explain else row


def error_of(result: Unscored, place: str = "") -> dict[str, str]:
    """Why a row has no score, where it stands in its file, and what line of a reward failed."""
    message = ": ".join([part for part in (place, complaint(result.error)) if part])
    return {"type": type(result.error).__name__, "message": message}


def explanation(result: RewardResult, reward: str = "") -> dict[str, Any] | None:
    """Why a score is what it is, as JSON says it; None where nothing was scored.

    The normal answer of a judge is the list of its decisions.

    Args:
        result: of a sample.
        reward: its name, by which a judge's decisions are named.
    """
    if not isinstance(result, Scored):
        return None
    score, evidence = result.score, result.score.evidence
    decided = _decisions(score, reward)
    return {
        "answer": score.answer,
        "reason": score.reason,
        "outcome": evidence.outcome.value if evidence and evidence.outcome else None,
        "rule": evidence.rule if evidence else None,
        "normal_answer": decided or rendered(evidence and evidence.answer),
        "normal_reference": rendered(evidence and evidence.reference),
    }


def _decisions(score: Score, reward: str) -> list[dict[str, str | None]]:
    """The decisions of a judge, and its reasons; none where no judge was asked."""
    from reward_functions.judge_runtime.scores import VERDICT  # noqa: PLC0415 - to explain alone

    if score.evidence is None or score.evidence.rule != VERDICT:
        return []
    from reward_functions.reports.score_report.criteria import (  # noqa: PLC0415 - for judges alone
        decisions,
    )

    return [
        {
            "criterion": each.criterion,
            "decision": each.choice,
            "reason": each.reason or None,
            "quotation": each.quotation or None,
        }
        for each in decisions(score, reward)
    ]
