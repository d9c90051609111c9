"""The softmax and its update: what it learns from, and what it does not."""

import json
from collections import Counter
from math import exp, isclose, log
from random import Random

import pytest

from reward_functions.local.training_double.policy import (
    BASE_SHARES,
    NAMES,
    BadPolicy,
    Choice,
    Policy,
    SimulationSettings,
    advantages,
)
from reward_functions.local.training_double.strategies import KINDS, STRATEGIES, task_of

KIND = "whole number"
TURNS = [{"role": "user", "content": "How many?\n#### <number>"}]


def test_the_base_is_right_about_a_third_of_the_time():
    shares = Policy.base().named_shares(KIND)
    assert shares == pytest.approx(BASE_SHARES)
    assert sum(BASE_SHARES.values()) == pytest.approx(1.0)
    assert shares["correct"] + shares["correct and verbose"] == pytest.approx(0.34)


def test_another_base_can_be_asked_for():
    uniform = SimulationSettings(base_shares=dict.fromkeys(NAMES, 1 / 9))
    assert Policy.base(uniform).shares(KIND) == pytest.approx([1 / 9] * 9)


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([1.0, 0.0], [0.70701, -0.70701]),  # std of the sample is 0.70711, epsilon 1e-4
        ([1.0, 0.0, 0.0, 0.0], [1.4997, -0.4999, -0.4999, -0.4999]),
        ([0.5, 0.5, 0.5], [0.0, 0.0, 0.0]),
        ([0.1 + 0.2, 0.3], [2e-13, -2e-13]),  # a difference of rounding stays one
        ([1.0], [0.0]),
    ],
)
def test_advantages_are_relative_to_the_group(rewards, expected):
    assert advantages(rewards) == pytest.approx(expected, abs=1e-4)


def test_equal_rewards_teach_nothing():
    policy = Policy.base()
    figures = policy.update([Choice(KIND, at, 0.0) for at in range(9)], 1.0)
    assert policy == Policy.base()
    assert (figures.pg_loss, figures.grad_norm) == (0.0, 0.0)
    assert figures.entropy == pytest.approx(-sum(p * log(p) for p in BASE_SHARES.values()))


def test_what_was_better_than_its_group_is_taken_more_often():
    policy = Policy.base()
    policy.update([Choice(KIND, 0, 1.5), Choice(KIND, 2, -1.5)], 0.5)
    shares = policy.named_shares(KIND)
    assert shares["correct"] > BASE_SHARES["correct"]
    assert shares["near miss"] < BASE_SHARES["near miss"]


def test_what_is_learned_of_a_kind_stays_there():
    policy = Policy.base()
    policy.update([Choice(KIND, 0, 1.0), Choice(KIND, 2, -1.0)], 0.5)
    assert {kind for kind in KINDS if policy.shares(kind) != Policy.base().shares(kind)} == {KIND}


def test_the_step_is_the_gradient_of_the_objective():
    """Against the difference quotient of the mean of advantage × log share."""
    taken = [Choice(KIND, 0, 1.2), Choice(KIND, 2, -0.7), Choice(KIND, 2, -0.9), Choice(KIND, 5, 3)]

    def objective(logits):
        powers = [exp(logit) for logit in logits]
        return sum(one.advantage * log(powers[one.strategy] / sum(powers)) for one in taken) / len(
            taken
        )

    base, after = Policy.base(), Policy.base()
    figures = after.update(taken, 1.0)
    logits, tiny, slopes = base.logits[KIND], 1e-6, []
    for at in range(len(NAMES)):
        up, down = list(logits), list(logits)
        up[at], down[at] = up[at] + tiny, down[at] - tiny
        slopes.append((objective(up) - objective(down)) / (2 * tiny))
    stepped = [new - old for new, old in zip(after.logits[KIND], logits, strict=True)]
    assert stepped == pytest.approx(slopes, abs=1e-6)
    assert figures.grad_norm == pytest.approx(sum(slope**2 for slope in slopes) ** 0.5, abs=1e-6)
    assert figures.pg_loss == pytest.approx(-objective(logits))


def test_a_group_is_drawn_by_the_shares():
    rollouts = Policy.base().sample_group(task_of(TURNS, "42"), 5_000, Random(1))
    counted = Counter(NAMES[rollout.strategy] for rollout in rollouts)
    for name, share in BASE_SHARES.items():
        assert isclose(counted[name] / 5_000, share, abs_tol=0.022)  # 3.5 standard errors


def test_equal_draws_write_equal_responses():
    first, second = (Policy.base().answer(TURNS, "42", Random(5)) for _ in range(2))
    assert first == second


PROMPTS = [
    task_of(
        [{"role": "user", "content": f"{at + 3} boxes of {at % 13 + 2}?\n#### <number>"}], str(at)
    )
    for at in range(300)
]


def right(policy, temperature, size=1):
    """The share of the answers that are right, over many prompts."""
    draws = Random(7)
    taken = [
        one.strategy
        for task in PROMPTS
        for one in policy.sample_group(task, size, draws, temperature)
    ]
    return sum(STRATEGIES[at].correct for at in taken) / len(taken)


@pytest.mark.parametrize("better", [-2.0, 0.0, 1.0, 2.0, 4.0])
def test_greedy_answers_are_right_as_often_as_sampled_ones(better):
    policy = Policy.base()
    policy.logits[KIND][0] += better
    assert abs(right(policy, 0.0) - right(policy, 1.0, size=8)) < 0.05


def test_a_prompt_has_one_greedy_answer():
    (first, *others) = [Policy.base().answer(TURNS, "42", Random(at), 0.0) for at in range(20)]
    assert others == [first] * 19


def test_training_makes_no_greedy_answer_wrong_that_was_right():
    base, better = Policy.base(), Policy.base()
    better.logits[KIND][0] += 2

    def solved(policy):
        taken = [policy.sample_group(task, 1, Random(1), 0.0)[0].strategy for task in PROMPTS]
        return {at for at, strategy in enumerate(taken) if STRATEGIES[strategy].correct}

    assert solved(base) < solved(better)


def test_large_logits_overflow_nothing():
    policy = Policy.base()
    policy.update([Choice(KIND, 0, 1.0), Choice(KIND, 2, -1.0)], 1e6)
    assert sum(policy.shares(KIND)) == pytest.approx(1.0)
    assert policy.update([Choice(KIND, 0, 0.0)], 1.0).entropy == pytest.approx(0.0)


def test_a_policy_is_saved_and_read():
    policy = Policy.base()
    policy.update([Choice(KIND, 0, 1.0), Choice(KIND, 2, -1.0)], 0.3)
    assert Policy.from_json(policy.to_json()) == policy
    assert json.loads(policy.to_json())["simulation"] is True


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"format": 1}',
        '{"format": 1, "logits": {"whole number": {}}}',
        Policy.base().to_json().replace('"format": 1', '"format": 2'),
        Policy.base().to_json().replace(str(log(0.2)), "NaN", 1),
        Policy.base().to_json().replace(str(log(0.2)), '"x"', 1),
        "[" * 100_000,
    ],
)
def test_what_is_no_policy_is_refused_in_words(text):
    with pytest.raises(BadPolicy, match="policy"):
        Policy.from_json(text)
