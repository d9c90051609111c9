"""docs/trajectories.md and the page on re-tokenising: their code runs, their words are true."""

import re
from pathlib import Path

import pytest

from reward_functions.rollouts.episode import run
from reward_functions.rollouts.record import history, recording, statistics
from reward_functions.rollouts.record.bounded import MOST
from reward_functions.rollouts.record.jsonl import TrajectoryFile
from tests import generated

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "trajectories.md"
TEXT = PAGE.read_text()
DRIFT = ROOT / "docs" / "explanation" / "retokenising-drifts.md"


def test_the_agent_of_the_page_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in generated.python_blocks(PAGE):
        exec(compile(block, str(PAGE), "exec"), {})
    (one,) = TrajectoryFile(tmp_path / "trajectories.jsonl")
    assert (one.status, one.turns[0].response["content"]) == ("unreported", "42")


def test_the_toy_tokenizer_drifts_as_the_page_says():
    names = {}
    for block in generated.python_blocks(DRIFT):
        exec(compile(block, str(DRIFT), "exec"), names)
    assert names["found"].inside == "completion"


@pytest.mark.parametrize("why", sorted(set(history.Why.__args__) - {"start"}))
def test_its_reasons_of_a_branch_are_those_of_the_code(why):
    assert f"`{why}`" in TEXT


def test_its_statuses_and_limits_are_those_of_the_code():
    statuses = set(re.findall(r"`(\w+)`", TEXT.split("| status |")[1].split("\n\n")[0]))
    assert statuses == set(re.findall(r"\| `(\w+)` \|", run.__doc__))
    assert f"{MOST // 2**20} MiB" in TEXT
    assert f"{recording.MOST_TURNS:,} turns" in TEXT
    assert f"`{statistics.INVENTED}`" in TEXT
