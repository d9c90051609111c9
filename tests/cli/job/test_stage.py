"""Which stage a command of `reward job` and `reward deployed` works on."""

from __future__ import annotations

import json
import os

import pytest
from typer.testing import CliRunner

from reward_functions.aws.deployed import catalogue
from reward_functions.aws.deployed.findings import CheckReport
from reward_functions.aws.failures import AwsFailed
from reward_functions.cli import app
from reward_functions.cli.job import ROWS, start
from reward_functions.cli.job._output import next_command

MODEL = "amazon.nova-2-lite-v1:0:256k"


@pytest.mark.usefixtures("job")
def test_the_option_is_stronger_than_the_variable_and_that_than_the_file(
    rows, tmp_path, monkeypatch
):
    file = tmp_path / "job.toml"
    file.write_text(
        f'stage = "file"\nmodel = "{MODEL}"\ndeployment = "gsm8k"\ndata = "{rows.name}"\n'
    )
    assert rows.parent == tmp_path

    def stage_of(*options):
        ran = CliRunner().invoke(app, ["job", "start", str(file), *options])
        assert ran.exit_code == 2
        return ran.stderr.split("'")[1]

    assert stage_of() == "file"
    monkeypatch.setenv("REWARD_STAGE", "variable")
    assert stage_of() == "variable"
    assert stage_of("--stage", "option") == "option"


def test_the_variable_holds_for_commands_without_a_file(standing_stage, job, begun, monkeypatch):
    monkeypatch.setenv("REWARD_STAGE", standing_stage[0].stage)
    for words in (["job", "show", begun.name], ["deployed", "list"]):
        ran = CliRunner().invoke(app, words)
        assert (ran.exit_code, "gsm8k" in ran.stdout) == (0, True), ran.output


def test_the_next_command_names_a_stage_that_is_not_the_usual_one(monkeypatch):
    assert next_command("watch", "j", "dev") == "reward job watch j"
    monkeypatch.setenv("REWARD_STAGE", "prod")
    assert next_command("watch", "j", "prod") == "reward job watch j"
    assert next_command("watch", "j", "dev") == "reward job watch j --stage dev"


COMMANDS = {
    "list": [],
    "evaluators": [],
    "show": ["JOB"],
    "watch": ["JOB"],
    "metrics": ["JOB"],
    "stop": ["JOB"],
    "diagnose": ["JOB"],
    "deploy-model": ["JOB"],
    "cleanup": ["JOB"],
    "evaluate": ["JOB", "--data", "train.jsonl"],
    "plan": ["--model", MODEL, "--deployment", "gsm8k", "--data", "train.jsonl"],
    "baseline": ["--model", MODEL, "--deployment", "gsm8k", "--data", "train.jsonl"],
    "preflight": ["--model", MODEL, "--deployment", "gsm8k", "--data", "train.jsonl"],
    "start": ["--model", MODEL, "--deployment", "gsm8k", "--data", "train.jsonl"],
    "recipe": ["--for", "hyperpod", "--model", MODEL, "--deployment", "gsm8k"],
}
"""Every command of `reward job`, as it is typed without a file."""

WITH_FILE = ("plan", "baseline", "preflight", "start", "recipe")


@pytest.fixture
def account(monkeypatch, tmp_path):
    """A shell of an account, in a folder of its own."""
    for name in [name for name in os.environ if name.startswith("AWS_ENDPOINT_URL")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_REGION", "us-east-1")


class Asked(Exception):
    """The parameter that was read first, as a sign of the stage."""


@pytest.fixture
def asked(account, monkeypatch, tmp_path, rows):
    """Run a command in a folder with a `job.toml`; returns the stage whose record it reads."""
    (tmp_path / "job.toml").write_text(
        f'stage = "local"\nmodel = "{MODEL}"\ndeployment = "gsm8k"\ndata = "{rows.name}"\n'
    )

    def read(parameter, session):
        raise Asked(parameter)

    monkeypatch.setattr(catalogue, "_value", read)

    def stage_of(*words):
        ran = CliRunner().invoke(app, ["job", *words])
        assert isinstance(ran.exception, Asked), ran.output
        return str(ran.exception).split("/")[2]

    return stage_of


def test_the_table_has_every_command_of_a_job():
    assert set(COMMANDS) == set(ROWS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_obeys_the_stage_of_job_toml(command, asked, monkeypatch):
    words = [command, *COMMANDS[command]]
    assert asked(*words) == "local"
    assert asked(*words, "--stage", "typed") == "typed"
    monkeypatch.setenv("REWARD_STAGE", "variable")
    assert asked(*words) == "variable"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_file_itself(command, asked, tmp_path):
    if "JOB" not in COMMANDS[command] and command not in WITH_FILE:
        return
    (tmp_path / "other.toml").write_text(
        (tmp_path / "job.toml").read_text().replace("local", "other")
    )
    more = {"recipe": ["--for", "hyperpod"]}.get(command, [])
    more = ["--data", "train.jsonl", "--ask-tuned", "m"] if command == "evaluate" else more
    assert asked(command, "other.toml", *more) == "other"


def test_a_file_in_the_place_of_a_job_is_the_job_that_it_started(
    job, standing_stage, rows, tmp_path, monkeypatch
):
    passed = CheckReport("", ())
    monkeypatch.setattr(start, "checks", lambda *_, **__: lambda _: passed)
    file = tmp_path / "mine.toml"
    stage = standing_stage[0].stage
    text = f'stage = "{stage}"\nmodel = "{MODEL}"\ndeployment = "gsm8k"\ndata = "{rows.name}"\n'
    file.write_text(text)
    none = CliRunner().invoke(app, ["job", "show", str(file)])
    assert none.exit_code == 2
    assert "no job was started with this file and these data as they are now" in none.stderr
    began = job("start", file)
    assert began.exit_code == 0, began.output
    name = began.stdout.split()[0]
    shown = CliRunner().invoke(app, ["job", "show", str(file), "--json"])
    assert (shown.exit_code, json.loads(shown.stdout)["name"]) == (0, name)


DENIED = AwsFailed("not allowed: ssm:GetParameter", "AccessDeniedException")


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("", "nobody typed a stage, and 'dev' is the default"),
        ('stage = "prod"', "nobody typed a stage, and 'prod' is that of job.toml"),
    ],
)
@pytest.mark.parametrize("words", [["job", "list"], ["deployed", "list"]])
def test_who_may_not_read_a_stage_that_nobody_typed_reads_how_to_name_another(
    written, named, words, account, monkeypatch, tmp_path
):
    def denied(*_):
        raise DENIED

    monkeypatch.setattr(catalogue, "_client", denied)
    (tmp_path / "job.toml").write_text(written)
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 2
    said = " ".join(ran.stderr.split())
    assert named in said
    assert 'type --stage NAME, or write stage = "NAME" in job.toml' in said
    typed = CliRunner().invoke(app, [*words, "--stage", "mine"])
    assert "nobody typed" not in typed.stderr
