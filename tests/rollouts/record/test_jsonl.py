"""Trajectories as lines: what is written is read again, and nothing else is taken."""

import json

import pytest
from hypothesis import given, settings

from reward_functions.rollouts.record import jsonl
from reward_functions.rollouts.record.jsonl import (
    BadTrajectory,
    TrajectoryFile,
    read,
    written,
)
from reward_functions.rollouts.record.recording import Recording
from reward_functions.rollouts.record.types import TokenTrace, Trajectory, Turn
from tests.rollouts.record.conftest import Agent, answer, call
from tests.rollouts.record.test_recording import HOSTILE


def trajectory(turns=2, **known):
    recording = Recording(clock=lambda: 1.5)
    one = Agent(recording)
    for number in range(turns):
        one.asks(
            answer("x" * 100, calls=[call(f"c{number}")], usage={"prompt_tokens": 1}),
            temperature=0.5,
        )
        one.shows(f"c{number}", "42")
    return recording.trajectory(**{"id": "r", "rewards": (0.5,), "metadata": {"a": [1]}, **known})


def test_what_is_written_is_read_again():
    one = trajectory(job="arn", status="ready", truncated=True)
    assert read(written(one)) == one
    turn = Turn(
        index=0,
        tokens=TokenTrace(prompt_ids=(1,), completion_ids=(2, 3), logprobs=(-0.1, -2.5e-7)),
        error="TimeoutError",
        unread=("usage",),
    )
    assert read(written(Trajectory(id="", turns=(turn,)))) == Trajectory(id="", turns=(turn,))


@settings(max_examples=50, deadline=None)
@given(HOSTILE, HOSTILE)
def test_whatever_is_recorded_can_be_written_and_read(request, response):
    recording = Recording()
    recording.answered(recording.began({"messages": [request]}), response)
    recording.answered(recording.began(request), {"choices": [{"message": response}]})
    one = recording.trajectory(id="r")
    assert read(written(one)) == one


def test_a_line_grows_with_the_episode_and_not_with_its_square():
    assert len(written(trajectory(100))) < 12 * len(written(trajectory(10)))


def test_messages_that_are_equal_are_one_object_again():
    again = read(written(trajectory(3)))
    assert again.turns[0].messages[0] is again.turns[2].messages[0]


def changed(**fields):
    return {**json.loads(written(trajectory())), **fields}


def in_turn(**fields):
    line = json.loads(written(trajectory()))
    line["turns"][1] |= fields
    return line


BIG = 10**400
"""A number of JSON that is no float."""

WRONG = [
    ([], 'no "trajectory": 1'),
    ({}, 'no "trajectory": 1'),
    (changed(trajectory=2), 'no "trajectory": 1'),
    (changed(id=None), "id is null"),
    (changed(truncated=0), "truncated is a number"),
    (changed(rewards=["1"]), "rewards is no list of finite numbers"),
    (changed(rewards=[True]), "rewards is no list of finite numbers"),
    (changed(metadata=[]), "metadata is a list and no object"),
    (changed(messages={}), "messages is an object and no list"),
    (changed(messages=[1]), r"messages\[0\] is a number and no object"),
    (changed(turns=None), "turns is null and no list"),
    (in_turn(messages=[[0, 99]]), r"turns\[1\].messages\[0\] is no range of messages"),
    (in_turn(messages=[[-1, 1]]), r"turns\[1\].messages\[0\] is no range of messages"),
    (in_turn(messages=[[0]]), r"turns\[1\].messages\[0\] is no range of messages"),
    (in_turn(messages=[[0, 1]] * 3 + [[0, True]]), r"messages\[3\] is no list of whole numbers"),
    (in_turn(tools=7), r"turns\[1\].tools is no number of a list of tools"),
    (in_turn(tools=True), r"turns\[1\].tools is no number of a list of tools"),
    (in_turn(index="1"), r"turns\[1\].index is a string"),
    (in_turn(seconds=None), r"turns\[1\].seconds is null"),
    (in_turn(response="x"), r"turns\[1\].response is a string and no object"),
    (in_turn(tool_calls=[{"id": 1}]), r"turns\[1\].tool_calls\[0\].id is a number"),
    (in_turn(usage={"input": "1"}), r"turns\[1\].usage.input is a string"),
    (
        in_turn(tool_results=[{"call_id": "", "content": "", "status": "x", "discarded": 0}]),
        r"tool_results\[0\].status is none of",
    ),
    (in_turn(tokens={"completion_ids": [1], "logprobs": []}), "its tokens: 0 log-probabilities"),
    (in_turn(tokens={"prompt_ids": [1.5]}), r"turns\[1\].prompt_ids is no list of whole numbers"),
    (in_turn(tokens={"completion_ids": [1], "logprobs": [0.5]}), "0.0 or less"),
    (changed(trajectory=True), 'no "trajectory": 1'),
    (changed(trajectory=1.0), 'no "trajectory": 1'),
    (changed(rewards=[]), "rewards is empty"),
    (changed(rewards=[BIG]), "rewards is no list of finite numbers"),
    (changed(rewards=[-BIG]), "rewards is no list of finite numbers"),
    (in_turn(began=BIG), r"turns\[1\].began is larger than a float"),
    (in_turn(seconds=-BIG), r"turns\[1\].seconds is larger than a float"),
    (in_turn(index=BIG), r"turns\[1\].index is larger than a float"),
    (in_turn(usage={"output": BIG}), r"turns\[1\].usage.output is larger than a float"),
    (
        in_turn(
            tool_results=[
                {"call_id": "", "content": "", "status": "error", "discarded": 0, "seconds": BIG}
            ]
        ),
        r"tool_results\[0\].seconds is larger than a float",
    ),
    (in_turn(tokens={"prompt_ids": [2**63]}), "its tokens: a token id is a whole number"),
    (in_turn(tokens={"completion_ids": [BIG]}), "its tokens: a token id is a whole number"),
    (in_turn(tokens={"completion_ids": [1], "logprobs": [-BIG]}), "no list of finite numbers"),
]


