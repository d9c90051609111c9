"""Processes by id: done apart from later ones of the same id, and ended with all their children.

An id is reused once its process is gone; the id and the moment it started are not. A process that
is started here leads a group of its own, so that its children end with it, whoever adopted them.
With a lifeline the whole group ends when this process does, even by SIGKILL: see `watchdog.py`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Final

from reward_functions.aws.emulator_record import Process, start_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO

WATCHDOG: Final = Path(__file__).with_name("watchdog.py")

ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
"""What a supervisor sends, and a terminal that is closed."""


@contextmanager
def lifeline() -> Iterator[int]:
    """The read end of a pipe that closes when this block ends, or this process in any way.

    A process that is forked meanwhile, without running another program, keeps it open.
    """
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(write)
        os.close(read)


def start(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    log: IO[bytes],
    inherited: Sequence[int] = (),
    line: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, without a terminal.

    Args:
        command: what to run.
        environment: all its variables; it gets none of the caller's.
        folder: where it runs.
        log: its standard output and error.
        inherited: file descriptors it keeps.
        line: the `lifeline` it ends with; it outlives this process where not given.
    """
    watchdog, lines = (_watchdog(line), [line]) if line is not None else ([], [])
    return subprocess.Popen(  # noqa: S603 - the callers' own programs
        [*watchdog, *command],
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        pass_fds=(*inherited, *lines),
        start_new_session=True,
    )


def _watchdog(line: int) -> list[str]:
    """What runs a command so that it ends with this lifeline."""
    return [sys.executable, "-I", "-S", str(WATCHDOG), str(line)]


def process_of(id: int) -> Process:  # noqa: A002 - the system's word
    """The process of this id, which this process has just started."""
    return Process(id, start_time(id) or "ended at once")


@contextmanager
def ended_like_interrupted() -> Iterator[None]:
    """Let the signals that end a command run its clean-up, as Ctrl-C does; main thread only."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put off whatever would interrupt this block until it is over.

    Between the start of a process and the note of its id nobody could end it. Signals are put off
    and not blocked: a process started meanwhile would inherit that. Only a main thread has them.
    """
    if current_thread() is not main_thread():
        yield
        return
    arrived: list[int] = []

    def note(number: int, _: object) -> None:
        arrived.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])
