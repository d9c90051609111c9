"""No text stalls a pattern of the jobs: four times the length never takes sixteen times the time.

The time is the processor's, as in `conformance/test_floods.py`. Every pattern of the modules is
pumped with the characters that it is made of, and with an end that it does not take.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from time import process_time

import pytest

from reward_functions import jobs
from reward_functions.jobs.causes import CAUSES
from reward_functions.local import training_double

SIZE = 2_000
NOISE = 0.03
"""Seconds that a measurement may be off."""

ANCHORED = {
    "jobs.drivers.openai.IDENTIFIER",
}
"""Patterns that look ahead, which the code holds to whole texts alone: never `search`."""


def patterns():
    """Every pattern that a module holds, by the place where it stands."""
    for package in (jobs, training_double):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(found.name)).items():
                held = value.values() if isinstance(value, dict) else [value]
                for each in held:
                    if isinstance(each, re.Pattern):
                        yield f"{found.name.removeprefix('reward_functions.')}.{name}", each


def pumps(pattern):
    """Characters and words that stand in a pattern, and some that stand in none."""
    words = re.findall(r"[A-Za-z]{3,}", pattern)
    return {
        *'a1 -.,:/("\\',
        "a ",
        "a-",
        "1,",
        "A, a",
        ".a",
        *words,
        *(f"{word} " for word in words),
    }


def of_text(pattern):
    """The same of characters, where it is of bytes."""
    held = pattern.pattern
    return re.compile(held.decode()) if isinstance(held, bytes) else pattern


FOUND = {f"{place} {each.pattern[:40]}": of_text(each) for place, each in patterns()}
FOUND |= {each.name: re.compile(each.pattern, re.IGNORECASE) for each in CAUSES}


def seconds(pattern, pump, size, *, anchored):
    text = (pump * size)[:size] + "\0"
    began = process_time()
    pattern.fullmatch(text)
    if not anchored:
        pattern.search(text)
    return process_time() - began


@pytest.mark.parametrize("place", FOUND)
def test_the_time_of_a_pattern_grows_with_its_text(place):
    pattern = FOUND[place]
    for pump in pumps(pattern.pattern):

        def timed(size, pump=pump):
            return seconds(pattern, pump, size, anchored=place.partition(" ")[0] in ANCHORED)

        assert timed(28) < NOISE, pump  # what is exponential takes minutes from here on
        once, twice, four_times = (timed(SIZE * each) for each in (1, 2, 4))
        assert twice < 3 * once + NOISE, pump
        assert four_times < 7 * once + NOISE, pump
