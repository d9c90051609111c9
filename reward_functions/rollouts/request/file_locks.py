"""Locks on files, which end with the process that holds them, however it dies.

Where the system has no locks, as on Windows, every caller gets one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator


def try_lock(file: int, *, shared: bool = False) -> bool:
    """Lock a file until it is closed; whether nobody else holds it.

    Args:
        file: its descriptor.
        shared: whether others may share it, which look and do not write.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(file: int) -> Iterator[bool]:
    """Wait for a file, and keep others out for a block; false where the system has no locks.

    The lock is let go by name: a child that was forked meanwhile has the descriptor, too.
    """
    if fcntl is None:
        yield False
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield True
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
