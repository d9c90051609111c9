"""`reward rollouts export`: each format, what is left out, and what cannot be read."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.data import json_rows
from reward_functions.rollouts.record import jsonl
from tests.rollouts.record.exchange.episodes import trajectory, turn

FIELDS = {
    "agentcore": {"token_ids", "loss_mask", "logprobs", "reward"},
    "datum": {"modelInput", "lossFnInputs"},
    "rllm": {"id", "trajectories", "is_correct"},
    "jsonl": {"trajectory", "turns", "rewards"},
}


@pytest.fixture
def files(tmp_path):
    traces, records = tmp_path / "traces.jsonl", tmp_path / "records.jsonl"
    made = [trajectory(turn(0, [1], [2]), id=name, rewards=None) for name in "abc"]
    made.append(trajectory(turn(0, [1], [2], logprobs=()), id="d", rewards=None))
    traces.write_text("".join(f"{jsonl.written(each)}\n" for each in made) + '{"traj')
    lines = [
        {"record": 1, "row": 1, "rollout": name, "rewards": [value]}
        for name, value in (("a", 0.0), ("b", 1.0), ("d", 1.0))
    ]
    records.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return traces, records


def run(*arguments):
    return CliRunner().invoke(app, ["rollouts", "export", *map(str, arguments)])


@pytest.mark.parametrize(
    ("to", "rows"), [("agentcore", 2), ("datum", 2), ("rllm", 4), ("jsonl", 4)]
)
def test_each_format_is_written_and_what_is_left_out_is_said(files, tmp_path, to, rows):
    traces, records = files
    out = tmp_path / "rows.jsonl"
    done = run(traces, "--to", to, "--rewards", records, "--out", out)
    assert done.exit_code == 0, done.output
    lines = out.read_text().splitlines()
    assert len(lines) == rows
    assert all(FIELDS[to] <= json.loads(line).keys() for line in lines)
    assert "rollout: no reward" in done.output
    assert "half a line at the end" in done.output
    assert ("turn: no log-probabilities: 1" in done.output) == (rows == 2)


def test_where_there_is_no_row_the_status_says_so(files, tmp_path):
    done = run(files[0], "--to", "datum", "--out", tmp_path / "rows.jsonl")
    assert done.exit_code == 2
    assert "0 rows" in done.output


def test_a_file_that_is_read_is_not_written(files):
    done = run(files[0], "--to", "jsonl", "--out", files[0])
    assert done.exit_code == 2
    assert "write the rows to another file" in " ".join(done.output.split())


def test_a_line_that_cannot_be_read_is_named(files, tmp_path):
    files[1].write_text('{"row": 1}\n')
    done = run(files[0], "--to", "datum", "--rewards", files[1], "--out", tmp_path / "rows.jsonl")
    assert done.exit_code == 2
    assert "line 1" in done.output


GAPS = {"token_gaps": {"0": "misaligned: 1 id for 2"}, "group": "g"}


@pytest.mark.parametrize(
    ("to", "rows"), [("agentcore", ["b", "c"]), ("datum", 2), ("rllm", 2), ("jsonl", 3)]
)
def test_a_rollout_of_misaligned_tokens_stands_in_jsonl_alone(tmp_path, to, rows):
    traces, out = tmp_path / "traces.jsonl", tmp_path / "rows.jsonl"
    made = [
        trajectory(turn(0, [1], [2]), id=name, rewards=(value,), metadata=GAPS | more)
        for name, value, more in (
            ("a", 0.0, {}),
            ("b", 1.0, {"token_gaps": {}}),
            ("c", 5.0, {"token_gaps": {"0": "no token ids"}}),
        )
    ]
    traces.write_text("".join(f"{jsonl.written(each)}\n" for each in made))
    done = run(traces, "--to", to, "--out", out)
    assert done.exit_code == 0, done.output
    lines = list(map(json.loads, out.read_text().splitlines()))
    found = [line.get("rollout_id") for line in lines] if to == "agentcore" else len(lines)
    assert found == rows
    assert ("rollout: misaligned tokens: 1" in done.output) == (to != "jsonl")


@pytest.mark.parametrize("to", ["agentcore", "datum", "rllm"])
def test_a_return_that_no_trainer_can_hold_is_one_sentence_or_left_out(tmp_path, to):
    traces = tmp_path / "traces.jsonl"
    one = trajectory(
        turn(0, [1], [2]), turn(1, [1], [3]), rewards=(1e308, 1e308), metadata={"group": "g"}
    )
    traces.write_text(f"{jsonl.written(one)}\n")
    done = run(traces, "--to", to, "--out", tmp_path / "rows.jsonl")
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert "a return" in done.output


@pytest.mark.parametrize(
    ("weight", "first", "second"),
    [("token", 0.5, 0.5), ("row", 0.5 / 3, 0.5), ("episode", 0.125, 0.125)],
)
@pytest.mark.parametrize("to", ["agentcore", "datum"])
def test_the_weight_of_a_forked_episode_is_chosen_and_said(tmp_path, to, weight, first, second):
    traces, out = tmp_path / "traces.jsonl", tmp_path / "rows.jsonl"
    group = {"metadata": {"group": "g"}}
    made = [
        trajectory(
            turn(0, [1], [2, 3, 4]),
            turn(1, [9], [5]),
            turn(2, [8], [5], logprobs=()),  # gives no row, and takes no share
            id="a",
            rewards=(1.0,),
            **group,
        ),
        trajectory(turn(0, [1], [2]), id="b", rewards=(0.0,), **group),
    ]
    traces.write_text("".join(f"{jsonl.written(each)}\n" for each in made))
    done = run(traces, "--to", to, "--out", out, "--weight", weight)
    assert f"weight per {weight}: " in done.output
    assert "1 of 2 episodes have several rows" in " ".join(done.output.split())
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    if to == "agentcore":
        found = [row["metadata"]["advantage"] for row in rows]
        assert {row["metadata"]["weight"] for row in rows} == {weight}
    else:
        found = [row["lossFnInputs"]["advantages"]["data"][-1] for row in rows]
    assert found == pytest.approx([first, second, -0.5])


def test_trajectories_that_take_too_much_together_are_refused(files, tmp_path, monkeypatch):
    monkeypatch.setattr(json_rows, "_AT_A_TIME", 0)
    monkeypatch.setattr(json_rows, "_RATIO_HELD", 1)
    path = tmp_path / "t.jsonl"
    path.write_text(
        "".join(f"{jsonl.written(trajectory(turn(0, [1], [2]), id=str(at)))}\n" for at in range(9))
    )
    out = tmp_path / "rows.jsonl"
    ran = CliRunner().invoke(
        app, ["rollouts", "export", str(path), "--to", "jsonl", "--out", str(out)]
    )
    assert ran.exit_code == 2
    assert "holds all rows at once" in " ".join(ran.stderr.split())
    assert not out.exists()
