"""The file of records: durable lines, gone on with, and refused where they are of another run."""

import json
from dataclasses import replace

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.drive.records import (
    RecordFile,
    RolloutRecord,
    Setup,
    read_records,
    written,
)
from reward_functions.rollouts.request.errors import ScorerMismatch

PIN = {"name": "math", "version": 3, "digest": "ab" * 32, "parameters": {}}
SETUP = Setup(data="d1", n=2, agent="a.py:agent", policy="calculator", scorer=PIN)
RECORD = RolloutRecord(
    row=1,
    id="a",
    sample=0,
    rollout="r1",
    status="rewarded",
    rewards=(0.5, 0.5),
    scored_by="agent",
    turns=2,
    seconds=1.5,
    response="half \ud800 of a pair",
    content={"prompt": "x", "reference_answer": "1"},
    setup=SETUP,
)
LOST = RolloutRecord(
    row=1, id="a", sample=1, rollout="r2", status="lost", error="never completed", setup=SETUP
)


def kept(path, *records, resume=False):
    with RecordFile(path, SETUP, resume=resume) as file:
        for record in records:
            file.add(record)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "out.jsonl"
    kept(path, RECORD, LOST)
    assert read_records(str(path)) == [RECORD, LOST]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_lost_reward_has_no_number(tmp_path):
    path = tmp_path / "out.jsonl"
    kept(path, LOST)
    line = json.loads(path.read_text())
    assert "reward" not in line
    assert line["rewards"] == []
    assert LOST.reward is None


def test_the_reward_of_an_episode_is_the_sum_of_its_turns():
    assert RECORD.reward == 1.0
    assert replace(RECORD, rewards=(1e308, 1e308)).reward == 2e100  # a mean of it is a number


def test_a_torn_line_gives_way_to_the_next_one(tmp_path):
    path = tmp_path / "out.jsonl"
    kept(path, RECORD)
    with path.open("a") as stream:
        stream.write('{"record": 1, "row": 1, "sam')
    assert read_records(str(path)) == [RECORD]
    kept(path, LOST, resume=True)
    assert read_records(str(path)) == [RECORD, LOST]


def test_a_file_that_is_there_is_gone_on_with_on_purpose_alone(tmp_path):
    path = tmp_path / "out.jsonl"
    kept(path, RECORD)
    with pytest.raises(ConfigurationError, match=r"is there already: .*--resume.*--out"):
        kept(path)
    with RecordFile(path, SETUP, resume=True) as file:
        assert list(file.kept) == [RECORD.attempt]


OTHERS = [
    (replace(SETUP, data="d2"), ConfigurationError, "another data set"),
    (replace(SETUP, n=4), ConfigurationError, "another n, 2 and not 4"),
    (replace(SETUP, agent="b"), ConfigurationError, "another agent"),
    (replace(SETUP, policy="x"), ConfigurationError, "another policy"),
    (replace(SETUP, seed=1), ConfigurationError, "another seed"),
    (replace(SETUP, sampling={"topP": 0.5}), ConfigurationError, "another sampling"),
    (replace(SETUP, scorer=None), ScorerMismatch, r"math version 3 \(abababababab\)"),
    (replace(SETUP, scorer=PIN | {"version": 4}), ScorerMismatch, "by math version 4"),
    (replace(SETUP, scorer=PIN | {"parameters": {"x": 1}}), ScorerMismatch, "with x=1"),
]


@pytest.mark.parametrize(("setup", "error", "sentence"), OTHERS, ids=[each[2] for each in OTHERS])
def test_another_run_is_refused_in_one_sentence(tmp_path, setup, error, sentence):
    path = tmp_path / "out.jsonl"
    kept(path, RECORD)
    before = path.read_bytes()
    with pytest.raises(error, match=sentence) as raised:
        RecordFile(path, setup, resume=True)
    assert "--out" in str(raised.value)
    assert path.read_bytes() == before


