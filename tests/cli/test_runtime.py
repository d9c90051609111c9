"""`reward local runtime`: serves until Ctrl-C; a line a rollout, a sentence for what is wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from http.client import HTTPConnection
from shlex import split
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.cli.runtime import CREDENTIAL_SOURCES
from tests.commands import PIPE, Command

COMMAND = [sys.executable, "-m", "reward_functions.cli", "local", "runtime"]
JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/sums"


def run(*arguments, **environ):
    return CliRunner().invoke(app, ["local", "runtime", *map(str, arguments)], env=environ)


@pytest.fixture
def no_credentials(monkeypatch, tmp_path):
    for name in (*CREDENTIAL_SOURCES, "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


class Serving:
    """The command in a process of its own."""

    def __init__(self, *options):
        self.process = Command(
            ["local", "runtime", "--port=0", *options],
            stdout=PIPE,
            stderr=PIPE,
            env=os.environ | {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s"},
        )
        first = self.process.stdout.readline()
        self.endpoint = split(first)[3].rstrip(":")
        self.introduction = [first, *iter(self.process.stdout.readline, LAST)]

    def client(self):
        import boto3

        session = boto3.Session("AKIDEXAMPLE", "secret", region_name="us-west-2")
        return session.client("sagemakerjobruntime", endpoint_url=self.endpoint)

    def ended(self, number=signal.SIGINT):
        self.process.send_signal(number)
        written, complaints = self.process.communicate(timeout=60)
        return self.process.returncode, written.splitlines(), complaints


LAST = "  end it:               Ctrl-C\n"


@pytest.fixture
def serving():
    started = []

    def made(*options):
        started.append(Serving(*options))
        return started[-1]

    yield made
    for each in started:
        each.process.kill()
        each.process.communicate()


def test_a_rollout_is_one_line_and_ctrl_c_a_summary(serving, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"turns": ["It is 5."]}))
    served = serving("--policy", str(script), "--open")
    assert any("export RFT_RUNTIME_ENDPOINT=http://127.0.0.1:" in x for x in served.introduction)
    assert not any("ACCESS_KEY" in line for line in served.introduction)
    client = served.client()
    hostile = {"JobArn": JOB, "TrajectoryId": "r\x1b[31m"}
    body = json.dumps({"messages": [{"role": "user", "content": "?"}]})
    ids = {"JobArn": JOB, "TrajectoryId": "plain"}
    assert b"It is 5." in client.sample(**ids, Body=body)["Body"].read()
    client.complete_rollout(**ids)
    client.update_reward(**ids, Rewards=[0.5])
    client.complete_rollout(**hostile, Status="failed")
    status, lines, complaints = served.ended()
    assert (status, complaints) == (0, "")
    states = "2 rollouts (1 REWARD_RECEIVED, 1 FAILED)"
    assert lines == [
        "plain  REWARD_RECEIVED  1 turn  rewards 0.5  2 reports",
        r"r\x1b[31m  FAILED  0 turns  rewards -  1 report",
        f"runtime double ended: {states}, 1 turn, 3 reports, 0 accidents",
    ]


def test_quiet_it_writes_its_summary_alone_and_sigterm_ends_it(serving):
    served = serving("--quiet", "--open", "--faults", "complete.duplicate=1", "--seed", "3")
    assert any("accidents:            complete.duplicate=1" in x for x in served.introduction)
    served.client().complete_rollout(JobArn=JOB, TrajectoryId="r", Status="failed")
    connection = HTTPConnection(urlsplit(served.endpoint).netloc, timeout=60)
    connection.request("GET", "/_runtime/counts")
    assert json.load(connection.getresponse())["reports"] == {
        "complete replayed": 1,
        "complete taken": 1,
    }
    connection.close()
    status, lines, _ = served.ended(signal.SIGTERM)
    assert (status, len(lines)) == (0, 1)
    assert lines[0].endswith("1 rollout (1 FAILED), 0 turns, 2 reports, 1 accident")


@pytest.mark.usefixtures("no_credentials")
def test_a_shell_is_pointed_at_it():
    lines = run("--print-env", "--port", 4000).stdout.splitlines()
    assert lines == [
        "export RFT_RUNTIME_ENDPOINT=http://127.0.0.1:4000",
        "export AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME=http://127.0.0.1:4000",
        "export AWS_ACCESS_KEY_ID=RUNTIMEDOUBLE",
        "export AWS_SECRET_ACCESS_KEY=none",
        "export AWS_REGION=us-west-2",
    ]
    own = run("--print-env", AWS_PROFILE="mine", AWS_REGION="eu-west-1").stdout
    assert [line.split("=")[0] for line in own.splitlines()] == [
        "export RFT_RUNTIME_ENDPOINT",
        "export AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME",
    ]


WRONG = [
    (["--print-env", "--port", 0], "--print-env needs the --port of the double"),
    (["--faults", "throtle=0.1"], "no kind 'throtle'. Did you mean 'throttle'?"),
    (["--policy", "missing.jsonl"], "missing.jsonl: No such file or directory"),
    (["--policy", "missing.jsonl", "--wrong", 0.1], "--wrong is for --policy calculator"),
    (["--model", "m"], "--model and --api-key-env are for the URL of a model"),
    (["--policy", "http://x/v1", "--api-key-env", "NO_KEY_HERE"], "NO_KEY_HERE"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_what_is_wrong_is_one_sentence(options, words):
    done = run(*options)
    assert (done.exit_code, done.stderr.startswith("error: ")) == (2, True)
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_in_use_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--port", port)
    assert (done.exit_code, done.stderr) == (
        2,
        f"error: port {port} is in use: choose another with --port, or a free one with --port 0\n",
    )
