"""What the tests cost: seconds of a processor by room, and the twenty costliest.

    python -m tests.costs                   whether the last whole run kept to each room's budget
    python -m tests.costs --budgets FILE    new budgets, a quarter above what a run took: FILE is
                                            build/test-costs.json of one on an idle machine

A test's seconds are those of its process and of the processes that it waited for. A fixture of a
session counts for the first test that asks for it, and a process that ends by itself for the test
that starts the next one. An emulator, with the functions that ran in it, counts apart, and so do
the commands that a server forks.

The same tests took 548 s of one machine's processor and 1,824 s of another's. So the report has a
yardstick, the seconds of some plain work between its tests, and a budget is in seconds of a machine
where that takes `YARDSTICK`. Seconds rise where other programs share the processor, too: a budget
is judged by the command above on an idle machine, and never by a test. The yardstick is plain
arithmetic: of a machine whose memory and system calls are slow it shows a part.
"""

import argparse
import json
import math
import re
import resource
import sys
from collections import Counter
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time

import pytest

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "build" / "test-costs.json"
PROPERTY = "processor seconds"
BROUGHT = "rows brought along"
EMULATORS = "emulators"
SHOWN = 20

BUDGETS = {
    "deploy": 288,
    "emulators": 282,
    "cli": 240,
    "rollouts": 209,
    "cdk": 179,
    "local": 106,
    "data": 95,
    "conformance": 74,
    "jobs": 70,
    "architecture": 67,
    "commands": 63,
    "symbolic": 58,
    "scoring": 52,
    "verifiers": 50,
    "audit": 49,
    "test_walkthrough.py": 47,
    "serving": 45,
    "judge_runtime": 31,
    "reports": 29,
    "aws": 24,
    "notebooks": 24,
    "oracle": 21,
    "feedback": 17,
    "test_table_rows.py": 16,
    "test_mutants.py": 14,
    "extraction": 13,
    "site": 13,
    "view": 9,
    "core": 8,
    "finqa": 8,
    "helpers": 8,
    "test_audit_in_ci.py": 8,
    "test_generated.py": 7,
    "test_parallel.py": 7,
}
"""The most seconds of each room where the yardstick is `YARDSTICK`; one that is not named has 5."""

NOT_NAMED = 5
ROOM = 1.25
"""What a budget is of the seconds that a room took."""

YARDSTICK = 0.1
"""Seconds of a processor that the yardstick takes on the machine that budgets are for."""

_beside = Counter()


def yardstick():
    """Seconds of a processor that some plain work takes: a tenth of it is done, and counted ten."""
    began = process_time()
    for at in range(100_000):
        at * at % 7
    return 10 * (process_time() - began)


