"""`reward rollouts doctor`: a table, JSON, and an exit status."""

import json

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """A shell without AWS; the runtime is a port of this machine where nobody listens."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("REWARD_ROLLOUTS_OUTBOX", f"sqlite://{tmp_path}/outbox.sqlite3")
    monkeypatch.setenv("COLUMNS", "200")


def doctor(*arguments):
    return CliRunner().invoke(app, ["rollouts", "doctor", *map(str, arguments)])


def test_what_fails_is_in_the_table_with_its_remedy():
    ran = doctor()
    assert ran.exit_code == 1
    assert "none found: log in" in ran.stdout
    assert "outbox.sqlite3 can be written" in ran.stdout


def test_a_payload_of_the_trainer_is_read(tmp_path):
    path = tmp_path / "payload.json"
    path.write_text('{"prompt": "x", "metadata": {"rolloutId": "r"}}')
    ran = doctor("--payload", path, "--json")
    findings = {each["question"]: each for each in json.loads(ran.stdout)}
    assert findings["payload"]["message"].startswith("metadata.jobArn missing")


def test_a_payload_that_is_not_there_is_one_line_and_status_2():
    ran = doctor("--payload", "nowhere.json")
    assert (ran.exit_code, ran.stderr) == (2, "error: nowhere.json: No such file or directory\n")


AGENT = """
from reward_functions.rollouts.episode.handler import rollout_handler

@rollout_handler
def agent(payload):
    return 1.0

@rollout_handler
async def later(payload):
    return 1.0

def plain(payload):
    raise RuntimeError("a rollout has begun")
"""
ROUTES = [("agent", "ok"), ("later", "ok"), ("plain", "warning")]


@pytest.mark.parametrize(("name", "verdict"), ROUTES)
def test_a_handler_of_this_process_is_asked_by_its_smoke_route(tmp_path, name, verdict):
    (tmp_path / "mine.py").write_text(AGENT)
    ran = doctor("--agent", f"{tmp_path}/mine.py:{name}", "--json")
    findings = {each["question"]: each for each in json.loads(ran.stdout)}
    assert findings["agent"]["verdict"] == verdict
