"""docs/rollouts.md: its agent runs, its names exist, its diff is that of the two examples."""

import difflib
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions import rollouts
from reward_functions.cli import app
from reward_functions.rollouts.report.outbox.dynamodb import ACTIONS
from reward_functions.rollouts.report.settings import PREFIX, RolloutSettings
from reward_functions.rollouts.request import outcomes
from tests import generated

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "rollouts.md"
TEXT = PAGE.read_text()
BLOCKS = generated.python_blocks(PAGE)


def test_its_first_agent_is_run_scored_and_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REWARD_ROLLOUTS_OUTBOX", "memory:")
    (tmp_path / "agent.py").write_text(BLOCKS[0])
    (tmp_path / "rows.jsonl").write_text('{"prompt": "What is 6 × 7?", "reference": "42"}\n')
    command = CliRunner()
    ran = command.invoke(app, ["rollouts", "run", "agent.py:agent", "rows.jsonl", "-n", "2"])
    assert ran.exit_code == 0, ran.output
    shown = command.invoke(app, ["rollouts", "report", "rollouts.jsonl", "--format", "json"])
    assert shown.exit_code == 0, shown.output
    assert '"rewarded"' in shown.output


def test_its_test_of_an_agent_runs():
    exec(compile(BLOCKS[1], str(PAGE), "exec"), {})


def test_its_diff_is_that_of_the_examples():
    before, after = (
        (ROOT / "docs" / "examples" / name).read_text().splitlines()
        for name in ("strands_math.py", "strands_math_rollout.py")
    )
    changed = [
        line
        for line in difflib.unified_diff(before, after, n=0, lineterm="")
        if line[0] in "+-" and line[:3] not in {"+++", "---"}
    ]
    shown = re.search(r"```diff\n(.*?)\n```", TEXT, re.DOTALL)[1]
    assert sorted(changed) == sorted(shown.splitlines())


NAMES = "AlreadyReported Conflict Expired NotFound QuotaExceeded Rejected Unauthorized".split()


@pytest.mark.parametrize("name", NAMES)
def test_its_outcomes_exist(name):
    assert f"`{name}`" in TEXT
    assert issubclass(getattr(outcomes, name), outcomes.Outcome)


def test_the_actions_that_it_names_are_those_of_the_table():
    named = re.search(r"`dynamodb:([A-Za-z, \n]+)`", TEXT)[1]
    assert {f"dynamodb:{name}" for name in re.split(r",\s+", named)} == set(ACTIONS)


def test_every_public_name_is_found_where_it_is_said_to_be():
    assert sorted(name for names in rollouts.HOMES.values() for name in names.split()) == sorted(
        rollouts.__all__
    )
    for name in rollouts.__all__:
        assert getattr(rollouts, name).__module__.startswith("reward_functions.rollouts")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rollouts.nothing


VARIABLE = re.compile(r"\bREWARD_(?:ROLLOUTS|RELAY)_[A-Z_]*[A-Z]\b")
SOURCES = sorted((ROOT / "reward_functions").rglob("*.py"))


def test_every_variable_of_rollouts_has_a_row():
    named = {name for path in SOURCES for name in VARIABLE.findall(path.read_text())}
    named |= {f"{PREFIX}{name.upper()}" for name in vars(RolloutSettings())}
    rows = re.findall(
        r"^\| `(REWARD_[A-Z_]+)` \|", generated.rollout_settings_table(), re.MULTILINE
    )
    assert sorted(rows) == sorted(named)
