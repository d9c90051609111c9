"""`RewardFunction`: validated, and a reward of this project in either direction."""

import pytest

from reward_functions import sample
from reward_functions.core.errors import BadReference, UnknownReward
from reward_functions.rollouts import RewardFunction, Scorer, reward_function
from reward_functions.rollouts.request.errors import EnvironmentFailure, InvalidReward


class Exact(RewardFunction):
    """Whether a response is the reference."""

    def __call__(self, *, response_text="", ground_truth="", **_):
        return float(response_text == ground_truth)


class Returning(RewardFunction):
    def __init__(self, result):
        self.result = result

    def __call__(self, **kwargs):
        self.asked = kwargs
        return self.result


def test_it_is_an_interface():
    with pytest.raises(TypeError, match="abstract"):
        RewardFunction()


@pytest.mark.parametrize(
    ("result", "turns", "rewards"),
    [(1, None, (1.0,)), ([0.5], 3, (0.5,)), ([0, 1], 2, (0.0, 1.0)), ((0.5, 1), None, (0.5, 1.0))],
)
def test_what_it_returns_is_one_number_or_one_a_turn(result, turns, rewards):
    assert Returning(result).rewards(turns=turns, response_text="x") == rewards


@pytest.mark.parametrize("result", [None, "1", True, float("nan"), [], {"a": 1}, [1, None]])
def test_what_is_no_reward_is_refused(result):
    with pytest.raises(InvalidReward):
        Returning(result).rewards()


def test_it_scores_as_the_reward_of_a_handler():
    scorer = Scorer.of(Exact().of_sample)
    assert scorer.score({"prompt": "?", "answer": "42"}, "42").value == 1.0
    assert scorer.score({"prompt": "?", "answer": "42"}, "41").value == 0.0
    assert scorer.pin.name.endswith("RewardFunction.of_sample")


def test_it_gets_what_a_sample_has():
    asked = Returning(0.5)
    asked.of_sample(sample("the answer", reference="42", prompt="6 × 7?"))
    assert asked.asked == {
        "response_text": "the answer",
        "ground_truth": "42",
        "user_input": "6 × 7?",
        "metadata": {},
    }


def test_rewards_for_turns_are_no_reward_of_a_response():
    with pytest.raises(EnvironmentFailure, match="gives 2 rewards"):
        Scorer.of(Returning([0, 1]).of_sample).score({"prompt": "?"}, "x")


@pytest.mark.parametrize(("response", "value"), [(r"\boxed{4}", 1.0), (r"\boxed{5}", 0.0)])
def test_a_reward_of_ours_is_one(response, value):
    function = reward_function("math")
    assert isinstance(function, RewardFunction)
    asked = {"response_text": response, "ground_truth": "4", "user_input": "2 + 2?"}
    assert function(**asked) == value
    assert function.rewards(**asked, turns=3) == (value,)


def test_what_cannot_be_scored_is_no_number():
    with pytest.raises(BadReference):
        reward_function("math")(response_text=r"\boxed{4}", user_input="2 + 2?")
    with pytest.raises(UnknownReward):
        reward_function("maths")
