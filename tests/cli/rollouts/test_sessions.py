"""`reward rollouts sessions`: what a dead process left is shown, stopped, and forgotten."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.rollouts.collect.ledger import Ledger, open_sessions
from tests.local.agentcore_double import FunctionAgent, serving

ARN = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-abc"
LEFT, LIVE = "left-" + "0" * 36, "live-" + "0" * 36

KILLED = f"""
import os, signal
from pathlib import Path
from reward_functions.rollouts.collect.ledger import Ledger
ledger = Ledger(Path(os.environ["REWARD_ROLLOUTS_SESSIONS"]))
for session in ("done-" + "0" * 36, {LEFT!r}):
    ledger.started({ARN!r}, session)
ledger.stopped("done-" + "0" * 36)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_ROLLOUTS_SESSIONS", str(tmp_path))
    subprocess.run([sys.executable, "-c", KILLED], check=False, timeout=60)
    return tmp_path


def test_sessions_of_a_killed_process_are_stopped_and_those_of_a_live_one_stay(folder, monkeypatch):
    ledger = Ledger(folder)
    ledger.started(ARN, LIVE)
    command = CliRunner()
    listed = command.invoke(app, ["rollouts", "sessions", "list", "--json"])
    states = {each["session"]: each["live"] for each in json.loads(listed.output)["sessions"]}
    assert states == {LEFT: False, LIVE: True}
    with serving(FunctionAgent(dict)) as double:
        for session in states:
            double.sessions.invoke(session)
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENTCORE", double.endpoint)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x" * 40)
        stopped = command.invoke(app, ["rollouts", "sessions", "stop", "--yes"])
        assert stopped.exit_code == 0, stopped.output
        assert double.sessions.running == {LIVE}
    assert [each.session for each in open_sessions(folder)] == [LIVE]
    ledger.stopped(LIVE)
    assert not list(folder.iterdir())
    again = command.invoke(app, ["rollouts", "sessions", "stop", "--yes"])
    assert (again.exit_code, again.output) == (0, "no session is left open\n")
