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
from reward_functions.judge_runtime.scores import VERDICT
from reward_functions.serving.contract import result_object
from reward_functions.tools.evidence import rendered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import Score


UNSCORED: Final = "yellow"
"""The style of rows that have no score: neither right nor wrong."""


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


def results_table(spec: RewardSpec, rows: Sequence[Mapping[str, Any]], *, explain: bool) -> Table:
    """Result objects as a table; rows that could not be scored stand out, with their error."""
    metrics = {metric_key(name): name for name in spec.metrics}
    columns = {"id": "id", "score": "score", **metrics}
    if explain:
        columns |= {"answer": "answer", "reason": "reason"}
    if any("error" in row for row in rows):
        columns["error"] = "error"
    shown = table(*columns.values(), names=("id",), numbers=("score", *spec.metrics))
    for row in rows:
        cells = _cells(spec, row)
        shown.add_row(*[cells.get(key, NOTHING) for key in columns])
    return shown


def cells_of(spec: RewardSpec, result: RewardResult, place: str = "") -> dict[str, Text]:
    """The cells of a result, by column."""
    return _cells(spec, row_object(result, place, explain=True))


def _cells(spec: RewardSpec, row: Mapping[str, Any]) -> dict[str, Text]:
    if "error" in row:
        parts = [text for text in row["error"].values() if text]
        return {
            "id": cell(row["id"], UNSCORED),
            "score": Text("unscored", UNSCORED),
            "error": cell(": ".join(parts), UNSCORED),
        }
    value = row["aggregate_reward_score"]
    style = "red" if value == spec.scale.minimum else "green"
    explained = row.get("explanation") or {}
    return {
        "id": cell(row["id"]),
        "score": Text(number(value), style),
        **{metric_key(each["name"]): Text(number(each["value"])) for each in row["metrics_list"]},
        "answer": cell(explained.get("answer")),
        "reason": cell(explained.get("reason") or None),
    }


def metric_key(name: str) -> str:
    """The key of a metric among the cells of a result: one may be called "answer"."""
    return f"metric {name}"


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


def decision_line(decision: Mapping[str, str | None]) -> str:
    """A decision of a judge in one line: what, how, why, and the words it points at."""
    line = f"{decision['criterion']}: {decision['decision']}"
    if decision["reason"]:
        line += f": {decision['reason']}"
    return f'{line} ("{decision["quotation"]}")' if decision["quotation"] else line


def _decisions(score: Score, reward: str) -> list[dict[str, str | None]]:
    """The decisions of a judge, and its reasons; none where no judge was asked."""
    if score.evidence is None or score.evidence.rule != VERDICT:
        return []
    from reward_functions.tools.score_report.criteria import decisions

    return [
        {
            "criterion": each.criterion,
            "decision": each.choice,
            "reason": each.reason or None,
            "quotation": each.quotation or None,
        }
        for each in decisions(score, reward)
    ]


def number(value: float) -> str:
    """A score or metric: short where it is round."""
    return f"{value:.6g}"


def written(value: object) -> str:
    """A value of data or of a declaration as JSON writes it; a string as it is."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=rendered)
