"""A reward: finite numbers, one for the rollout or one for each of its turns.

NaN leaves boto3 as the string "NaN" and sagemaker.train.rft as invalid JSON, and "0.5" as the list
"0", ".", "5": neither is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, islice
from math import isfinite
from typing import Any, Final

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import InvalidReward

MOST: Final = 100_000
"""Rewards of one rollout: an outbox takes no more of the shortest."""

NO_LISTS: Final = (str, bytes, bytearray, memoryview, Mapping, AbstractSet)
"""What can be iterated over, and is no list of numbers in an order."""


def rewards_of(given: Any, *, turns: int | None = None) -> tuple[float, ...]:
    """The rewards that are sent.

    Args:
        given: a number, of numpy too, or an iterable of numbers, which is read once; a boolean is
            no number, and a text or a set is no list.
        turns: policy calls that were recorded; None where nobody counted.

    Returns:
        One number, or one for each turn.

    Raises:
        InvalidReward: not finite, not a number, none at all, or of another length.
    """
    if given is None or isinstance(given, NO_LISTS):
        raise InvalidReward(f"a reward is a number or a list of them, not {json_kind(given)}")
    if isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0:
        rewards = tuple(_number(each) for each in islice(given, MOST + 1))
    else:
        rewards = (_number(given),)
    if not rewards:
        raise InvalidReward("a list of rewards is empty")
    if len(rewards) > MOST:
        raise InvalidReward(f"there are more than {MOST:,} rewards")
    if turns is not None and len(rewards) not in {1, turns}:
        raise InvalidReward(f"there are {len(rewards)} rewards for {turns} recorded turns")
    return rewards


def returns_to_go(rewards: Sequence[float]) -> tuple[float, ...]:
    """Of each turn, the sum of its reward and of those after it; it may be infinite."""
    return tuple(accumulate(reversed(rewards)))[::-1]


def _number(given: Any) -> float:
    """One reward; numpy's scalars are unwrapped by their `item`."""
    if getattr(given, "ndim", 0):
        raise InvalidReward("a reward is an array, not a number: rewards have one dimension")
    item = getattr(given, "item", None)
    plain = item() if callable(item) else given
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise InvalidReward(f"a reward is {json_kind(plain)}, not a number")
    try:
        number = float(plain)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise InvalidReward(f"a reward is {number}, not a finite number")
    return number
