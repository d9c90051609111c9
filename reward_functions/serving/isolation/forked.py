"""A fork of this process that answers requests, and the messages between the two.

    child = Forked(service)
    child.ask(request, seconds=5)      the child calls service(request, say)
    child.messages()                   what it has said so far; ended(child) when it is gone

Both directions are pickled, each message after its length. The child runs the code that was
deployed, as this process would without it; no text of a model or a trainer is unpickled as anything
but text. No lock or queue of `multiprocessing` is used: Lambda has no shared memory.

The child leads a process group of its own, so that what it starts ends with it. It ends itself when
this process ends, in the middle of its work.
"""

from __future__ import annotations

import os
import pickle
import random
import select
import signal
import socket
import sys
import warnings
from contextlib import suppress
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet, finalize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Say = Callable[[Any], None]
    Service = Callable[[Any, Say], None]

LENGTH: Final = 8
"""Bytes before each message that say how many follow."""

MAX_ANSWER: Final = 64 * 2**20
"""Bytes of one answer. A score has a few hundred; a child that says more is broken."""

CHUNK: Final = 1 << 16

REAPING: Final = 0.2
"""Seconds that a child has to end, when it has closed its end of the socket."""

KILLING: Final = 0.02
"""Seconds that a killed process is waited for. Most take a few milliseconds. One that gives back
gigabytes, or hangs in the kernel, does not hold the answer back: `_KILLED` remembers it."""

LOWEST: Final = 19
"""The nice value of a process that gets what time the others leave."""

DIE_WITH_PARENT: Final = 1
"""Linux's `PR_SET_PDEATHSIG`."""

_KILLED: Final[list[int]] = []
"""Children that were killed, and had not ended when they were last looked at."""

_OPEN: Final[WeakSet[Forked]] = WeakSet()


class ChildEnded(Exception):
    """The child is gone; the message says how it ended, as far as that is known."""


