"""`reward export`, and `--track` of `score`: a run is sent once it is written."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app

ROW = {
    "messages": [
        {"role": "user", "content": "6 × 7?"},
        {"role": "assistant", "content": "#### 42"},
    ],
    "reference_answer": "42",
}


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [ROW | {"id": "a"}, ROW | {"id": "b", "reference_answer": "41"}]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return path


@pytest.fixture
def trackio(monkeypatch):
    """A stand-in for Trackio: what it was called with, or the error that it raises."""
    module = ModuleType("trackio")
    module.__spec__ = SimpleNamespace()
    module.kept = []
    module.init = lambda **named: module.kept.append(named)
    module.log = lambda values, step=None: module.kept.append((step, values))
    module.finish = lambda: None
    monkeypatch.setitem(sys.modules, "trackio", module)
    return module


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_a_scored_file_is_written_and_then_sent(rows, tmp_path, trackio):
    out = tmp_path / "out.jsonl"
    ran = run("score", "gsm8k", rows, "-o", out, "--track", "trackio=team")
    assert ran.exit_code == 0, ran.output
    assert "Trackio: trackio show --project team" in ran.stderr
    begun, (_, figures) = trackio.kept
    assert (begun["project"], begun["name"]) == ("team", "gsm8k answers")
    assert begun["config"]["reward"] == "gsm8k"
    assert begun["config"]["file"] == "answers.jsonl"
    assert (figures["rows"], figures["reward_mean"], figures["answered"]) == (2, 0.5, 1)


def test_without_results_the_figures_of_the_summary_are_sent(rows, trackio):
    assert run("score", "gsm8k", rows, "--track", "trackio").exit_code == 0
    _, (_, figures) = trackio.kept
    assert (figures["rows"], figures["unscored"], figures["frac_reward_min"]) == (2, 0, 0.5)


def test_a_tracker_that_fails_loses_no_result(rows, tmp_path, trackio, monkeypatch):
    monkeypatch.setattr(trackio, "log", lambda *_, **__: 1 / 0)
    out = tmp_path / "out.jsonl"
    ran = run("score", "gsm8k", rows, "-o", out, "--track", "trackio")
    assert ran.exit_code == 1
    assert "Trackio did not take the run: ZeroDivisionError: division by zero" in ran.stderr
    assert f"to send it again: reward export {out} --name 'gsm8k answers'" in ran.stderr
    assert "-preward=gsm8k" in ran.stderr
    assert len(out.read_text().splitlines()) == 2


def test_a_tracker_is_asked_for_before_anything_is_scored(rows, tmp_path):
    out = tmp_path / "out.jsonl"
    ran = run("score", "gsm8k", rows, "-o", out, "--track", "mlfow")
    assert (ran.exit_code, out.exists()) == (2, False)
    assert "Did you mean 'mlflow'?" in ran.stderr
    ran = run("score", "gsm8k", rows, "-o", out, "--track", "wandb")
    assert (ran.exit_code, out.exists()) == (2, False)
    assert "pip install 'reward-functions[wandb]'" in ran.stderr


@pytest.mark.parametrize("form", ["json", "jsonl", "table"])
def test_a_json_file_is_sent_in_any_format(form, rows, tmp_path, trackio):
    out = tmp_path / "out.json"
    ran = run("score", "gsm8k", rows, "-o", out, "--format", form, "--track", "trackio")
    assert ran.exit_code == 0, ran.output
    _, (_, figures) = trackio.kept
    assert (figures["rows"], figures["reward_mean"]) == (2, 0.5)


def test_results_are_exported(rows, tmp_path, trackio):
    out = tmp_path / "out.jsonl"
    assert run("score", "gsm8k", rows, "-o", out).exit_code == 0
    ran = run("export", out, "--track", "trackio=team", "--name", "first", "-p", "reward=gsm8k")
    assert ran.exit_code == 0, ran.output
    begun, (_, figures) = trackio.kept
    assert (begun["name"], begun["config"]) == ("first", {"reward": "gsm8k"})
    assert (figures["rows"], figures["reward_mean"]) == (2, 0.5)


def test_an_export_without_a_tracker_or_of_no_results_is_a_sentence(rows, trackio):
    assert "name a tracker: --track mlflow" in run("export", rows).stderr
    ran = run("export", rows, "--track", "trackio")
    assert ran.exit_code == 2
    assert "a row is no result of `reward score`" in ran.stderr
    assert trackio.kept == []
    assert "does not exist" in run("export", "none.jsonl", "--track", "trackio").stderr
