"""A process has one time, which goes on whatever the machine's clock does."""

from __future__ import annotations

import time

import pytest

from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.episode.watchdog import Watchdog
from reward_functions.rollouts.request import clock
from reward_functions.rollouts.request.clock import Clock, from_wall, steady, wall

SHIFTS = [3_600.0, -3_600.0, 86_400.0, -86_400.0]


@pytest.fixture
def set_by(monkeypatch):
    """Set the machine's clock under this process."""
    real = time.time

    def set_clock(seconds):
        monkeypatch.setattr(time, "time", lambda: real() + seconds)

    return set_clock


@pytest.mark.parametrize("seconds", SHIFTS)
def test_setting_the_machines_clock_changes_nothing_in_a_process(set_by, seconds):
    before = steady()
    set_by(seconds)
    assert 0.0 <= steady() - before < 60.0


@pytest.mark.parametrize("seconds", SHIFTS)
def test_what_other_machines_read_is_the_machines_time(set_by, seconds):
    set_by(seconds)
    moment = steady()
    assert wall(moment) == pytest.approx(time.time(), abs=5.0)
    assert from_wall(wall(moment)) == pytest.approx(moment, abs=0.1)


@pytest.mark.parametrize("seconds", [0.0, 1.0, -4.0])
def test_clocks_that_nearly_agree_are_one(set_by, seconds):
    set_by(seconds)
    assert wall(1e9) == from_wall(1e9) == 1e9


@pytest.mark.parametrize("seconds", SHIFTS)
def test_a_deadline_is_due_when_its_time_is_over_and_not_before(set_by, seconds):
    late = []
    watchdog = Watchdog(run=lambda action: action())
    watchdog.watch(steady() + 600.0, lambda: late.append("too early"))
    watchdog.watch(steady() - 0.1, lambda: late.append("due"))
    set_by(seconds)
    watchdog.run_due()
    watchdog.close()
    assert late in ([], ["due"])  # the watchdog's own thread may have run it before
    assert "too early" not in late


def test_processes_of_one_start_of_the_machine_share_its_name():
    assert clock._boot() == clock._boot() == steady.boot


def test_a_system_that_names_no_start_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(clock, "BOOT_ID", tmp_path / "none")
    assert clock._boot() == ""


def test_a_clock_counts_from_its_epoch():
    assert Clock(100.0)() == pytest.approx(100.0 + time.monotonic(), abs=5.0)


def test_what_is_asked_of_a_server_is_the_machines_time(set_by):
    background = Background()
    try:
        set_by(3_600.0)
        assert wall(background.since) == pytest.approx(time.time(), abs=60.0)
    finally:
        background.close()
