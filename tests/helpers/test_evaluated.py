"""An evaluation in a notebook: what is shown, how large a split, and what is kept."""

from datetime import UTC, datetime

import pytest

from helpers.evaluated import FLIPS, Evaluated
from reward_functions.jobs.evaluation.evaluation_record import (
    Beside,
    Compared,
    EvaluationRecord,
    Flip,
    Group,
    Power,
)
from reward_functions.reports.statistics import Difference, McNemar

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"

DIFFERENCE = Difference(value=0.2, low=-0.1, high=0.5, prompts=10)


def evaluated(*, flips=0, square=0.5, groups=True, simulation=False):
    """An evaluation of ten prompts, of which so many turned."""
    compared = Compared(mode="greedy", base=0.4, tuned=0.6, difference=DIFFERENCE, left_out=0)
    group = Group(
        name=HOSTILE, base=0.4, tuned=0.6, difference=DIFFERENCE, gained=2, lost=0, p_value=0.5,
        adjusted=0.5,
    )  # fmt: skip
    aside = Beside(
        side="base", mode="greedy", answers=10, unscored=0, empty=0, filtered=0, cut=0,
        tokens_read=1, tokens_written=1, tokens_mean=1, tokens_p50=1, tokens_p95=1,
        seconds_p50=None, seconds_p95=None, usd=None,
    )  # fmt: skip
    turned = tuple(
        Flip(place=f"row {at}", turned="right", base_score=0, tuned_score=1, base_text=HOSTILE,
             tuned_text="secret answer")
        for at in range(flips)
    )  # fmt: skip
    return Evaluated(
        EvaluationRecord(
            job="job", base="base", tuned="tuned", grader="arn", simulation=simulation,
            measured_at=datetime(2026, 1, 1, tzinfo=UTC), split="test.jsonl", split_sha256="0",
            compared_with=("the training file",), prompts=10, repeated=0, unread=0, answers=0,
            temperature=1.0, max_tokens=100, success=1.0, seed=0, verdict="no difference shown",
            conclusion="no difference shown: 20 points", warnings=("10 prompts are few",),
            greedy=compared, mcnemar=McNemar(2, 0, 0.5, None, 0.5, "exact"),
            power=Power(mean_square=square, care=0.02, needed=None, smallest=None), sampled=None,
            pass_at_k=(), grouped_by="kind of answer", groups=(group,) if groups else (),
            beside=(aside, ), flips=turned,
        ),
        ["base, greedy: 10 calls"],
    )  # fmt: skip


def test_the_verdict_the_warnings_and_the_cost_stand_below_the_tables():
    shown = evaluated()._shown()
    assert list(shown.notes) == [
        "no difference shown: 20 points",
        "warning: 10 prompts are few",
        "base, greedy: 10 calls",
    ]
    assert [note for note in evaluated(simulation=True)._shown().notes if "SIMULATION" in note]


@pytest.mark.parametrize(("flips", "rows"), [(0, 0), (1, 1), (FLIPS, FLIPS), (FLIPS + 4, FLIPS)])
def test_a_few_flips_are_shown_and_the_rest_are_counted(flips, rows):
    shown = evaluated(flips=flips)._shown()
    tables = [len(sheet.rows) for sheet in shown.sheets if sheet.title == "Flips"]
    assert tables == ([rows] if rows else [])
    counted = [note for note in shown.notes if "more flips" in note]
    assert counted == (["4 more flips are in evaluation.record"] if flips > rows else [])


@pytest.mark.parametrize("groups", [True, False])
def test_the_picture_says_that_it_is_a_simulation_and_has_the_groups(groups):
    picture = evaluated(groups=groups, simulation=True).picture._repr_svg_()
    assert "Tuned less base (SIMULATION)" in picture
    assert picture.count("points of the scale") == 1 + groups
    assert "<script" not in picture


def test_half_the_difference_takes_four_times_the_prompts():
    rows = evaluated().sizes(0.1, 0.05, 0.025)._repr_html_()
    sheet = evaluated().sizes(0.1, 0.05, 0.025).sheets[0]
    needed = [int(row[1].replace(",", "")) for row in sheet.rows]
    assert needed[1] / needed[0] == pytest.approx(4, rel=0.05)
    assert needed[2] / needed[1] == pytest.approx(4, rel=0.05)
    assert "this one has 10 prompts" in rows


def test_where_nothing_differed_no_size_is_made_up():
    assert evaluated(square=0).sizes(0.1).sheets[0].rows == [["10 points", "unknown"]]


def test_what_is_written_holds_no_answer(tmp_path):
    shown = evaluated(flips=2).written(tmp_path / "a" / "b")
    assert len(shown.sheets[0].rows) == len(list((tmp_path / "a" / "b").iterdir())) == 3
    for file in (tmp_path / "a" / "b").iterdir():
        text = file.read_text(encoding="utf-8")
        assert "secret answer" not in text
        assert "<script>alert" not in text or file.suffix == ".json"


def test_what_a_model_or_a_row_wrote_is_harmless():
    html = evaluated(flips=2)._repr_html_()
    assert "<script" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
