"""Every thread begins late, as on a busy machine: a plugin of pytest.

    python -m pytest -p tests.nightly.late -m "not slow"

A test that fails like this, and not without it, takes another thread for quick.
"""

from threading import Thread
from time import sleep

LATE = 0.3
"""Seconds: more than tests give to what should run out, such as 0.2."""

START = Thread.start


def _start(thread):
    run = thread.run

    def late():
        sleep(LATE)
        run()

    thread.run = late
    return START(thread)


def pytest_configure():
    """Make the threads of this process late, and those of the copies of it that run tests."""
    Thread.start = _start


def pytest_unconfigure():
    """Threads begin as they did."""
    Thread.start = START
