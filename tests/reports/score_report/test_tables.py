"""Tables of a score report on one small batch, cell by cell, and the sentences beside them."""

from __future__ import annotations

import pytest

from reward_functions import sample
from reward_functions.core.errors import BadReference, JudgeUnavailable
from reward_functions.core.spec import Scale
from reward_functions.core.types import Metric, Score, Scored, Unscored
from reward_functions.reports.score_report import figures, tables
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.reasons import errors, tallied, truncated

# prompt, reward, response, reason
ROWS = [
    ("p", 0.0, "<think>so", "there is no ####"),
    ("p", 1.0, "#### 7", "right"),
    ("q", 0.0, "no", "there is no ####"),
    ("q", 0.5, "#### 6 or 7", "it hedges"),
    ("r", None, "x", "no reference"),
]


@pytest.fixture
def batch():
    samples, results = [], []
    for at, (prompt, reward, response, reason) in enumerate(ROWS):
        samples.append(sample(response, "7", prompt=prompt, id=str(at)))
        metrics = (Metric("length", len(response)),) if at else ()
        scored = reward is not None and Scored(str(at), Score(reward, metrics, reason=reason))
        results.append(scored or Unscored(str(at), BadReference(reason)))
    return Batch.of(samples, results, Scale(0.0, 1.0))


def test_the_summary_has_its_share_and_its_interval_in_every_row(batch):
    found = {row[0]: row[1:] for row in tables.summary(batch, {0}).rows}
    assert {name: cells[0] for name, cells in found.items()} == {
        "rows": "5",
        "scored": "4",
        "unscored": "1",
        "mean reward": "0.375",
        "standard deviation": "0.4146",
        "share at the minimum": "50.0%",
        "share that seems cut off": "25.0%",
        "prompts": "2",
    }
    assert [name for name, cells in found.items() if cells[1]] == [
        "mean reward",
        "share at the minimum",
        "share that seems cut off",
    ]


def test_signs_are_counted_with_those_at_the_minimum(batch):
    sheet = tables.signals_table(batch, truncated(batch))
    assert [row[:3] + row[4:] for row in sheet.rows] == [
        ["the row says that a limit of tokens ended it", "0", "0.0%", "0"],
        ["a reasoning section is never closed", "1", "25.0%", "1"],
        ["a box is never closed", "0", "0.0%", "0"],
        ["a code fence is never closed", "0", "0.0%", "0"],
    ]


def test_reasons_are_counted_the_most_frequent_at_the_minimum_first(batch):
    reasons = tallied(batch, "any")
    assert tables.reasons_table(batch, reasons).rows == [
        ["there is no ####", "2", "50.0%", "2", "0"],
        ["right", "1", "25.0%", "0", "1"],
        ["it hedges", "1", "25.0%", "0", "0.5"],
    ]
    chart = tables.reasons_chart(reasons)
    assert "there is no ####: 2" in chart.html()
    assert "it hedges" not in chart.html()
    assert tables.reasons_chart(reasons[1:]) is None


def test_lengths_have_their_mean_and_their_signs(batch):
    sheet = tables.length_table(batch, figures.by_length(batch), {0})
    assert [row[1:] for row in sheet.rows] == [
        ["1", "0", "100.0%", "0.0%"],
        ["1", "1", "0.0%", "0.0%"],
        ["1", "0", "100.0%", "100.0%"],
        ["1", "0.5", "0.0%", "0.0%"],
    ]
    assert [row[0] for row in sheet.rows] == ["2", "6", "9", "11"]


def test_metrics_are_those_of_the_rows_that_report_them(batch):
    sheet = tables.metrics_table(figures.metrics(batch))
    assert sheet.rows == [["length", "3", "6.333", "2", "11"]]


def test_errors_say_whose_failure_they_are(batch):
    found = errors(batch)
    assert tables.errors_table(found).rows == [
        ["BadReference", "1", "the data set", "no reference"]
    ]
    (sentence,) = tables.mending(found)
    assert sentence.startswith("1 row, BadReference: ")
    kinds = [Unscored(str(at), JudgeUnavailable("slow", kind)) for at, kind in
             enumerate(["throttled", "throttled", "denied"])]  # fmt: skip
    rows = [sample("x", prompt=str(at), id=str(at)) for at in range(3)]
    other = errors(Batch.of(rows, kinds, Scale(0.0, 1.0)))
    assert [row[:2] for row in tables.errors_table(other).rows] == [
        ["JudgeUnavailable: throttled", "2"],
        ["JudgeUnavailable: denied", "1"],
    ]


def test_a_page_in_one_sentence(batch):
    said = tables.lead(batch, tallied(batch, "any"))
    assert said.startswith("4 of 5 rows scored; mean 0.375 (95 % interval ")
    assert said.endswith("; 50.0% at the minimum, mostly: there is no ####.")
    assert tables.lead(Batch.of([], [], Scale(0.0, 1.0)), []) == ""


@pytest.mark.parametrize(
    ("share", "words"), [(None, ["7", "none", ""]), ((0.5, 0.25, 0.75), ["7", "50.0%", None])]
)
def test_a_share_that_nothing_has_is_none(share, words):
    found = tables.counted(7, share and figures.Share(*share))
    assert found[:2] == words[:2]
    assert found[2] == ("" if share is None else "25.0% to 75.0%")
