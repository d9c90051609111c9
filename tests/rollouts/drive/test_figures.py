"""What a file of rollouts comes to."""

import json
from dataclasses import replace
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.rollouts.drive.figures import (
    BINS,
    as_json,
    figures_of,
    histogram,
    pass_at,
    sheets,
)
from reward_functions.rollouts.drive.records import RolloutRecord, Setup

SETUP = Setup(data="d", n=2, agent="a", policy="calculator")


def record(row, sample, reward=None, **fields):
    rewarded = {"status": "rewarded", "rewards": (reward,), "scored_by": "agent"}
    known = {"status": "lost", "error": "never completed"} if reward is None else rewarded
    named = {"row": row, "id": f"row-{row}", "sample": sample, "rollout": f"{row}-{sample}"}
    return RolloutRecord(**named, setup=SETUP, **known | fields)


RECORDS = [
    record(1, 0, 1.0, turns=2, seconds=1.0),
    record(1, 1, 0.0, turns=4, seconds=3.0, duplicates=1),
    record(2, 0, 1.0, turns=2, seconds=2.0, tool_calls=4),
    record(2, 1, 1.0, turns=2, seconds=9.0),
    record(3, 0, seconds=4.0),
    record(3, 1, status="failed", error="HTTP 500"),
]


def test_figures_of_six_rollouts():
    found = figures_of(RECORDS)
    assert (found.rollouts, found.groups) == (6, 3)
    assert found.statuses == {"rewarded": 4, "failed": 1, "lost": 1, "timeout": 0}
    assert found.mean.value == 0.75  # of the four: what was lost is no 0.0
    assert found.std == pytest.approx(0.4330127)
    assert found.at_minimum.value == 0.25
    assert found.zero_std.value == 0.5  # of the two groups with two rewards
    assert found.pass_at == {1: 0.75, 2: 1.0}
    assert found.turns == {0: 2, 2: 3, 4: 1}
    assert found.seconds["longest"] == 9.0
    assert found.duplicates == 1
    assert found.errors == {("lost", "never completed"): 1, ("failed", "HTTP 500"): 1}
    assert [group.row for group in found.worst] == [1, 2]


# 1 - C(n - c, k) / C(n, k): Chen et al. 2021, equation 1.
PASSED = [
    ([[1.0, 0.0]], {1: 0.5, 2: 1.0}),
    ([[1.0, 0.0, 0.0, 0.0]], {1: 0.25, 2: 0.5, 4: 1.0}),
    ([[0.0, 0.0]], {1: 0.0, 2: 0.0}),
    ([[1.0, 0.0, 0.0], [0.0]], {1: (1 / 3 + 0) / 2, 2: 1 - comb(2, 2) / comb(3, 2), 3: 1.0}),
    ([], {}),
]


@pytest.mark.parametrize(("groups", "expected"), PASSED)
def test_pass_at_k_is_chens(groups, expected):
    assert pass_at(groups) == pytest.approx(expected)


def test_pass_at_k_is_for_rewards_of_0_and_1():
    assert figures_of([record(1, 0, 0.5), record(1, 1, 1.0)]).pass_at == {}


FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100)


@given(st.lists(FINITE))
def test_a_histogram_holds_every_reward_once(rewards):
    bins = histogram(rewards)
    assert sum(each.count for each in bins) == len(rewards)
    assert len(bins) <= BINS


@given(st.lists(st.one_of(st.none(), FINITE), min_size=1, max_size=12))
def test_every_file_has_figures_and_they_are_strict_json(rewards):
    records = [record(at // 2 + 1, at % 2, reward) for at, reward in enumerate(rewards)]
    found = figures_of(records)
    json.dumps(as_json(found), allow_nan=False)
    for sheet in sheets(found):
        assert all(len(row) == len(sheet.heads) for row in sheet.rows)


def test_a_file_without_a_reward_has_no_mean():
    found = figures_of([record(1, 0)])
    assert (found.mean, found.std, found.zero_std, found.worst) == (None, None, None, [])


def test_what_data_hold_is_escaped_in_markdown():
    hostile = replace(record(1, 0, 1.0), id="a|b\n# c")
    text = "\n".join(line for sheet in sheets(figures_of([hostile])) for line in sheet.markdown())
    assert r"a\|b \# c" in text
