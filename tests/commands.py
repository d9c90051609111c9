"""Commands of `reward` in processes of their own, which need not import again what all import.

A server has imported it, and forks. What a process alone shows is here as in a shell: signals,
pipes that close, full disks and terminals. What a start itself promises (what is imported, the
encodings of an environment), and what Python says at its end, needs a start.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread

from tests.costs import beside

PIPE = subprocess.PIPE

COMMANDS = "commands"
"""What they cost counts apart: it is known when the server ends."""

SERVER = Path(__file__).with_name("command_server.py")


class Command:
    """A command that has begun: what the tests need of `subprocess.Popen`, and as it has it.

    Args:
        arguments: of `reward`.
        stdin, stdout, stderr: a file, the number of one, `PIPE` for the last two, or nothing for
            the null device.
        program: the source of a module that runs in place of `reward`.
    """

    def __init__(
        self, arguments, *, stdin=None, stdout=None, stderr=None, env=None, cwd=".", program=""
    ):
        asked = {
            "arguments": [*map(str, arguments)],
            "program": program,
            "environment": dict(os.environ if env is None else env),
            "folder": str(Path(cwd).absolute()),
        }
        self.returncode = None
        with Path(os.devnull).open("r+b", 0) as null, tempfile.TemporaryFile() as request:
            request.write(json.dumps(asked).encode())
            request.seek(0)
            said, status = os.pipe()
            self.stdout, out = _reader(stdout)
            self.stderr, error = _reader(stderr)
            given = [null if each is None else each for each in (stdin, out, error)]
            numbers = [each if isinstance(each, int) else each.fileno() for each in given]
            SERVING.ask([*numbers, status, request.fileno()])
            os.close(status)
            for each, asked_for in ((out, stdout), (error, stderr)):
                if asked_for is PIPE:
                    os.close(each)
        self._said = os.fdopen(said)
        self.pid = int(self._said.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wait()
        self._close()

    def send_signal(self, number):
        """Send it, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def poll(self):
        """Its exit status, if it has ended."""
        if self.returncode is None and select.select([self._said], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout=None):
        """Its exit status, once it has ended."""
        if self.returncode is None:
            if not select.select([self._said], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("reward", timeout)
            self.returncode = int(self._said.readline())
            self._said.close()
        return self.returncode

    def communicate(self, timeout=None):
        """What it writes to its pipes until it ends."""
        read = {}
        pipes = {"out": self.stdout, "error": self.stderr}
        threads = [
            Thread(target=lambda name=name, pipe=pipe: read.update({name: pipe.read()}))
            for name, pipe in pipes.items()
            if pipe and not pipe.closed
        ]
        for each in threads:
            each.start()
        self.wait(timeout)
        for each in threads:
            each.join(timeout)
        self._close()
        return read.get("out"), read.get("error")

    def _close(self):
        for each in (self.stdout, self.stderr):
            if each:
                each.close()


def run(arguments, **options):
    """Run a command to its end; returns it, with what it wrote in `stdout` and `stderr`."""
    ran = Command(arguments, **options)
    stdout, stderr = ran.communicate()
    return subprocess.CompletedProcess(arguments, ran.returncode, stdout, stderr)


def _reader(asked_for):
    """The end of a new pipe that is read, as text; and where the command writes."""
    if asked_for is not PIPE:
        return None, asked_for
    reading, writing = os.pipe()
    return os.fdopen(reading, encoding="utf-8"), writing


class _Server:
    """Begins with the first command of a process, and ends with its session."""

    def __init__(self):
        self._socket = self._process = None

    def ask(self, descriptors):
        if self._socket is None:
            self._socket, theirs = socket.socketpair()
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, SERVER, str(number)], pass_fds=[number]
            )
            theirs.close()
        socket.send_fds(self._socket, [b"."], descriptors)

    def end(self):
        if self._socket is not None:
            self._socket.close()
            with beside(COMMANDS):
                self._process.kill()  # what a failed test left behind may hold the other end
                self._process.wait()
            self._socket = None


SERVING = _Server()
