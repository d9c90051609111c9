"""Trace records, results, datums, steps and episodes: written, read again, and refused."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.rollouts.record.exchange.agentcore import (
    TraceRecord,
    read_result,
    read_trace_record,
    result_envelope,
    trace_records,
    trajectory_of,
)
from reward_functions.rollouts.record.exchange.datum import datum, read_datum
from reward_functions.rollouts.record.exchange.fields import BadTrace, read_object
from reward_functions.rollouts.record.exchange.rllm import (
    is_cumulative,
    read_rllm_episode,
    read_rllm_trajectory,
    rllm_episode,
    rllm_group,
    rllm_trajectory,
)
from reward_functions.rollouts.record.exchange.token_rows import token_rows
from reward_functions.rollouts.record.types import ToolCall, ToolResult, Turn
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
def test_trace_records_come_back_with_every_trained_token(whole):
    records, left = trace_records(whole, reward=1.0)
    read = [read_trace_record(json.loads(json.dumps(each.json()))) for each in records]
    assert read == records
    rows = [row for row in token_rows(whole).rows if row.has_logprobs]
    assert [record.row().logprobs for record in records] == [row.logprobs for row in rows]
    assert sum(out.reason == "no log-probabilities" for out in left) == sum(
        len(row.turns) for row in token_rows(whole).rows if not row.has_logprobs
    )
    if records:
        again, _ = trace_records(trajectory_of(records))
        assert [(r.token_ids, r.loss_mask, r.logprobs) for r in again if r.loss_mask] == [
            (r.token_ids, r.loss_mask, r.logprobs) for r in records
        ] or len(records) > 1


def test_an_unscored_rollout_gives_no_record():
    records, (left,) = trace_records(trajectory(turn(0, [1], [2]), rewards=None))
    assert (records, left.reason) == ([], "no reward")


STATUSES = [
    (["completed"], "ready"),
    (["truncated", "completed"], "ready"),
    (["completed", "failed"], "failed"),
    (["aborted"], "failed"),
    (["completed", "aborted"], "failed"),
    (["pending"], "running"),
]


@pytest.mark.parametrize(("statuses", "status"), STATUSES)
def test_an_episode_of_which_a_record_failed_or_was_aborted_failed(statuses, status):
    (record,), _ = trace_records(TWO)
    records = [read_trace_record(record.json() | {"status": each}) for each in statuses]
    assert trajectory_of(records).status == status


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


def test_a_logprob_above_zero_is_refused_in_a_record_and_in_a_datum():
    record = {"token_ids": [1, 2], "loss_mask": [1], "logprobs": [0.7], "reward": 1.0}
    with pytest.raises(MisalignedTokens, match="a log-probability that is not one"):
        read_trace_record(record).row()
    with pytest.raises(MisalignedTokens, match="a log-probability that is not one"):
        read_datum(changed([LOSS, "logprobs", "data"], [0.0, 0.7, 0.0, -2.0, -2.1]))


def test_no_rewards_are_no_reward():
    whole = trajectory(turn(0, [1], [2]), rewards=())
    assert rllm_trajectory(whole)["reward"] is None
    assert trace_records(whole)[0] == []
    assert "rewards" not in result_envelope(whole).json()


BAD_RECORDS = {
    "loss_mask of a trace record holds 0 and 1": {"loss_mask": [2]},
    "token_ids of a trace record are ids": {"token_ids": ["1"]},
    "token_ids of a trace record is a list, not a string": {"token_ids": "1"},
    "logprobs of a trace record has null": {"logprobs": [None, 0.0, -2.0, -2.1]},
    "logprobs of a trace record is a number, not a boolean": {"logprobs": [True, 0, 0, 0]},
    "has no reward": {"reward": None},
    "status of a trace record is one of": {"status": "done"},
    "rollout_id of a trace record is a string": {"rollout_id": {}},
    "is an object, not a list": {"metadata": []},
}


@pytest.mark.parametrize(("sentence", "fields"), BAD_RECORDS.items(), ids=BAD_RECORDS)
def test_a_trace_record_of_another_shape_is_refused(sentence, fields):
    (record,), _ = trace_records(TWO)
    with pytest.raises(BadTrace, match=sentence):
        read_trace_record(record.json() | fields)


def test_a_record_keeps_what_is_not_known_here():
    (record,), _ = trace_records(TWO)
    assert read_trace_record(record.json() | {"weight_version": 7}).metadata["weight_version"] == 7


@pytest.mark.parametrize(
    "lists", [{"loss_mask": [1], "logprobs": []}, {"loss_mask": [1, 1], "logprobs": [0, 0]}]
)
def test_a_record_whose_lists_do_not_belong_together_is_refused(lists):
    with pytest.raises(MisalignedTokens, match="a trace record has 1 tokens"):
        read_trace_record({"token_ids": [1], "reward": 0.0, **lists})


def test_records_of_several_episodes_are_no_trajectory():
    one = TraceRecord(token_ids=(1,), loss_mask=(), logprobs=(), rollout_id="a")
    two = TraceRecord(token_ids=(1,), loss_mask=(), logprobs=(), rollout_id="b")
    three = TraceRecord(token_ids=(1,), loss_mask=(), logprobs=(), rollout_id="a", reward=1.0)
    for records in ([], [one, two], [one, three]):
        with pytest.raises(BadTrace, match="one rollout_id"):
            trajectory_of(records)


def test_a_result_comes_back():
    result = result_envelope(TWO, metrics={"tools": 2.0}, input_id="q1")
    assert result.json()["rewards"] == 1.0
    read = read_result(result.json() | {"result_key": "exp/q1/session-1.json", "more": 1})
    assert (read.rewards, read.session, read.input_id) == ((1.0,), "session-1", "q1")
    assert (read.metadata, read.metrics) == ({"more": 1}, {"tools": 2.0})
    assert read_trace_record(read.rollout_data[0]).loss_mask == (1, 0, 1, 1)


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


def test_a_failed_rollouts_result_has_no_rewards():
    failed = trajectory(turn(0, [1], [2], error="Timeout"), status="failed")
    fields = result_envelope(failed).json()
    assert (fields["status_code"], fields["stop_reason"]) == (500, "Timeout")
    assert "rewards" not in fields


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


@settings(max_examples=40)
@given(trajectories(), st.floats(-5, 5))
def test_a_datum_comes_back_as_its_row(whole, advantage):
    for row in token_rows(whole).rows:
        read = read_datum(json.loads(json.dumps(datum(row, advantage))))
        assert (read.row.token_ids, read.row.mask) == (row.token_ids, row.mask)
        assert read.row.logprobs == row.logprobs
        expected = [advantage if written else 0.0 for written in row.mask]
        assert list(read.advantages) == expected


def test_a_row_without_logprobs_or_prompt_is_no_datum():
    (bare,) = token_rows(trajectory(turn(0, [1], [2], logprobs=()))).rows
    with pytest.raises(MisalignedTokens, match="log-probabilities of the tokens of turns 0"):
        datum(bare, 1.0)
    (promptless,) = token_rows(trajectory(turn(0, [], [2]))).rows
    with pytest.raises(MisalignedTokens, match="needs a prompt"):
        datum(promptless, 1.0)


def changed(path, value):
    (row,) = token_rows(TWO).rows
    whole = datum(row, 1.0)
    place = whole
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return whole


LOSS = "lossFnInputs"
BAD_DATUMS = [
    (changed([LOSS, "target_tokens", "data"], [9, 3, 8, 4, 5]), None),
    (changed([LOSS, "target_tokens", "data"], [2, 9, 8, 4, 5]), MisalignedTokens),
    (changed([LOSS, "logprobs", "data"], [0.0]), MisalignedTokens),
    (changed([LOSS, "weights", "data"], [0.0, 0.5, 0.0, 1.0, 1.0]), BadTrace),
    (changed([LOSS, "weights", "data"], [0.0] * 5), BadTrace),
    (changed([LOSS, "weights"], None), BadTrace),
    (changed([LOSS, "weights", "dtype"], "int64"), BadTrace),
    (changed([LOSS, "target_tokens", "dtype"], "float32"), BadTrace),
    (changed([LOSS, "target_tokens", "shape"], [9]), MisalignedTokens),
    (changed([LOSS, "logprobs", "shape"], [5, 1]), MisalignedTokens),
    (changed([LOSS, "logprobs", "shape"], "5"), BadTrace),
    (changed([LOSS, "target_tokens", "data"], [2, 3, 8, 4, 2**31]), MisalignedTokens),
    (changed(["modelInput"], []), BadTrace),
    (changed(["modelInput", "chunks"], [{"type": "image"}]), BadTrace),
    (changed([LOSS, "advantages", "data"], "x"), BadTrace),
]


@pytest.mark.parametrize(("given_datum", "error"), BAD_DATUMS, ids=range(len(BAD_DATUMS)))
def test_a_datum_of_another_shape_is_refused(given_datum, error):
    with pytest.raises(error or MisalignedTokens):
        read_datum(given_datum)


# ------------------------------------------------------------------------------------------ rLLM


@settings(max_examples=40)
@given(trajectories(logprobs=False), st.booleans())
def test_a_trajectory_of_rllm_comes_back(whole, legacy):
    written = rllm_trajectory(whole, legacy=legacy)
    read = read_rllm_trajectory(json.loads(json.dumps(written)))
    assert [each.tokens for each in read.turns] == [each.tokens for each in whole.kept]
    assert (read.id, read.rewards, read.status) == (whole.id, whole.rewards, whole.status)
    assert read.turns == whole.kept
    assert read.metadata == {}
    for step in written["steps"]:  # rLLM's own assertion, rllm/agents/agent.py
        assert not step["logprobs"] or len(step["logprobs"]) == len(step["response_ids"])


TOOLS = Turn(
    index=0,
    messages=({"role": "user", "content": "?"},),
    response={
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "add", "arguments": '{"x": 1}'}},
            {"id": "b", "type": "function", "function": {"name": "add", "arguments": "no JSON"}},
        ],
    },
    tool_calls=(
        ToolCall(id="a", name="add", arguments='{"x": 1}'),
        ToolCall(id="b", name="add", arguments="no JSON", recovered=True),
    ),
    tool_results=(
        ToolResult(call_id="a", content="2", seconds=0.5),
        ToolResult(call_id="b", status="error"),
    ),
)


@pytest.mark.parametrize("legacy", [False, True])
def test_several_tool_calls_of_a_step_come_back_with_their_results(legacy):
    whole = trajectory(TOOLS)
    assert read_rllm_trajectory(rllm_trajectory(whole, legacy=legacy)).turns == (TOOLS,)


def test_the_action_of_generation_1_is_written_and_read():
    step = rllm_trajectory(trajectory(TOOLS), legacy=True)["steps"][0]
    calls = [
        {"id": "a", "name": "add", "input": {"x": 1}},
        {"id": "b", "name": "add", "input": {"_raw": "no JSON"}},
    ]
    assert step["action"] == {"type": "tool_calls", "tool_calls": calls, "final_response": ""}
    single = {"chat_completions": [], "action": {"type": "tool_call", "tool_call": calls[0]}}
    read = read_rllm_trajectory({"uid": "t", "steps": [single]})
    assert read.turns[0].tool_calls == (ToolCall(id="a", name="add", arguments='{"x": 1}'),)


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
    assert read_rllm_trajectory(written).rewards == rewards


def test_rewards_that_no_turn_has_are_refused():
    with pytest.raises(InvalidReward, match="3 rewards for 1 turns"):
        rllm_trajectory(trajectory(turn(0, [1], [2]), rewards=(1.0, 2.0, 3.0)))


def test_an_episode_and_a_group_hold_trajectories():
    episode = rllm_episode([TWO], task_id="q1", index=3, task={"question": "?"})
    assert (episode["id"], episode["is_correct"], episode["session_id"]) == ("q1:3", True, "r1")
    (read,) = read_rllm_episode(json.loads(json.dumps(episode)))
    assert (read.turns, read.rewards) == (TWO.turns, TWO.rewards)
    assert {name: read.metadata[name] for name in ("episode", "group")} == {
        "episode": "q1:3",
        "group": "q1",
    }
    group = rllm_group([TWO, TWO], task_id="q1")
    assert (group["group_id"], len(group["trajectories"])) == ("q1:agent", 2)
    with pytest.raises(BadTrace, match="at least one trajectory"):
        rllm_episode([], task_id="q1")
    with pytest.raises(BadTrace, match="no colon"):
        rllm_episode([TWO], task_id="a:b")


def test_steps_are_cumulative_where_each_begins_with_the_one_before():
    one, two = ({"chat_completions": [{"role": "user", "content": "a"}] * n} for n in (1, 2))
    assert is_cumulative([one, two])
    assert is_cumulative([])
    assert not is_cumulative([two, one])


def test_what_is_not_known_here_is_kept():
    written = rllm_trajectory(TWO)
    written["colour"] = "red"
    written["steps"][1]["weight_version"] = 4
    written["steps"][1]["metadata"]["note"] = "n"
    read = read_rllm_trajectory(written)
    assert read.metadata["rllm"] == {
        "colour": "red",
        "steps": [{}, {"weight_version": 4, "note": "n"}],
    }


BAD_STEPS = [
    ({"logprobs": [-1.0], "response_ids": [1, 2]}, MisalignedTokens),
    ({"response_ids": [1.5]}, BadTrace),
    ({"chat_completions": ["text"]}, BadTrace),
    ({"reward": "1"}, BadTrace),
    ({"reward": float("nan")}, BadTrace),
    ({"action": {"type": "tool_call", "tool_call": 3}}, BadTrace),
    ({"metadata": {"reward_functions": {"tool_results": [{"status": "fine"}]}}}, BadTrace),
    ({"done": "yes"}, BadTrace),
]


@pytest.mark.parametrize(("step", "error"), BAD_STEPS, ids=[str(step) for step, _ in BAD_STEPS])
def test_a_step_of_another_shape_is_refused(step, error):
    with pytest.raises(error):
        read_rllm_trajectory({"uid": "t", "steps": [step]})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
WRITTEN = {
    read_trace_record: trace_records(TWO)[0][0].json(),
    read_result: result_envelope(TWO).json(),
    read_rllm_trajectory: rllm_trajectory(trajectory(TOOLS)),
    read_datum: changed([LOSS], datum(token_rows(TWO).rows[0], 1.0)[LOSS]),
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
