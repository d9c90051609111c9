"""The largest of each kind that is compared, and one more."""

import pytest

from reward_functions.symbolic import equal
from reward_functions.symbolic.compare.ellipsis import finite_sum

SUMS = [
    # what grows, its most, the sum of a size
    ("characters", 300, r"1+2+\ldots+9".ljust),
    ("terms", 1002, lambda size: rf"1+2+\ldots+{size}"),
]


@pytest.mark.parametrize(("grows", "most", "text"), SUMS)
def test_a_sum_with_an_ellipsis_has_a_value_up_to_its_limit(grows, most, text):
    assert finite_sum(text(most))
    assert not finite_sum(text(most + 1))


def solution(names):
    """The general solution of an equation of so many orders."""
    return "y=" + "+".join(f"{name}e^{{{at}x}}" for at, name in enumerate(names, 2))


@pytest.mark.parametrize(("count", "same"), [(1, True), (3, True), (4, False)])
def test_three_constants_may_have_other_letters(count, same):
    others = [f"c_{at}" for at in range(1, count + 1)]
    assert equal(solution("ABCD"[:count]), solution(others), solver=False).equal is same
