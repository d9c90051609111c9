"""Rewards and tokens meet by the rollout's id, and advantages are of a group."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.rollouts.record.exchange.advantages import group_advantages
from reward_functions.rollouts.record.exchange.fields import BadTrace
from reward_functions.rollouts.record.exchange.joining import RolloutReward, joined
from reward_functions.rollouts.record.exchange.token_rows import LeftOut
from reward_functions.rollouts.request.errors import InvalidReward
from tests.rollouts.record.exchange.episodes import trajectories, trajectory, turn


def trace(rollout, **fields):
    return trajectory(turn(0, [1], [2, 3]), id=rollout, rewards=None, **fields)


def reward(rollout, *rewards, group="g"):
    return RolloutReward(rollout=rollout, rewards=rewards or None, group=group)


def test_rows_have_the_advantage_of_their_group():
    rewards = [reward("a", 1.0), reward("b", 0.0), reward("c", 0.5), reward("d", 5.0, group="h")]
    found = joined([trace(name) for name in "abcd"], rewards)
    assert [(row.tokens.rollout, row.reward, row.advantage) for row in found.rows] == [
        ("a", 1.0, 0.5),
        ("b", 0.0, -0.5),
        ("c", 0.5, 0.0),
    ]
    assert found.left_out == (LeftOut("d", "a group of one"),)
    assert [(group.id, group.mean) for group in found.groups] == [("g", 0.5), ("h", 5.0)]


def test_the_standard_deviation_is_that_of_a_sample():
    group = group_advantages("g", {"a": 1.0, "b": 0.0, "c": 0.5}, "std")
    assert group.std == pytest.approx(0.5)
    assert group.advantages == pytest.approx({"a": 1.0, "b": -1.0, "c": 0.0})


def test_the_return_of_an_episode_is_the_sum_of_its_rewards():
    found = joined([trace("a"), trace("b")], [reward("a", 0.25, 0.75), reward("b", 0.0)])
    assert [row.reward for row in found.rows] == [1.0, 0.0]


LEFT = {
    # why: (trajectories, rewards); beside the rollouts x and y, which are compared
    "no reward": ([trace("a")], []),
    "the rollout failed": ([trace("a", status="failed")], [reward("a", 1.0)]),
    "two rewards that differ": ([trace("a")], [reward("a", 1.0), reward("a", 0.0)]),
    "a return that is too large": ([trace("a")], [reward("a", 1e308, 1e308)]),
    "no group": ([trace("a")], [reward("a", 1.0, group="")]),
    "another trajectory has its id": ([trace("a"), trace("a", job="j")], [reward("a", 1.0)]),
}


@pytest.mark.parametrize("reason", LEFT)
def test_a_rollout_that_teaches_nothing_is_left_out_and_in_no_mean(reason):
    traces, rewards = LEFT[reason]
    others = [reward("x", 0.0), reward("y", 1.0)]
    found = joined([*traces, trace("x"), trace("y")], [*rewards, *others])
    assert LeftOut("a", reason) in found.left_out
    assert [(row.tokens.rollout, row.advantage) for row in found.rows] == [("x", -0.5), ("y", 0.5)]


def test_what_was_written_twice_counts_once():
    rewards = [reward("a", 1.0), reward("a", 1.0), reward("b", 0.0)]
    assert len(joined([trace("a"), trace("a"), trace("b")], rewards).rows) == 2


SOURCES = [
    # (rewards of a, in the order in which they were written, whether it teaches)
    ([(), (1.0,)], True),
    ([(1.0,), ()], True),
    ([(), (1.0,), (), (1.0,)], True),
    ([(1.0,), (), (0.5,)], False),
    ([(1.0,), (0.5,), (1.0,)], False),
    ([(1.0,), (0.5,), ()], False),
    ([(1.0,), (0.5, 0.5)], False),
    ([(), ()], False),
]


@pytest.mark.parametrize(("given_rewards", "teaches"), SOURCES)
def test_a_source_without_a_reward_disagrees_with_nobody(given_rewards, teaches):
    rewards = [reward("a", *each) for each in given_rewards]
    found = joined([trace("a"), trace("b")], [*rewards, reward("b", 0.0)])
    assert [row.tokens.rollout for row in found.rows] == (["a", "b"] if teaches else [])


def test_misaligned_tokens_give_no_row_and_their_reward_counts_in_the_group():
    gaps = {"token_gaps": {"0": "misaligned: 1 id for 2"}}
    rewards = [reward("a", 3.0), reward("b", 0.0), reward("c", 0.0)]
    found = joined([trace("a", metadata=gaps), trace("b"), trace("c")], rewards)
    assert found.left_out == (LeftOut("a", "misaligned tokens"),)
    assert [(row.tokens.rollout, row.advantage) for row in found.rows] == [("b", -1.0), ("c", -1.0)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", True, None])
def test_a_reward_is_a_finite_number(value):
    with pytest.raises(InvalidReward):
        RolloutReward(rollout="a", rewards=(value,))


def test_equal_rewards_have_no_advantage_and_are_reported():
    found = joined([trace("a"), trace("b")], [reward("a", 0.1), reward("b", 0.1)], scale="std")
    assert found.rows == ()
    assert {out.reason for out in found.left_out} == {"a group with zero advantage"}


def test_own_rewards_and_groups_serve_where_nothing_else_is_given():
    traces = [
        trajectory(turn(0, [1], [2]), id=name, rewards=(value,), metadata={"group": "g"})
        for name, value in (("a", 0.0), ("b", 1.0))
    ]
    assert [row.advantage for row in joined(traces).rows] == [-0.5, 0.5]


@given(st.dictionaries(st.text(max_size=3), st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_advantages_sum_to_zero_and_keep_the_order(returns):
    found = group_advantages("g", returns).advantages
    assert sum(found.values()) == pytest.approx(0, abs=1e-3)
    for one in found:
        for two in found:
            assert (returns[one] <= returns[two]) or found[one] >= found[two]
    scaled = group_advantages("g", returns, "std").advantages.values()
    if scaled:
        assert sqrt(sum(each**2 for each in scaled) / (len(scaled) - 1)) == pytest.approx(1)


def test_records_and_results_are_told_apart():
    record = {"record": 1, "row": 3, "rollout": "r", "rewards": [0.5], "status": "rewarded"}
    assert RolloutReward.read(record) == reward("r", 0.5, group="row 3")
    assert RolloutReward.read(record | {"rewards": []}).rewards is None
    result = {"rewards": 0.5, "input_id": "q", "result_key": "e/q/s.json"}
    assert RolloutReward.read(result) == reward("s", 0.5, group="q")
    assert RolloutReward.read(result | {"status_code": 500}).rewards is None


@pytest.mark.parametrize("given_line", [[], {}, {"rollout": "r"}, {"result_key": ""}])
def test_what_is_neither_is_refused(given_line):
    with pytest.raises((BadTrace, InvalidReward)):
        RolloutReward.read(given_line)


def forked(rollout):
    """Two rows: the second turn's prompt does not begin with what the first row holds."""
    return trajectory(
        turn(0, [1], [2, 3, 4]), turn(1, [9], [5, 6, 7, 8, 9]), id=rollout, rewards=None
    )


