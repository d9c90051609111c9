"""`reward local`: started by one command, used by a shell, ended by another."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from shutil import which

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.local.emulator import down, find
from reward_functions.local.emulator.emulator import TRAINING
from tests import commands

pytestmark = pytest.mark.usefixtures("local_aws")


def run(*arguments):
    return CliRunner().invoke(app, ["local", *map(str, arguments)])


def states():
    """What `status` says of each, by name."""
    rows = [line.split() for line in run("status").stdout.splitlines()[3:]]
    return {row[0]: " ".join(row[1:]) for row in rows if row}


@pytest.fixture
def mine():
    yield "mine"
    down("mine")


def test_it_outlives_the_command_that_started_it_and_works_as_printed(mine, tmp_path):
    started = run("up", "--name", mine)
    aws = find(mine)
    assert (started.exit_code, started.stderr) == (0, "")
    assert started.stdout.startswith(f"local AWS 'mine' on {aws.endpoint}, process ")
    assert 'eval "$(reward local up --name mine --print-env)"' in started.stdout
    assert states()["mine"] == f"runs {aws.endpoint} {aws.record.process.id} not checked none"
    aws.client("ssm").put_parameter(Name="/mine", Value="1", Type="String")
    assert run("reset", "--name", mine).stdout == "local AWS 'mine' is empty\n"
    assert aws.client("ssm").describe_parameters()["Parameters"] == []

    told = json.loads(run("up", "--name", mine, "--json").stdout)
    assert find(mine) == aws, "it is not started again"
    assert told["environment"] == aws.environment
    assert (told["endpoint"], told["process"]) == (aws.endpoint, aws.record.process.id)
    assert told in json.loads(run("status", "--json").stdout)

    works_as_printed(started.stdout, aws, tmp_path)
    assert run("down", "--name", mine).stdout == "local AWS 'mine' does not run\n"
    assert find(mine) is None
    assert not aws.alive


def test_a_shell_is_pointed_at_it_and_away_again(mine):
    towards = printed("local up --name mine --print-env")
    away = printed("local down --name mine --print-env", AWS_ENDPOINT_URL=find(mine).endpoint)
    script = f"""
        export AWS_PROFILE=production
        {towards.stdout}
        echo "$AWS_ENDPOINT_URL ${{AWS_PROFILE-no profile}}"
        {away.stdout}
        echo "${{AWS_ENDPOINT_URL-nowhere}}"
    """
    told = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    there, nowhere = told.stdout.splitlines()
    assert there.startswith("http://127.0.0.1:")
    assert there.endswith(" no profile")
    assert nowhere == "nowhere"
    assert "local AWS 'mine' has ended" in away.stderr


def test_one_that_ended_by_itself_is_told_with_its_last_words(mine):
    run("up", "--name", mine)
    find(mine).record.process.end()
    assert states()["mine"].startswith("ended: ")
    ran = run("reset", "--name", mine)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "error: no local AWS 'mine' runs: reward local up --name mine\n"
    ended = run("down", "--name", mine, "--print-env")
    assert "unset AWS_ENDPOINT_URL\n" in ended.stdout, "a shell is pointed away all the same"
    assert ended.stderr == "local AWS 'mine' does not run\n"


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
    evaluates = "false\n" if "--print-env" in arguments else ""
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, evaluates, 1)
    assert complaint in ran.stderr


SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if which(shell)]


REWARD = f'#!/bin/sh\nexec {sys.executable} -m reward_functions.cli "$@"\n'
"""The command of this checkout."""


def shell_of_a_person():
    """The variables of a shell whose AWS is a real one, as far as it knows."""
    rest = {k: v for k, v in os.environ.items() if not k.startswith("AWS_ENDPOINT_URL")}
    return rest | {"AWS_PROFILE": "real"}


def evaluated(shell, line, where, reward=REWARD):
    """The status of a line of such a shell with such a `reward`, and what it printed."""
    script = where / "reward"
    script.write_text(reward)
    script.chmod(0o755)
    environment = shell_of_a_person() | {"PATH": f"{where}:{os.environ['PATH']}"}
    ended = subprocess.run(
        [shell, "-c", line], env=environment, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout


def printed(line, **variables):
    """What a line of `reward` printed, in a process of its own and such a shell."""
    words, environment = shlex.split(line), shell_of_a_person() | variables
    return commands.run(words, stdout=commands.PIPE, stderr=commands.PIPE, env=environment)


def same(ran, where):
    """A `reward` that says what it said once, and ends as it ended."""
    (where / "printed").write_text(ran.stdout)
    return f"#!/bin/sh\ncat '{where}/printed'\nexit {ran.returncode}\n"


def works_as_printed(told, aws, folder):
    """A shell evaluates what `up` printed, and then what it printed to end it."""
    (hint,) = re.findall(r"point a shell at it:  (.*)\n", told)
    (end,) = re.findall(r"end it: +(.*)\n", told)
    (words,) = re.findall(r'eval "\$\(reward (.*)\)"', hint)
    once = same(printed(words), folder)
    for shell in SHELLS:
        line = (
            f'{hint} && echo "$AWS_ENDPOINT_URL ${{AWS_PROFILE-none}} $CDK_DISABLE_VERSION_CHECK"'
        )
        assert evaluated(shell, line, folder, once) == (0, f"{aws.endpoint} none 1\n")
    assert evaluated("sh", end, folder) == (0, "local AWS 'mine' has ended\n")


def test_so_does_one_that_enforces_permissions(mine, tmp_path):
    started = run("up", "--name", mine, "--enforce")
    works_as_printed(started.stdout, find(mine), tmp_path)


@pytest.mark.parametrize(
    "failing",
    [
        "up --name session --enforce --print-env",  # it runs, without
        "up --name session --print-env --port nine",
        "up --name session --print-env --nmae x",
        "up --print-env --json",
        "up --name 'a b' --print-env",
        "pu --print-env",
        "down --name 'a b' --print-env",
    ],
)
def test_a_shell_that_is_not_pointed_at_it_does_not_go_on(failing, tmp_path):
    """The command runs once; each shell evaluates what it printed, and sees how it ended."""
    line = f'eval "$(reward local {failing})" && echo deployed to the real account'
    once = same(printed(f"local {failing}"), tmp_path)
    for shell in SHELLS:
        status, told = evaluated(shell, line, tmp_path, once)
        assert status != 0
        assert told == ""


def test_an_interrupted_start_leaves_nothing_to_go_on_with(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reward_functions.local.emulator.up", interrupted)
    ran = run("up", "--name", "never", "--print-env")
    assert (ran.exit_code, ran.stdout) == (130, "false\n")


def test_a_training_double_is_started_beside_it_shown_and_throttled(mine, tmp_path, monkeypatch):
    started = run("up", "--name", mine, "--training", "--step-seconds", "0.5")
    aws = find(mine)
    assert (started.exit_code, started.stderr) == (0, "")
    assert f"training double:      {aws.training_endpoint}, a simulation" in started.stdout
    assert 'eval "$(reward local up --name mine --training --print-env)"' in started.stdout
    assert states()["mine"].endswith(f"not checked {aws.training_endpoint}")
    lines = run("up", "--name", mine, "--training", "--print-env").stdout
    for service in TRAINING:
        assert f"export AWS_ENDPOINT_URL_{service}={aws.training_endpoint}\n" in lines
    assert f"export OPENAI_BASE_URL={aws.training_endpoint}/v1\n" in lines
    throttled = run("throttle", "Converse", "--times", "2", "--name", mine)
    assert throttled.stdout == "the next 2 calls of Converse will be throttled\n"
    state = aws.ask_training("GET", "state")
    assert (state["throttled"], state["seconds_per_step"]) == ({"Converse": 2}, 0.5)
    # What is asked of one that runs is done, and what is not asked stays as it was.
    assert run("up", "--name", mine, "--training", "--step-seconds", "1.5").exit_code == 0
    assert run("up", "--name", mine, "--training").exit_code == 0
    assert aws.ask_training("GET", "state")["seconds_per_step"] == 1.5
    (tmp_path / "broken.jsonl").write_text("{")
    broken = run("up", "--name", mine, "--training", "--data", tmp_path / "broken.jsonl")
    assert "the training double refuses: " in broken.stderr
    # A shell that points at it need not name it.
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.endpoint)
    assert run("throttle", "Converse", "--times", "3").exit_code == 0
    assert aws.ask_training("GET", "state")["throttled"] == {"Converse": 3}
    assert "no job has this name or id" in run("fail", "none", "the reason").stderr
    assert run("reset", "--name", mine).exit_code == 0
    assert aws.ask_training("GET", "state")["throttled"] == {}
    ended = run("down", "--name", mine, "--print-env").stdout
    assert "unset AWS_ENDPOINT_URL_BEDROCK\n" in ended
    assert "unset OPENAI_BASE_URL\n" in ended
    assert not aws.record.training.process.alive


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("up", "--name", "session", "--training"), "runs already, without training: reward"),
        (("up", "--data", "x.jsonl"), "--data and --step-seconds are for --training"),
        (("up", "--training", "--data", "none.jsonl"), "--data: there is no file none.jsonl"),
        (("throttle", "Converse", "--name", "session"), "'session' runs without --training"),
        (("throttle", "Converse", "--name", "nobody"), "no local AWS 'nobody' runs"),
    ],
)
def test_what_needs_a_training_double_says_so(arguments, sentence):
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert sentence in ran.stderr
    assert find("default") is None
