"""The rows of the demo, and the table of their results: the same scored here and where deployed."""

from __future__ import annotations

from collections import Counter
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from reward_functions import RewardResult, RewardSpec, Scored, get
from reward_functions.cli._console import NOTHING, cell, output, table
from reward_functions.cli._results import cells_of
from reward_functions.data.json_rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence


def shipped(name: str) -> list[dict[str, Any]]:
    """The rows that ship with the project for a reward."""
    with as_file(files("reward_functions.data") / "demo" / f"{name}.jsonl") as file:
        return [row.content for row in read_rows(str(file))]


def shown(
    name: str,
    rows: Sequence[dict[str, Any]],
    results: Sequence[RewardResult],
    columns: Sequence[str],
    title: str,
) -> Counter[str]:
    """Print the table of one file's results; count what came out.

    Args:
        name: of the reward.
        rows: what was scored; each says in its metadata what must come out.
        results: one for each.
        columns: of the table.
        title: above it.
    """
    spec = get(name)
    printed = table(*columns, names=("id",), numbers=("score",), title=title)
    seen = Counter[str]()
    for row, result in zip(rows, results, strict=True):
        shows, expected = row["metadata"]["shows"], row["metadata"]["expected"]
        outcome, surprising = _outcome(spec, result, expected)
        seen.update([outcome] + ["surprising"] * surprising)
        cells = cells_of(spec, result)
        cells.setdefault("reason", cells.get("error", NOTHING))
        cells["what it shows"] = (
            cell(f"{shows} (expected: {expected})", "bold red") if surprising else cell(shows)
        )
        printed.add_row(*[cells.get(column, NOTHING) for column in columns])
    output().print(printed)
    return seen


def _outcome(spec: RewardSpec, result: RewardResult, expected: Any) -> tuple[str, bool]:
    """What a row counts as, and whether that is a surprise."""
    if not isinstance(result, Scored):
        return "unscored", expected != "unscored"
    outcome = "minimum" if result.score.value == spec.scale.minimum else "right"
    return outcome, result.score.value != expected