class Forked:
    """A child process; made at once, from this process as it is.

    Args:
        service: what the child does with each request. It hands what it wants to say to its second
            argument, from any thread.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self, service: Service) -> None:
        ours, theirs = socket.socketpair()
        try:
            pid = _fork()
        except OSError:
            ours.close()
            theirs.close()
            raise
        if pid == 0:
            _run(service, theirs, others=[ours, *(each.channel for each in _OPEN)])
        theirs.close()
        with suppress(OSError):  # the child does the same, and the second of both may not
            os.setpgid(pid, pid)
        self.pid = pid
        self.channel: socket.socket = ours
        self._received = bytearray()
        self._end = _Ending(pid, ours)
        finalize(self, self._end)
        _OPEN.add(self)

    def fileno(self) -> int:
        """What `select` waits for."""
        return self.channel.fileno()

    def ask(self, request: Any, *, seconds: float | None) -> None:
        """Send a request.

        Args:
            request: can be pickled.
            seconds: that the child may take to read it; None for as long as it takes.

        Raises:
            ChildEnded: it is gone, or does not read.
        """
        self.channel.settimeout(seconds)
        try:
            _send(self.channel, request)
        except OSError:  # a timeout is one
            raise ChildEnded(self.end()) from None

    def messages(self) -> list[Any]:
        """The child's messages since then; does not wait.

        Raises:
            ChildEnded: it is gone, and has said nothing more.
        """
        self.channel.setblocking(False)
        received = None
        with suppress(BlockingIOError, ConnectionError):
            while received := self.channel.recv(CHUNK):
                self._received += received
        found = [pickle.loads(each) for each in self._whole()]  # noqa: S301 - our own child
        if not found and received == b"":
            raise ChildEnded(self.end(REAPING))
        return found

    def defer(self) -> None:
        """Leave the processor to others from now on."""
        with suppress(OSError):
            os.setpriority(os.PRIO_PGRP, self.pid, LOWEST)

    def end(self, seconds: float = 0.0) -> str:
        """Kill it and what it started.

        Args:
            seconds: that it has to end by itself.

        Returns:
            how it ended by itself, as "exit status 3" or "signal 11"; "killed" where it did not.
        """
        return self._end(seconds) or "killed"

    def _whole(self) -> Iterable[bytes]:
        """The messages that have arrived entirely."""
        while len(self._received) >= LENGTH:
            size = int.from_bytes(self._received[:LENGTH])
            if size > MAX_ANSWER:
                raise ChildEnded(self.end())
            if len(self._received) < LENGTH + size:
                return
            yield bytes(self._received[LENGTH : LENGTH + size])
            del self._received[: LENGTH + size]


def waited(children: Iterable[Forked], seconds: float | None) -> None:
    """Wait until one of these children has said something or is gone.

    Args:
        children: whose.
        seconds: at most; None for as long as it takes.
    """
    poll = select.poll()
    for child in children:
        poll.register(child, select.POLLIN)
    poll.poll(None if seconds is None else max(0.0, seconds) * 1000)


def _fork() -> int:
    # What is buffered here would be written twice; and a reward that seeds its random numbers has
    # the same in a child, where Python would seed them anew.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    state = random.getstate()
    with warnings.catch_warnings():
        # A thread that a reward's module starts is not in the child: the documentation says so.
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        random.setstate(state)
    return pid


def _run(service: Service, channel: socket.socket, others: Iterable[socket.socket]) -> None:
    """The life of the child; does not return."""
    status = 1
    try:
        os.setpgid(0, 0)
        _die_with_parent()
        for each in others:
            each.close()
        _serve(service, channel)
        status = 0
    finally:  # no handler of this process may see what ends the child
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(status)


def _serve(service: Service, channel: socket.socket) -> None:
    lock = Lock()

    def say(message: Any) -> None:
        with lock:
            _send(channel, message)

    while header := _read(channel, LENGTH):
        service(pickle.loads(_read(channel, int.from_bytes(header))), say)  # noqa: S301 - our own


def _send(channel: socket.socket, message: Any) -> None:
    data = pickle.dumps(message)
    channel.sendall(len(data).to_bytes(LENGTH) + data)


def _read(channel: socket.socket, size: int) -> bytes:
    """So many bytes; fewer where the other end is closed."""
    data = bytearray()
    while len(data) < size and (part := channel.recv(min(CHUNK, size - len(data)))):
        data += part
    return bytes(data)


def _die_with_parent() -> None:
    """Have the kernel end this process when the other ends: it may be in the midst of C code."""
    if sys.platform != "linux":
        return
    from ctypes import CDLL  # noqa: PLC0415 - in the child alone

    with suppress(OSError, AttributeError):
        CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)


class _Ending:
    """Ends a child, the first time that it is called."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid, self.channel = pid, channel
        self.parent = os.getpid()
        self.how: str | None = None

    def __call__(self, seconds: float = 0.0) -> str:
        """How the child ended by itself within these seconds; "" where it was killed."""
        if self.how is None:
            self.how = ""
            if os.getpid() != self.parent:  # another child, which has inherited this object
                return ""
            self.channel.close()
            status = _reaped(self.pid, seconds)
            with suppress(ProcessLookupError, PermissionError):  # the latter where all are dead
                os.killpg(self.pid, signal.SIGKILL)
            if status is None:
                earlier = [each for each in _KILLED if _reaped(each, 0.0) is None]
                late = [self.pid] if _reaped(self.pid, KILLING) is None else []
                _KILLED[:] = earlier + late
            else:
                code = os.waitstatus_to_exitcode(status)
                self.how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return self.how


def _reaped(pid: int, seconds: float) -> int | None:
    """The status of a child that ends within these seconds; None for one that does not."""
    until = monotonic() + seconds
    while True:
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:  # somebody else has waited for it
            return 0
        if found:
            return status
        if monotonic() >= until:
            return None
        sleep(0.001)
