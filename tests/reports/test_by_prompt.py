"""Statistics of prompts with several responses, and of two orders: beside scipy and brute force."""

import json
import os
from itertools import combinations, product
from math import sqrt
from pathlib import Path
from random import Random

import pytest

from reward_functions.reports import statistics
from reward_functions.reports.statistics import (
    ALL_SIGNS,
    RESAMPLED,
    SIGN_DRAWS,
    mcnemar,
    mean_difference,
    mean_rate,
    rate,
    sign_flip,
    tau_b,
    wilson,
)
from tests.reports.drawn_tables import counts, tables

SCIPY = json.loads(Path(__file__).with_name("scipy_statistics.json").read_text())


def test_tau_b_is_that_of_scipy():
    found = [tau_b(*table) for table in tables()]
    assert len(found) == len(SCIPY["tau_b"]) == 1_000
    assert [each is None for each in found] == [each is None for each in SCIPY["tau_b"]]
    assert all(
        each is None or abs(each - theirs) < 1e-12
        for each, theirs in zip(found, SCIPY["tau_b"], strict=True)
    )


def test_wilsons_interval_is_that_of_scipy():
    rows = list(zip(counts(), SCIPY["wilson"], strict=True))
    assert len(rows) == 1_000
    for (k, of), (low, high) in rows:
        found = wilson(k / of, of)
        assert abs(found.low - low) < 1e-12
        assert abs(found.high - high) < 1e-12


@pytest.mark.parametrize(
    ("ones", "others", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [30, 20, 10], -1.0),
        ([1, 2], [1, 2], 1.0),
        ([1, 1, 2, 2], [1, 2, 1, 2], 0.0),
        ([1, 1, 2], [1, 2, 3], 2 / sqrt(2 * 3)),  # by hand: 2 ordered, 1 tied
        ([0.0, -0.0, 1.0], [1, 2, 3], 2 / sqrt(2 * 3)),
    ],
)
def test_tau_b_by_hand(ones, others, expected):
    assert tau_b(ones, others) == pytest.approx(expected, abs=1e-15)
    assert tau_b(others, ones) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("pair", [([], []), ([1], [2]), ([1, 1], [1, 2]), ([1, 2], [3, 3])])
def test_what_does_not_differ_has_no_order(pair):
    assert tau_b(*pair) is None


def test_an_order_is_of_as_many():
    with pytest.raises(ValueError, match="zip"):
        tau_b([1, 2], [1])


def test_tau_b_counts_what_brute_force_counts_and_never_leaves_its_range():
    random = Random(3)
    for size in (2, 7, 64, 129):
        ones = [int(random.random() * 9) for _ in range(size)]
        others = [each + int(random.random() * 9) for each in ones]
        signs = [
            ((a > b) - (a < b), (c > d) - (c < d))
            for (a, c), (b, d) in combinations(zip(ones, others, strict=True), 2)
        ]
        of = sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))
        assert tau_b(ones, others) == pytest.approx(sum(a * b for a, b in signs) / of, abs=1e-12)
    alike = [random.random() for _ in range(300)]
    assert tau_b(alike, alike) == 1.0


@pytest.mark.parametrize(("gained", "lost"), list(product(range(7), repeat=2)))
def test_one_answer_a_prompt_is_mcnemars_exact_test(gained, lost):
    nets = [1] * gained + [0] * 3 + [-1] * lost
    assert sign_flip(nets) == (mcnemar(gained, lost).p_value, 0)


@pytest.mark.parametrize("nets", [[3, -1, 2], [4, 4, -4, 1, 0], [2, -2], [5], [1, 2, 3, 4, -5, 6]])
def test_the_sign_flip_test_counts_every_choice_of_signs(nets):
    differ = [abs(net) for net in nets if net]
    totals = [
        sum(sign * size for sign, size in zip(signs, differ, strict=True))
        for signs in product((-1, 1), repeat=len(differ))
    ]
    far = sum(abs(total) >= abs(sum(nets)) for total in totals)
    assert sign_flip(nets) == (far / len(totals), 0)


def test_nothing_that_differs_is_no_difference():
    assert sign_flip([]) == sign_flip([0] * 50) == (1.0, 0)


def test_the_sizes_of_nets_count_and_not_their_number():
    """Five prompts lost an answer each, and one gained five: counts would see 1 against 5."""
    assert sign_flip([5, -1, -1, -1, -1, -1]).p_value == 1.0


def test_many_prompts_are_drawn_and_agree_with_the_exact_test():
    few, many = [1] * 15 + [-1] * 5, [1] * 15 + [-1] * 6
    assert sign_flip(few).draws == 0
    found = sign_flip(many, seed=5)
    assert len(few) == ALL_SIGNS
    assert found == sign_flip(many, seed=5) != sign_flip(many, seed=6)
    exact = mcnemar(15, 6).p_value
    assert found.draws == SIGN_DRAWS == 10_000
    assert abs(found.p_value - exact) < 4 * sqrt(exact / SIGN_DRAWS)


def test_larger_nets_are_drawn_by_their_sizes():
    """21 prompts: each choice of signs counted by hand in the exact test of their halves' sums."""
    nets = [2] * 8 + [1] * 5 + [-2] * 4 + [-1] * 4
    ways = {0: 1}
    for net in nets:
        ways = {
            at: ways.get(at - abs(net), 0) + ways.get(at + abs(net), 0) for at in range(-40, 41)
        }
    exact = sum(count for at, count in ways.items() if abs(at) >= sum(nets)) / 2**21
    assert abs(sign_flip(nets).p_value - exact) < 4 * sqrt(exact / SIGN_DRAWS)


