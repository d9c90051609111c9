"""Results as they leave the command: the Lambda's own objects, or a table a person reads.

The command never imputes: a sample that could not be scored has no number and an error.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reward_functions.cli._console import NOTHING, cell, table
from reward_functions.reports.evidence import rendered
from reward_functions.scoring.results import row_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import RewardResult


UNSCORED: Final = "yellow"
"""The style of rows that have no score: neither right nor wrong."""


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


def decision_line(decision: Mapping[str, str | None]) -> str:
    """A decision of a judge in one line: what, how, why, and the words it points at."""
    line = f"{decision['criterion']}: {decision['decision']}"
    if decision["reason"]:
        line += f": {decision['reason']}"
    return f'{line} ("{decision["quotation"]}")' if decision["quotation"] else line


def number(value: float) -> str:
    """A score or metric: short where it is round."""
    return f"{value:.6g}"


def written(value: object) -> str:
    """A value of data or of a declaration as JSON writes it; a string as it is."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=rendered)
