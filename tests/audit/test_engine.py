"""An audit of rewards with planted faults, and of their twins without them."""

import pytest

from reward_functions import sample
from reward_functions.audit.engine import audit
from tests.audit import faults

ROWS = 200
"""As many as decide a gate of two percent where nothing is seen."""


@pytest.fixture(scope="module")
def rows():
    """Questions with a whole number as their answer, each another one."""
    return [
        sample("", str(at * 37 + 1013), prompt=f"What is {at} times 37, plus 1013?", id=f"r{at}")
        for at in range(ROWS)
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
    done = audit(reward, rows, **options)
    assert caught in found(done)
    assert done.status == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_its_twin_without_the_fault_passes(fault, rows):
    _, twin, _, options = FAULTS[fault]
    done = audit(twin, rows, **options)
    assert (done.failures, found(done), done.status) == ([], set(), 0)
