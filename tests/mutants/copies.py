"""A plugin of pytest: a process that has collected tests runs them again and again, in copies.

Each line of its input asks for one run: `{"file": …, "line": …, "tests": [files], "skip": [tests],
"seconds": …}`. In a copy of the process the functions of the file get the code that stands there
now; the tests run until one fails. Its output is the name of that test, "time" where they do not
end, or an empty line. Where a process that begins anew may see more it is "anew", if a function
cannot take its code, or "early", if the line's function ran while tests were collected.
"""

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from itertools import count
from time import monotonic, sleep

import psutil
import pytest

ASKED, SAID = "MUTANTS_ASKED", "MUTANTS_SAID"
"""The variables that hold the numbers of its input and of its output."""

WAITING = 10
"""So many times the seconds of a processor may pass: other programs share it, and tests wait."""

IDLE, SHARE = 180, 0.01
"""Seconds in which a copy takes less than this share of a processor: its tests wait for ever."""

ANEW, EARLY = "anew", "early"
"""What is answered where a process that begins anew may see more: of all tests, or of the first."""

RAN = set()
"""The file and the first line of every function that ran while tests were collected."""


def _note(frame, event, _):
    if event == "call":
        RAN.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))


if ASKED in os.environ:
    sys.setprofile(_note)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """Answer until nothing is asked any more."""
    sys.setprofile(None)
    if session.testsfailed:
        raise session.Failed("a file of tests cannot be collected")
    session.config._tmp_path_factory.getbasetemp()
    capture = session.config.pluginmanager.getplugin("capturemanager")
    # Not above: pytest rewrites a plugin that nobody has imported yet.
    from tests.mutants.broken import Broken

    numbers = count()
    asked, said = (int(os.environ[name]) for name in (ASKED, SAID))
    with os.fdopen(asked) as asks, os.fdopen(said, "w", buffering=1) as answers:
        print("ready", file=answers)
        for line in asks:
            with capture.global_and_fixture_disabled():
                print(_seen(Broken, session, next(numbers), json.loads(line)), file=answers)
    return True


def _spent(process):
    """Seconds of a processor that a process and all that it began have taken."""
    leader, taken = psutil.Process(process), 0.0
    for each in (leader, *leader.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            taken += sum(each.cpu_times()[:4])
    return taken


def _seen(copy, session, number, ask):
    out, into = os.pipe()
    process = os.fork()
    if not process:
        os.close(out)
        copy(session, number, ask, into).run()
    os.close(into)
    since = monotonic()
    late = since + WAITING * ask["seconds"]
    ended = status = 0
    spent, works = 0.0, True
    while not ended and works and monotonic() < late:
        if monotonic() > since + IDLE:
            before, spent, since = spent, _spent(process), monotonic()
            # Less than before, and something has ended that began elsewhere.
            works = not 0 <= spent - before < IDLE * SHARE
        ended, status = os.waitpid(process, os.WNOHANG)
        sleep(0.02)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    if not ended:
        os.waitpid(process, 0)
    with os.fdopen(out, "rb") as heard:
        os.set_blocking(out, False)
        failed = (heard.read() or b"").decode()
    folder = session.config._tmp_path_factory.getbasetemp() / f"worker-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    return failed if ended and not status else "time"
