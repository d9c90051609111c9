"""docs/agents: their Python runs, and the names that they show exist."""

import re
from pathlib import Path

import pytest

from reward_functions.rollouts import agents, httpx, openai
from reward_functions.rollouts.record import telemetry
from tests import generated

PAGES = Path(__file__).parents[2] / "docs" / "agents"
BLOCKS = [
    (name, number, block)
    for name in ("openai", "telemetry")
    for number, block in enumerate(generated.python_blocks(PAGES / f"{name}.md"))
]


@pytest.mark.parametrize(("name", "number", "code"), BLOCKS)
def test_its_python_runs(name, number, code, credentials):
    credentials.delenv("OPENAI_API_KEY", raising=False)
    scope = {}
    try:
        exec(compile(code, f"{name}.md", "exec"), scope)
    finally:
        telemetry.stop()
        if "client" in scope:
            scope["client"].close()


def test_the_names_of_its_text_exist():
    text = (PAGES / "openai.md").read_text()
    homes = [vars(room) for room in (openai, agents, httpx)]
    ours = re.findall(r"`((?:async_)?(?:rollout|wrap)_\w+|\w*Rollout[A-Z]\w+)\b", text)
    assert len(ours) > 10
    for name in ours:
        assert any(name in home for home in homes), name
