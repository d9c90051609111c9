"""docs/agents/agentcore-app.md: its blocks run."""

import re
from pathlib import Path

import pytest

from reward_functions.rollouts.serve.agentcore.apps import DEADLINE_SECONDS, PAUSES
from reward_functions.rollouts.serve.agentcore.results import STORED, STORED_CONFIG
from tests import generated

PAGE = Path(__file__).parents[4] / "docs" / "agents" / "agentcore-app.md"
TEXT = PAGE.read_text()


@pytest.mark.parametrize("block", generated.python_blocks(PAGE))
def test_its_examples_run(block, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    exec(compile(block, str(PAGE), "exec"), {"__name__": "page"})


def test_its_figures_are_those_of_the_code():
    row = re.search(r"^\| `payload` \|(.*)$", TEXT, re.MULTILINE)[1]
    assert all(f"`{name}`" in row for name in (*STORED, *STORED_CONFIG))
    assert f"{DEADLINE_SECONDS:,.0f} by default" in TEXT
    assert (len(PAUSES), "three further attempts" in TEXT) == (3, True)
