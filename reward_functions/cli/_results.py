"""Results as they leave the command: the Lambda's own objects, or a table a person reads.

The command never imputes: a sample that could not be scored has no number and an error.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reward_functions.cli._console import NOTHING, cell, table
from reward_functions.cli._origin import complaint
from reward_functions.core.types import RewardResult, Scored, Unscored
from reward_functions.serving.contract import result_object
from reward_functions.tools.evidence import rendered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.table import Table

    from reward_functions.core.spec import RewardSpec


UNSCORED: Final = "yellow"
"""The style of rows that have no score: neither right nor wrong."""


def json_lines(
    results: Iterable[RewardResult], places: Iterable[str], *, explain: bool
) -> Iterator[str]:
    """One result object a line, in ASCII: the Lambda's own for what was scored.

    Args:
        results: in order.
        places: where each row stands in its file; part of an error.
        explain: add an "explanation" to every object, null where nothing was scored.
    """
    for result, place in zip(results, places, strict=True):
        row = _row(result, place)
        yield json.dumps(row | {"explanation": explanation(result)} if explain else row)


def results_table(
    spec: RewardSpec, results: Sequence[RewardResult], places: Sequence[str], *, explain: bool
) -> Table:
    """The results as a table; rows that could not be scored stand out, with their error."""
    metrics = {metric_key(name): name for name in spec.metrics}
    columns = {"id": "id", "score": "score", **metrics}
    if explain:
        columns |= {"answer": "answer", "reason": "reason"}
    if not all(isinstance(result, Scored) for result in results):
        columns["error"] = "error"
    shown = table(*columns.values(), names=("id",), numbers=("score", *spec.metrics))
    for result, place in zip(results, places, strict=True):
        cells = cells_of(spec, result, place)
        shown.add_row(*[cells.get(key, NOTHING) for key in columns])
    return shown


def cells_of(spec: RewardSpec, result: RewardResult, place: str = "") -> dict[str, Text]:
    """The cells of a result, by column."""
    if not isinstance(result, Scored):
        parts = [text for text in error_of(result, place).values() if text]
        return {
            "id": cell(result.id, UNSCORED),
            "score": Text("unscored", UNSCORED),
            "error": cell(": ".join(parts), UNSCORED),
        }
    score = result.score
    style = "red" if score.value == spec.scale.minimum else "green"
    return {
        "id": cell(result.id),
        "score": Text(number(score.value), style),
        **{metric_key(metric.name): Text(number(metric.value)) for metric in score.metrics},
        "answer": cell(score.answer),
        "reason": cell(score.reason or None),
    }


def metric_key(name: str) -> str:
    """The key of a metric among the cells of a result: one may be called "answer"."""
    return f"metric {name}"


def error_of(result: Unscored, place: str = "") -> dict[str, str]:
    """Why a row has no score, where it stands in its file, and what line of a reward failed."""
    message = ": ".join([part for part in (place, complaint(result.error)) if part])
    return {"type": type(result.error).__name__, "message": message}


def explanation(result: RewardResult) -> dict[str, str | None] | None:
    """Why a score is what it is, as JSON says it; None where nothing was scored."""
    if not isinstance(result, Scored):
        return None
    score, evidence = result.score, result.score.evidence
    return {
        "answer": score.answer,
        "reason": score.reason,
        "outcome": evidence.outcome.value if evidence and evidence.outcome else None,
        "rule": evidence.rule if evidence else None,
        "normal_answer": rendered(evidence and evidence.answer),
        "normal_reference": rendered(evidence and evidence.reference),
    }


def number(value: float) -> str:
    """A score or metric: short where it is round."""
    return f"{value:.6g}"


def _row(result: RewardResult, place: str) -> dict[str, Any]:
    if isinstance(result, Scored):
        return dict(result_object(result))
    return {"id": result.id, "aggregate_reward_score": None, "error": error_of(result, place)}
