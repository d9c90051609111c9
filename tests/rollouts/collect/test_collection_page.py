"""docs/how-to/collect-rollouts.md: its programs run."""

from pathlib import Path

from tests import generated

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "collect-rollouts.md"


def test_its_programs_run():
    for block in generated.python_blocks(PAGE):
        exec(compile(block, str(PAGE), "exec"), {})
