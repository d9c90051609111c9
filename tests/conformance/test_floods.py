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


TRIES = 5


def seconds(spec, response):
    """Of one run; a response that nobody can score takes its time as well."""
    began = process_time()
    with suppress(RewardError):
        spec(sample(response, "5", prompt="How many?"))
    return process_time() - began


@pytest.mark.parametrize("flood", FLOODS, ids=[flood.name for flood in FLOODS])
@pytest.mark.parametrize("spec", VERIFIERS.values(), ids=VERIFIERS)
def test_the_time_of_a_flood_grows_with_its_length(spec, flood):
    """What the machine adds once, it does not add in every try: the least of each counts."""
    seconds(spec, flood.text(SIZE // 10))  # what is loaded or compiled once
    short, long, tried = flood.text(SIZE), flood.text(SIZE * 4), []
    while not tried or (len(tried) < TRIES and not linear(tried)):
        tried.append((seconds(spec, short), seconds(spec, long)))
    assert linear(tried), tried


def linear(tried):
    """Whether four times the length took less than seven times the time."""
    once, four_times = map(min, zip(*tried, strict=True))
    return four_times < 7 * once + NOISE
