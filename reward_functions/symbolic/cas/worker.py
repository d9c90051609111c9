"""The child process in which sympy runs: pristine workers that fork a fresh one for each request.

    client (the caller's process) ── socket ── pristine worker ── pipe ── working child
                                 ╰── socket ── its twin ───────── pipe ── working child

A pristine worker has imported sympy and warmed it up with expressions of its own; it computes
nothing that came from outside. Its twins are forks of it, which share its memory, so that threads
do not wait for each other. A request is given to another fork, which takes some milliseconds where
importing takes hundreds, and which dies with its verdict. So a kill costs nothing, memory never
adds up, and no request can leave anything for the next. The same request always gets the same
verdict.

Each of these alone ends a working child:

- the count of its calls, which is the same on every machine (`counting`);
- memory: an address space of `MEMORY` more than the pristine worker's;
- the fuse, for what makes no calls: so many seconds of the processor, by a signal that stops long
  calls in C too;
- the wait on the wall, by the pristine worker;
- the end of the client, which closes the socket.

The answer caused the first two, and the comparison is *undecided*. The third is reported to the
client, which asks once more. The others say nothing about the answer. Memory is not bounded where
the operating system does not report the size of a process (elsewhere than on Linux).
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Final, NoReturn

from sympy.core.random import seed

from reward_functions.core import patterns as re
from reward_functions.symbolic.cas import protocol, solver
from reward_functions.symbolic.cas.counting import limit_calls
from reward_functions.symbolic.cas.warmup import WARMUP
from reward_functions.symbolic.cas.weights import weights
from reward_functions.symbolic.verdict import Finding, unknown

MEMORY: Final = 48 << 20
"""Bytes of address space that one request may take. Textbook integrals take under ten megabytes."""

_REPLY: Final = 4096
"""Bytes of a reply at most, which a pipe takes in one piece."""

_LATE: Final = (
    "sympy.integrals.prde",
    "sympy.matrices.expressions.applyfunc",
    "sympy.tensor.array.array_derivatives",
    "sympy.tensor.array.expressions.arrayexpr_derivatives",
)
"""What sympy imports when an answer needs it: an import makes calls, more of them where there is no
compiled bytecode."""

_WEIGHTS: Final = weights()

_STATM: Final = Path("/proc/self/statm")
_STATUS: Final = Path("/proc/self/status")

_NO_REPLY: Final = 0
"""The status of a working child. Without a reply, it had no memory left even for that."""

_UNBOUNDED: Final = 1
"""The status of one whose limits could not be set, and that therefore did not work."""

BUGS: Final = (TypeError, NameError, AttributeError, LookupError, AssertionError)
"""What our own code raises only where it is wrong. `UnboundLocalError` is a `NameError`, `KeyError`
and `IndexError` are `LookupError`s."""

_PEAK: Final = re.compile(r"^VmPeak:\s+(\d+) kB$", re.MULTILINE)
_TIME_UP: Final = frozenset({signal.SIGPROF, signal.SIGXCPU})
_NO_MEMORY: Final = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT})
"""What ends a process whose stack cannot grow, or C code that gets no memory."""

_FROM_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def main(descriptors: list[int]) -> None:
    """Serve requests on inherited sockets, a process for each, until they are closed."""
    channels = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for module in _LATE:
        import_module(module)
    for reference, candidate in WARMUP:
        solver.decide(reference, candidate)
    seed(0)
    # Objects that are never visited are never written to, and stay shared with the forks.
    gc.collect()
    gc.freeze()
    mine, *others = channels
    for other in others:
        if os.fork() == 0:
            mine = other
            break
    for channel in channels:
        if channel is not mine:
            channel.close()
    serve(mine)


def serve(channel: socket.socket) -> None:
    """Answer the requests of one socket, one after the other, until it is closed."""
    try:
        protocol.send(channel, protocol.READY)
        while True:
            attend(channel, protocol.receive(channel))
    except (EOFError, OSError):  # the client is gone, and so is the reason to be here
        return


def attend(channel: socket.socket, request: bytes) -> None:
    """Answer a request by a fork that is given its budget and no more."""
    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(writer)
        os.close(reader)
        protocol.send(channel, protocol.LOST)
        return
    if child == 0:
        channel.close()
        os.close(reader)
        _work(request, writer)
    os.close(writer)
    watched = [reader, channel.fileno()]  # the client sends nothing now; only its end shows
    ready, _, _ = select.select(watched, [], [], protocol.budget_of(request).wait)
    late = reader not in ready
    answer = b"" if late else os.read(reader, _REPLY)
    os.close(reader)
    if answer:
        protocol.send(channel, answer)  # first: taking the child down takes longer than sending
    if answer or late:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if answer:
        return
    ending = os.waitstatus_to_exitcode(status)
    protocol.send(channel, protocol.LATE if late else _reply_for_ending(ending))


def _reply_for_ending(ending: int) -> bytes:
    """The reply for a child that ended without one: by itself, or (negative) by a signal."""
    if ending == _NO_REPLY:
        return protocol.reply(_out_of_memory())
    if ending == _UNBOUNDED or -ending in _FROM_OUTSIDE:
        return protocol.LOST
    if -ending in _TIME_UP:
        return protocol.BLOWN
    if -ending in _NO_MEMORY:
        return protocol.reply(_out_of_memory())
    return protocol.reply(unknown("sympy", f"sympy was ended by signal {-ending}"))


def _too_many_calls() -> Finding:
    return unknown("budget", "too much algebra: the calls are used up")


def _out_of_memory() -> Finding:
    return unknown("budget", "too much algebra: the memory is used up")


def _work(request: bytes, writer: int) -> NoReturn:
    """The working child: bounded, it answers once and is gone."""
    ending = _UNBOUNDED

    def over() -> NoReturn:
        os.write(writer, protocol.reply(_too_many_calls()))
        os._exit(_NO_REPLY)

    try:
        budget = protocol.budget_of(request)
        _bounded(budget.seconds)
        gc.collect()  # else garbage of the pristine worker decides when the next collection is
        ending = _NO_REPLY  # unless the reply is written
        limit_calls(budget.calls, over, _WEIGHTS)
        os.write(writer, _reply(request))
    finally:
        os._exit(ending)  # never back into the code of the pristine worker


def _bounded(seconds: float) -> None:
    """Set the limits of this process, the last thing before it meets what others wrote."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    whole = ceil(seconds) + 1  # in whole seconds, should the timer fail
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if _STATM.exists():
        limit = int(_STATM.read_text().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _reply(request: bytes) -> bytes:
    """The reply to a request; the answer caused whatever escapes sympy, our own bugs apart."""
    try:
        found = solver.decide(*protocol.trees_of(request))
    except (MemoryError, SystemError):  # the latter where C code forgets to raise the former
        return protocol.reply(_out_of_memory())
    except Exception as trouble:  # noqa: BLE001 - sympy raises what it likes, for any expression
        place = our_line(trouble)
        if place and not _memory_was_short():
            return protocol.bug(type(trouble).__name__, place)
        found = unknown("sympy", f"sympy gives up: {type(trouble).__name__}")
    if found.equal or found.different:
        return protocol.reply(found)
    return protocol.reply(_out_of_memory() if _memory_was_short() else found)


def our_line(trouble: Exception) -> str | None:
    """`module:line` of our code where it raised one of `BUGS`; None for any other exception.

    sympy raises the same types from its own code for odd expressions, which is no bug of ours. A
    call of ours with wrong arguments is raised by the line that calls.
    """
    frame = trouble.__traceback__
    if not isinstance(trouble, BUGS) or frame is None:
        return None
    while frame.tb_next is not None:
        frame = frame.tb_next
    module = str(frame.tb_frame.f_globals.get("__name__"))
    if module.partition(".")[0] != __name__.partition(".")[0]:
        return None
    return f"{module}:{frame.tb_lineno}"


def _memory_was_short() -> bool:
    """Whether more than half of the memory has been in use.

    A container that outgrows the limit asks for twice its size, so it is refused from half of it
    on; and a MemoryError in a lookup or an import comes out as another exception, or as none.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or not _STATUS.exists():
        return False
    peak = _PEAK.search(_STATUS.read_text())
    return peak is not None and int(peak[1]) * 1024 > limit - MEMORY // 2
