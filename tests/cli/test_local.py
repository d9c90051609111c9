"""`reward local`: started by one command, used by a shell, ended by another."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.tools.local_aws import down, find

pytestmark = pytest.mark.usefixtures("local_aws")


def run(*arguments):
    return CliRunner().invoke(app, ["local", *arguments])


def states():
    """What `status` says of each, by name."""
    rows = [line.split() for line in run("status").stdout.splitlines()[3:]]
    return {row[0]: " ".join(row[1:]) for row in rows if row}


@pytest.fixture
def mine():
    yield "mine"
    down("mine")


def test_it_outlives_the_command_that_started_it(mine):
    started = run("up", "--name", mine)
    aws = find(mine)
    assert (started.exit_code, started.stderr) == (0, "")
    assert started.stdout.startswith(f"local AWS 'mine' on {aws.endpoint}, process ")
    assert 'eval "$(reward local up --name mine --print-env)"' in started.stdout
    assert states()["mine"] == f"runs {aws.endpoint} {aws.record.process.id} not checked"
    aws.client("ssm").put_parameter(Name="/mine", Value="1", Type="String")
    assert run("reset", "--name", mine).stdout == "local AWS 'mine' is empty\n"
    assert aws.client("ssm").describe_parameters()["Parameters"] == []
    assert run("down", "--name", mine).stdout == "local AWS 'mine' has ended\n"
    assert find(mine) is None
    assert not aws.alive


def test_a_shell_is_pointed_at_it_and_away_again(mine):
    command = f"{sys.executable} -m reward_functions.cli local"
    script = f"""
        export AWS_PROFILE=production
        eval "$({command} up --name mine --print-env)"
        echo "$AWS_ENDPOINT_URL ${{AWS_PROFILE-no profile}}"
        eval "$({command} down --name mine --print-env)"
        echo "${{AWS_ENDPOINT_URL-nowhere}}"
    """
    told = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    there, away = told.stdout.splitlines()
    assert there.startswith("http://127.0.0.1:")
    assert there.endswith(" no profile")
    assert away == "nowhere"
    assert "local AWS 'mine' has ended" in told.stderr


def test_json_has_everything_a_program_needs(mine):
    told = json.loads(run("up", "--name", mine, "--json").stdout)
    aws = find(mine)
    assert told["environment"] == aws.environment
    assert (told["endpoint"], told["process"]) == (aws.endpoint, aws.record.process.id)
    assert told in json.loads(run("status", "--json").stdout)


def test_one_that_ended_by_itself_is_told_with_its_last_words(mine):
    run("up", "--name", mine)
    find(mine).record.process.end()
    assert states()["mine"].startswith("ended: ")
    ran = run("reset", "--name", mine)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "error: no local AWS 'mine' runs: reward local up --name mine\n"
    assert run("down", "--name", mine).stdout == "local AWS 'mine' does not run\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["up", "--port", "0"], "0 is less than 1"),
        (["up", "--port", "70000"], "70000 is more than 65535"),
        (["up", "--name", "a b"], "'a b' is no name for a local AWS"),
        (["up", "--print-env", "--json"], "exclude each other"),
        (["up", "--python", "/nowhere/python"], "/nowhere/python has no ministack"),
        (["up", "--name", "session", "--enforce"], "already, without enforced permissions"),
        (["up", "--name", "session", "--models", "http://x"], "already, and asks nobody else"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, complaint):
    ran = run(*arguments)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert complaint in ran.stderr
