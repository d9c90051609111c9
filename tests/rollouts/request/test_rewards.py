"""What is a reward, and what is refused before anything is sent."""

from fractions import Fraction
from itertools import repeat
from types import MappingProxyType

import pytest

from reward_functions.rollouts.request.errors import InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of


class Array(list):
    """As a tensor is."""

    ndim = 2


class Scalar:
    """As numpy's and torch's: iterable by name, of no dimension, unwrapped by `item`."""

    ndim = 0

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value

    def __iter__(self):
        raise TypeError("iteration over a 0-d array")


TAKEN = [
    (1, None, (1.0,)),
    (0.5, 7, (0.5,)),
    ([0, 1], None, (0.0, 1.0)),
    ([0, 1], 2, (0.0, 1.0)),
    ((0.25,), 3, (0.25,)),
    (Scalar(0.5), None, (0.5,)),
    ([Scalar(0.5), 1], 2, (0.5, 1.0)),
    ((each / 2 for each in range(3)), 3, (0.0, 0.5, 1.0)),
    (-1e300, None, (-1e300,)),
]


@pytest.mark.parametrize(("given", "turns", "rewards"), TAKEN)
def test_a_reward_is_a_number_or_one_for_each_turn(given, turns, rewards):
    assert rewards_of(given, turns=turns) == rewards


REFUSED = [
    (float("nan"), None, "a reward is nan, not a finite number"),
    (float("-inf"), None, "a reward is -inf, not a finite number"),
    (10**400, None, "a reward is inf, not a finite number"),
    ("0.5", None, "a reward is a number or a list of them, not a string"),
    (b"1", None, "a reward is a number or a list of them, not of type bytes"),
    (None, None, "a reward is a number or a list of them, not null"),
    ({"reward": 1}, None, "a reward is a number or a list of them, not an object"),
    (True, None, "a reward is a boolean, not a number"),
    ([1, False], None, "a reward is a boolean, not a number"),
    ([1, "1"], None, "a reward is a string, not a number"),
    ([[1]], None, "a reward is a list, not a number"),
    ([0.1, float("nan")], None, "a reward is nan, not a finite number"),
    (Scalar(float("inf")), None, "a reward is inf, not a finite number"),
    (Fraction(1, 2), None, "a reward is of type Fraction, not a number"),
    (object(), None, "a reward is of type object, not a number"),
    ({0.5, 1.0}, None, "a reward is a number or a list of them, not of type set"),
    (bytearray(b"1"), None, "a reward is a number or a list of them, not of type bytearray"),
    (memoryview(b"1"), None, "a reward is a number or a list of them, not of type memoryview"),
    (MappingProxyType({0: 1}), None, "a reward is a number or a list of them, not of type mapping"),
    (Array([Array([1])]), 1, "a reward is an array, not a number: rewards have one dimension"),
    (repeat(1.0), None, "there are more than 100,000 rewards"),
    ([], None, "a list of rewards is empty"),
    ([1, 2, 3], 2, "there are 3 rewards for 2 recorded turns"),
    ([1, 2], 0, "there are 2 rewards for 0 recorded turns"),
]


@pytest.mark.parametrize(("given", "turns", "sentence"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_is_not_a_reward_is_refused_in_one_sentence(given, turns, sentence):
    with pytest.raises(InvalidReward) as refusal:
        rewards_of(given, turns=turns)
    assert str(refusal.value).startswith(sentence)
