"""What a reward says of responses, one line each: the answer found, the score, the reason.

What a policy earns that gives one answer to everything: the cheapest way to game a reward.

Rewards that can be exploited, on purpose, for a notebook to catch: no examples to follow.

Their mistakes are often made. Both pay right answers and refuse most wrong ones, so that nothing
seems wrong until one asks what gaming earns.

    number_anywhere    the right number may stand anywhere    a list of guesses
    roughly_right      it may be some hundredths off          one small number for everything

The page of `reward score --report`, and its parts as a cell shows them.

How `math` compares: the rule behind each verdict, and what answer and reference were read as.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from helpers.sample_data import bound_by_script
from helpers.shown import Showing, Shown
from reward_functions import Example, Sample, Score, Scored, get, reward_function, score_batch
from reward_functions.core.references import reference_fields, reference_text
from reward_functions.judge_runtime.prompting import RESERVED
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.score_report import tables
from reward_functions.reports.score_report.criteria import criteria, decisions
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.labels import labels_of
from reward_functions.reports.score_report.page import CalledReward, score_page
from reward_functions.reports.score_report.reasons import tallied, truncated
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helpers.training_rows import TrainingRows
    from reward_functions import RewardResult, RewardSpec, Unscored
    from reward_functions.core.spec import RewardFunction
    from reward_functions.reports.pages.charts.drawing import Chart


HEADS = ("response", "reference", "answer found", "score", "reason")


def read_by(
    reward: str,
    cases: Sequence[tuple[str, Any]],
    *,
    prompt: str = "",
    parameters: Mapping[str, object] | None = None,
) -> Shown:
    """Score responses, and show how each was read. A script answers what a judge asks.

    Args:
        reward: its name.
        cases: (response, reference) each.
        prompt: that all of them answer.
        parameters: of the reward.

    Raises:
        UnknownReward: no reward has this name.
        BadParameter: it has no such parameter, or not of this type.
    """
    rows = [
        {
            "id": str(at),
            "messages": [
                {"role": "user", "content": prompt or "?"},
                {"role": "assistant", "content": response},
            ],
            "reference_answer": reference,
        }
        for at, (response, reference) in enumerate(cases)
    ]
    samples = [decode_row(row, at) for at, row in enumerate(rows)]
    results = score_batch(bound_by_script(get(reward), parameters), samples)
    shown = []
    for (response, reference), result in zip(cases, results, strict=True):
        asked = [response, "" if reference is None else str(reference)]
        if isinstance(result, Scored):
            score = result.score
            shown.append([*asked, score.answer or "", f"{score.value:g}", score.reason])
        else:
            shown.append([*asked, "", "unscored", f"{type(result.error).__name__}: {result.error}"])
    words = tuple(head for head in HEADS if head != "score")
    return Shown([Sheet("", HEADS, shown, words=words)])


def constants_earn(
    rewards: Sequence[RewardSpec], rows: TrainingRows, responses: Sequence[str]
) -> Shown:
    """The mean reward of each response, given to every row.

    Args:
        rewards: to compare, none of them a judge.
        rows: their prompts and references.
        responses: each written whole, with the marker that the prompt asks for.
    """
    decoded = [decode_row(row, at) for at, row in enumerate(rows.rows)]
    samples = [each for each in decoded if isinstance(each, Sample)]
    lines = [
        [response, *(f"{_mean(reward, samples, response):.3f}" for reward in rewards)]
        for response in responses
    ]
    heads = ("to every question", *(reward.name for reward in rewards))
    return Shown([Sheet(f"The mean over {len(samples):,} rows", heads, lines)])


def _mean(reward: RewardSpec, samples: Sequence[Sample], response: str) -> float:
    given = [sample.answered(response) for sample in samples]
    scores = [
        one.score.value for one in score_batch(reward.bind({}), given) if isinstance(one, Scored)
    ]
    return fsum(scores) / len(scores) if scores else 0.0


NUMBER: Final = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?")

NEAR: Final = Fraction(9, 100)
"""How far off `roughly_right` lets a number be, whatever its size: nine points of a percentage."""


@reward_function(
    version=1,
    gold_response=lambda sample: f"#### {reference_text(sample.reference)}",
    examples=[
        Example("positive", response="#### 42", reference="42", score=1.0),
        Example("negative", response="#### 41", reference="42", score=0.0),
    ],
)
def number_anywhere(sample: Sample) -> Score:
    """The right number stands somewhere. Reference: a number. Scale: 0 to 1. Raises: BadReference.

    Args:
        sample: the response and its reference.
    """
    wanted = Fraction(reference_text(sample.reference).replace(",", ""))
    numbers = map(Fraction, NUMBER.findall(sample.response))
    if wanted in numbers:
        return Score(1.0, reason="the number is in it")
    return Score(0.0, reason="the number is nowhere in it")


@reward_function(
    version=1,
    gold_response=lambda sample: f"ANSWER: {_executed(sample.reference)}",
    examples=[
        Example("positive", response="ANSWER: 0.13", reference="0.125", score=1.0),
        Example("negative", response="ANSWER: 0.5", reference="0.125", score=0.0),
    ],
)
def roughly_right(sample: Sample) -> Score:
    """The last number is near the executed answer. Reference: FinQA's, or it. Scale: 0 to 1.

    Args:
        sample: the response and its reference.

    Raises:
        BadReference: there is no reference.
    """
    numbers, wanted = (
        NUMBER.findall(text) for text in (sample.response, _executed(sample.reference))
    )
    if numbers and wanted and abs(Fraction(numbers[-1]) - Fraction(wanted[-1])) <= NEAR:
        return Score(1.0, reason="the number is near")
    return Score(0.0, reason="no number is near")


def _executed(reference: Any) -> str:
    """What the program computed, its unit lost: a percentage is a fraction."""
    fields = reference_fields(reference) or {}
    if fields.get("unit") == "percent":
        return f"{float(fields['value']) / 100:.5f}"
    return reference_text(reference)


@dataclass(frozen=True, repr=False)
class ScoreReport(Showing):
    """A scored batch, and the page about it.

    Args:
        subject: what scored it.
        batch: the samples with their results.
        path: of the page.
    """

    subject: CalledReward
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
    subject = CalledReward.of(reward)
    labels = labels_of(samples, label, subject.spec.scale) if label else None
    page = score_page(reward, samples, results, labels=labels)
    Path(path).write_text(page.html(), encoding="utf-8")
    return ScoreReport(subject, Batch.of(samples, results, subject.spec.scale), Path(path))


COMPARED: Final = ("response", "reference", "score", "rule", "answer read as", "reference read as")


def verdicts(
    reward: str,
    cases: Sequence[tuple[str, Any]],
    *,
    parameters: Mapping[str, object] | None = None,
) -> Shown:
    """Score responses, and show which rule decided; of a response without an answer, why.

    Args:
        reward: its name.
        cases: (response, reference) each.
        parameters: of the reward; they stand above the table.

    Raises:
        UnknownReward: no reward has this name.
        BadParameter: it has no such parameter, or not of this type.
    """
    given = parameters or {}
    samples = [
        decode_row(
            {
                "id": str(at),
                "messages": [
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "content": response},
                ],
                "reference_answer": reference,
            },
            at,
        )
        for at, (response, reference) in enumerate(cases)
    ]
    results = score_batch(get(reward).bind(given), samples)
    rows = [
        [response, str(reference), *_verdict(result)]
        for (response, reference), result in zip(cases, results, strict=True)
    ]
    title = ", ".join([reward, *(f"{name} = {value}" for name, value in given.items())])
    words = tuple(head for head in COMPARED if head != "score")
    return Shown([Sheet(title, COMPARED, rows, words=words)])


def _verdict(result: RewardResult) -> tuple[str, str, str, str]:
    """The score, the rule, and the normal forms of both."""
    if not isinstance(result, Scored):
        return "unscored", f"{type(result.error).__name__}: {result.error}", "", ""
    score, evidence = result.score, result.score.evidence
    if evidence is None:
        return f"{score.value:g}", score.reason, score.answer or "", ""
    return (
        f"{score.value:g}",
        evidence.rule,
        _form(evidence.answer),
        _form(evidence.reference),
    )


def _form(read: object) -> str:
    return "" if read is None else str(read)