@pytest.mark.parametrize(("line", "sentence"), WRONG)
def test_a_wrong_type_is_named_by_its_field(line, sentence):
    with pytest.raises(BadTrajectory, match=sentence):
        read(json.dumps(line))


@pytest.mark.parametrize(
    "line",
    ["", "{", "x", '{"trajectory": 1, "trajectory": 1}', '{"trajectory": NaN}', "[" * 100_000],
)
def test_what_is_no_strict_json_is_refused(line):
    with pytest.raises(BadTrajectory):
        read(line)


@pytest.mark.parametrize(
    "defect", ['"a":NaN', '"a":Infinity', '"a":[-Infinity]', '"a":1,"a":1', '"a":{"b":1,"b":2}']
)
def test_one_defect_deep_in_a_whole_line_is_refused(defect):
    line = written(Trajectory(id="r"))
    assert '"metadata":{}' in line
    with pytest.raises(BadTrajectory, match="no JSON, or has a name twice, or NaN"):
        read(line.replace('"metadata":{}', f'"metadata":{{{defect}}}'))


def test_ranges_that_say_more_than_they_weigh_are_refused(monkeypatch):
    monkeypatch.setattr("reward_functions.rollouts.record.jsonl.MOST_REFERENCES", 10)
    with pytest.raises(BadTrajectory, match="refer to more than is read"):
        read(json.dumps(in_turn(messages=[[0, 2]] * 6)))


def test_nan_is_not_written():
    with pytest.raises(ValueError, match="JSON"):
        written(Trajectory(id="r", metadata={"a": float("nan")}))


def test_half_a_line_at_the_end_is_skipped_and_reported(tmp_path, caplog):
    path = tmp_path / "t.jsonl"
    whole = written(trajectory())
    path.write_text(f"{whole}\n\n{whole}\n{whole[:50]}")
    found = TrajectoryFile(path)
    assert [each.id for each in found] == ["r", "r"]
    assert found.torn == 50
    assert "half a line" in caplog.text
    assert "6 × 7" not in caplog.text


WHOLE = written(trajectory()).encode()
BYTES = {
    # what: (bytes of the file, trajectories that are read, bytes that are torn)
    "line breaks of Windows": (WHOLE + b"\r\n" + WHOLE + b"\r\n", 2, 0),
    "a byte order mark": (b"\xef\xbb\xbf" + WHOLE + b"\n", 1, 0),
    "blank lines": (b"\n \n" + WHOLE + b"\n\n", 1, 0),
    "no last line break": (WHOLE, 0, len(WHOLE)),
    "nothing": (b"", 0, 0),
    "half a letter": (WHOLE + b"\n" + b'{"id": "\xc3', 1, 9),
}


@pytest.mark.parametrize(("data", "whole", "torn"), BYTES.values(), ids=BYTES)
def test_a_file_of_other_line_breaks_is_read(tmp_path, data, whole, torn):
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)
    found = TrajectoryFile(path)
    assert len(list(found)) == whole
    assert found.torn == torn


@pytest.mark.parametrize(
    "line", [b"\0" * 9, WHOLE.replace(b"42", b"\xff"), WHOLE.decode().encode("utf-16"), b"{}"]
)
def test_a_line_of_other_bytes_is_an_error_with_its_number(tmp_path, line):
    path = tmp_path / "t.jsonl"
    path.write_bytes(WHOLE + b"\n" + line + b"\n")
    with pytest.raises(BadTrajectory, match=r"t\.jsonl, line 2: "):
        list(TrajectoryFile(path))


def test_half_a_line_elsewhere_is_an_error_with_its_number(tmp_path):
    path = tmp_path / "t.jsonl"
    whole = written(trajectory())
    path.write_text(f"{whole}\n{whole[:50]}\n{whole}\n")
    with pytest.raises(BadTrajectory, match=r"t\.jsonl, line 2: "):
        list(TrajectoryFile(path))


PARTS = {
    "lists": [[]] * 3_000,
    "objects": [{}] * 3_000,
    "names": {f"{at}": 0 for at in range(3_000)},
    "strings": ["é"] * 3_000,
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_a_line_of_very_many_parts_is_refused_before_it_is_decoded(parts, monkeypatch):
    """Each takes far more memory than its text."""
    line = written(Trajectory(id="r", metadata={"parts": parts}))
    assert read(line).metadata
    monkeypatch.setattr(jsonl, "MOST_PARTS", 2_000)
    monkeypatch.setattr(jsonl.json, "loads", None)
    with pytest.raises(BadTrajectory, match="more than 2,000 objects, lists and strings"):
        read(line)


def test_what_a_text_holds_is_no_part(monkeypatch):
    code = '{"a": [["x"], {"b": "\\"[{"}]}' * 1_000
    line = written(Trajectory(id="r", metadata={"code": code}))
    monkeypatch.setattr(jsonl, "MOST_PARTS", 50)
    assert read(line).metadata == {"code": code}


def test_the_size_of_a_trajectory_counts_what_its_turns_refer_to(tmp_path):
    path = tmp_path / "t.jsonl"
    sizes = []
    for ranges in ([[0, 2]], [[0, 2]] * 1_000):
        path.write_text(json.dumps(in_turn(messages=ranges)) + "\n")
        found = TrajectoryFile(path)
        assert len(list(found)) == 1
        sizes.append(found.size)
    assert sizes[1] - sizes[0] >= 8 * 2 * 999
