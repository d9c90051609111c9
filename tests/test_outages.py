"""The table that explains imputation is about the imputation that there is."""

from fractions import Fraction
from itertools import product

from reward_functions import Score, Scored, Unscored, sample
from reward_functions.core.errors import JudgeUnavailable
from reward_functions.serving.imputation import Imputation
from tests import outages


def imputed(rest):
    """What the Lambda gives a trainer for the one response of a group that nobody scored."""
    group = [sample("a response", prompt="the prompt", id=str(at)) for at in range(outages.SIZE)]
    failed = Unscored("0", JudgeUnavailable("nothing answers"))
    scored = [Scored(str(at), Score(float(each))) for at, each in enumerate(rest, start=1)]
    first, *_ = Imputation(minimum=0.0)(group, [failed, *scored])
    return first["aggregate_reward_score"]


def test_the_last_row_is_what_the_lambda_does():
    for rest in product((Fraction(0), Fraction(1)), repeat=outages.SIZE - 1):
        assert imputed(rest) == float(outages.mean(rest))


def test_the_mean_of_the_rest_leaves_the_others_where_they_were():
    rest = [Fraction(1), Fraction(0), Fraction(0)]
    alone, (first, *others) = (
        outages.advantages(rest),
        outages.advantages([outages.mean(rest), *rest]),
    )
    assert first == 0
    assert others == alone


def test_the_expected_advantage_of_a_constant_is_its_distance_from_the_others_mean():
    for chance in outages.CHANCES:
        own = Fraction(outages.SIZE - 1, outages.SIZE)
        assert outages.expected(outages.constant(Fraction(1, 2)), chance) == own * (
            Fraction(1, 2) - chance
        )


def test_among_equal_rewards_any_constant_is_as_loud_as_the_only_right_answer():
    right, half, least = (
        outages.normalised([Fraction(value), *[Fraction(0)] * 7])[0]
        for value in ("1", "1/2", "1/1000")
    )
    assert right == half == least
