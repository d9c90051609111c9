"""A public name has one owner, and the tests of one room leave the private names of another alone.

Counted are classes and functions of modules that another room imports. The commands and the names
of other toolkits (`rollouts.compat`) do not count.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from tests.architecture.sources import nodes, tree
from tests.architecture.test_walls import MODULES

TESTS = Path(__file__).parents[1]

CLASSES = {
    *("BadRecord", "Figures", "Group", "Outcome", "Place", "Price", "Record"),
    *("Reference", "Reply", "Row", "ServiceFailed"),
}
"""Classes that two rooms or more define. The list may only shrink."""

FUNCTIONS = 50
"""Functions that two modules or more define. The number may only shrink."""

PRIVATE = 8
"""How often a test touches a private name of another room's module. It may only shrink."""


def room_of(module):
    return [*module.split("."), ""][1]


def imported_from(path):
    """(module, name or "") of each import from a module of ours."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in MODULES:
                    yield inner, ""
                elif node.module in MODULES:
                    yield node.module, alias.name


@cache
def owners():
    """(classes, functions) by name, each with the modules that define it."""
    shared = {
        module
        for name, path in MODULES.items()
        for module, _ in imported_from(path)
        if room_of(module) != room_of(name)
    }
    classes, functions = defaultdict(set), defaultdict(set)
    for module in shared:
        if module.startswith(("reward_functions.cli", "reward_functions.rollouts.compat")):
            continue
        for node in tree(MODULES[module]).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found = classes if isinstance(node, ast.ClassDef) else functions
                if not node.name.startswith("_"):
                    found[node.name].add(module)
    return classes, functions


def test_a_class_has_one_owner():
    classes, _ = owners()
    assert {name for name, where in classes.items() if len(where) > 1} == CLASSES


def test_a_function_has_one_owner():
    _, functions = owners()
    assert len([name for name, where in functions.items() if len(where) > 1]) == FUNCTIONS


def touched(path):
    """The private names of other rooms' modules that a test imports or asks a module for."""
    room = path.relative_to(TESTS).parts[0]
    modules = {}
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in MODULES:
                    modules[alias.asname or alias.name] = inner
                elif alias.name.startswith("_") and room_of(node.module) != room:
                    yield from [alias.name] * (node.module in MODULES)
    for node in nodes(path):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
            and node.value.id in modules
            and room_of(modules[node.value.id]) != room
        ):
            yield node.attr


TOUCHES = re.compile(r"(?:import|,|\() *\n? *_[a-z]|\b(?!self\b|cls\b)[a-z]\w*\._[a-z]")
"""What a test without a private name of others has nowhere: most need no look at their trees."""


def test_tests_leave_the_private_names_of_other_rooms_alone():
    paths = [path for path in sorted(TESTS.rglob("*.py")) if TOUCHES.search(path.read_text())]
    found = {str(path): list(touched(path)) for path in paths}
    assert sum(map(len, found.values())) == PRIVATE, {k: v for k, v in found.items() if v}
