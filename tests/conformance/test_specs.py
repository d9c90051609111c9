"""Every reward there is has every property a reward promises: one test for each pair."""

from __future__ import annotations

import pytest

from reward_functions import specs
from reward_functions.testing import CONTRACT

SPECS = specs()


@pytest.mark.parametrize("holds", CONTRACT.values(), ids=CONTRACT)
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_it_keeps_the_contract(texts_are_read_once, spec, holds):
    holds(spec)


def test_there_are_rewards():
    assert {"exact_match", "gsm8k"} <= SPECS.keys()
