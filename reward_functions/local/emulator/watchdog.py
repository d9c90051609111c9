"""Run a command that ends when its starter does, however the starter ended: SIGKILL, a crash.

    python -I -S watchdog.py FD COMMAND ARGUMENT…

FD is the read end of a pipe, and only the starter has the write end: the system closes it when the
starter is gone. A child of the command, in the command's process group, waits for that, or for the
end of the command, and kills the group with everything the command started.

`PR_SET_PDEATHSIG` would not do: it is Linux's alone, fires when the *thread* that started the
command ends, and does not reach what the command starts. Standard library only: it runs as a file.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import Final, NoReturn

GLANCE: Final = 0.5
"""Seconds between two looks at whether the command is there."""

IGNORED_BY_PYTHON: Final = ("SIGPIPE", "SIGXFSZ")
"""A command would inherit that from the interpreter it replaces."""


def main(descriptor: int, command: list[str]) -> NoReturn:
    """Become the command, with a child that watches over it."""
    leader = os.getpid()
    if os.fork() == 0:
        _watch(descriptor, leader)
    os.close(descriptor)
    for name in IGNORED_BY_PYTHON:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execvp(command[0], command)  # noqa: S606 - no shell, on purpose


def _watch(descriptor: int, leader: int) -> NoReturn:
    # The command's socket would stay open as long as this.
    os.closerange(0, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
    while os.getppid() == leader:
        readable, _, _ = select.select([descriptor], [], [], GLANCE)
        if readable:
            break
    os.killpg(leader, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