def test_a_drawn_p_value_is_never_zero():
    assert sign_flip([1] * 400) == (1 / (SIGN_DRAWS + 1), SIGN_DRAWS)


def test_one_response_a_prompt_has_wilsons_interval_however_few():
    found = rate([[True], [False], [False]])
    assert found.value == pytest.approx(1 / 3)
    assert found.interval == wilson(1 / 3, 3)[1:]
    assert found.prompts == 3
    assert rate([[1.0]] * 30).interval == wilson(1.0, 30)[1:]


def test_several_responses_a_prompt_have_that_of_prompts_drawn():
    groups = [[at % 3 == 0, at % 5 == 0] for at in range(40)]
    found, values = rate(groups), [sum(group) / 2 for group in groups]
    expected = mean_difference(values)
    assert found == (expected.value, (expected.low, expected.high), 40)


def test_a_share_of_credit_is_no_share_of_right_and_wrong():
    """Wilson's interval of partial credit would be too wide: its variance is smaller."""
    found = rate([[0.5]] * 30)
    assert found.interval != wilson(0.5, 30)[1:]
    assert found.interval.low > 0.4


@pytest.mark.parametrize(("prompts", "has"), [(RESAMPLED - 1, False), (RESAMPLED, True)])
def test_few_prompts_of_several_responses_have_no_interval(prompts, has):
    found = rate([[True, False]] * prompts)
    assert (found.interval is not None) == has
    assert (found.value, found.prompts) == (0.5, prompts)
    assert (mean_rate([0.1] * prompts, -1, 1).interval is not None) == has


def test_every_prompt_counts_once():
    assert rate([[True], [False] * 9]).value == 0.5


def test_no_prompt_has_no_rate():
    assert rate([]) is None
    assert mean_rate([], 0, 1) is None


@pytest.mark.parametrize("have", [0, 1, 4, 46, 49, 50])
def test_what_few_prompts_have_or_lack_is_as_uncertain_as_one_response_each(have):
    found = rate([[1, 1]] * have + [[0, 0]] * (50 - have))
    assert found.interval == wilson(have / 50, 50)[1:]


@pytest.mark.parametrize("have", [5, 45])
def test_what_more_prompts_have_or_lack_is_drawn(have):
    found = rate([[1, 1]] * have + [[0, 0]] * (50 - have))
    assert found.interval != wilson(have / 50, 50)[1:]
    assert rate([[1, 0]] * 4 + [[0, 0]] * 16).interval == wilson(0.1, 20)[1:]
    assert rate([[1, 0]] * 4 + [[0, 0]] * 15).interval is None


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_a_rate_and_that_of_the_opposite_have_one_interval(share):
    random = Random(9)
    groups = [[random.random() < share for _ in range(4)] for _ in range(30)]
    one, other = rate(groups), rate([[not each for each in group] for group in groups])
    assert other.value == pytest.approx(1 - one.value)
    assert other.interval == pytest.approx((1 - one.interval.high, 1 - one.interval.low))


def test_a_mean_in_the_middle_is_looked_at_from_below():
    values = [0.25, 0.75, 0.5, 0.0, 1.0] * 6
    expected = mean_difference(values)
    assert mean_rate(values, 0.0, 1.0).interval == (expected.low, expected.high)


def test_an_interval_stays_within_its_range():
    half = mean_rate([0.0] * 18 + [0.5] * 12, 0.0, 0.5)
    assert 0.0 <= half.interval.low < half.value < half.interval.high <= 0.5
    assert mean_rate([0.5] * 29 + [0.4], 0.0, 0.5).interval.high <= 0.5
    assert mean_rate([-1.0] * 29 + [-0.9], -1.0, 1.0).interval.low >= -1.0
    turned = mean_rate([0.3, -0.1] * 15, -1.0, 1.0), mean_rate([-0.3, 0.1] * 15, -1.0, 1.0)
    assert turned[0].interval == pytest.approx((-turned[1].interval.high, -turned[1].interval.low))


def covered(share, alike, prompts, runs, monkeypatch, draws):
    """How often the interval of four answers a prompt holds the true share.

    Args:
        alike: the correlation of two answers to one prompt: each prompt has a share of its own.
    """
    monkeypatch.setattr(statistics, "PAIRED_DRAWS", draws)
    random, held = Random(17), 0
    for _ in range(runs):
        groups = []
        for _ in range(prompts):
            more = 1 / alike - 1 if alike else 0
            own = random.betavariate(share * more, (1 - share) * more) if alike else share
            groups.append([random.random() < own for _ in range(4)])
        low, high = rate(groups).interval
        held += low - 1e-12 <= share <= high + 1e-12
    return held / runs


CASES = [(0.02, 50), (0.05, 20), (0.3, 20), (0.5, 100), (0.9, 50)]
"""Shares and numbers of prompts."""

NIGHTLY = bool(os.environ.get("REWARD_TESTS_NIGHTLY"))


@pytest.mark.parametrize("alike", [0, 0.3, 0.9])
def test_the_interval_by_prompt_covers_the_share(alike, monkeypatch):
    """A few runs, whose share may miss by three standard errors; 2,000 every night."""
    for share, prompts in CASES if NIGHTLY else [(0.3, 20)]:
        runs = 2_000 if NIGHTLY else 60
        found = covered(share, alike, prompts, runs, monkeypatch, 400 if NIGHTLY else 200)
        assert found >= (0.925 if NIGHTLY else 0.84), (share, prompts)
