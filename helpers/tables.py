"""Results, metrics and the catalogue as tables, in a notebook (HTML) and in a terminal (text).

A model wrote the cells: each is escaped in HTML, and characters that do not print are shown by
their escapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, Final

from reward_functions import Scored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions import RewardResult
    from reward_functions.serving.catalogue import DeployedReward

LONGEST: Final = 200
"""Characters of a cell; the rest of a response is left out."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of strings; a notebook shows it as HTML.

    Args:
        columns: their names.
        rows: a string for each column.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(visible(cell))}</td>' for cell in row)}</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        """The same with spaces between the columns."""
        lines = [list(self.columns), *([visible(cell) for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def visible(text: str) -> str:
    """One line of at most `LONGEST` characters, all of which print."""
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in text[:LONGEST]
    )
    return f"{shown[:LONGEST]}…" if max(len(text), len(shown)) > LONGEST else shown


def results_table(results: Iterable[RewardResult]) -> Table:
    """One row a result: its score, the answer that was found, and the reason or the error."""
    return Table(("id", "score", "answer", "reason"), [_result(result) for result in results])


def metrics_table(results: Iterable[RewardResult]) -> Table:
    """One row a metric: its mean over the scored samples, after the mean of the scores."""
    scores = [result.score for result in results if isinstance(result, Scored)]
    columns: dict[str, list[float]] = {"score": [score.value for score in scores]} if scores else {}
    for metric in chain.from_iterable(score.metrics for score in scores):
        columns.setdefault(metric.name, []).append(metric.value)
    rows = [
        (name, f"{fsum(values) / len(values):.4g}", str(len(values)))
        for name, values in columns.items()
    ]
    return Table(("metric", "mean", "samples"), rows)


def catalogue_table(deployed: Iterable[DeployedReward]) -> Table:
    """One row a deployment of a stage, as `reward_functions.tools.deployed.deployments` lists."""
    columns = ("name", "reward", "version", "response mode", "ARN")
    rows = [
        (each.name, each.reward, str(each.version), each.response_mode, each.live_arn)
        for each in deployed
    ]
    return Table(columns, rows)


def _result(result: RewardResult) -> tuple[str, str, str, str]:
    if isinstance(result, Scored):
        score = result.score
        return result.id, f"{score.value:g}", score.answer or "", score.reason
    return result.id, "unscored", "", f"{type(result.error).__name__}: {result.error}"
