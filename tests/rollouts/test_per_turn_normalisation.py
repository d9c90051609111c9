"""Why rewards normalised for each turn index teach nothing about stopping: exact, by counting.

The policy decides once, at its first turn: it stops with the rewards [0], or goes on with [0, v].
The gradient is that of the logit of going on, in expectation over every group of G rollouts.
"""

from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/explanation/per-turn-normalisation.md"
HALF = Fraction(1, 2)


def per_episode(group):
    """Each rollout's return less the mean of the group, for every turn of it."""
    returns = [sum(rewards) for rewards in group]
    mean = Fraction(sum(returns), len(group))
    return [[each - mean] * len(rewards) for each, rewards in zip(returns, group, strict=True)]


def per_turn_index(group):
    """Each turn's reward less the mean of those rollouts of the group that have such a turn."""

    def mean(turn):
        there = [rewards[turn] for rewards in group if len(rewards) > turn]
        return Fraction(sum(there), len(there))

    return [[reward - mean(turn) for turn, reward in enumerate(rewards)] for rewards in group]


def returns_to_go(group):
    """The same, of what is still to come at each turn."""
    return per_turn_index([[sum(rewards[at:]) for at in range(len(rewards))] for rewards in group])


def credits_of(advantages, group):
    """What the first action is credited with; of rewards, those of all turns behind it."""
    return [sum(each) if advantages is per_turn_index else each[0] for each in advantages(group)]


def gradient(advantages, *, value, size, going_on=HALF):
    """The expected gradient, by counting every group; only the first turn's action is a choice."""
    total = Fraction(0)
    for choices in product([True, False], repeat=size):
        chance = prod(going_on if goes else 1 - going_on for goes in choices)
        group = [[0, value] if goes else [0] for goes in choices]
        scores = [(1 - going_on) if goes else -going_on for goes in choices]
        total += (
            chance
            * sum(s * c for s, c in zip(scores, credits_of(advantages, group), strict=True))
            / size
        )
    return total


@pytest.mark.parametrize("value", [1, -1])
def test_whether_to_go_on_is_never_learned_from_rewards_normalised_by_turn_index(value):
    true = HALF * HALF * value
    assert gradient(per_turn_index, value=value, size=8) == 0
    assert gradient(per_episode, value=value, size=8) == true * Fraction(7, 8)
    assert gradient(returns_to_go, value=value, size=8) == true * Fraction(7, 8)


def test_the_page_gives_these_figures():
    rows = {
        "the true gradient": Fraction(1, 4),
        "one reward a rollout": gradient(per_episode, value=1, size=8),
        "returns to go, by turn index": gradient(returns_to_go, value=1, size=8),
        "rewards, by turn index": gradient(per_turn_index, value=1, size=8),
    }
    for name, figure in rows.items():
        assert f"| {name} | {float(figure):g} | {float(-figure):g} |" in PAGE.read_text()
