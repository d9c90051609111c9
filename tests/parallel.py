"""Runs the tests in several processes, each a copy of one that has collected them.

A process that begins anew would collect every test again, and import what they import. A copy has
them. Each takes a share from a queue when it has run the one
before; a share is a file, or a folder whose tests have something costly in common.

The first copy begins with the slow shares, which wait for an emulator half of the time, and the
longest of them is the first. The others begin with the rules, so that a broken one is seen first.
Then one takes slow shares as well, and the other what is left: at the end there are short ones, and
no processor waits for a long one. Where the system has no `fork`, and with `--numprocesses 0`, one
process runs all; so it does under `--pdb`.

A warning that a copy records is not shown.
"""

import atexit
import os
import pickle
import selectors
import signal
import struct
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

import pytest

ALONE = "deployments of their own"

TOGETHER = {
    "tests/deploy/test_custodian_rights.py": ALONE,
    "tests/deploy/test_function_alone.py": ALONE,
    "tests/deploy/test_versions.py": ALONE,
    "tests/deploy/": "the deployed stage",
    "tests/cdk/": "the CDK",
}
"""What one process takes as a whole, by the beginning of a file's name: the first that fits. What
the deployed stage is not asked for has an emulator of its own, as both together are longer than
all the rest."""

LONGEST = ("the deployed stage", ALONE, "the CDK")
"""Shares that are begun first."""

RULES = tuple(
    f"tests/{room}/"
    for room in ("core", "quantities", "extraction", "verifiers", "symbolic", "finqa", "shapers")
)

RULE, REST, SLOW = range(3)
"""The lanes that shares are in."""

FIRST = (SLOW, REST, RULE)
OTHERS = ((RULE, SLOW, REST), (RULE, REST, SLOW))
"""The order in which the first copy empties the lanes, and the others by turns."""

NUMBER = "TEST_WORKER"
"""The variable that holds the number of a copy."""

SHORT = 0.005
"""Seconds below which `--durations` lists nothing."""

HEAD = struct.Struct("=I")
SILENT = ("terminalreporter", "junitxml", "logfile", "lfplugin", "nfplugin", "stepwiseplugin")
"""Plugins that speak of the whole run."""


def pytest_addoption(parser):
    """Add the option."""
    parser.addoption(
        "--numprocesses", default="0", help="processes that run tests: a number, or auto"
    )


def pytest_configure(config):
    """Run in several processes if that is asked for."""
    asked = config.getoption("numprocesses")
    # Beside an emulator, a process waits for half of its time.
    number = (os.cpu_count() or 1) + 1 if asked == "auto" else int(asked)
    if number > 1 and hasattr(os, "fork") and not config.getoption("usepdb"):
        config.pluginmanager.register(Parallel(number), "parallel")


def share_of(item):
    """What one process takes as a whole: its lane, and its folder or file."""
    file = item.nodeid.partition("::")[0]
    slow = item.get_closest_marker("slow") is not None
    lane = SLOW if slow else RULE if file.startswith(RULES) else REST
    return lane, next((TOGETHER[each] for each in TOGETHER if file.startswith(each)), file)


def shares(items):
    """The places of the tests of each share, the shares in order of lanes."""
    found = {}
    for place, item in enumerate(items):
        found.setdefault(share_of(item), []).append(place)
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    apart = sorted(found, key=lambda share: (share[0], ranks.get(share[1], len(ranks))))
    return [(lane, found[lane, name]) for lane, name in apart]


def order_of(number):
    """The order in which a copy empties the lanes."""
    return OTHERS[(number - 1) % len(OTHERS)] if number else FIRST


class Queue:
    """Numbers that several processes take, each once."""

    def __init__(self, numbers):
        self._out, into = os.pipe()
        for number in numbers:
            os.write(into, HEAD.pack(number))
        os.close(into)

    def take(self):
        """The next number; None once all are taken."""
        taken = os.read(self._out, HEAD.size)
        return HEAD.unpack(taken)[0] if taken else None

    def empty(self):
        """Take all that are left."""
        while self.take() is not None:
            pass


class Worker(NamedTuple):
    """A copy that runs."""

    number: int
    process: int
    heard: bytearray
    left: list
    """The places of the tests that it took and did not end; the first is under way."""


