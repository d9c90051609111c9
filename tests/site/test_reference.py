"""The generated reference covers every reward, every command and every public name."""

import re

import pytest
from typer.main import get_command

from docs.site import commands, python_api, rewards
from reward_functions import specs
from reward_functions.cli import app

REWARDS = rewards.pages()
COMMANDS = commands.pages()
PYTHON = python_api.pages()
MODULES = python_api.public_modules()
OURS = [spec for name, spec in specs().items() if "." not in name]


def every_command(command, path=("reward",)):
    yield path, command
    for name, inside in getattr(command, "commands", {}).items():
        yield from every_command(inside, (*path, name))


@pytest.mark.parametrize("spec", OURS, ids=lambda spec: spec.name)
def test_a_reward_has_a_page_with_all_that_it_declares(spec):
    page = REWARDS[f"reference/rewards/{spec.name}"]
    assert f"| version | {spec.version} |" in page
    assert all(f"| `{name}` |" in page for name in spec.parameters)
    assert all(f"`{metric}`" in page for metric in spec.metrics)
    assert len(re.findall(r"^\*\*\w+\*\*, earns", page, re.MULTILINE)) == len(spec.examples)


def test_every_command_has_a_section_with_its_options():
    text = "\n".join(COMMANDS.values())
    for path, command in every_command(get_command(app)):
        if len(path) > 1:
            (section,) = re.findall(
                rf"^#+ `{re.escape(' '.join(path))}`\n(.*?)(?=^#|\Z)",
                text,
                re.DOTALL | re.MULTILINE,
            )
            options = [name for each in command.params for name in each.opts if name[0] == "-"]
            assert all(name in section for name in options), path


def test_no_page_of_a_command_is_left_over():
    names = get_command(app).commands
    assert COMMANDS.keys() == {
        "reference/commands",
        *(f"reference/commands/{name}" for name in names),
    }


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_described(module):
    page = PYTHON[f"reference/python/{module}"]
    described = re.findall(r"^::::\{py:\w+\} (\w+)", page, re.MULTILINE)
    assert described == python_api.public_names(MODULES[module])


@pytest.mark.parametrize(
    "module", ["reward_functions", "reward_functions.testing", "reward_functions.rollouts"]
)
def test_what_users_import_is_public(module):
    assert module in MODULES


SHOWN = [
    # a function, a class with fields, one with an __init__, a property, a constant
    ("reward_functions", "{py:function} score_batch(reward: RewardFunction, samples:"),
    ("reward_functions", "{py:class} Score(value: float"),
    ("reward_functions", "{py:class} Example(kind: Kind"),
    ("reward_functions", "{py:property} parameters\n:type: Mapping[str, Parameter]"),
    ("reward_functions.testing", "{py:data} CONTRACT"),
    # names that are imported when they are first used, and a package that is not installed here
    ("reward_functions.rollouts", "{py:class} RolloutApp("),
    ("reward_functions.rollouts.strands", "{py:class} RolloutModel("),
]


@pytest.mark.parametrize(("module", "line"), SHOWN)
def test_a_declaration_is_shown_as_it_is_written(module, line):
    assert line in PYTHON[f"reference/python/{module}"]


def test_a_method_is_shown_without_what_it_is_bound_to():
    assert not re.search(r"\{py:method\} \w+\((self|cls)\b", "\n".join(PYTHON.values()))


def test_a_name_that_is_declared_nowhere_ends_the_build(tmp_path):
    module = tmp_path / "module.py"
    module.write_text('"""A module."""\n\n__all__ = ["gone"]\n')
    with pytest.raises(python_api.UndeclaredName, match=r"acme\.gone"):
        python_api.page("acme", module)
