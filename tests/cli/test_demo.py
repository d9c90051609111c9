"""`reward demo`: a table for people, and a check of what ships with the project."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from pathlib import Path
from shutil import which

import pytest
from typer.testing import CliRunner

from reward_functions import Scored, get, score_batch
from reward_functions.cli import app, demo
from reward_functions.serving.contract import decode

NAMES = demo.REWARDS
ROOT = Path(__file__).parents[2]


def rows(name):
    text = (files("reward_functions.data") / "demo" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_everything_comes_out_as_its_row_says():
    ran = CliRunner().invoke(app, ["demo"])
    assert ran.exit_code == 0, ran.stdout
    assert "otherwise than expected" not in ran.stdout
    for name in NAMES:
        assert all(f" {row['id']} " in ran.stdout for row in rows(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_row_earns_what_it_says(name):
    results = score_batch(get(name).bind({}, ask=demo.script(name)), decode(rows(name)))
    for row, result in zip(rows(name), results, strict=True):
        earned = result.score.value if isinstance(result, Scored) else "unscored"
        assert (row["id"], earned) == (row["id"], row["metadata"]["expected"])


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_are_varied_and_named(name):
    assert 10 <= len(rows(name)) <= 20
    assert {row["metadata"]["expected"] for row in rows(name)} == {1.0, 0.0, "unscored"}
    assert len({row["id"] for row in rows(name)}) == len(rows(name))


def test_what_to_try_next_begins_with_the_environment_where_reward_is_not_found(monkeypatch):
    monkeypatch.setattr(demo, "which", lambda _: None)
    monkeypatch.setattr(demo.sys, "prefix", f"{ROOT}/.venv")
    monkeypatch.setattr(demo.Path, "exists", lambda _: True)
    monkeypatch.chdir(ROOT)
    assert list(demo._activation()) == [". .venv/bin/activate"]
    monkeypatch.setattr(demo, "which", lambda name: f"/bin/{name}")
    assert not list(demo._activation())


@pytest.mark.skipif(which("make") is None, reason="make is not installed")
def test_make_says_of_a_python_that_it_is_not_there(tmp_path):
    ran = subprocess.run(
        ["make", "-f", ROOT / "Makefile", "PYTHON=/nope/python", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "/nope/python is not there" in ran.stdout
    assert "not found" not in ran.stdout + ran.stderr


def test_a_surprise_is_shown_and_changes_the_exit_status(monkeypatch):
    monkeypatch.setattr(demo, "REWARDS", ("gsm8k",))
    monkeypatch.setattr("reward_functions.cli.demo.get", lambda _: get("exact_match"))
    ran = CliRunner().invoke(app, ["demo"])
    assert ran.exit_code == 1
    assert "(expected: 1.0)" in ran.stdout
    assert "otherwise than expected" in ran.stdout


def test_deploying_the_demo_needs_the_projects_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["demo", "--deployed"])
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "has no cdk.json: the demo is deployed from the project's folder" in ran.stderr