FOREIGN = [
    b"not JSON\n",
    b"no line",
    b"[]\n",
    b"{}\n",
    b'{"record": 2}\n',
    b'{"answers": 1, "setup": "9f2c"}\n',
    json.dumps(RECORD.line() | {"status": "won"}).encode() + b"\n",
    json.dumps(RECORD.line() | {"rewards": []}).encode() + b"\n",
    json.dumps(RECORD.line() | {"rewards": [float("nan")]}).encode() + b"\n",
    json.dumps(RECORD.line() | {"setup": None}).encode() + b"\n",
    json.dumps(LOST.line() | {"rewards": [0.0]}).encode() + b"\n",
    b"[" * 100_000 + b"\n",
]


@pytest.mark.parametrize("content", FOREIGN, ids=lambda content: content[:60].decode())
def test_a_file_of_something_else_is_refused_and_stays_what_it_is(tmp_path, content):
    path = tmp_path / "out.jsonl"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError):
        RecordFile(path, SETUP, resume=True)
    with pytest.raises(ConfigurationError):
        read_records(str(path))
    assert path.read_bytes() == content


def test_two_commands_do_not_write_to_one_file(tmp_path):
    path = tmp_path / "out.jsonl"
    with (
        RecordFile(path, SETUP, resume=False),
        pytest.raises(ConfigurationError, match="another command writes there"),
    ):
        RecordFile(path, SETUP, resume=True)


def test_a_file_of_several_runs_is_refused(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("".join(written([RECORD, replace(LOST, setup=replace(SETUP, data="d2"))])))
    with pytest.raises(ConfigurationError, match="another data set"):
        read_records(str(path))


def test_texts_may_be_left_out(tmp_path):
    line = RECORD.without_texts().line()
    assert not line.keys() & {"response", "content"}


def test_a_run_keeps_no_texts_in_memory(tmp_path):
    path = tmp_path / "out.jsonl"
    with RecordFile(path, SETUP, resume=False) as file:
        file.add(RECORD)
        assert file.kept == {RECORD.attempt: RECORD.without_texts()}
    with RecordFile(path, SETUP, resume=True) as file:
        assert file.kept == {RECORD.attempt: RECORD.without_texts()}
    assert read_records(str(path)) == [RECORD]


def test_records_of_one_run_share_its_setup(tmp_path):
    path = tmp_path / "out.jsonl"
    kept(path, RECORD, LOST)
    first, second = read_records(str(path))
    assert first.setup is second.setup


WRONG = [
    # a field of a line, what it holds
    *[(name, text) for name in ("turns", "tool_calls", "row", "sample", "duplicates")
      for text in ("1" + "0" * 400, "-1", "1.5", "true", "NaN", '"1"', "null")],
    *[("seconds", text) for text in ("1" + "0" * 400, "1e308", "1e999", "NaN", "true", '"1"')],
    *[("rewards", text) for text in ("[1" + "0" * 400 + "]", "[1e999]", "[NaN]", '["a"]', "1")],
    *[(name, text) for name in ("id", "rollout", "error") for text in ("1", "null", "{}")],
    *[("response", "1"), ("content", "[]"), ("setup", "1"), ("setup", "{}")],
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_a_line_whose_fields_are_of_other_types_is_a_sentence(tmp_path, name, text):
    path = tmp_path / "out.jsonl"
    line = json.dumps(RECORD.line() | {name: "HERE"}).replace('"HERE"', text)
    path.write_text(f"{line}\n")
    with pytest.raises(ConfigurationError, match="line 1: not a record of a rollout"):
        read_records(str(path))


@pytest.mark.parametrize(
    ("name", "value"),
    [("agent", 1), ("data", None), ("policy", {}), ("sampling", "x"), ("scorer", 1)],
)
def test_a_setup_of_other_types_is_a_sentence(tmp_path, name, value):
    path = tmp_path / "out.jsonl"
    line = RECORD.line()
    path.write_text(json.dumps(line | {"setup": line["setup"] | {name: value}}) + "\n")
    with pytest.raises(ConfigurationError, match="line 1: not a record of a rollout"):
        read_records(str(path))