WEIGHTS = {
    # weight: of the forked episode and of one with a row of two tokens, what each row adds up to
    "token": ([3 * 0.5, 5 * 0.5], [2 * -0.5]),
    "row": ([0.5, 0.5], [-0.5]),
    "episode": ([0.5 * 3 / 8, 0.5 * 5 / 8], [-0.5]),
}


@pytest.mark.parametrize("weight", WEIGHTS)
def test_what_has_the_advantage_of_a_forked_episode_once_is_chosen(weight):
    found = joined([forked("a"), trace("b")], [reward("a", 1.0), reward("b", 0.0)], weight=weight)
    sums = {"a": [], "b": []}
    for row in found.rows:
        sums[row.tokens.rollout].append(row.advantage * row.tokens.trained)
    assert (sums["a"], sums["b"]) == tuple(map(pytest.approx, WEIGHTS[weight]))


@given(st.lists(trajectories(), min_size=2, max_size=4))
def test_the_tokens_of_an_episode_add_up_to_its_advantage(episodes):
    episodes = [replace(each, id=f"r{at}", rewards=None) for at, each in enumerate(episodes)]
    rewards = [reward(each.id, float(at)) for at, each in enumerate(episodes)]
    whole = {row.tokens.rollout: row.advantage for row in joined(episodes, rewards).rows}
    sums = dict.fromkeys(whole, 0.0)
    for row in joined(episodes, rewards, weight="episode").rows:
        sums[row.tokens.rollout] += row.advantage * row.tokens.trained
    assert sums == pytest.approx(whole)
    for row in joined(episodes, rewards, weight="row").rows:
        assert row.advantage * row.tokens.trained == pytest.approx(whole[row.tokens.rollout])
