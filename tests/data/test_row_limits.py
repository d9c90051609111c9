"""A file becomes no more than its size allows: one limit, in every command that reads rows."""

import gzip
import io
import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.data import json_rows
from reward_functions.data.json_rows import BadInput, Room, read_rows, scan_rows
from reward_functions.data.rows.formats import scan_file
from reward_functions.data.rows.reading import read_rows as read_any
from reward_functions.data.rows.reading import scan_rows as scan_any
from reward_functions.jobs.preflight import readable

COUNT = 1_000

HELD = "holds all rows at once, and they take more than"


def line(at):
    turns = [{"role": "user", "content": f"{at}?"}, {"role": "assistant", "content": f"#### {at}"}]
    return {
        "id": str(at),
        "messages": turns,
        "reference_answer": f"{at}",
        "prompt": f"{at}?",
        "label": at % 2,
        "label2": 1,
    }


@pytest.fixture
def tight(monkeypatch):
    """Room for a few hundred rows, whatever the file's size."""
    monkeypatch.setattr(json_rows, "_AT_A_TIME", 1 << 18)
    monkeypatch.setattr(json_rows, "_RATIO_HELD", 0)


@pytest.fixture
def reward():
    return lambda *words: CliRunner().invoke(app, [*words])


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(f"{json.dumps(line(at))}\n" for at in range(COUNT)))
    return "rows.jsonl"


AGENT = "agent.py:agent"

KEEP = {
    "invoke": ("invoke", "gsm8k", "rows.jsonl"),
    "score --report": ("score", "gsm8k", "rows.jsonl", "--report", "page.html"),
    "score --sort id": ("score", "gsm8k", "rows.jsonl", "--sort", "id"),
    "data lint": ("data", "lint", "rows.jsonl"),
    "data split": ("data", "split", "rows.jsonl", "--by", "prompt"),
    "audit": ("audit", "gsm8k", "rows.jsonl"),
    "data prepare": ("data", "prepare", "--from", "rows.jsonl", "--out", "out"),
    "audit --card": (
        *("audit", "reference", "rows.jsonl", "--card", "cards"),
        *("--recorded", "label2"),
    ),
    "deployed invoke": ("deployed", "invoke", "ARN", "rows.jsonl"),
    "job plan": (
        *("job", "plan", "--offline", "--data", "rows.jsonl", "--deployment", "ARN"),
        *("--model", "amazon.nova-2-lite-v1:0:256k", "--stage", "dev"),
    ),
    "rollouts run": ("rollouts", "run", AGENT, "rows.jsonl", "--reward", "gsm8k"),
    "rollouts run --policy": (
        *("rollouts", "run", AGENT, "one.jsonl", "--policy", "script.jsonl", "--reward", "gsm8k"),
    ),
}
"""Commands that keep something of every row."""

FORGET = {
    "score": ("score", "gsm8k", "rows.jsonl", "-o", "out.jsonl"),
    "explain": ("explain", "gsm8k", "rows.jsonl", "--worst", "1"),
    "data stats": ("data", "stats", "rows.jsonl"),
    "data convert": ("data", "convert", "rows.jsonl", "--to", "bedrock", "-o", "out.jsonl"),
}
"""Commands that read each row and forget it."""

ARN = "arn:aws:lambda:us-east-1:123456789012:function:x:1"


