"""Waiting for what another thread or process does."""

from time import monotonic, sleep

PATIENCE = 120.0
"""Seconds: a busy machine takes long, and what never comes fails all the same."""


def until(holds, missing="it has not come about"):
    """What `holds()` returns, once that is true; a failure that says what is missing."""
    late = monotonic() + PATIENCE
    while not (found := holds()):
        assert monotonic() < late, f"{missing}, in {PATIENCE:.0f} seconds"
        sleep(0.02)
    return found
