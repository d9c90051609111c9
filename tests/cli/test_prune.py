"""`reward deployed prune`: the table, the question and the exit status."""

from __future__ import annotations

import json
import os
import pty

import pytest
from typer.testing import CliRunner

from reward_functions.aws.catalogue import stage_parameter
from reward_functions.aws.deployed import pruning
from reward_functions.cli import app
from tests import commands
from tests.commands import PIPE


def run(*arguments):
    return CliRunner().invoke(app, ["deployed", "prune", *arguments])


def rows(printed):
    """{version: what becomes of it} of the table."""
    lines = [line.split() for line in printed.splitlines()]
    marks = ("goes", "stays")
    return {line[1]: mark for line in lines for mark in marks if mark in line and len(line) > 5}


def test_the_table_says_what_goes_and_what_it_costs_to_keep(stage, planes):
    function = stage.deployment()
    shown = run("-s", stage.stage, "--dry-run")
    assert rows(shown.stdout) == {
        "5": "stays",
        "4": "stays",
        "3": "stays",
        "2": "goes",
        "1": "goes",
    }
    assert "2 of 5 versions can go: 0.0 MB. Lambda charges nothing for stored" in shown.stdout
    assert "of 75.0 GiB" in shown.stdout
    assert "OpenAI-compatible path, of HyperPod, and of other regions are not" in shown.stdout
    assert stage.stored(function) == ["1", "2", "3", "4", "5"]


def test_jobs_that_cannot_be_listed_are_not_taken_for_none(stage, planes):
    function = stage.deployment()
    planes.refusals["ListTrainingJobs"] = (400, "AccessDeniedException")
    for arguments in (["--yes"], ["--dry-run"]):
        ran = run("-s", stage.stage, *arguments)
        assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
        assert ran.stderr.endswith("say so with --without-jobs sagemaker\n")
    assert len(stage.stored(function)) == 5
    ran = run("-s", stage.stage, "--yes", "--without-jobs", "sagemaker")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert ran.stdout.endswith("2 versions removed\n")
    assert stage.stored(function) == ["3", "4", "5"]


def test_what_is_still_there_makes_the_status_1(stage, planes, monkeypatch):
    function = stage.deployment()
    storage = pruning._storage

    def meanwhile(client):
        stage.lambda_.update_alias(FunctionName=function, Name="live", FunctionVersion="1")
        return storage(client)

    monkeypatch.setattr(pruning, "_storage", meanwhile)
    ran = run("-s", stage.stage, "--yes")
    assert (ran.exit_code, ran.stderr.count("\n")) == (1, 1)
    assert ran.stdout.endswith("1 version removed\n")
    assert ran.stderr.startswith("not removed: removing version 1 of")


def typed(answer, stage):
    """What prune prints to a person at a terminal who types an answer, and its exit status."""
    leader, follower = pty.openpty()
    os.write(leader, answer)
    command = ["deployed", "prune", "-s", stage]
    try:
        ended = commands.run(command, stdin=follower, stdout=PIPE, stderr=PIPE)
    finally:
        os.close(leader)
        os.close(follower)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("answer", [b"\n", b"\x04"], ids=["nothing", "end"])
def test_a_person_at_a_terminal_is_asked(stage, planes, answer):
    function = stage.deployment()
    status, printed, asked = typed(answer, stage.stage)
    assert (status, rows(printed)["1"]) == (2, "goes")
    assert asked == "Remove 2 versions? It cannot be undone. [y/N]: nothing was removed\n"
    assert len(stage.stored(function)) == 5


def test_a_person_who_agrees_removes_them(stage, planes):
    function = stage.deployment()
    status, printed, _ = typed(b"y\n", stage.stage)
    assert (status, printed.splitlines()[-1]) == (0, "2 versions removed")
    assert stage.stored(function) == ["3", "4", "5"]


def test_a_job_that_began_while_the_question_stood_keeps_its_version(stage, planes, monkeypatch):
    from reward_functions.cli import deployed

    function = stage.deployment()

    def answered(*_, yes):
        planes.graded("begun", f"{function}:1")

    monkeypatch.setattr(deployed, "require_agreement", answered)
    monkeypatch.setattr(deployed, "require_somebody_to_ask", lambda *_, **__: None)
    ran = run("-s", stage.stage)
    assert (ran.exit_code, stage.stored(function)) == (0, ["1", "3", "4", "5"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "prune asks first, and there is no terminal to ask on: add --yes"),
        (["--yes", "--keep", "0"], "0 is less than 1"),
        (["--yes", "--without-jobs", "hyperpod"], "one of bedrock, sagemaker"),
        (["--yes", "-s", "nowhere"], "stage 'nowhere' has no deployments in this account"),
    ],
)
def test_what_cannot_be_done_is_one_line(stage, arguments, complaint):
    ran = run("-s", stage.stage, *arguments)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stdout
    assert complaint in ran.stderr


def test_a_stage_of_another_layout_is_reported(stage):
    name = stage_parameter(stage.stage)
    stage.ssm.put_parameter(Name=name, Value=json.dumps({}), Type="String", Overwrite=True)
    ran = run("-s", stage.stage, "--yes")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert f"the parameter {name} is not a stage of this version: stage: Field req" in ran.stderr
