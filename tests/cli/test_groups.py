"""A group lists its commands without importing them, in the words that they have themselves."""

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.cli._group import LazyGroup


def groups(group, words=()):
    yield words, group
    for name, command in group.commands.items():
        if isinstance(command, LazyGroup):
            yield from groups(command, (*words, name))


GROUPS = dict(groups(typer.main.get_command(app)))


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_a_list_says_what_each_command_says_of_itself(words):
    group = GROUPS[words]
    own = {name: command.help.split("\n\n")[0] for name, command in group.commands.items()}
    assert {name: " ".join(text.split()) for name, text in own.items()} == dict(group.rows)


def test_only_the_command_that_is_called_is_imported():
    code = (
        "import sys; from reward_functions.cli import app\n"
        "try: app(['job', 'list', '--help'])\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    commands = {name for name in ran.stderr.split() if name.startswith("reward_functions.cli.")}
    public = {name for name in commands if "._" not in name}
    assert public == {"reward_functions.cli.job", "reward_functions.cli.job.list_"}


def test_no_command_is_the_one_that_resembles_none():
    ran = CliRunner().invoke(app, ["judge", "prob"])
    assert ran.exit_code == 2
    assert "No such command 'prob'. Did you mean 'probe'?" in ran.stderr
