"""No flood stalls a verifier: four times the length takes four times the time, not sixteen."""

from __future__ import annotations

from contextlib import suppress

import pytest

from reward_functions import RewardError, sample, specs
from reward_functions.testing.hostile import FLOODS
from tests.growth import assert_linear

VERIFIERS = {name: spec for name, spec in specs().items() if not spec.needs.judge}
SIZE = 30_000


@pytest.mark.parametrize("flood", FLOODS, ids=[flood.name for flood in FLOODS])
@pytest.mark.parametrize("spec", VERIFIERS.values(), ids=VERIFIERS)
def test_the_time_of_a_flood_grows_with_its_length(spec, flood):
    def score(size):
        # A response that nobody can score takes its time as well.
        with suppress(RewardError):
            spec(sample(flood.text(size), "5", prompt="How many?"))

    score(SIZE // 10)  # what is loaded or compiled once
    assert_linear(score, SIZE, SIZE * 4)