class Parallel:
    """Runs what was collected."""

    def __init__(self, number):
        self._number, self._since = number, monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Hand shares out, and report what comes back."""
        if session.config.option.collectonly or session.testsfailed:
            return None
        items = session.items
        self._shares = shares(items)
        lanes = [lane for lane, _ in self._shares]
        self._queues = [
            Queue([share for share, lane in enumerate(lanes) if lane == each])
            for each in (RULE, REST, SLOW)
        ]
        self._session, self._workers = session, selectors.DefaultSelector()
        session.config._tmp_path_factory.getbasetemp()  # one for all copies
        capture = session.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            for number in range(min(self._number, len(self._shares))):
                self._begin(number, [])
            try:
                self._listen()
            finally:
                self._end()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        return True

    def _begin(self, number, left):
        heard, said = os.pipe()
        process = os.fork()
        if not process:
            os.close(heard)
            queues = [self._queues[lane] for lane in order_of(number)]
            _Copy(self._session, said, number, self._shares, queues, left).run()
        os.close(said)
        worker = Worker(number, process, bytearray(), left)
        self._workers.register(heard, selectors.EVENT_READ, worker)

    def _listen(self):
        while self._workers.get_map():
            for key, _ in self._workers.select():
                worker = key.data
                piece = os.read(key.fd, 1 << 20)
                worker.heard.extend(piece)
                for message in _messages(worker.heard):
                    self._report(message, worker)
                if not piece:
                    self._workers.unregister(key.fd)
                    os.close(key.fd)
                    self._ended(worker)
                if self._session.shouldfail or self._session.shouldstop:
                    for queue in self._queues:
                        queue.empty()

    def _report(self, message, worker):
        if "took" in message:
            worker.left.extend(self._shares[message["took"]][1])
            return
        config = self._session.config
        item = self._session.items[message["ended"]]
        worker.left.remove(message["ended"])
        for part in message["parts"]:
            if isinstance(part, tuple):
                # Nobody asks how a short setup ended well: a third of what there is to hear.
                if part[0] == "setup" and part[1] < SHORT:
                    continue
                report = _passed(item.nodeid, message["location"], *part)
            else:
                report = config.hook.pytest_report_from_serializable(config=config, data=part)
            config.hook.pytest_runtest_logreport(report=report)
            if report.failed:
                self._name_at_once(report)

    def _name_at_once(self, report):
        """Name a test that failed: the run goes on for minutes, and says why at its end."""
        terminal = self._session.config.pluginmanager.getplugin("terminalreporter")
        terminal.write("\n")
        after = monotonic() - self._since
        terminal.write_line(f"after {after:.0f} s: {report.nodeid} failed", red=True)

    def _ended(self, worker):
        """Report a copy that a test ended, and put another in its place."""
        _, status = os.waitpid(worker.process, 0)
        if not status:
            return
        if not worker.left:
            return
        item = self._session.items[worker.left.pop(0)]
        code = os.waitstatus_to_exitcode(status)
        said = f"the process of this test, or of a row of its table, ended with {code}"
        report = pytest.TestReport(
            item.nodeid, item.location, {}, "failed", said, "call", duration=0
        )
        item.ihook.pytest_runtest_logreport(report=report)
        self._name_at_once(report)
        self._begin(worker.number, worker.left)

    def _end(self):
        for key in [*self._workers.get_map().values()]:
            with suppress(ProcessLookupError):
                os.kill(key.data.process, signal.SIGTERM)
            os.waitpid(key.data.process, 0)


def _messages(heard):
    """Take the whole messages off what was heard."""
    while len(heard) >= HEAD.size:
        end = HEAD.size + HEAD.unpack_from(heard)[0]
        if len(heard) < end:
            return
        message = bytes(heard[HEAD.size : end])
        del heard[:end]
        yield pickle.loads(message)


def _plain(report):
    """Whether a report says no more than that a part of a test passed."""
    plain = type(report) is pytest.TestReport and report.outcome == "passed"
    return plain and not (report.longrepr or report.sections or hasattr(report, "wasxfail"))


def _passed(nodeid, location, when, duration, properties):
    """The report that a part of a test passed."""
    return pytest.TestReport(
        nodeid,
        location,
        {},
        "passed",
        None,
        when,
        duration=duration,
        user_properties=properties,
    )


class _Copy:
    """What a copy does: run tests, and say how each ended."""

    def __init__(self, session, said, number, shares, queues, left):
        self._session, self._said, self._number = session, said, number
        self._shares, self._queues, self._left = shares, queues, [*left]
        self._parts = []

    def run(self):
        """Run until the queues are empty, and leave no trace of the process that was copied."""
        status = 1
        try:
            self._settle()
            places = self._places()
            place = next(places, None)
            while place is not None:
                following = next(places, None)
                self._run(place, following)
                place = following
            self._session.config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)
            status = 0
        finally:
            atexit._run_exitfuncs()
            os._exit(status)

    def _places(self):
        """The places of the tests to run, one after another."""
        yield from self._left
        for queue in self._queues:
            while (share := queue.take()) is not None:
                self._say({"took": share})
                yield from self._shares[share][1]

    def _settle(self):
        """Be a process of its own: its output, its folders, its state."""
        atexit._clear()
        config = self._session.config
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.read_global_capture()
        capture.stop_global_capturing()
        capture.start_global_capturing()
        os.environ[NUMBER] = str(self._number)
        for name in SILENT:
            if config.pluginmanager.has_plugin(name):
                config.pluginmanager.unregister(name=name)
        config.pluginmanager.unregister(name="parallel")
        config.pluginmanager.register(self, "copy")
        folders = config._tmp_path_factory
        folders._basetemp = folders.getbasetemp() / f"worker-{self._number}"
        folders._basetemp.mkdir(exist_ok=True)
        config.hook.pytest_copy_begins(config=config, number=self._number)

    def _run(self, place, following):
        items = self._session.items
        item = items[place]
        nextitem = None if following is None else items[following]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        self._say({"ended": place, "location": item.location, "parts": self._parts})
        self._parts = []

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report):
        """Note how a part of a test ended."""
        if _plain(report) and all(isinstance(part, tuple) for part in self._parts):
            self._parts.append((report.when, report.duration, report.user_properties))
            return
        config = self._session.config
        # A test whose subtests failed becomes a failed one as its status is asked for.
        config.hook.pytest_report_teststatus(report=report, config=config)
        said = config.hook.pytest_report_to_serializable(config=config, report=report)
        self._parts.append(said)

    def _say(self, message):
        said = pickle.dumps(message)
        said = memoryview(HEAD.pack(len(said)) + said)
        while said:
            said = said[os.write(self._said, said) :]


class Hooks:
    """What others may do."""

    @pytest.hookspec
    def pytest_copy_begins(self, config, number):
        """Make a copy's state its own."""


def pytest_addhooks(pluginmanager):
    """Add it."""
    pluginmanager.add_hookspecs(Hooks)
