"""Rollouts in a notebook: what failed is no reward, and no process is left behind."""

import os
import time

import pytest

from helpers import rollouts as room
from helpers.rollouts import NO_REWARDS, by_turn, killed, rollouts, sums
from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts import rollout_handler


@pytest.fixture
def data(tmp_path):
    return sums(tmp_path / "sums.jsonl")


def test_what_failed_has_no_reward_and_is_in_no_mean(data):
    @rollout_handler
    def agent(payload):
        if "17" in payload["prompt"]:
            raise RuntimeError
        return 0.5

    run = rollouts(agent, data, n=1, limit=2)
    assert run.figures.statuses == {"rewarded": 1, "failed": 1, "lost": 0, "timeout": 0}
    assert run.figures.mean.value == 0.5
    assert by_turn({"failed": run}).sheets[0].rows == [["failed", "0", ""]]
    assert not any(row[0].startswith("seconds") for row in run._shown().sheets[0].rows)


def test_an_address_of_the_shell_leads_no_rollout_away(data, monkeypatch):
    """`reward local up --training` exports one, and an agent's model would take it."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/openai/v1")
    seen = []

    @rollout_handler
    def agent(payload):
        seen.append(os.environ.get("OPENAI_BASE_URL"))
        return 0.5

    rollouts(agent, data, n=1, limit=1)
    assert seen == [None]
    assert os.environ["OPENAI_BASE_URL"] == "http://127.0.0.1:9/openai/v1"


def test_rollouts_without_a_reward_are_a_sentence_where_a_chart_would_be(data, tmp_path):
    @rollout_handler
    def agent(payload):
        raise RuntimeError

    run = rollouts(agent, data, n=2, limit=1)
    assert run.figures.statuses["failed"] == 2
    assert repr(run.charts) == f"- {NO_REWARDS}"
    assert "Rollouts (SIMULATION)" in repr(run)
    assert "One rollout" in repr(run.turns())
    assert "a page of" in repr(run.page(tmp_path / "page.html"))


def test_a_kernel_that_is_stopped_for_an_hour_loses_no_reward(data, monkeypatch):
    """Every clock of the process has gone on when it does: a window of ten minutes is over."""
    stopped = 0.0
    running = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: running() + stopped)

    @rollout_handler
    def agent(payload):
        nonlocal stopped
        stopped += 3_600.0
        return 0.5

    run = rollouts(agent, data, n=2, limit=2)
    assert run.figures.statuses["rewarded"] == 4


def test_a_fault_that_is_none_is_named(data):
    with pytest.raises(ConfigurationError, match="throtle"):
        rollouts(lambda payload: 1.0, data, faults="throtle=1")


def test_a_process_that_ends_while_its_reports_are_awaited_is_a_sentence():
    class Ended:
        def poll(self):
            return 1

    with pytest.raises(ConfigurationError, match="ended before its reports were there"):
        room._awaited(lambda: False, Ended())


def test_a_process_that_does_not_start_is_a_sentence(data, tmp_path, monkeypatch):
    monkeypatch.setattr(room.sys, "executable", "/bin/false")
    with pytest.raises(ConfigurationError, match="ended before it listened"):
        killed(data, tmp_path / "outbox")
