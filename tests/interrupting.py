"""An interrupt that comes just before somebody waits for another thread."""

import signal
from contextlib import closing
from threading import Event, get_ident
from time import sleep

import pytest


def assert_interruptible(waiting):
    """Who waits for a call in another thread is interrupted by a signal that wakes no lock.

    That thread takes the signal: for who waits it is as one that came just before.

    Args:
        waiting: makes an iterator of what a call in a thread returns, from the call and from an
            event, which it sets, if anything, to break the call off.
    """
    ending, seen = Event(), []

    def held(_):
        sleep(0.1)  # until it is waited for
        signal.pthread_kill(get_ident(), signal.SIGINT)
        seen.append(ending.wait(20))
        return []

    with closing(waiting(held, ending)) as waits, pytest.raises(KeyboardInterrupt):
        next(waits)
    assert seen in ([], [True])
    ending.set()
