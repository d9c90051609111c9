"""The commonest mistakes, and the words they are answered with: exit status and standard error.

A row of `cases/mistakes.jsonl` is a command in a folder with a training file of 100 rows. It may
have further `files`, an `env`, and where AWS is: `on` the emulator with one stage, or `aws`, which
is "down" or refuses every request with a status and a code.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.aws import calls
from reward_functions.cli import app
from reward_functions.local.emulator.emulator import TRAINING
from tests.loopback import Service, served
from tests.training_rows import row

TABLE = Path(__file__).parents[2] / "cases" / "mistakes.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "nobodys-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "config",
    "AWS_SHARED_CREDENTIALS_FILE": "credentials",
    "AWS_MAX_ATTEMPTS": "1",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
}

TRAINERS = {f"AWS_ENDPOINT_URL_{service}": "http://127.0.0.1:1" for service in TRAINING}
"""The training double has another address than the emulator, or a shell is not believed."""


class Refusing(Service):
    """AWS, which refuses everything."""

    def operation(self, asked):
        return "any", lambda: self.refusal

    def refuse(self, status, code):
        headers = {"x-amzn-errortype": code, "Content-Type": "application/x-amz-json-1.1"}
        self.refusal = status, headers, json.dumps({"__type": code, "message": "why"}).encode()


@pytest.fixture(scope="module")
def refusing():
    with served(Refusing()) as service:
        yield service


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a training file; no AWS is there, and nobody's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("REWARD_JUDGE", raising=False)
    (tmp_path / "train.jsonl").write_text("".join(f"{json.dumps(row(n))}\n" for n in range(100)))
    monkeypatch.setattr(calls, "ATTEMPTS", 1)
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=[case["what"] for case in CASES])
def test_a_mistake_is_answered_in_these_words(case, folder, monkeypatch, request):
    stage = ""
    for name, text in case.get("files", {}).items():
        (folder / name).write_text(text)
    if case.get("on") == "stage":
        stage = request.getfixturevalue("standing_stage")[0].stage
        request.getfixturevalue("job")  # the drivers are in memory
    else:
        for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {**ENVIRONMENT, **TRAINERS}.items():
            monkeypatch.setenv(name, value)
    if isinstance(case.get("aws"), list):
        service = request.getfixturevalue("refusing")
        service.refuse(*case["aws"])
        monkeypatch.setenv("AWS_ENDPOINT_URL", service.address)
    for name, value in case.get("env", {}).items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    ran = CliRunner().invoke(app, [word.replace("{stage}", stage) for word in case["words"]])
    said = ran.stderr.replace(stage, "{stage}") if stage else ran.stderr
    assert (ran.exit_code, said) == (case["status"], case["said"])
