"""The page of `reward score --report`, and its parts as a cell shows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.shown import Showing, Shown
from reward_functions import Scored, score_batch
from reward_functions.judge_runtime.prompting import RESERVED
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.score_report import tables
from reward_functions.reports.score_report.batch import Batch
from reward_functions.reports.score_report.criteria import criteria, decisions
from reward_functions.reports.score_report.labels import labels_of
from reward_functions.reports.score_report.page import score_page
from reward_functions.reports.score_report.reasons import tallied
from reward_functions.reports.score_report.subject import Subject
from reward_functions.reports.score_report.truncation import truncated
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions import RewardResult, Sample, Unscored
    from reward_functions.core.spec import RewardFunction
    from reward_functions.reports.pages.charts.drawing import Chart


@dataclass(frozen=True, repr=False)
class ScoreReport(Showing):
    """A scored batch, and the page about it.

    Args:
        subject: what scored it.
        batch: the samples with their results.
        path: of the page.
    """

    subject: Subject
    batch: Batch
    path: Path

    @property
    def charts(self) -> Chart:
        """The rewards, and the most frequent reasons at the minimum."""
        drawn: list[Chart | None] = []
        if self.batch.scored:
            reasons = tallied(self.batch, self.subject.spec.name)
            drawn = [tables.rewards_chart(self.batch), tables.reasons_chart(reasons)]
        title = f"Rewards of {self.subject.spec.name}" + ("" if drawn else ": none was scored")
        return side_by_side(title, [each for each in drawn if each], title=title)

    @property
    def criteria(self) -> Shown:
        """What a judge decided, criterion by criterion."""
        found = criteria(self.batch, self.subject.spec.name, self.subject.parameters)
        judge = self.subject.judge
        several = judge is not None and len(judge.config.models) > 1
        return Shown([tables.criteria_table(self.batch, found, several=several)])

    def decided(self, *rows: int) -> Shown:
        """A judge's evidence for some rows: response, decisions, quotations, reward.

        Of the fields that every verdict has, `addressed_to_judge` alone is shown, where it is yes.

        Args:
            rows: their positions, from 0.
        """
        shown = []
        for at in rows:
            result = self.batch.results[at]
            if not isinstance(result, Scored):
                continue
            first = [self.batch.sample(at).response, f"{result.score.value:.4g}"]
            for each in decisions(result.score, self.subject.spec.name):
                if each.criterion in RESERVED and each.choice != "yes":
                    continue
                shown.append([*first, each.criterion, each.choice, each.quotation, each.reason])
                first = ["", ""]
        heads = ("response", "reward", "criterion", "decision", "quotation", "the judge's reason")
        words = ("criterion", "decision", "quotation", "the judge's reason")
        return Shown([Sheet("Evidence by criterion", heads, shown, words=words)])

    def _shown(self) -> Shown:
        size = self.path.stat().st_size / 1_000
        note = f"the whole report is a page of {size:.0f} KB: {self.path}"
        cut = {at for rows in truncated(self.batch).values() for at in rows}
        return Shown([tables.summary(self.batch, cut)], [note])


def score_report(
    reward: RewardFunction,
    samples: Sequence[Sample | Unscored],
    path: str | Path,
    *,
    label: str = "",
) -> ScoreReport:
    """Score samples, and write the page about them: `reward score --report`.

    Args:
        reward: a spec, one with parameters bound, or a batch's judge.
        samples: in order.
        path: of the page, which ends in .html.
        label: the field of the rows that holds labels to compare with; "" for none.

    Raises:
        ConfigurationError: no row has the label.
        OSError: the page cannot be written.
    """
    results: list[RewardResult] = score_batch(reward, samples)
    subject = Subject.of(reward)
    labels = labels_of(samples, label, subject.spec.scale) if label else None
    page = score_page(reward, samples, results, labels=labels)
    Path(path).write_text(page.html(), encoding="utf-8")
    return ScoreReport(subject, Batch.of(samples, results, subject.spec.scale), Path(path))
