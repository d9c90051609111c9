"""Strands is loaded by those who adapt an agent of Strands, and asked for in one sentence."""

import subprocess
import sys

import pytest

ROOM = "reward_functions.rollouts"
ABSENT = """
import importlib.util as util
found = util.find_spec
util.find_spec = lambda name, *rest: None if name == "{package}" else found(name, *rest)
try:
    import reward_functions.rollouts.strands
except ImportError as error:
    print(error)
"""


def printed(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_handler_loads_neither_strands_nor_openai():
    program = (
        f"import sys, {ROOM}.episode.handler; print({{'strands', 'openai'}} & sys.modules.keys())"
    )
    assert printed(program) == "set()"


@pytest.mark.parametrize("package", ["strands", "openai"])
def test_what_to_install_is_one_sentence(package):
    sentence = printed(ABSENT.format(package=package))
    assert sentence.endswith(
        "needs Strands with its OpenAI model: pip install 'reward-functions[strands]'"
    )
    assert "\n" not in sentence
