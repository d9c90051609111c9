"""`reward demo`: a table for people, and a check of what ships with the project."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from helpers.cli import app, demo
from reward_functions import Scored, get, score_batch
from reward_functions.serving.contract import decode

NAMES = demo.REWARDS


def rows(name):
    text = (files("helpers") / "demo" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_everything_comes_out_as_its_row_says():
    ran = CliRunner().invoke(app, ["demo"])
    assert ran.exit_code == 0, ran.stdout
    assert "otherwise than expected" not in ran.stdout
    for name in NAMES:
        assert all(f" {row['id']} " in ran.stdout for row in rows(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_row_earns_what_it_says(name):
    for row, result in zip(rows(name), score_batch(get(name), decode(rows(name))), strict=True):
        earned = result.score.value if isinstance(result, Scored) else "unscored"
        assert (row["id"], earned) == (row["id"], row["metadata"]["expected"])


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_are_varied_and_named(name):
    assert 10 <= len(rows(name)) <= 20
    assert {row["metadata"]["expected"] for row in rows(name)} == {1.0, 0.0, "unscored"}
    assert len({row["id"] for row in rows(name)}) == len(rows(name))


def test_a_surprise_is_shown_and_changes_the_exit_status(monkeypatch):
    monkeypatch.setattr(demo, "REWARDS", ("gsm8k",))
    monkeypatch.setattr("reward_functions.get", lambda _: get("exact_match"))
    ran = CliRunner().invoke(app, ["demo"])
    assert ran.exit_code == 1
    assert "(expected: 1.0)" in ran.stdout
    assert "otherwise than expected" in ran.stdout
