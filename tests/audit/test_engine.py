"""An audit of rewards with planted faults, and of their twins without them."""

import os

import pytest

from reward_functions import sample
from reward_functions.audit.engine import audit
from tests.audit import faults

ROWS = 40
"""Too few to decide a gate of two percent, and enough to see each fault."""

DECIDING = 200


@pytest.fixture(scope="module")
def rows():
    """Questions with a whole number as their answer, each another one."""
    return [
        sample("", str(at * 4 + 17), prompt=f"What is {at} times 4, plus 17?", id=f"r{at}")
        for at in range(DECIDING)
    ]


def found(done, verdict="broken"):
    return {each.id for each in done.findings if each.verdict == verdict}


FAULTS = {
    # the reward with the fault: (its twin, the finding that catches it, more options)
    "it looks for the reference anywhere": (faults.substring, faults.good, "EX-LIST", {}),
    "it takes the last number of a thought": (faults.last_number, faults.good, "EX-CUT", {}),
    "it takes over a score": (faults.unclamped, faults.clamped, "EX-CLAIM", {}),
    "it pays for length": (faults.by_length, faults.good, "EX-PROSE", {}),
    "the order of a batch decides": (faults.batch_order, faults.batch, "DETERMINISM", {}),
    "one in a hundred is paid": (faults.Lucky(), faults.good, "DETERMINISM", {}),
    "it counts its calls": (faults.Counting(), faults.Remembering(), "DETERMINISM", {}),
    "one number for a batch": (faults.one_for_all, faults.batch, "CONTRACT", {}),
    "it pays for nothing": (faults.empty, faults.good, "EX-EMPTY", {}),
    "it pays for a spray": (faults.spray, faults.good, "EX-SPRAY", {}),
    "no number for some": (faults.not_a_number, faults.good, "UNSCORED", {}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught_by_its_class(fault, rows):
    reward, _, caught, options = FAULTS[fault]
    done = audit(reward, rows, rows=ROWS, **options)
    assert caught in found(done)
    assert done.status in (1, 2)  # 2 where no row could be scored


@pytest.mark.parametrize("fault", FAULTS)
def test_its_twin_without_the_fault_passes(fault, rows):
    _, twin, _, options = FAULTS[fault]
    done = audit(twin, rows, rows=ROWS, allow_undecided=True, **options)
    assert (done.failures, found(done), done.status) == ([], set(), 0)


@pytest.mark.skipif(
    not os.environ.get("REWARD_TESTS_NIGHTLY"), reason="it measures times: nightly alone"
)
def test_what_takes_a_square_of_the_length_is_caught_by_its_growth(rows):
    asked = {"rows": 5, "classes": ["EX-EMPTY"], "latency": True, "allow_undecided": True}
    slow = audit(faults.slow, rows, fail_on=["growth>1.3"], **asked)
    quick = audit(faults.good, rows, **asked)
    assert (found(slow), slow.status) == ({"GROWTH"}, 1)
    assert (found(quick), quick.status) == (set(), 0)


def test_few_rows_decide_nothing_and_more_do(rows):
    few, more = audit(faults.good, rows, rows=ROWS), audit(faults.good, rows)
    undecided = [each for each in few.gates if each.decision == "undecided"]
    assert few.status == 1
    assert {each.figure for each in undecided} == {"fn.right", "fn.layout", "exploit"}
    assert all(ROWS < each.needed <= DECIDING for each in undecided)
    assert (more.status, more.failures) == (0, [])
