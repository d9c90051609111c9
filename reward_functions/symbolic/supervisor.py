"""The caller's side of the worker: start it, ask it, replace it, and never wait for it without end.

    an answer uses up time or memory    *undecided*, says the worker: the policy's fault
    the worker dies or is killed        a new worker is asked, once
    it cannot start, or dies again      `EngineUnavailable`: ours, the sample is Unscored

The worker is a fresh interpreter with its own minimal environment, not a fork of this process: so
it may be started at any time, whatever threads there are, and shares nothing but a socket with it.
It ends when that socket closes, which happens when this process ends in any way.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import EngineUnavailable
from reward_functions.symbolic import wire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.symbolic.tree import Node
    from reward_functions.symbolic.verdict import Finding

SECONDS: Final = 0.15
"""Processor time of one request. Textbook sums and integrals take 5 to 60 ms, a few 100."""

STARTING: Final = 30.0
"""Seconds until the worker is ready: one on an idle machine, three without compiled bytecode."""

GRACE: Final = 5.0
"""Seconds beyond a request's own until a silent worker counts as dead. It kills on time itself, so
this is only for one that is stopped, and for a machine that does not get round to it."""

QUEUE: Final = 10.0
"""Seconds a thread waits for its turn. Waiting is no fault of the answer and not in its budget; ten
seconds are fifty requests that all use theirs up."""

_ATTEMPTS: Final = 2

_BOOTSTRAP: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from reward_functions.symbolic.worker import main; main(int(sys.argv[1]))"
)

_KEPT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")
"""What an interpreter may need to start at all. Credentials in particular stay behind."""

_FIXED: Final = {
    "PYTHONHASHSEED": "0",  # the order of sympy's terms, and so the way it takes, follows hashes
    "SYMPY_GROUND_TYPES": "python",  # the same arithmetic whatever else is installed,
    "MPMATH_NOGMPY": "1",  # and a MemoryError where GMP would abort
}


class _Dead(Exception):
    """The worker is gone, silent, or says what it must not."""


class Supervisor:
    """One worker, started when it is first needed and shared by all threads, one at a time."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._worker: _Worker | None = None

    def start(self) -> None:
        """Have a worker running. Raises `EngineUnavailable` when it cannot be started."""
        with self._my_turn():
            self._running()

    def compare(self, reference: Node, candidate: Node, *, seconds: float = SECONDS) -> Finding:
        """What the engine finds about two trees.

        Args:
            reference: the right answer.
            candidate: the answer to judge.
            seconds: of processor time; a request that needs more is undecided.

        Raises:
            EngineUnavailable: no worker could be had, which says nothing about the answer.
        """
        message = wire.request(seconds, reference, candidate)
        with self._my_turn():
            for _ in range(_ATTEMPTS):
                worker = self._running()
                try:
                    return worker.finding(message, seconds)
                except _Dead:
                    continue
                finally:
                    if not worker.idle:  # also when an interrupt left a reply in the socket
                        self.end()
        raise EngineUnavailable("the algebra worker died twice on one request")

    def end(self) -> None:
        """End the worker, if there is one; the next request starts another."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def disown(self) -> None:
        """In a forked process: leave the worker to the parent, whatever its threads were doing."""
        worker, self._worker, self._turn = self._worker, None, Lock()
        if worker is not None:
            worker.disown()

    def _running(self) -> _Worker:
        if self._worker is None:
            self._worker = _started()
        return self._worker

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        turn = self._turn
        if not turn.acquire(timeout=QUEUE):
            raise EngineUnavailable(f"other threads kept the algebra worker for {QUEUE:g} seconds")
        try:
            yield
        finally:
            turn.release()


class _Worker:
    """A running worker: its process and the socket to it."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self.process = process
        self.channel = channel
        self.idle = False

    def finding(self, message: bytes, seconds: float) -> Finding:
        """The finding on a request. Raises `_Dead` when there will be none."""
        self.idle = False
        try:
            wire.send(self.channel, message)
            finding = wire.finding_of(self.heard(GRACE + seconds))
        except (OSError, ValueError):  # `LOST` is no finding either
            raise _Dead from None
        self.idle = True
        return finding

    def heard(self, seconds: float) -> bytes:
        """The next message. Raises `_Dead` when it does not come in time."""
        self.channel.settimeout(seconds)
        try:
            return wire.receive(self.channel)
        except (EOFError, OSError):  # a timeout is an OSError
            raise _Dead from None

    def end(self) -> None:
        """End the process, whatever it does."""
        self.channel.close()
        self.process.kill()
        self.process.wait()

    def disown(self) -> None:
        """Drop this side of the socket; the process is another's child."""
        self.channel.close()
        self.process.returncode = 0  # else Popen takes it for a child that was forgotten


def _started() -> _Worker:
    """A worker that has said it is ready."""
    if not hasattr(os, "fork") or not sys.executable:
        raise EngineUnavailable("the algebra worker needs a system and interpreter that can fork")
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            worker = _Worker(_process(theirs.fileno()), ours)
        except OSError as trouble:
            ours.close()
            raise EngineUnavailable(f"the algebra worker cannot start: {trouble}") from trouble
    try:
        worker.idle = worker.heard(STARTING) == wire.READY
    except _Dead:
        raise EngineUnavailable(
            "the algebra worker does not start; "
            "`python -c 'import reward_functions.symbolic.worker'` may show why"
        ) from None
    finally:
        if not worker.idle:
            worker.end()
    return worker


def _process(descriptor: int) -> subprocess.Popen[bytes]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - our own interpreter, on our own text
        [sys.executable, "-P", "-c", _BOOTSTRAP, str(descriptor), *sys.path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[descriptor],
        env=kept | _FIXED,
        start_new_session=True,  # an interrupt at the terminal is not meant for it
    )


SUPERVISOR: Final = Supervisor()
"""The worker of this process."""

atexit.register(SUPERVISOR.end)
os.register_at_fork(after_in_child=SUPERVISOR.disown)
