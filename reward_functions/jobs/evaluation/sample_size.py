"""How many prompts a difference takes to be shown, and what a split of this size can show.

    prompts = ((z_0.975 sqrt(m) + z_0.8 sqrt(m - d²)) / d)²

m is the mean square of the differences that were seen, and d the difference that one cares about.
Where answers are right or wrong, m is the share of prompts on which the models differ, and this is
Connor's formula for McNemar's test (Sample Size for Testing Differences in Proportions for the
Paired-Sample Design, Biometrics 43, 1987). Power is 80 %, the level 5 %, two-sided.
"""

from __future__ import annotations

from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from reward_functions.core.means import mean
from reward_functions.reports.resampling import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

POWER: Final = 0.8

HALVINGS: Final = 60


def mean_square(differences: Sequence[float]) -> float:
    """How much prompts differ, 0 to 1.

    Args:
        differences: one for each prompt, at least one.
    """
    return mean([each * each for each in differences])


def prompts_needed(square: float, difference: float) -> int | None:
    """How many prompts show a difference four times in five.

    Args:
        square: the mean square of what was seen, 0 to 1.
        difference: above 0, at most 1, as a share of the scale.

    Returns:
        at least 1; None where nothing was seen to differ, so that nothing says how many.
    """
    if square <= 0:
        return None
    return max(1, ceil(_needed(square, difference)))


def smallest_shown(square: float, prompts: int) -> float | None:
    """The difference that so many prompts show four times in five, at most 1.

    Args:
        square: the mean square of what was seen, 0 to 1.
        prompts: at least one.

    Returns:
        None where nothing was seen to differ.
    """
    if square <= 0:
        return None
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _needed(square, middle) > prompts:
            low = middle
        else:
            high = middle
    return high


def _needed(square: float, difference: float) -> float:
    normal = NormalDist()
    level, power = normal.inv_cdf((1 + LEVEL) / 2), normal.inv_cdf(POWER)
    # A difference d has a mean square of d² at least, whatever was seen.
    square = max(square, difference * difference)
    half = level * sqrt(square) + power * sqrt(square - difference * difference)
    return (half / difference) ** 2
