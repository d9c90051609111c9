"""Where each response falls among the strategies: few prompts show the shares that draw them.

Drawn one by one, the greedy answers to ten prompts are right in 30 points more or fewer than the
sampled ones, by chance alone. So the points of a file's prompts lie evenly: those of any first ones
in the order in which `reward job` draws them are as far apart as they can be. Of 10 or more prompts
the base is right in 34 % of its greedy answers, give or take 4 points, and never 10 points from the
sampled ones, four to a prompt.

    point of the nth response to a prompt = place of the prompt × an irrational number, + a shift

Each n has a shift of its own, and of eight numbers the next: whether a prompt's first response is
right says nothing of its second. Source: Kuipers and Niederreiter, Uniform Distribution of
Sequences, 1974, chapter 2, section 3.
"""

from __future__ import annotations

from math import sqrt
from random import Random
from typing import Final

GOLDEN: Final = (sqrt(5) - 1) / 2
"""Of all numbers the one whose multiples lie most evenly."""

SLOPES: Final = (
    GOLDEN,
    sqrt(2) - 1,
    sqrt(3) - 1,
    (sqrt(13) - 3) / 2,
    (sqrt(21) - 3) / 2,
    sqrt(7) - 2,
    (sqrt(29) - 5) / 2,
    sqrt(6) - 2,
)
"""Others of that kind."""

SHIFT: Final = 0.025
"""Of greedy answers: with it the shares of the base are met best."""


def places(count: int) -> list[int]:
    """The places of so many prompts, in the order in which `reward job` draws them."""
    drawn = list(range(count))
    Random(0).shuffle(drawn)  # noqa: S311 - the default of its --seed
    found = [0] * count
    for place, at in enumerate(drawn):
        found[at] = place
    return found


def point(place: int, number: int, *, greedy: bool) -> float:
    """Where a response falls, from 0 to 1.

    Args:
        place: of the prompt.
        number: of the response, from 1.
        greedy: whether it is the prompt's only one.
    """
    if greedy:
        return (place * GOLDEN + SHIFT) % 1
    shift = Random(f"response {number}").random()  # noqa: S311 - the same in every run
    return (place * SLOPES[number % len(SLOPES)] + shift) % 1
