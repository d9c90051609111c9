"""Figures of a batch: exact, adding up, and without the rows that have no reward."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions import sample
from reward_functions.core.errors import BadReference
from reward_functions.core.spec import Scale
from reward_functions.core.types import Metric, Score, Scored, Unscored
from reward_functions.reports.score_report import figures, tables
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.labels import Labels, confusion
from reward_functions.reports.score_report.page import worst
from reward_functions.reports.score_report.reasons import tallied
from reward_functions.reports.score_report.tables import flat_groups_table, groups_table

UNIT = Scale(0.0, 1.0)


def batch(rows, scale=UNIT):
    """A batch of (prompt, reward or None, response, reason) rows."""
    samples, results = [], []
    for at, (prompt, reward, *more) in enumerate(rows):
        response, reason = (*more, "x", "same")[:2] if more else ("x", "same")
        samples.append(sample(response, "4", prompt=prompt, id=str(at)))
        error = Unscored(str(at), BadReference("there is no reference"))
        scored = reward is not None and Scored(str(at), Score(reward, reason=reason))
        results.append(scored or error)
    return Batch.of(samples, results, scale)


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "p", "q", "r"]),
        st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1)),
        st.text(max_size=8),
        st.sampled_from(["differs", "is 3 and not 4", "is 5 and not 4", ""]),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_all_counts_add_up_to_the_rows(rows):
    made = batch(rows)
    assert len(made.scored) + len(made.unscored) == len(rows)
    assert sorted(at for group in made.groups for at in group) == list(made.scored)
    reasons = tallied(made, "any")
    assert sorted(at for each in reasons for at in each.rows) == list(made.scored)
    low = [at for each in reasons for at in each.at_minimum]
    assert sorted(low) == made.at_minimum
    lengths = figures.by_length(made)
    assert sorted(at for each in lengths for at in each.rows) == list(made.scored)
    values = made.values(made.scored)
    assert sum(each.count for each in figures.bins(values, 0, 1)) == len(values)
    assert sum(count for _, count in figures.counts(values)) == len(values)
    found = figures.groups(made)
    several = [group for group in made.groups if len(group) > 1]
    assert found.count == len(several)
    flat = [group for group in several if len(set(made.values(group))) == 1]
    assert found.without_advantage == len(flat)
    listed = worst(made, reasons)
    assert len(set(listed)) == len(listed) == sum(value < 1 for value in values)
    assert made.values(listed) == sorted(made.values(listed))


@pytest.mark.parametrize("most", [0, 1, 2, 3, 5, 6, 9])
def test_the_lowest_are_as_many_as_are_wanted(most):
    made = batch([("p", at / 4, "x", f"reason {at % 2}") for at in (0, 0, 1, 2, 2, 3, 4)])
    reasons = tallied(made, "any")
    assert worst(made, reasons, most) == worst(made, reasons)[:most]
    assert len(worst(made, reasons, most)) == min(most, 6)


def test_groups_without_an_advantage_are_listed_whatever_their_reward_is():
    groups = {"low": (0, 0), "high": (1, 1), "between": (0.5, 0.5), "differ": (0, 1)}
    made = batch([(name, value) for name, values in groups.items() for value in values])
    found = figures.groups(made)
    listed = flat_groups_table(made, found, 9).rows
    assert [row[0] for row in listed] == ["low", "high", "between"]
    assert [row[2] for row in listed] == ["0", "1", "0.5"]
    assert len(flat_groups_table(made, found, 2).rows) == 2


def test_a_flat_group_is_shown_by_its_first_response_and_the_largest_come_first():
    rows = [("p", 0.5, "x", "one"), ("q", 0.5, "x", "two"), ("q", 0.5, "x", "three")]
    made = batch([*rows, ("p", 0.5, "x", "four"), ("q", 0.5, "x", "five")])
    listed = flat_groups_table(made, figures.groups(made), 9).rows
    assert listed == [["q", "3", "0.5", "1: two"], ["p", "2", "0.5", "0: one"]]


def test_kinds_of_groups_have_their_share_of_all_groups():
    groups = {"low": (0, 0), "high": (1, 1), "between": (0.5, 0.5), "differ": (0, 1)}
    made = batch([(name, value) for name, values in groups.items() for value in values])
    listed = groups_table(figures.groups(made)).rows
    assert [row[1:3] for row in listed] == [["1", "25.0%"]] * 4 + [["3", "75.0%"]]
    alone = groups_table(figures.groups(batch([("p", 1.0)]))).rows
    assert [row[1:] for row in alone] == [["0", "none", ""]] * 5


@settings(max_examples=40, deadline=None)
@given(ROWS, st.lists(st.sampled_from([True, False, None]), min_size=30, max_size=30))
def test_a_confusion_matrix_has_every_labelled_row_once(rows, values):
    made = batch(rows)
    found = confusion(made, Labels("label", values[: len(rows)], ""))
    placed = sorted(at for cell in found.cells.values() for at in cell)
    assert placed == [at for at in range(len(rows)) if values[at] is not None]
    assert found.unlabelled == len(rows) - len(placed)
    for label in (True, False):
        assert set(found.cells[label, None]) <= set(made.unscored)


def test_mean_and_deviation_are_those_of_the_statistics_module():
    values = [0.1, 0.2, 0.2, 1.0, 0.0]
    assert figures.mean(values) == fmean(values)
    assert figures.std(values) == pytest.approx(pstdev(values), rel=1e-15)


@pytest.mark.parametrize(("reward", "prompts"), [(1.0, 5), (0.0, 5), (0.5, 40), (0.25, 2)])
def test_prompts_that_fare_alike_prove_no_mean(reward, prompts):
    few = figures.mean_by_prompt(batch([(str(at), reward) for at in range(prompts)]))
    many = figures.mean_by_prompt(batch([(str(at), reward) for at in range(prompts * 10)]))
    assert few.value == many.value == reward
    assert 0.0 <= few.low <= many.low <= reward <= many.high <= few.high <= 1.0
    assert few.high - few.low > many.high - many.low > 0.01


def test_the_interval_of_a_mean_is_the_cluster_robust_one():
    made = batch([("p", 1.0), ("p", 1.0), ("q", 0.0), ("q", 1.0), ("r", 0.0)])
    # by hand: the residuals of the three prompts sum to 0.8, -0.2 and -0.6
    squares = Fraction(8, 10) ** 2 + Fraction(2, 10) ** 2 + Fraction(6, 10) ** 2
    error = float(squares * 3 / 2) ** 0.5 / 5
    found = figures.mean_by_prompt(made)
    assert found.value == 0.6
    assert found.low == pytest.approx(0.6 - 1.959963985 * error)
    assert found.high == pytest.approx(min(1.0, 0.6 + 1.959963985 * error))


def test_responses_that_repeat_each_other_make_an_interval_no_narrower():
    once = figures.mean_by_prompt(batch([(str(at), float(at % 2)) for at in range(20)]))
    often = figures.mean_by_prompt(batch([(str(at), float(at % 2)) for at in range(20)] * 8))
    assert often == pytest.approx(once)


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([("p", 0.0), ("p", 0.0)], "all at the minimum"),
        ([("p", 1.0), ("p", 1.0)], "all at the maximum"),
        ([("p", 0.5), ("p", 0.5)], "all equal, between"),
        ([("p", 0.5), ("p", 0.0)], "different"),
    ],
)
def test_a_group_is_named_by_its_rewards(rows, kind):
    found = figures.groups(batch(rows)).by_kind
    assert {name for name, places in found.items() if places} == {kind}


def test_rows_without_a_prompt_are_no_group():
    made = batch([("", 0.0), ("", 0.0), ("", 1.0)])
    assert (made.without_prompt, len(made.groups)) == (3, 3)
    assert figures.groups(made).count == 0


def test_an_unscored_row_is_no_zero():
    made = batch([("p", 1.0), ("p", None)])
    assert figures.mean_by_prompt(made).value == 1.0
    assert made.at_minimum == []


def test_rows_of_one_length_are_not_split():
    made = batch([("p", 0.0, "x" * 3)] * 95 + [("p", 1.0, "x" * 7)] * 5)
    assert [(each.shortest, len(each.rows)) for each in figures.by_length(made)] == [
        (3, 95),
        (7, 5),
    ]


def test_enormous_rewards_do_not_overflow():
    scale = Scale(-1.7e308, 1.7e308)
    made = batch([("p", 1.7e308), ("q", 1.7e308), ("r", -1.7e308)], scale)
    values = made.values(made.scored)
    assert figures.std(values) == inf
    assert tuple(figures.mean_by_prompt(made))[1:] == tuple(scale)
    assert sum(each.count for each in figures.bins(values, *scale)) == 3


def test_a_score_without_a_sample_is_refused():
    with pytest.raises(ValueError, match="row 0 is not a valid sample"):
        Batch.of([Unscored("a", BadReference())], [Scored("a", Score(1.0))], UNIT)
    with pytest.raises(ValueError, match="zip"):
        Batch.of([sample("x")], [], UNIT)


def test_a_metric_is_averaged_over_the_rows_that_report_it():
    scores = [Score(1.0, (Metric("a", 2.0),)), Score(0.0, (Metric("a", 4.0), Metric("b", 1.0)))]
    results = [Scored("s", score) for score in scores]
    made = Batch.of([sample("x"), sample("y")], results, UNIT)
    rows = tables.metrics_table(figures.metrics(made)).rows
    assert rows == [["a", "2", "3", "2", "4"], ["b", "1", "1", "1", "1"]]
