"""The caller's side of the worker: it starts, asks and replaces it, and never waits without end.

    an answer uses up time or memory    the worker replies *undecided*: the policy caused it
    the worker dies or is killed        another process of it is asked, or a new worker
    it cannot start, or dies each time  `EngineUnavailable`: we caused it, the sample is Unscored
    others have the worker or the processor for too long                    the same

The worker is a fresh interpreter with its own minimal environment, not a fork of this process: so
it may be started at any time, whatever threads there are, and shares nothing but sockets with it.
It serves on several sockets, its *lines*, with a process for each. It ends when they close, which
happens when this process ends in any way.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from contextlib import contextmanager, suppress
from threading import Condition, Lock
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import EngineUnavailable
from reward_functions.core.platforms import NotThisSystem
from reward_functions.symbolic.cas import protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.symbolic.expr.nodes import Node
    from reward_functions.symbolic.verdict import Finding

SECONDS: Final = 0.1
"""Processor time of one request. Textbook sums and integrals take 5 to 80 ms; of those that take
longer, most would need many times as long."""

WALL: Final = 2 * SECONDS + 0.02
"""Seconds on the wall: a request is sure of its processor time where it gets half of a processor,
which a Lambda of 900 MB has, and of the milliseconds that the fork takes."""

LINES: Final = 2
"""Requests that are worked at together. More of them cost two megabytes each, and use processors
that a Lambda does not have."""

STARTING: Final = 30.0
"""Seconds until the worker is ready: one on an idle machine, three without compiled bytecode."""

GRACE: Final = 1.0
"""Seconds beyond those of a request on the wall until a silent worker counts as dead. It kills on
time itself, so this is only for one that is stopped, and for a machine that does not get round to
it."""

QUEUE: Final = 0.5
"""Seconds a thread waits for its turn, in the order of asking: eight or more requests that use all
their time up. With the request itself this stays within the second that a Lambda keeps back for the
last sample of a batch. The answer does not cause the waiting, which is not in its budget."""

_ATTEMPTS: Final = LINES + 1

_BOOTSTRAP: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from reward_functions.symbolic.cas.worker import main; "
    "main([*map(int, sys.argv[1].split(','))])"
)

_KEPT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")
"""What an interpreter may need to start at all. Credentials in particular stay behind."""

_FIXED: Final = {
    "PYTHONHASHSEED": "0",  # the order of sympy's terms, and so the way it takes, follows hashes
    "SYMPY_GROUND_TYPES": "python",  # the same arithmetic whatever else is installed,
    "MPMATH_NOGMPY": "1",  # and a MemoryError where GMP would abort
}


class _Dead(Exception):
    """A process of the worker is gone, silent, lost its fork, or breaks the protocol."""


class SolverClient:
    """One worker, started when it is first needed and shared by all threads."""

    def __init__(self) -> None:
        self._starting = Lock()
        self._worker: _Worker | None = None

    def start(self) -> None:
        """Have a worker running. Raises `EngineUnavailable` when it cannot be started."""
        self._running()

    def launch(self) -> None:
        """Begin to start a worker, which the first request then waits for.

        Raises:
            EngineUnavailable: no process can be started.
        """
        with self._starting:
            if self._worker is None:
                self._worker = _launched()

    def compare(
        self,
        reference: Node,
        candidate: Node,
        *,
        seconds: float | None = None,
        wall: float | None = None,
    ) -> Finding:
        """What sympy finds about two trees.

        Args:
            reference: the right answer.
            candidate: the answer to judge.
            seconds: of processor time (`SECONDS` where None); what needs more is undecided.
            wall: seconds on the wall in which it has to get them; `WALL` where None.

        Raises:
            EngineUnavailable: no worker could be had, or it did not get its processor time, which
                decides nothing about the answer.
        """
        budget = protocol.TimeBudget(
            SECONDS if seconds is None else seconds, WALL if wall is None else wall
        )
        message = protocol.request(budget, reference, candidate)
        for _ in range(_ATTEMPTS):
            with suppress(_Dead), self._running().line() as line:
                return line.finding(message, budget)
        raise EngineUnavailable(f"the algebra worker died {_ATTEMPTS} times on one request")

    def end(self) -> None:
        """End the worker, if there is one; the next request starts another."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def disown(self) -> None:
        """In a forked process: leave the worker to the parent, whatever its threads were doing."""
        worker, self._worker, self._starting = self._worker, None, Lock()
        if worker is not None:
            worker.disown()

    def _running(self) -> _Worker:
        worker = self._worker
        if worker is not None and worker.ready and worker.lines:
            return worker
        starting = self._starting
        if not starting.acquire(timeout=STARTING):
            raise EngineUnavailable("another thread has been starting the algebra worker")
        try:
            worker, self._worker = self._worker, None
            if worker is None or not worker.lines:
                worker = _launched()
            worker.begin()
            self._worker = worker
            return worker
        finally:
            starting.release()


