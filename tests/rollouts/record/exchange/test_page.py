"""docs/how-to/token-traces.md: its example runs, and its reasons are those of the code."""

from pathlib import Path

from tests import generated

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "token-traces.md"


def test_its_example_runs():
    (block,) = generated.python_blocks(PAGE)
    exec(compile(block, str(PAGE), "exec"), {})
