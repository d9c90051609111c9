"""A wait: what it returns, and what it says of what never comes."""

import gc
from threading import Event, Thread, Timer
from weakref import finalize, ref

import pytest

from tests import waiting


def test_it_returns_what_it_found():
    found = iter([0, [], "there"])
    assert waiting.until(lambda: next(found)) == "there"


def test_what_never_comes_is_a_failure_that_names_it(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    with pytest.raises(AssertionError, match="no dead letter, in 0 seconds"):
        waiting.until(lambda: 0, "no dead letter")


def test_what_is_held_is_not_gone(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    with pytest.raises(AssertionError, match="it is held"):
        waiting.until_gone(ref(waiting.until))


class Cycle:
    """What only the collector finds."""

    def __init__(self):
        self.itself = self


def test_a_collection_of_another_thread_is_waited_for():
    begun, go_on = Event(), Event()

    def finalizer():
        begun.set()
        assert go_on.wait(waiting.PATIENCE)

    with waiting.collector_at_rest():
        finalize(Cycle(), finalizer)
        other = Thread(target=gc.collect)
        other.start()
        assert begun.wait(waiting.PATIENCE)
        alive = ref(Cycle())
        gc.collect()
        assert alive() is not None
        Timer(0.1, go_on.set).start()
        waiting.until_gone(alive)
    other.join()