class _Worker:
    """A running worker: its process, and the lines to it that are in order.

    Whoever has been waiting longest gets the next line that is free. A line on which something went
    wrong is closed; when the last one is, the worker has to be replaced.
    """

    def __init__(self, process: subprocess.Popen[bytes], lines: list[_Line]) -> None:
        self.process = process
        self.lines = lines
        self.ready = False
        self._free = list(lines)
        self._queue: deque[object] = deque()
        self._changed = Condition()

    def begin(self) -> None:
        """Wait until all lines report that they are ready, unless they have.

        Raises:
            EngineUnavailable: they do not, and the worker is ended.
        """
        try:
            self.ready = self.ready or all(line.begins() for line in self.lines)
        finally:
            if not self.ready:
                self.end()
        if not self.ready:
            raise EngineUnavailable(
                "the algebra worker does not start; "
                "`python -c 'import reward_functions.symbolic.cas.worker'` may show why"
            )

    @contextmanager
    def line(self) -> Iterator[_Line]:
        """A line for one request.

        Raises:
            _Dead: none is left.
            EngineUnavailable: none became free in time.
        """
        line = self._turn()
        try:
            yield line
        finally:
            with self._changed:
                if line.idle:
                    self._free.append(line)
                else:  # also when an interrupt left a reply in the socket
                    line.channel.close()
                    self.lines.remove(line)
                if not self.lines:
                    self.end()
                self._changed.notify_all()

    def _turn(self) -> _Line:
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                if not self._changed.wait_for(lambda: self._is_up(ticket), QUEUE):
                    raise EngineUnavailable(
                        f"other threads kept the algebra worker for {QUEUE:g} seconds"
                    )
                if not self.lines:
                    raise _Dead
                return self._free.pop()
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _is_up(self, ticket: object) -> bool:
        return not self.lines or (bool(self._free) and self._queue[0] is ticket)

    def end(self) -> None:
        """End its processes, whatever they do."""
        for line in self.lines:
            line.channel.close()
        if self.process.returncode is None:  # else its number may be another's by now
            with suppress(ProcessLookupError, PermissionError):  # the latter where all are dead
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def disown(self) -> None:
        """Drop this side of the sockets; the process is another's child."""
        for line in self.lines:
            line.channel.close()
        self.process.returncode = 0  # else Popen takes it for a child that was forgotten


class _Line:
    """A socket to one process of the worker."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.idle = False

    def begins(self) -> bool:
        """Whether the process at the other end reports that it is ready."""
        with suppress(_Dead):
            self.idle = self._received(STARTING) == protocol.READY
        return self.idle

    def finding(self, message: bytes, budget: protocol.TimeBudget) -> Finding:
        """The finding on a request.

        Raises:
            _Dead: there will be none.
            EngineUnavailable: the machine did not give the request its time.
        """
        self.idle = False
        try:
            protocol.send(self.channel, message)
            received = self._received(GRACE + budget.wall)
            finding = (
                None
                if received in (protocol.LOST, protocol.STARVED)
                else protocol.finding_of(received)
            )
        except (OSError, ValueError):
            raise _Dead from None
        self.idle = True
        if finding is None and received == protocol.LOST:
            raise _Dead  # only what it forked; the process itself is in order
        if finding is None:
            raise EngineUnavailable(
                f"the machine is too busy: the algebra did not get {budget.seconds:g} seconds of it"
            )
        return finding

    def _received(self, seconds: float) -> bytes:
        """The next message. Raises `_Dead` when it does not come in time."""
        self.channel.settimeout(seconds)
        try:
            return protocol.receive(self.channel)
        except (EOFError, OSError):  # a timeout is an OSError
            raise _Dead from None


def _launched() -> _Worker:
    """A worker that will report when it is ready."""
    if not sys.executable:
        raise EngineUnavailable("the algebra worker needs the path of an interpreter")
    if not hasattr(os, "fork"):
        raise EngineUnavailable(str(NotThisSystem("the algebra worker")))
    pairs = [socket.socketpair() for _ in range(LINES)]
    lines = [_Line(ours) for ours, _ in pairs]
    try:
        return _Worker(_process([theirs.fileno() for _, theirs in pairs]), lines)
    except OSError as trouble:
        for line in lines:
            line.channel.close()
        raise EngineUnavailable(f"the algebra worker cannot start: {trouble}") from trouble
    finally:
        for _, theirs in pairs:
            theirs.close()


def _process(descriptors: list[int]) -> subprocess.Popen[bytes]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - our own interpreter, on our own text
        [sys.executable, "-P", "-c", _BOOTSTRAP, ",".join(map(str, descriptors)), *sys.path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        env=kept | _FIXED,
        start_new_session=True,  # an interrupt at the terminal is not meant for it
    )


CLIENT: Final = SolverClient()
"""The worker of this process."""

atexit.register(CLIENT.end)
if hasattr(os, "register_at_fork"):  # Windows has none, and no worker either
    os.register_at_fork(after_in_child=CLIENT.disown)
