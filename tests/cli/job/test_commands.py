"""Commands of other tools' names lead to those of `reward job`."""

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.cli.job import OURS, ROWS

HERE = set(ROWS)


@pytest.mark.parametrize(
    ("typed", "right"), [("cancel", "stop"), ("create", "start"), ("logs", "diagnose")]
)
def test_a_command_that_is_not_here_names_the_right_one(typed, right):
    ran = CliRunner().invoke(app, ["job", typed, "NAME"])
    assert ran.exit_code == 2
    assert f"No such command '{typed}'. Did you mean '{right}'?" in ran.stderr


def test_every_name_leads_to_a_command_and_is_none():
    assert set(OURS.values()) <= HERE
    assert not HERE & set(OURS)
