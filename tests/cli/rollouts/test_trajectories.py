"""`reward rollouts trajectories`: figures, one trajectory, a page; and `report --trajectories`."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.rollouts.drive.records import written
from reward_functions.rollouts.record.recording import Recording
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.record.types import ToolResult
from tests.parsed_page import harmless
from tests.rollouts.drive.test_figures import RECORDS

COMMAND = ["rollouts", "trajectories"]
REQUEST = {
    "messages": [{"role": "user", "content": "6 × 7? \x1b[31m"}],
    "tools": [{"type": "function", "function": {"name": "calc"}}],
}
TEXT = '<tool_call>{"name": "calc", "arguments": {"q": "6*7"}}</tool_call>'


@pytest.fixture
def file(tmp_path):
    recording = Recording(clock=lambda: 1.0)
    recording.answered(
        recording.began(REQUEST), {"choices": [{"message": {"role": "assistant", "content": TEXT}}]}
    )
    (call,) = recording.trajectory(id="").turns[0].tool_calls
    recording.tool(ToolResult(call_id=call.id, content="42", seconds=0.5))
    recording.failed(recording.began({"messages": []}), TimeoutError())
    path = tmp_path / "t.jsonl"
    sink = TrajectorySink(path)
    for id_ in ("a", "b"):
        assert sink.keep(recording.trajectory(id=id_, status="ready", rewards=(1.0,)))
    return path


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [*COMMAND, *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


def test_a_file_is_shown_as_figures(file):
    shown = run(file)
    for words in ("trajectories", "tool calls that were text", "not known", "calc", "TimeoutError"):
        assert words in shown


def test_the_same_for_programs_with_what_was_torn(file):
    with file.open("a") as stream:
        stream.write('{"traj')
    found = json.loads(CliRunner().invoke(app, [*COMMAND, str(file), "--format", "json"]).stdout)
    assert (found["trajectories"], found["tool_calls"], found["recovered"]) == (2, 2, 2)
    assert found["input_tokens"] is None
    assert found["torn"] == 6
    assert "half a line of 6 bytes" in run(file)


def test_one_is_shown_turn_by_turn_and_harmless(file):
    shown = run(file, "--show", "b")
    for words in ("Trajectory b", "6 × 7?", "calc(", "42", "TimeoutError", "rewards 1"):
        assert words in shown
    assert "\x1b[31m" not in shown
    assert json.loads(run(file, "--show", "b", "--format", "json"))["id"] == "b"


@pytest.mark.parametrize("which", [[], ["--show", "a"]])
def test_both_are_pages(file, tmp_path, which):
    page = tmp_path / "page.html"
    run(file, *which, "--report", page)
    text = page.read_text()
    assert "<svg" in text
    assert "calc" in text


def test_an_id_that_is_not_there_is_one_sentence(file):
    assert "no trajectory has the id" in run(file, "--show", "x", code=2)


def test_a_line_that_is_no_trajectory_is_one_sentence(file):
    file.write_text("{}\n")
    assert "line 1: it has no" in run(file, code=2)


def test_a_report_has_the_tools_of_its_rollouts(file, tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_ROLLOUTS_OUTBOX", "memory:")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(
        "from reward_functions.rollouts import rollout_handler\n"
        "@rollout_handler(trajectories='kept.jsonl')\n"
        "def agent(payload):\n    return 1.0\n"
    )
    (tmp_path / "rows.jsonl").write_text('{"prompt": "x", "reference": "y"}\n')
    command = CliRunner()
    ran = command.invoke(app, ["rollouts", "run", "agent.py:agent", "rows.jsonl", "-n", "2"])
    assert ran.exit_code == 0, ran.output
    report = ["rollouts", "report", "rollouts.jsonl", "--trajectories", "kept.jsonl"]
    found = json.loads(command.invoke(app, [*report, "--format", "json"]).stdout)
    assert found["trajectories"]["trajectories"] == 2
    assert found["trajectories"]["statuses"] == {"ready": 2}
    assert [group["trajectories"] for group in found["trajectories"]["groups"]] == [2]
    foreign = command.invoke(app, [*report[:-1], str(file), "--format", "json"])
    assert json.loads(foreign.stdout)["trajectories"]["trajectories"] == 0
    assert "Trajectories" in command.invoke(app, report).output
    assert command.invoke(app, [*report, "--report", "page.html"]).exit_code == 0
    page = (tmp_path / "page.html").read_text()
    harmless(page)
    worst = page.partition('<p class="worst">')[2].partition("</p>")[0]
    assert "2 of 2 rollouts never called the policy" in worst
    assert ">Rows with the most turns</h2>" in page


def test_the_page_of_a_report_has_the_responses_of_the_weakest_rows(tmp_path):
    path, page = tmp_path / "rollouts.jsonl", tmp_path / "page.html"
    answered = [replace(each, response=f"answer {each.rollout}") for each in RECORDS]
    path.write_text("".join(written(answered)))
    given = ["rollouts", "report", str(path), "--report", str(page)]
    assert CliRunner().invoke(app, given).exit_code == 0
    harmless(page.read_text())
    for rollout in ("1-0", "1-1", "2-0", "2-1"):
        assert f"answer {rollout}<" in page.read_text()
    assert "answer 3-0" not in page.read_text()
