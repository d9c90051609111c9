"""Trace records, results, datums, steps and episodes: written, read again, and refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.rollouts.record.exchange.agentcore import (
    read_result,
    trace_records,
)
from reward_functions.rollouts.record.exchange.datum import datum
from reward_functions.rollouts.record.exchange.fields import BadTrace, read_object
from reward_functions.rollouts.record.exchange.rllm import (
    is_cumulative,
    rllm_episode,
    rllm_trajectory,
)
from reward_functions.rollouts.record.exchange.token_rows import token_rows
from reward_functions.rollouts.request.errors import InvalidReward, MisalignedTokens
from tests.rollouts.record.exchange.episodes import trajectories, trajectory, turn

TWO = trajectory(turn(0, [1, 2], [3]), turn(1, [1, 2, 3, 8], [4, 5], finish_reason="length"))


def test_a_trace_record_is_the_toolkits_own():
    (record,), left = trace_records(TWO)
    assert left == []
    # agentcore_rl_toolkit 0.2.0, rollout_gateway/trajectory.py: the first prompt is stripped,
    # what the environment wrote has mask 0 and a log-probability of 0.0.
    assert record.json() == {
        "token_ids": [1, 2, 3, 8, 4, 5],
        "loss_mask": [1, 0, 1, 1],
        "logprobs": [-1.0, 0.0, -2.0, -2.1],
        "rollout_id": "r1",
        "reward": 1.0,
        "response_length": 4,
        "response": "",
        "metadata": {"truncated": True, "use_tool": False, "ill_formed": False},
        "status": "completed",
    }


@settings(max_examples=40)
@given(trajectories(logprobs=False))
def test_trace_records_have_every_trained_token(whole):
    records, left = trace_records(whole, reward=1.0)
    rows = [row for row in token_rows(whole).rows if row.has_logprobs]
    assert [record.token_ids for record in records] == [row.token_ids for row in rows]
    assert [record.loss_mask for record in records] == [row.mask for row in rows]
    assert [record.logprobs for record in records] == [
        tuple(each or 0.0 for each in row.logprobs) for row in rows
    ]
    assert sum(out.reason == "no log-probabilities" for out in left) == sum(
        len(row.turns) for row in token_rows(whole).rows if not row.has_logprobs
    )


def test_an_unscored_rollout_gives_no_record():
    records, (left,) = trace_records(trajectory(turn(0, [1], [2]), rewards=None))
    assert (records, left.reason) == ([], "no reward")


TOO_LARGE = [(1.7e308, 1.7e308), (1e39,), (-1e39,), (6e37, 6e37), (float("inf"),), (float("nan"),)]


@pytest.mark.parametrize("rewards", TOO_LARGE, ids=repr)
@pytest.mark.parametrize("export", [trace_records, rllm_trajectory], ids=lambda f: f.__name__)
def test_a_return_that_no_trainer_can_hold_is_refused(export, rewards):
    with pytest.raises(InvalidReward, match="a return is a finite number"):
        export(trajectory(turn(0, [1], [2]), turn(1, [1], [2]), rewards=rewards))


@pytest.mark.parametrize("advantage", [float("nan"), float("inf"), float("-inf")])
def test_an_advantage_is_finite(advantage):
    with pytest.raises(InvalidReward, match="an advantage is a finite number"):
        datum(token_rows(TWO).rows[0], advantage)


def test_no_rewards_are_no_reward():
    whole = trajectory(turn(0, [1], [2]), rewards=())
    assert rllm_trajectory(whole)["reward"] is None
    assert trace_records(whole)[0] == []


RESULTS = [
    ({"rewards": 0.5}, (0.5,)),
    ({"rewards": [0, 1]}, (0.0, 1.0)),
    ({"reward": 0.5}, (0.5,)),
    ({}, None),
    ({"rewards": 1.0, "status_code": 500}, None),
]


@pytest.mark.parametrize(("given_result", "rewards"), RESULTS, ids=[str(r) for r, _ in RESULTS])
def test_rewards_of_a_result(given_result, rewards):
    assert read_result(given_result).rewards == rewards


@pytest.mark.parametrize("rewards", [True, "0.5", [], [None], float("inf"), {}])
def test_what_is_no_reward_is_refused(rewards):
    with pytest.raises(InvalidReward):
        read_result({"rewards": rewards})


def test_a_datum_is_shifted_by_one_and_masked():
    (row,) = token_rows(TWO).rows
    assert datum(row, 0.5) == {
        "modelInput": {"chunks": [{"tokens": [1, 2, 3, 8, 4], "type": "encoded_text"}]},
        "lossFnInputs": {
            "target_tokens": {"data": [2, 3, 8, 4, 5], "dtype": "int64", "shape": [5]},
            "logprobs": {"data": [0.0, -1.0, 0.0, -2.0, -2.1], "dtype": "float32", "shape": [5]},
            "advantages": {"data": [0.0, 0.5, 0.0, 0.5, 0.5], "dtype": "float32", "shape": [5]},
            "weights": {"data": [0.0, 1.0, 0.0, 1.0, 1.0], "dtype": "float32", "shape": [5]},
        },
    }


def test_a_row_without_logprobs_or_prompt_is_no_datum():
    (bare,) = token_rows(trajectory(turn(0, [1], [2], logprobs=()))).rows
    with pytest.raises(MisalignedTokens, match="log-probabilities of the tokens of turns 0"):
        datum(bare, 1.0)
    (promptless,) = token_rows(trajectory(turn(0, [], [2]))).rows
    with pytest.raises(MisalignedTokens, match="needs a prompt"):
        datum(promptless, 1.0)


# ------------------------------------------------------------------------------------------ rLLM


REWARDS = [
    # (rewards, of the steps, of the trajectory)
    (None, [0.0, 0.0], None),
    ((0.5,), [0.0, 0.0], 0.5),
    ((0.25, 0.5), [0.25, 0.5], 0.75),
    ((0.25, 9.0, 0.5), [0.25, 0.5], 9.75),
]


@pytest.mark.parametrize(("rewards", "steps", "total"), REWARDS)
def test_rewards_of_turns_are_rewards_of_steps(rewards, steps, total):
    turns = [turn(0, [1], [2]), turn(1, [1], [2], discarded=True), turn(2, [1], [2])]
    written = rllm_trajectory(trajectory(*turns, rewards=rewards))
    assert [step["reward"] for step in written["steps"]] == steps
    assert written["reward"] == total


def test_rewards_that_no_turn_has_are_refused():
    with pytest.raises(InvalidReward, match="3 rewards for 1 turns"):
        rllm_trajectory(trajectory(turn(0, [1], [2]), rewards=(1.0, 2.0, 3.0)))


def test_an_episode_holds_trajectories():
    episode = rllm_episode([TWO], task_id="q1", index=3, task={"question": "?"})
    assert (episode["id"], episode["is_correct"], episode["session_id"]) == ("q1:3", True, "r1")
    assert len(episode["trajectories"]) == 1
    with pytest.raises(BadTrace, match="at least one trajectory"):
        rllm_episode([], task_id="q1")
    with pytest.raises(BadTrace, match="no colon"):
        rllm_episode([TWO], task_id="a:b")


def test_steps_are_cumulative_where_each_begins_with_the_one_before():
    one, two = ({"chat_completions": [{"role": "user", "content": "a"}] * n} for n in (1, 2))
    assert is_cumulative([one, two])
    assert is_cumulative([])
    assert not is_cumulative([two, one])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
WRITTEN = {
    read_result: {"rewards": 1.0, "status_code": 200, "stop_reason": "end_turn", "metrics": {}},
}


@pytest.mark.parametrize("read", WRITTEN, ids=[read.__name__ for read in WRITTEN])
@settings(max_examples=60)
@given(data=st.data())
def test_any_value_in_any_field_is_read_or_refused_in_words(read, data):
    fields = WRITTEN[read]
    name = data.draw(st.sampled_from(sorted(fields)))
    value = data.draw(values)
    if isinstance(fields[name], list) and fields[name] and isinstance(fields[name][0], dict):
        inner = data.draw(st.sampled_from(sorted(fields[name][0])))
        value = [fields[name][0] | {inner: value}]
    with suppress(BadTrace, MisalignedTokens, InvalidReward):
        read(fields | {name: value})


@pytest.mark.parametrize(
    "line", ["", "[]", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 100_000, b"\xff"]
)
def test_a_line_that_is_no_object_is_refused(line):
    with pytest.raises(BadTrace):
        read_object(line, "trace record")


CANARY = "canary-4711"


@pytest.mark.parametrize("read", WRITTEN, ids=[read.__name__ for read in WRITTEN])
def test_no_message_holds_what_was_read(read):
    messages = []
    for name in WRITTEN[read]:
        for value in (CANARY, [CANARY], {CANARY: 1}, [{CANARY: [CANARY]}], [[CANARY]]):
            try:
                read(WRITTEN[read] | {name: value})
            except (BadTrace, MisalignedTokens, InvalidReward) as error:
                messages.append(str(error))
    assert messages
    assert not [message for message in messages if CANARY in message]
