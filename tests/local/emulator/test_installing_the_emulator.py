"""`reward local install` without an index: its steps are stand-ins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reward_functions.local.emulator import LocalAwsError, installing
from reward_functions.local.emulator.installing import VERSION


@pytest.fixture
def own(tmp_path, monkeypatch):
    python = tmp_path / "emulator" / "bin" / "python"
    monkeypatch.setattr(installing, "OWN", python)
    return python


@pytest.fixture
def steps(own, monkeypatch):
    taken = []

    def take(*command):
        taken.append(command)
        own.parent.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(installing, "_run", take)
    return taken


def test_what_is_installed_already_is_left_alone(own, steps, monkeypatch):
    monkeypatch.setattr(installing, "version_in", lambda _: VERSION)
    assert installing.install() == own
    assert steps == []


def test_the_pins_are_installed_with_their_hashes(own, steps):
    heard = []
    assert installing.install(heard.append) == own
    made, filled = steps
    assert made == (sys.executable, "-m", "venv", "--clear", str(own.parents[1]))
    assert filled[0] == str(own)
    assert "--require-hashes" in filled
    assert f"ministack=={VERSION}" in Path(filled[-1]).read_text()
    assert len(heard) == 2


@pytest.mark.parametrize("error", [LocalAwsError("no index"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_failed_attempt(own, steps, monkeypatch, error):
    def fail(*command):
        if "pip" in command:
            raise error
        own.parent.mkdir(parents=True)

    monkeypatch.setattr(installing, "_run", fail)
    with pytest.raises(type(error)):
        installing.install()
    assert not own.parents[1].exists()


def test_a_failed_step_is_its_last_line(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    code = "import os, sys; print(os.environ.get('PYTHONPATH')); sys.exit('first\\nno index')"
    with pytest.raises(LocalAwsError, match=r"cannot be installed: no index$"):
        installing._run(sys.executable, "-c", code)


def test_a_silent_step_says_its_status():
    with pytest.raises(LocalAwsError, match=r"raise SystemExit.* ended with 7$"):
        installing._run(sys.executable, "-c", "raise SystemExit(7)")
