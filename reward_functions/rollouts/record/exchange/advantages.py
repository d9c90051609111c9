"""Group advantages, as GRPO has them: how far a rollout's return lies above its group's mean.

    A_i = r_i − mean(r)          or, with scale="std",          A_i = (r_i − mean(r)) / std(r)

std is that of a sample, with n − 1, as TRL and verl have it. Source: Shao et al., DeepSeekMath,
2024, https://arxiv.org/abs/2402.03300, section 4.1. Without the division: Liu et al., 2025,
https://arxiv.org/abs/2503.20783, because it weighs groups that are almost equal the most.

A group whose rewards are equal teaches nothing; neither does a group of one, which has no mean but
itself. Both are reported, and are no rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, hypot, sqrt
from typing import TYPE_CHECKING, Final, Literal

from reward_functions.core.means import mean
from reward_functions.rollouts.request.errors import InvalidReward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scale = Literal["none", "std"]

EQUAL: Final = 1e-9
"""Rewards count as equal where none lies further from their mean than this, relative to the largest
of them in size: what is left is the rounding of their sum."""


LARGEST_RETURN: Final = 1e38
"""In size: twice this, the largest advantage, still fits into the 32 bits of a trainer."""


def episode_return(rewards: Sequence[float]) -> float:
    """The return of an episode: the sum of its rewards, one or one a turn.

    Raises:
        InvalidReward: it is not finite, or larger than `LARGEST_RETURN`.
    """
    if all(abs(each) <= LARGEST_RETURN for each in rewards):
        total = fsum(rewards)
        if abs(total) <= LARGEST_RETURN:
            return total
    raise InvalidReward(f"a return is a finite number up to {LARGEST_RETURN:g} in size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rollouts of one prompt that have a return.

    Args:
        id: of the prompt, or the row.
        mean: of the returns.
        std: of a sample; None for a group of one.
        advantages: by rollout; empty where the group teaches nothing.
        size: how many returns there are.
    """

    id: str
    mean: float
    std: float | None
    advantages: Mapping[str, float]
    size: int


def group_advantages(id: str, returns: Mapping[str, float], scale: Scale = "none") -> Group:  # noqa: A002 - what it is
    """The advantages of a group.

    Args:
        id: of the group.
        returns: by rollout, at least one; finite.
        scale: "std" divides by the standard deviation.
    """
    centre = mean(list(returns.values()))
    if len(returns) == 1:
        return Group(id=id, mean=centre, std=None, advantages={}, size=1)
    apart = {rollout: value - centre for rollout, value in returns.items()}
    std = hypot(*apart.values()) / sqrt(len(apart) - 1)  # no square that is too small or large
    largest = max(map(abs, returns.values()))
    if max(map(abs, apart.values())) <= EQUAL * largest:
        return Group(id=id, mean=centre, std=std, advantages={}, size=len(returns))
    divisor = std if scale == "std" else 1.0
    advantages = {rollout: each / divisor for rollout, each in apart.items()}
    return Group(id=id, mean=centre, std=std, advantages=advantages, size=len(returns))