@pytest.mark.parametrize("command", KEEP.values(), ids=KEEP)
def test_a_command_that_keeps_something_of_every_row_refuses_very_many(
    reward, rows, tight, monkeypatch, command
):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    Path("agent.py").write_text("def agent(payload):\n    return '#### 1'\n")
    Path("one.jsonl").write_text('{"prompt": "1?"}\n')
    script = ({"prompt": f"{at}", "turns": ["a"]} for at in range(COUNT))
    Path("script.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in script))
    ran = reward(*(ARN if word == "ARN" else word for word in command))
    assert ran.exit_code == 2
    assert HELD in " ".join(ran.stderr.split())
    assert "split the file, or unpack it first" in " ".join(ran.stderr.split())


@pytest.mark.parametrize("command", FORGET.values(), ids=FORGET)
def test_a_command_that_forgets_its_rows_takes_any_number(reward, rows, tight, command):
    ran = reward(*command)
    assert ran.exit_code == 0, ran.stderr


def test_a_baseline_and_a_preflight_keep_every_sample(rows, tight):
    with pytest.raises(BadInput, match=HELD):
        readable([Path(rows)])


TEXTS = {
    "jsonl": ("rows.jsonl", lambda: "".join(f"{json.dumps(line(at))}\n" for at in range(COUNT))),
    "an array": ("rows.json", lambda: json.dumps([line(at) for at in range(COUNT)])),
    "csv": ("rows.csv", lambda: "prompt,response,answer\n" + "1,1,1\n" * COUNT),
    "lines that are no rows": ("rows.jsonl", lambda: f"{json.dumps(line(0))}\n" + "x\n" * COUNT),
    "several responses of a row": (
        "rows.jsonl",
        lambda: json.dumps({"prompt": "p", "responses": ["r"] * COUNT, "answer": "1"}) + "\n",
    ),
}


@pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
@pytest.mark.parametrize(("name", "text"), TEXTS.values(), ids=TEXTS)
def test_rows_are_counted_in_every_format(tmp_path, tight, name, text, packed):
    file = tmp_path / f"{name}{'.gz' * packed}"
    content = text().encode()
    file.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(BadInput, match=HELD):
        list(scan_any(str(file), whole=True))


def test_what_a_file_becomes_is_bounded_for_commands_that_forget_their_rows_too(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(json_rows, "FREE", 1 << 16)
    monkeypatch.setattr(json_rows, "_RATIO_READ", 1)
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n' * COUNT)
    for read in (scan_rows, scan_file):
        with pytest.raises(BadInput, match=r"its 9,000 bytes become more than \d+ MB of rows"):
            list(read(str(file)))


def test_the_files_of_a_folder_have_room_together(tmp_path, monkeypatch):
    monkeypatch.setattr(json_rows, "_AT_A_TIME", 0)
    for at in range(3):
        text = "".join(
            f'{{"prompt": "{"p" * 400}", "response": "r", "answer": "1"}}\n' for at in range(100)
        )
        (tmp_path / f"train-0000{at}-of-00003.jsonl").write_text(text)
    assert sum(1 for _ in read_any(str(tmp_path), whole=True)) == 300


class Pipe(io.RawIOBase):
    """Standard input that is no file."""

    def __init__(self, content):
        self._left = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._left.readinto(buffer)


@pytest.mark.parametrize(
    ("read", "packed"),
    [(read_rows, False), (read_any, False), (read_any, True)],
    ids=["JSONL alone", "any format", "gzip"],
)
def test_a_pipe_is_held_to_the_bytes_that_came_through_it(monkeypatch, read, packed):
    monkeypatch.setattr(json_rows, "_AT_A_TIME", 1 << 18)
    content = (
        b'{"prompt": "a question that is long enough", "response": "r", "answer": "1"}\n' * COUNT
    )
    piped = gzip.compress(content) if packed else content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe(piped))))
    if packed:
        with pytest.raises(BadInput, match="standard input: this command holds all rows"):
            list(read("-", whole=True))
    else:
        assert sum(1 for _ in read("-", whole=True)) == COUNT


def test_a_file_that_is_standard_input_counts_by_its_size(tmp_path, monkeypatch, tight):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"prompt": "p", "response": "r", "answer": "1"}\n' * COUNT)
    with file.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(BadInput, match=HELD):
            list(read_any("-", whole=True))


def test_a_pipe_stays_open_for_its_owner():
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as stream, os.fdopen(theirs, "wb") as writer:
        writer.write(b"first\nsecond\n")
        writer.flush()
        room = Room("a pipe", whole=True)
        counted = room.counted(stream)
        assert counted.readline() == b"first\n"
        counted.close()
        assert not stream.closed
