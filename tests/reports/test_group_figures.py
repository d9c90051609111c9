"""Figures of groups: the mean's interval is that of the bootstrap over all values."""

import pytest

from reward_functions.core.means import mean
from reward_functions.reports.statistics import intervals, mean_reward

GROUPS = {
    "of two sizes": [[0.0, 1.0, 1.0], [0.5], [0.25, 0.75]],
    "one that failed": [[1.0, 0.0], [], [0.5]],
    "equal values that no sum divides": [[0.1, 0.1, 0.1], [0.1] * 7],
    "equal in each": [[0.1] * 3, [0.7] * 3, [0.1] * 6],
    "negative": [[-1.0, -0.5], [2.0, -3.0], [0.125]],
    "a zero with a sign": [[-0.0, -0.0], [-0.0]],
    "whose sum is no float": [[1.7e308, 1.7e308], [1.7e308, -1.7e308], [1e308]],
    "beside tiny ones": [[1e100, -1e100], [1e-300], [0.0, 5e-324]],
    "one value": [[0.3]],
    "many": [[at % 7 / 7, at % 3 / 3] for at in range(60)],
}


@pytest.mark.parametrize("name", GROUPS)
def test_the_interval_of_a_mean_is_that_of_all_values_drawn(name):
    groups = GROUPS[name]

    def plainly(drawn):
        values = [value for group in drawn for value in group]
        return {"mean": mean(values) if values else None}

    found, plain = mean_reward(groups), intervals(groups, plainly)["mean"]
    assert found.value == mean([value for group in groups for value in group])
    assert found[1:] == pytest.approx(tuple(plain), rel=1e-12, abs=1e-300)


def test_equal_rewards_have_an_interval_of_no_width():
    assert mean_reward([[0.1] * 3, [0.1] * 7, [0.1]]) == (0.1, 0.1, 0.1)


def test_no_reward_has_no_mean():
    assert mean_reward([[], []]) is None
