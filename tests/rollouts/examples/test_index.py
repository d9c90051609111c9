"""docs/agents/index.md: its lines are those of the examples, and all of these are on the page."""

import re

import pytest

from tests.rollouts.examples.conftest import EXAMPLES

PAGE = EXAMPLES.parents[1] / "agents" / "index.md"
TEXT = PAGE.read_text()
ROWS = re.findall(
    r"^\| \[.*?\| `(rollouts\.\w+)` \| `(rollout_handler.*?)` \|.*\[after\]\((.*?)\)",
    TEXT,
    re.MULTILINE,
)


def test_there_is_a_row_for_each_example():
    assert len(ROWS) == len(list(EXAMPLES.glob("*_rollout.py"))) == 3


@pytest.mark.parametrize(("room", "line", "example"), ROWS)
def test_a_row_is_what_the_example_says(room, line, example):
    code = (PAGE.parent / example).read_text()
    assert f"\nfrom reward_functions.{room} import " in code
    shown = re.escape(line).replace("…", r"[^()]*")
    assert re.search(f"^solve = {shown}$", code, re.MULTILINE)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_on_the_page(file):
    assert f"(../examples/agents/{file.name})" in TEXT
