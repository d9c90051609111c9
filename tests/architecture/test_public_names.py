"""The package's top: every public name is there, and none is imported before it is used."""

import ast
import sys
from pathlib import Path

import reward_functions

SOURCE = Path(reward_functions.__file__)


def test_every_public_name_is_the_one_of_its_module():
    declared = {
        alias.name: node.module
        for node in ast.walk(ast.parse(SOURCE.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("reward_functions.")
        for alias in node.names
    }
    assert declared.keys() == set(reward_functions.__all__)
    for name, module in declared.items():
        assert f"reward_functions.core.{reward_functions._HOMES[name]}" == module
        assert getattr(reward_functions, name) is getattr(sys.modules[module], name)
        assert name in dir(reward_functions)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    assert not hasattr(reward_functions, "nothing")
