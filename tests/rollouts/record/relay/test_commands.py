"""A relay in the foreground: by its module, and as `reward rollouts relay`."""

import json
import os
import signal

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.rollouts.record.jsonl import TrajectoryFile
from reward_functions.rollouts.record.relay.__main__ import ADMIN_KEY, main
from tests.commands import PIPE, Command
from tests.rollouts.record.relay.engines import Engine, tokens_of
from tests.rollouts.record.relay.load import Caller

MODULE = """
from runpy import run_module
run_module("reward_functions.rollouts.relay", run_name="__main__")
"""


def test_the_command_relays_and_writes_what_ended(tmp_path):
    out = tmp_path / "traces.jsonl"
    with Engine().serving() as engine:
        options = ["--engine", engine.url, "--port", "0", "--out", str(out)]
        with Command(
            ["rollouts", "relay", *options], env=os.environ | {ADMIN_KEY: "owner"}, stdout=PIPE
        ) as child:
            url = child.stdout.readline().split()[-1]
            owner = Caller(url, "owner")
            made = [json.loads(owner.post("/sessions", {"id": name})[1]) for name in "ab"]
            for each in made:
                agent = Caller(each["url"], each["api_key"])
                assert agent.chat("hello", stream=True)[0] == 200
                agent.close()
            owner.close()
            child.send_signal(signal.SIGTERM)
            shown = child.stdout.read()
        assert child.returncode == 0
    assert "relay ended: 2 sessions" in shown
    assert not any(each["api_key"] in shown for each in made)
    assert out.stat().st_mode & 0o777 == 0o600
    kept = list(TrajectoryFile(out))
    assert sorted(each.id for each in kept) == ["a", "b"]
    assert list(kept[0].turns[0].tokens.logprobs) == tokens_of("hello")[2]


def test_a_file_that_cannot_be_written_is_refused_before_anybody_is_served(monkeypatch, tmp_path):
    monkeypatch.setenv(ADMIN_KEY, "owner")
    options = ["--engine", "http://127.0.0.1:1", "--out", str(tmp_path / "none" / "traces.jsonl")]
    ran = CliRunner().invoke(app, ["rollouts", "relay", *options])
    assert ran.exit_code == 2
    assert "none does not exist" in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_module_ends_by_a_signal_and_says_what_was_not_written(number):
    with (
        Engine().serving() as engine,
        Command(
            ["--engine", engine.url, "--port", "0", "--out", "/dev/full"],
            program=MODULE,
            env=os.environ | {ADMIN_KEY: "owner"},
            stderr=PIPE,
        ) as child,
    ):
        owner = Caller(child.stderr.readline().split()[-1], "owner")
        assert owner.post("/sessions", {})[0] == 201
        child.send_signal(number)
        said = child.stderr.read()
        owner.close()
    assert child.returncode == 2
    assert "trajectories that were not written to /dev/full: 1" in said


def test_the_module_refuses_what_it_cannot_run(monkeypatch, capsys):
    monkeypatch.delenv(ADMIN_KEY, raising=False)
    with pytest.raises(SystemExit):
        main(["--engine", "http://127.0.0.1:1"])
    assert f"the variable {ADMIN_KEY}, for a key, is not set" in capsys.readouterr().err


def test_the_command_says_which_key_is_missing(monkeypatch):
    monkeypatch.delenv(ADMIN_KEY, raising=False)
    ran = CliRunner().invoke(app, ["rollouts", "relay", "--engine", "http://127.0.0.1:1"])
    assert ran.exit_code != 0
    assert ADMIN_KEY in str(ran.exception) + ran.output
