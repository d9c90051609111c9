"""Waiting for what another thread or process does."""

import gc
from contextlib import contextmanager
from time import monotonic, sleep

PATIENCE = 120.0
"""Seconds: a busy machine takes long, and what never comes fails all the same."""


def until(holds, missing="it has not come about"):
    """What `holds()` returns, once that is true; a failure that says what is missing."""
    late = monotonic() + PATIENCE
    while not (found := holds()):
        assert monotonic() < late, f"{missing}, in {PATIENCE:.0f} seconds"
        sleep(0.005)
    return found


def until_gone(reference):
    """Collect garbage until nobody holds what a weak reference names.

    While one thread collects, `gc.collect` of another returns at once and has done nothing.
    """

    def gone():
        gc.collect()
        return reference() is None

    until(gone, "it is held")


@contextmanager
def collector_at_rest():
    """Garbage is collected where a test asks, and not in a thread that its finalizer holds up."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
