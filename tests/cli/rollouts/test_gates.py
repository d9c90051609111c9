"""Nothing measured is never a pass: rollouts that earn nothing, and rewards that score none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.rollouts.test_run import AGENT, folder, rows, run
from tests.gates import EMPTY, HALF, UNSCORED, cases, ended_with

__all__ = ["folder"]

FAILING = """
def failing(payload):
    if {fails}:
        raise ValueError
    return {{"reward": 1.0}}
failing = rollout_handler(failing)
"""

REWARD = """
from reward_functions import Sample, Score, reward_function

@reward_function(version=1, examples=[])
def mine(sample: Sample) -> Score:
    if {fails}:
        raise RuntimeError
    return Score(1.0)
"""

FAILS = {EMPTY: "False", UNSCORED: "True"}


def given(count):
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows(count)))


@pytest.mark.parametrize(("_command", "case", "status"), cases("rollouts run"))
def test_a_run_without_a_reward_is_never_a_pass(folder, _command, case, status):
    odd = 'int(payload["prompt"].split()[2]) % 2'
    fails = odd if case is HALF else FAILS[case]
    (folder / "agent.py").write_text(AGENT + FAILING.format(fails=fails))
    given(0 if case is EMPTY else 2)
    ran = run("run", "agent.py:failing", "rows.jsonl", "-n", 1)
    ended_with(ran, status)
