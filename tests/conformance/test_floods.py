"""No flood stalls a verifier: four times the length takes four times the time, and never sixteen.

The time is the processor's, so that a busy machine changes little; what is linear stays far below
the bound, and what is quadratic far above it.
"""

from __future__ import annotations

from contextlib import suppress
from time import process_time

import pytest

from reward_functions import RewardError, sample, specs
from reward_functions.testing.hostile import FLOODS

VERIFIERS = {name: spec for name, spec in specs().items() if not spec.needs.judge}
SIZE = 30_000
NOISE = 0.06
"""Seconds that a measurement may be off."""


def seconds(spec, response):
    """The least of two runs; a response that nobody can score takes its time as well."""

    def once():
        began = process_time()
        with suppress(RewardError):
            spec(sample(response, "5", prompt="How many?"))
        return process_time() - began

    return min(once(), once())


@pytest.mark.parametrize("flood", FLOODS, ids=[flood.name for flood in FLOODS])
@pytest.mark.parametrize("spec", VERIFIERS.values(), ids=VERIFIERS)
def test_the_time_of_a_flood_grows_with_its_length(spec, flood):
    seconds(spec, flood.text(SIZE // 10))  # what is loaded or compiled once
    once, twice, four_times = (seconds(spec, flood.text(SIZE * times)) for times in (1, 2, 4))
    assert twice < 3 * once + NOISE
    assert four_times < 7 * once + NOISE
