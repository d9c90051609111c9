"""What a run of the tests starts ends with it, however the run is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from tests.processes import processes_of
from tests.reaper import VARIABLE
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]

RUN = """
import os, subprocess, sys
from time import sleep
from tests.reaper import begin_run

run = begin_run()
child = "import subprocess; subprocess.run(['sleep', '1000'])"
subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
print(os.environ[{variable!r}], flush=True)
sys.stdin.read()
"""
"""A run that starts a child, which starts another, and ends when it is told."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads Linux's")


@pytest.fixture
def run():
    """A run, and its folder once it has started everything."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN.format(variable=VARIABLE)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        folder = Path(run.stdout.readline().strip()).parent
        while len(processes_of(folder)) < 2:
            sleep(0.02)
        yield run, folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_neither_processes_nor_files(run, number):
    ended, folder = run
    os.kill(ended.pid, number)
    assert_nothing_left(ended, folder)


def test_a_run_that_is_over_leaves_neither_processes_nor_files(run):
    ended, folder = run
    ended.stdin.close()
    assert_nothing_left(ended, folder)


def assert_nothing_left(ended, folder):
    ended.wait(timeout=PATIENCE)
    for _ in range(100):
        if not folder.exists():
            break
        sleep(0.05)
    assert processes_of(folder) == []
    assert not folder.exists()
