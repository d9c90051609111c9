"""Which stage a command of `reward job` and `reward deployed` works on."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
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
