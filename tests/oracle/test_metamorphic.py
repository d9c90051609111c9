"""Right answers in other dresses are paid, and what is another answer is not: every sixth of ours.

All of them are tried by `python -m tests.benchmarks metamorphic`.
"""

import pytest

from tests.oracle import metamorphic
from tests.oracle.metamorphic import CHANGING, PRESERVING

CHOSEN = metamorphic.bases()[::6]


@pytest.mark.parametrize("name", PRESERVING)
def test_another_dress_changes_no_verdict(name):
    tried, flipped = metamorphic.flips({name: PRESERVING[name]}, CHOSEN, right=True)
    assert tried
    assert not flipped


@pytest.mark.parametrize("name", CHANGING)
def test_what_is_another_answer_is_not_paid(name):
    tried, flipped = metamorphic.flips({name: CHANGING[name]}, CHOSEN, right=False)
    assert tried
    assert not flipped
