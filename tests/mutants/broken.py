"""A copy of a process that has collected tests, in which a file of the package is broken."""

import atexit
import gc
import os
import resource
import signal
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutants.copies import ANEW, EARLY, RAN
from tests.parallel import _Copy


def _within(code):
    """The code of every function of a module."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _within(each)


def _compiled(path):
    return compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)


def codes(code):
    """The code of every function of a module, by its name and its first line; of lambdas none."""
    found = [((each.co_qualname, each.co_firstlineno), each) for each in _within(code)]
    many = Counter(name for name, _ in found)
    return {name: each for name, each in found if many[name] == 1}


def ran_early(path, line, early):
    """Whether a function with this line ran before the file was broken, or none is found."""
    found = [
        each for each in _within(_compiled(path)) if line in {at for *_, at in each.co_lines()}
    ]
    return not found or any((path, each.co_firstlineno) in early for each in found)


def renew(path):
    """Give the functions of a file that was imported the code that it holds now.

    Returns:
        whether all could take it: one that uses `super`, or a name around it, no more cannot.
    """
    new = codes(_compiled(path))
    taken = True
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == path:
            code = new.get((each.__code__.co_qualname, each.__code__.co_firstlineno))
            if code and code.co_freevars == each.__code__.co_freevars:
                each.__code__ = code
            elif code:
                taken = False
    return taken


A_TEST = 120
"""Seconds until a test hangs that uses no processor."""


class Broken(_Copy):
    """A copy in which a file is broken."""

    def __init__(self, session, number, ask, said):
        super().__init__(session, -1, number, [], [], [])
        self._ask, self._answer, self._failed = ask, said, ""

    def run(self):
        """Run tests until one fails, and say which."""
        status = 1
        try:
            os.setpgid(0, 0)
            seconds = self._ask["seconds"]
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            self._settle()
            if not renew(self._ask["file"]):
                os.write(self._answer, ANEW.encode())
                status = 0
                return
            asked, skipped = self._ask["tests"], {*self._ask["skip"]}
            order = {name: place for place, name in enumerate(asked)}
            items = [each for each in self._session.items if file_of(each) in order]
            items = [each for each in items if test_of(each) not in skipped]
            items.sort(key=lambda each: order[file_of(each)])
            for item, following in pairwise([*items, None]):
                signal.alarm(A_TEST)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failed:
                    break
            signal.alarm(0)
            early = ran_early(self._ask["file"], self._ask["line"], RAN)
            answer = self._failed or (EARLY if early else "")
            os.write(self._answer, answer.encode())
            status = 0
            with suppress(Exception):
                self._session._setupstate.teardown_exact(None)
                self._session.config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)
        finally:
            with suppress(Exception):
                atexit._run_exitfuncs()
            os._exit(status)

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report):
        """Note a test that fails, or whose subtests do."""
        config = self._session.config
        config.hook.pytest_report_teststatus(report=report, config=config)
        if report.failed and not self._failed:
            self._failed = report.nodeid.partition("[")[0]


def file_of(item):
    """The file of a test."""
    return item.nodeid.partition("::")[0]


def test_of(item):
    """The name of a test, without its parameters."""
    return item.nodeid.partition("[")[0]
