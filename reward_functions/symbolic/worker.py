"""The child process in which sympy runs: a pristine worker that forks a fresh one for each request.

    supervisor (the caller's process) ── socket ── pristine worker ── pipe ── working child

The pristine worker has imported sympy and rehearsed it on expressions of its own; it computes
nothing that came from outside. A request is given to a fork of it, which takes some milliseconds
where importing takes hundreds, and which dies with its verdict. So a kill costs nothing, memory
never adds up, and no request can leave anything behind for the next: the same request gets the same
verdict whatever came before.

What ends a working child, each enough by itself:

- the clock of the processor: `seconds` of it, by a signal that stops long calls in C too;
- the clock on the wall, after `PATIENCE` times as long, by the pristine worker;
- memory: an address space of `MEMORY` more than the pristine worker's;
- the end of the supervisor, which closes the socket.

All three are the answer's fault, and make the comparison *undecided*. What is not bounded: memory
where the operating system does not tell the size of a process (elsewhere than on Linux), and how
much a machine computes in a second, on which the verdict therefore depends near the limit.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket
from math import ceil
from pathlib import Path
from typing import Final, NoReturn

from sympy.core.random import seed

from reward_functions.symbolic import engine, wire
from reward_functions.symbolic.rehearsal import REHEARSAL
from reward_functions.symbolic.verdict import Finding, unknown

PATIENCE: Final = 3
"""How many times its seconds a request may take on the wall, where others use the processor too: a
Lambda of 600 MB has a third of one. Generous, because the wall clock makes a verdict depend on
what else is going on."""

MEMORY: Final = 48 << 20
"""Bytes of address space that one request may take. Textbook integrals take under ten megabytes."""

_REPLY: Final = 4096
"""Bytes of a reply at most, which a pipe takes in one piece."""

_STATM: Final = Path("/proc/self/statm")

_SPEECHLESS: Final = 0
"""The status of a working child. Without a reply, it had no memory left even for that."""

_UNBOUNDED: Final = 1
"""The status of one whose limits could not be set, and that therefore did not work."""

_TIME_UP: Final = frozenset({signal.SIGPROF, signal.SIGXCPU})
_FROM_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def main(descriptor: int) -> None:
    """Serve requests on an inherited socket until its other end is closed."""
    channel = socket.socket(fileno=descriptor)
    for reference, candidate in REHEARSAL:
        engine.decide(reference, candidate)
    seed(0)
    # Objects that are never visited are never written to, and stay shared with the forks.
    gc.collect()
    gc.freeze()
    try:
        wire.send(channel, wire.READY)
        while True:
            wire.send(channel, attended(channel, wire.receive(channel)))
    except (EOFError, OSError):  # the supervisor is gone, and so is the reason to be here
        return


def attended(channel: socket.socket, request: bytes) -> bytes:
    """The reply to a request, from a fork that is given its budget and no more."""
    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(writer)
        os.close(reader)
        return wire.LOST
    if child == 0:
        channel.close()
        os.close(reader)
        _work(request, writer)
    os.close(writer)
    heard = [reader, channel.fileno()]  # of the supervisor only its end is heard now
    ready, _, _ = select.select(heard, [], [], PATIENCE * wire.seconds_of(request))
    if reader not in ready:
        os.kill(child, signal.SIGKILL)
        said = wire.reply(_out_of_time())
    else:
        said = os.read(reader, _REPLY)
    os.close(reader)
    _, status = os.waitpid(child, 0)
    return said or _epitaph(os.waitstatus_to_exitcode(status))


def _epitaph(ending: int) -> bytes:
    """The reply for a child that ended without one: by itself, or (negative) by a signal."""
    if ending == _SPEECHLESS:
        return wire.reply(_out_of_memory())
    if ending == _UNBOUNDED or -ending in _FROM_OUTSIDE:
        return wire.LOST
    if -ending in _TIME_UP:
        return wire.reply(_out_of_time())
    return wire.reply(unknown("engine", f"sympy was ended by signal {-ending}"))


def _out_of_time() -> Finding:
    return unknown("budget", "too much algebra: the time is used up")


def _out_of_memory() -> Finding:
    return unknown("budget", "too much algebra: the memory is used up")


def _work(request: bytes, writer: int) -> NoReturn:
    """The working child: bounded, it answers once and is gone."""
    ending = _UNBOUNDED
    try:
        _bounded(wire.seconds_of(request))
        ending = _SPEECHLESS  # unless the reply is written
        os.write(writer, wire.reply(_finding(request)))
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
        ceiling = int(_STATM.read_text().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (ceiling, ceiling))


def _finding(request: bytes) -> Finding:
    """The engine's finding; whatever escapes sympy is the answer's doing and decides nothing."""
    try:
        return engine.decide(*wire.trees_of(request))
    except (MemoryError, SystemError):  # the latter where C code forgets to say the former
        return _out_of_memory()
    except Exception as trouble:  # noqa: BLE001 - sympy raises what it likes, for any expression
        return unknown("engine", f"sympy gives up: {type(trouble).__name__}")
