"""Every module that a string names is there: no import says so, and a move leaves it behind."""

import re
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from reward_functions.cdk.artifact import closure
from reward_functions.cdk.constructs import artifacts, feedback_path, scale
from reward_functions.cdk.model import rollouts
from reward_functions.core import registry
from reward_functions.core.mentions import NAMED, mentions

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "reward_functions"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

BOOTSTRAPS = re.compile(r"from (\S+) import (\w+)")

MADE_UP = {"reward_functions.typed", "reward_functions.policy_call"}
"""Keys under which something is kept, and no modules."""


def exists(name):
    """Whether a dotted name is a module of ours, or something in one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = find_spec(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        if found is None:
            continue
        if count == len(parts):
            return True
        held = vars(import_module(found.name)).keys()
        return count == len(parts) - 1 and bool(held & {parts[-1], "__getattr__"})
    return False


SHOWN = re.compile(r"(?m)^(?!\s*(?:from|import) ).*reward_functions\.")
"""A name of ours on a line that is no import: other files need no look at their strings."""


def strings():
    """(path, string) of each string of ours that may name a module, docstrings aside."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if SHOWN.search(path.read_text()):
            yield from ((path, string) for string in mentions(path.read_bytes()).strings)


@cache
def named():
    """Every name in a string of ours, docstrings aside, with a file that has it."""
    found = {}
    for path, string in strings():
        for name in NAMED.findall(string):
            found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


def test_every_name_of_ours_in_a_string_is_there():
    assert len(named()) > len(registry.FOLDERS)
    wrong = {name: path for name, path in named().items() if not exists(name)}
    assert wrong.keys() <= MADE_UP, wrong


@pytest.mark.parametrize(
    "name",
    [
        closure.HANDLER,
        *(module for pair in closure.ON_DEMAND for module in pair),
        *closure.FOLDERS,
        *closure.ROWS,
        *registry.FOLDERS,
        artifacts.SERVER,
        feedback_path.MODULE,
        scale.MODULE,
        rollouts.MODULE,
    ],
)
def test_a_module_in_a_table_or_constant_can_be_imported(name):
    assert import_module(name).__name__ == name


@pytest.mark.parametrize("folder", closure.FOLDERS.values())
def test_a_folder_of_files_is_there(folder):
    assert any((PACKAGE / folder).iterdir())


def bootstraps():
    """(module, name) of each program that is handed to an interpreter as a string."""
    for _, string in strings():
        if "import sys" in string:
            for module, name in BOOTSTRAPS.findall(string):
                if module.startswith("reward_functions."):
                    yield module, name


def test_what_another_interpreter_is_started_with_is_there():
    found = list(bootstraps())
    assert found
    for module, name in found:
        assert callable(getattr(import_module(module), name)), module


def test_what_the_project_s_file_names_is_there():
    scripts = PROJECT["project"]["scripts"].values()
    for module, _, name in (script.partition(":") for script in scripts):
        assert callable(getattr(import_module(module), name)), module
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for source, place in included.items():
        assert (ROOT / source).is_file()
        assert (ROOT / place).parent.joinpath("__init__.py").is_file(), place