def spent():
    """Seconds of this process and of its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + ended.ru_utime + ended.ru_stime


@contextmanager
def beside(name):
    """Count what this block takes apart from the test that it happens in."""
    before = spent()
    yield
    _beside[name] += spent() - before


def room_of(nodeid):
    """The folder of `tests` that a test stands in, or its file."""
    return nodeid.partition("::")[0].removeprefix("tests/").split("/")[0]


COSTS = pytest.StashKey()
MEASURED = "yardstick"
OFTEN = 500
"""Tests between two measurements of the yardstick: a machine is not as fast all the time."""

_until = []
"""What this process had spent when its last test ended."""

_ended = count()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol():
    """Note when the first test of a process begins."""
    if not _until:
        _until.append(spent())
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    """Say what a test took with its last report."""
    report = yield
    if call.when == "teardown":
        apart = dict(_beside)
        _beside.clear()
        took = spent() - _until[0] - sum(apart.values())
        report.user_properties.append((PROPERTY, (took, apart)))
        if next(_ended) % OFTEN == 0:
            report.user_properties.append((MEASURED, yardstick()))
        _until[0] = spent()
    return report


class Costs:
    """What a run has cost until now."""

    def __init__(self):
        self.tests, self._apart, self._measured = {}, Counter(), []
        self._brought = {}

    def pytest_runtest_logreport(self, report):
        """Add what a test has cost."""
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.tests[report.nodeid], apart = value
                self._apart.update(apart)
            elif name == MEASURED:
                self._measured.append(value)
            elif name == BROUGHT:
                self._brought[report.nodeid] = value

    @property
    def yardstick(self):
        """What the yardstick took, at the median."""
        return median(self._measured or [yardstick()])

    def rooms(self):
        """The seconds of each room, the costliest first."""
        seconds = Counter(self._apart)
        for nodeid, taken in self.tests.items():
            seconds[room_of(nodeid)] += taken
        return dict(seconds.most_common())

    def lines(self):
        """The lines of the report."""
        counts, rooms = Counter(map(room_of, self.tests)), self.rooms()
        rows = sum(self._brought.values()) + len(self._brought)
        yield (
            f"{sum(rooms.values()):8.1f} s  {len(self.tests):6} tests, "
            f"of which {len(self._brought)} ran the {rows} rows of a table"
        )
        for name, taken in rooms.items():
            yield f"{taken:8.1f} s  {counts[name]:6} {name}"
        yield ""
        for nodeid, taken in Counter(self.tests).most_common(SHOWN):
            yield f"{taken:8.1f} s  {nodeid}"


def pytest_configure(config):
    """Count."""
    config.stash[COSTS] = Costs()
    config.pluginmanager.register(config.stash[COSTS], "costs")


def pytest_terminal_summary(terminalreporter, config):
    """Print the report of a run with `--durations`, and keep its figures."""
    costs = config.stash[COSTS]
    if not config.getoption("durations") or not costs.tests:
        return
    terminalreporter.section("seconds of a processor, by room and the costliest tests")
    for line in costs.lines():
        terminalreporter.write_line(line)
    whole = {"rooms": costs.rooms(), "tests": len(costs.tests), "yardstick": costs.yardstick}
    terminalreporter.write_line(f"\n{whole['yardstick']:8.3f} s  the yardstick: see tests/costs.py")
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(whole))


def over(rooms, measured):
    """A sentence for each room whose tests took more than its budget, or did not run.

    Args:
        measured: what the yardstick took in that run.
    """
    missing = [
        f"{name} did not run: `make test` runs all." for name in BUDGETS if name not in rooms
    ]
    here = measured / YARDSTICK
    most = {name: BUDGETS.get(name, NOT_NAMED) * here for name in rooms}
    return missing + [
        f"{name} took {taken:.1f} s of a processor, and may take {most[name]:.1f} on this machine."
        for name, taken in rooms.items()
        if taken > most[name]
    ]


def budgets(rooms, measured):
    """The budgets that leave these rooms a quarter more, the largest first."""
    there = ROOM * YARDSTICK / measured
    most = {name: math.ceil(taken * there) for name, taken in rooms.items()}
    named = {name: seconds for name, seconds in most.items() if seconds > NOT_NAMED}
    return dict(sorted(named.items(), key=lambda row: (-row[1], row[0])))


def with_budgets(source, rooms, measured):
    """The text of this module with other budgets."""
    found = budgets(rooms, measured).items()
    rows = "".join(f'    "{name}": {seconds},\n' for name, seconds in found)
    return re.sub(r"(?m)(^BUDGETS = \{\n)[^}]*", lambda found: found[1] + rows, source, count=1)


def main(arguments=None):
    """Judge the last run that was recorded; returns 1 where a room took too much."""
    parser = argparse.ArgumentParser(prog="python -m tests.costs")
    parser.add_argument("--budgets", type=Path, metavar="FILE")
    asked = parser.parse_args(arguments)
    if asked.budgets:
        run = json.loads(asked.budgets.read_text(encoding="utf-8"))
        module = Path(__file__)
        text = with_budgets(module.read_text(encoding="utf-8"), run["rooms"], run["yardstick"])
        module.write_text(text, encoding="utf-8")
        return 0
    if not RECORD.is_file():
        print("No run is recorded: `make test` records one.")
        return 1
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    said = over(recorded["rooms"], recorded["yardstick"])
    print(
        *said or [f"All rooms kept to their budgets, in a run of {recorded['tests']} tests."],
        sep="\n",
    )
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
