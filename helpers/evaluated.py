"""A tuned model beside its base on held-out rows, as a notebook shows it.

evaluation              the verdict, the tables, what it cost
evaluation.picture      the difference with its interval, and that of each group
evaluation.sizes(…)     how many prompts a difference takes, from what was seen here
evaluation.written(…)   the Markdown and the page that `reward job evaluate` writes
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from helpers.shown import Showing, Shown
from reward_functions.jobs.evaluation.evaluation_record import save
from reward_functions.jobs.evaluation.page import (
    SIMULATION,
    differences_sheet,
    drawn_difference,
    drawn_groups,
    markdown,
    page,
    sheets,
)
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.sheets import Sheet
from reward_functions.reports.statistics import prompts_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord
    from reward_functions.reports.pages.charts.drawing import Chart

FLIPS: Final = 3
"""Prompts that turned which are shown, of each direction."""


@dataclass(frozen=True, repr=False)
class Evaluated(Showing):
    """An evaluation.

    Args:
        record: of `reward job evaluate`.
        notes: what it cost, in sentences.
    """

    record: EvaluationRecord
    notes: Sequence[str]

    @property
    def picture(self) -> Chart:
        """The mean difference with its interval, and beside it that of each group of prompts."""
        mark = " (SIMULATION)" if self.record.simulation else ""
        title = f"Tuned less base{mark}"
        groups = [drawn_groups(self.record)] if self.record.groups else []
        return side_by_side(title, [drawn_difference(self.record), *groups], title=title)

    @property
    def summary(self) -> Shown:
        """The verdict and the means, without the other tables."""
        return Shown([differences_sheet(self.record)], [self.record.conclusion])

    def sizes(self, *differences: float) -> Shown:
        """How many prompts show a difference four times in five, where prompts differ as here.

        Args:
            differences: as shares of the scale, above 0, at most 1.
        """
        square = self.record.power.mean_square
        rows = []
        for difference in differences:
            needed = prompts_needed(square, difference)
            rows.append(
                [f"{100 * difference:g} points", "unknown" if needed is None else f"{needed:,}"]
            )
        sheet = Sheet("How large a split", ("to show a difference of", "prompts"), rows)
        return Shown([sheet], [f"this one has {self.record.prompts:,} prompts"])

    def written(self, folder: str | Path) -> Shown:
        """Write the JSON, the Markdown and the page, `evaluation.*`, without an answer in them.

        Args:
            folder: made where it is missing.

        Raises:
            OSError: a file cannot be written.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        kept = self.record.without_texts()
        save(kept, place / "evaluation.json")
        (place / "evaluation.md").write_text(markdown(kept), encoding="utf-8")
        (place / "evaluation.html").write_text(page(kept).html(), encoding="utf-8")
        rows = [
            [str(place / name), what]
            for name, what in (
                ("evaluation.json", "every figure, for a program"),
                ("evaluation.md", "the tables, for a pull request"),
                ("evaluation.html", "one page that needs no network, for people"),
            )
        ]
        return Shown([Sheet("Written", ("file", "is"), rows, words=("file", "is"))])

    def _shown(self) -> Shown:
        record = self.record
        flips = [
            flip
            for turned in ("wrong", "right")
            for flip in [each for each in record.flips if each.turned == turned][:FLIPS]
        ]
        left_out = len(record.flips) - len(flips)
        notes = [
            record.conclusion,
            *(f"warning: {each}" for each in record.warnings),
            *([f"{left_out:,} more flips are in evaluation.record"] if left_out else []),
            *([SIMULATION] if record.simulation else []),
            *self.notes,
        ]
        return Shown(list(sheets(record.model_copy(update={"flips": tuple(flips)}))), notes)
