"""What the examples of docs/examples/agents share in their tests."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "agents"


def reward(*arguments):
    """`reward rollouts …`, which succeeds."""
    return succeeding("rollouts", *arguments)


def succeeding(*arguments):
    """`reward …`, which succeeds."""
    ran = CliRunner().invoke(app, [*map(str, arguments)])
    assert ran.exit_code == 0, ran.output
    return ran


def records(file="rollouts.jsonl"):
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


@pytest.fixture
def folder(tmp_path, credentials):
    """A folder of its own, without anybody's keys."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "REWARD_JUDGE"):
        credentials.delenv(name, raising=False)
    credentials.chdir(tmp_path)
    credentials.syspath_prepend(str(EXAMPLES))
    rows = [
        {"prompt": "What is (17 + 5) * 2?", "answer": "44"},
        {"prompt": "What is 6 * 7?", "answer": "42"},
    ]
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path
