"""What a cell shows: tables of the library with sentences below them, as HTML and as text.

Jupyter's page has no style of ours, so that what a table needs stands in its cells. Cells come from
services and from models: each is escaped, and made to print.

Results, metrics and the catalogue as tables, in a notebook (HTML) and in a terminal (text).

The rewards of a batch by group, as a chart.

A group whose marks lie on one point has zero advantage: GRPO takes no gradient from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, Final

from reward_functions import Sample, Scored
from reward_functions.core.registry import specs
from reward_functions.reports.pages.charts.drawing import inline, printable
from reward_functions.reports.pages.charts.rows import strips
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions import RewardResult, Unscored
    from reward_functions.aws.catalogue import DeployedReward
    from reward_functions.reports.pages.charts.drawing import Chart


WRAPPED: Final = "text-align: left; max-width: 40rem"
RIGHT: Final = "text-align: right"
"""Jupyter's own style sets every cell to the right; GitHub drops styles."""

LONGEST: Final = 1_200
MOST_LINES: Final = 40
"""Characters of a line, and lines, that are shown of a cell: a prompt whole, and no book."""

DOLLAR: Final = "$"
TYPESET: Final = ("\\(", "\\[", "\\begin{")
"""What Jupyter and GitHub typeset, as they do what two dollar signs enclose; not in `<code>`."""

PLAIN: Final = "font: inherit; background: none; padding: 0"


@dataclass(frozen=True, repr=False)
class Shown:
    """Tables, and what there is to say about them.

    Args:
        sheets: in their order.
        notes: sentences below them.
    """

    sheets: Sequence[Sheet] = ()
    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        return "".join(self._html())

    def _html(self) -> Iterator[str]:
        for sheet in self.sheets:
            if sheet.title:
                yield f"<p><strong>{inline(sheet.title)}</strong></p>"
            styles = [RIGHT if head in sheet.numbers else WRAPPED for head in sheet.heads]
            heads = "".join(
                f'<th style="{style}">{inline(head)}</th>'
                for head, style in zip(sheet.heads, styles, strict=True)
            )
            yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
            for row in sheet.rows:
                cells = "".join(
                    f'<td style="{style}">{_cell(cell)}</td>'
                    for cell, style in zip(row, styles, strict=True)
                )
                yield f"<tr>{cells}</tr>"
            yield "</tbody></table>"
            if sheet.note:
                yield f"<p><small>{inline(sheet.note, LONGEST)}</small></p>"
        if self.notes:
            lines = "".join(f"<li>{inline(note, LONGEST)}</li>" for note in self.notes)
            yield f"<ul>{lines}</ul>"

    def __repr__(self) -> str:
        """The same for a terminal."""
        return "\n".join([*chain.from_iterable(map(_lines, self.sheets)), *self._sentences])

    @property
    def _sentences(self) -> list[str]:
        return [f"- {printable(note, LONGEST)}" for note in self.notes]


class Showing(ABC):
    """What a notebook shows by its tables, and has more of behind names of its own."""

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def __repr__(self) -> str:
        """The same as text."""
        return repr(self._shown())

    @abstractmethod
    def _shown(self) -> Shown:
        """The tables and the sentences."""


def _cell(text: str) -> str:
    """A cell as HTML, line by line; what would be typeset as a formula stays as it was written."""
    lines = text.splitlines()
    shown = [inline(line, LONGEST) for line in lines[:MOST_LINES]]
    html = "<br>".join([*shown, "…"] if len(lines) > MOST_LINES else shown)
    typeset = text.count(DOLLAR) > 1 or any(mark in text for mark in TYPESET)
    return f'<code style="{PLAIN}">{html}</code>' if typeset else html


def _lines(sheet: Sheet) -> Iterator[str]:
    """A table with spaces between its columns."""
    if sheet.title:
        yield sheet.title
    rows = [[printable(cell) for cell in row] for row in (sheet.heads, *sheet.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if head in sheet.numbers else cell.ljust(width)
            for head, cell, width in zip(sheet.heads, row, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()
    if sheet.note:
        yield sheet.note


def results_table(results: Iterable[RewardResult]) -> Shown:
    """One row a result: its score, the answer that was found, and the reason or the error."""
    rows = [_result(result) for result in results]
    return Shown([Sheet("", ("id", "score", "answer", "reason"), rows, words=("answer", "reason"))])


def metrics_table(results: Iterable[RewardResult]) -> Shown:
    """One row a metric: its mean over the scored samples, after the mean of the scores."""
    scores = [result.score for result in results if isinstance(result, Scored)]
    columns: dict[str, list[float]] = {"score": [score.value for score in scores]} if scores else {}
    for metric in chain.from_iterable(score.metrics for score in scores):
        columns.setdefault(metric.name, []).append(metric.value)
    rows = [
        (name, f"{fsum(values) / len(values):.4g}", str(len(values)))
        for name, values in columns.items()
    ]
    return Shown([Sheet("", ("metric", "mean", "samples"), rows)])


def catalogue_table(deployed: Iterable[DeployedReward]) -> Shown:
    """One row a deployment of a stage, as `reward_functions.aws.deployed.deployments` lists."""
    columns = ("name", "reward", "version", "response mode", "ARN")
    rows = [
        (each.name, each.reward, str(each.version), each.response_mode, each.live_arn)
        for each in deployed
    ]
    return Shown([Sheet("", columns, rows, words=columns)])


def catalogue_of_rewards() -> Shown:
    """One row a reward that is installed: what it verifies, its scale, and who decides."""
    rows = [
        (
            name,
            spec.summary,
            f"{spec.scale.minimum:g} to {spec.scale.maximum:g}",
            "a judge model" if spec.needs.judge else "a rule",
        )
        for name, spec in sorted(specs().items())
    ]
    columns = ("name", "what it verifies", "scale", "who decides")
    return Shown([Sheet("", columns, rows, words=columns)])


def _result(result: RewardResult) -> tuple[str, str, str, str]:
    if isinstance(result, Scored):
        score = result.score
        return result.id, f"{score.value:g}", score.answer or "", score.reason
    return result.id, "unscored", "", f"{type(result.error).__name__}: {result.error}"


def groups(rewards: Mapping[str, Sequence[float]]) -> Chart:
    """The rewards of each group on one line, from the lowest of all to the highest.

    Args:
        rewards: by the group's name, as `rewards_by_prompt` returns them.

    Raises:
        ValueError: there are no rewards.
    """
    if not any(rewards.values()):
        raise ValueError("a plot of groups needs at least one reward")
    return strips(f"Rewards of {len(rewards):,} groups", list(rewards.items()), x="reward")


def rewards_by_prompt(
    samples: Iterable[Sample | Unscored], results: Iterable[RewardResult]
) -> dict[str, list[float]]:
    """The rewards of the scored samples by the prompt they answer."""
    found: dict[str, list[float]] = {}
    for sample, result in zip(samples, results, strict=True):
        if isinstance(sample, Sample) and isinstance(result, Scored):
            found.setdefault(sample.prompt, []).append(result.score.value)
    return found
