"""Forks commands of `reward`; see `commands.py`, which starts it and names its socket.

A message has the descriptors of the three streams, of who is told the id and the status of the
process, and of what is asked for, as JSON.
"""

import atexit
import gc
import json
import os
import signal
import socket
import sys
import threading
from contextlib import suppress

import boto3
import typer.rich_utils

from reward_functions import specs
from reward_functions.cli import catalogue, deployed, local, main, runtime, scoring
from reward_functions.cli.rollouts import outbox, run

FOR_COMMANDS = (boto3, typer.rich_utils, catalogue, deployed, local, outbox, run, runtime, scoring)


def request(listening):
    """The descriptors of a request, in a fork of its own, which waits for the command."""
    while True:
        _, descriptors, _, _ = socket.recv_fds(listening, 1, 5)
        if not descriptors:
            # What commands have cost counts for who waits for this process.
            with suppress(ChildProcessError):
                while os.waitpid(-1, 0):
                    pass
            sys.exit()
        if not os.fork():
            listening.close()
            return descriptors
        for each in descriptors:
            os.close(each)
        os.waitpid(-1, os.WNOHANG)


def begin(streams, asked):
    """Make this process the one that is asked for."""
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv[:] = ["-c" if asked["program"] else "reward", *asked["arguments"]]
    sys.path[0] = ""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)


def end(status):
    """As Python ends, but for what it imported: to forget that takes longer than most commands."""
    threading._shutdown()
    atexit._run_exitfuncs()
    status = status if isinstance(status, int) else int(status is not None)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = 120
    os._exit(status)


specs()
gc.freeze()
*streams, status, asked = request(socket.socket(fileno=int(sys.argv[1])))
command = os.fork()
if command:
    for each in (*streams, 0, 1, 2):
        os.close(each)
    os.write(status, b"%d\n" % command)
    _, ended = os.waitpid(command, 0)
    os.write(status, b"%d\n" % os.waitstatus_to_exitcode(ended))
    os._exit(0)
os.close(status)
with os.fdopen(asked) as stream:
    wanted = json.load(stream)
begin(streams, wanted)
try:
    if wanted["program"]:
        exec(wanted["program"], globals())
    else:
        main()
except SystemExit as error:
    end(error.code)
end(0)
