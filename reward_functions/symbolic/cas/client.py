"""The caller's side of the worker: it starts, asks and replaces it.

    an answer uses up calls or memory   the worker replies *undecided*: the policy caused it
    the fuse of a request blows         it is asked once more, alone; then likewise
    the batch's deadline passes         `AlgebraOutOfTime`: the sample is Unscored
    the worker dies or is killed        another process of it is asked, or a new worker
    it cannot start, or dies each time  `EngineUnavailable`: we caused it, the sample is Unscored
    our own code in it has a bug        `EngineFailed`: likewise

So how busy a machine is decides nothing: threads wait in the order of asking, and only the deadline
of the batch (`core.deadlines`) ends their wait. Without one, each waits for those in front of it,
which the counts of their calls end.

The worker is a fresh interpreter with its own minimal environment, not a fork of this process. So
it may be started at any time, beside any threads, and shares nothing but sockets with it. It serves
on several sockets, its *lines*, with a process for each. It ends when they close, which happens
when this process ends in any way.
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
from threading import TIMEOUT_MAX, Condition, Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.core.deadlines import DEADLINE
from reward_functions.core.errors import AlgebraOutOfTime, EngineFailed, EngineUnavailable
from reward_functions.core.platforms import NotThisSystem
from reward_functions.symbolic.cas import protocol
from reward_functions.symbolic.verdict import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.symbolic.expr.nodes import Node
    from reward_functions.symbolic.verdict import Finding

CALLS: Final = 300_000
"""Calls of Python functions that one request may make. Textbook sums and integrals make 1,000 to
250,000; a machine of 2026 makes 300,000 in a fifth to two fifths of a second."""

SECONDS: Final = 3.0
"""Processor time at which the fuse of a request blows: ten times what `CALLS` take. So it ends only
what computes without calls, such as arithmetic on huge numbers."""

HANGING: Final = 120.0
"""Seconds on the wall until a request without a deadline is given up; the fuse ends it first even
where forty processes share a processor."""

LINES: Final = 2
"""Requests that are worked at together. More of them cost two megabytes each, and use processors
that a Lambda does not have."""

STARTING: Final = 120.0
"""Seconds until the worker is ready: one on an idle machine, three without compiled bytecode."""

GRACE: Final = 0.25
"""Seconds beyond those that a worker waits for its request, until it counts as dead. A Lambda keeps
a second back beyond the deadline of its batch."""

_ATTEMPTS: Final = LINES + 1

_BOOTSTRAP: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from reward_functions.symbolic.cas.seeding import seed_generators; seed_generators(); "
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


class _Blown(Exception):
    """The fuse of a request blew."""


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

    def compare(self, reference: Node, candidate: Node, *, calls: int | None = None) -> Finding:
        """Let sympy compare two trees.

        Args:
            reference: the right answer.
            candidate: the answer to judge.
            calls: that the request may make (`CALLS` where None); what needs more is undecided.

        Raises:
            AlgebraOutOfTime: the deadline of the batch passed meanwhile.
            EngineUnavailable: no worker could be had.
            EngineFailed: our own code in it has a bug.
        """
        deaths, alone = 0, False
        while deaths < _ATTEMPTS:
            try:
                with self._running().line(alone=alone) as line:
                    return line.finding(CALLS if calls is None else calls, reference, candidate)
            except _Dead:
                deaths += 1
            except _Blown:
                if alone:
                    return unknown("budget", "too much algebra: the time is used up")
                alone = True
        raise EngineUnavailable(f"the algebra worker died {_ATTEMPTS} times on one request")

    def end(self) -> None:
        """End the worker, if there is one; the next request starts another."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def disown(self) -> None:
        """In a forked process: leave the worker to the parent, even in the middle of its work."""
        worker, self._worker, self._starting = self._worker, None, Lock()
        if worker is not None:
            worker.disown()

    def _running(self) -> _Worker:
        worker = self._worker
        if worker is not None and worker.ready and worker.lines:
            return worker
        starting = self._starting
        if not starting.acquire(timeout=_left(STARTING)):
            _insist_on_time()
            raise EngineUnavailable("another thread has been starting the algebra worker")
        try:
            worker, self._worker = self._worker, None
            if worker is None or not worker.lines:
                worker = _launched()
            try:
                worker.begin()
            except AlgebraOutOfTime:
                self._worker = worker  # it goes on starting
                raise
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
            AlgebraOutOfTime: the deadline of the batch passed first.
            EngineUnavailable: they do not, and the worker is ended.
        """
        late = False
        try:
            self.ready = self.ready or all(line.begins() for line in self.lines)
        except AlgebraOutOfTime:
            late = True
            raise
        finally:
            if not self.ready and not late:
                self.end()
        if not self.ready:
            raise EngineUnavailable(
                "the algebra worker does not start; "
                "`python -c 'import reward_functions.symbolic.cas.worker'` may show why"
            )

    @contextmanager
    def line(self, *, alone: bool = False) -> Iterator[_Line]:
        """A line for one request.

        Args:
            alone: while nothing else is worked at.

        Raises:
            _Dead: none is left.
            AlgebraOutOfTime: the deadline of the batch passed first.
        """
        taken = self._turn(alone=alone)
        try:
            yield taken[0]
        finally:
            with self._changed:
                for line in taken:
                    if line.idle:
                        self._free.append(line)
                    else:  # also when an interrupt left a reply in the socket
                        line.channel.close()
                        self.lines.remove(line)
                if not self.lines:
                    self.end()
                self._changed.notify_all()

    def _turn(self, *, alone: bool) -> list[_Line]:
        """The lines that the caller has to itself."""
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                if not self._changed.wait_for(lambda: self._is_up(ticket, alone=alone), _left()):
                    raise AlgebraOutOfTime(_OUT_OF_TIME)
                if not self.lines:
                    raise _Dead
                return [self._free.pop() for _ in range(len(self._free) if alone else 1)]
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _is_up(self, ticket: object, *, alone: bool) -> bool:
        needed = len(self.lines) if alone else 1
        return not self.lines or (self._queue[0] is ticket and len(self._free) >= needed)

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
        """Whether the process at the other end reports that it is ready, or has done so."""
        with suppress(_Dead):
            self.idle = self.idle or self._received(_left(STARTING)) == protocol.READY
        return self.idle

    def finding(self, calls: int, reference: Node, candidate: Node) -> Finding:
        """The finding on a request.

        Raises:
            _Dead: there will be none.
            _Blown: its fuse blew.
            AlgebraOutOfTime: the deadline of the batch passed.
            EngineFailed: our own code in the worker has a bug.
        """
        _insist_on_time()
        budget = protocol.Budget(calls, SECONDS, _left(HANGING))
        message = protocol.request(budget, reference, candidate)
        self.idle = False
        try:
            protocol.send(self.channel, message)
            received = self._received(budget.wait + GRACE)
            bug = protocol.bug_of(received)
            no_verdict = bug or received in (protocol.LOST, protocol.BLOWN, protocol.LATE)
            finding = None if no_verdict else protocol.finding_of(received)
        except (OSError, ValueError):
            raise _Dead from None
        self.idle = True
        if finding is not None:
            return finding
        if bug:
            raise EngineFailed(f"the code that works out algebra has a bug: {bug}")
        if received == protocol.BLOWN:
            raise _Blown
        if received == protocol.LATE:
            _insist_on_time()
        raise _Dead  # only what it forked; the process itself is in order

    def _received(self, seconds: float) -> bytes:
        """The next message.

        Raises:
            _Dead: it does not come in time, or never will.
            AlgebraOutOfTime: the deadline of the batch passed meanwhile.
        """
        self.channel.settimeout(seconds)
        try:
            return protocol.receive(self.channel)
        except (TimeoutError, BlockingIOError):
            _insist_on_time()
            raise _Dead from None
        except (EOFError, OSError):
            raise _Dead from None


_OUT_OF_TIME: Final = "the batch's deadline passed before hard algebra was worked out"


def _left(most: float = TIMEOUT_MAX) -> float:
    """Seconds until the deadline of the batch, from 0 to so many."""
    deadline = DEADLINE.get()
    return most if deadline is None else min(most, max(0.0, deadline - monotonic()))


def _insist_on_time() -> None:
    """Raise `AlgebraOutOfTime` where the deadline of the batch has passed."""
    if not _left():
        raise AlgebraOutOfTime(_OUT_OF_TIME)


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
