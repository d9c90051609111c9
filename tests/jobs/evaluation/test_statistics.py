"""The statistics of an evaluation beside references, brute force and simulation."""

import json
from dataclasses import astuple
from itertools import combinations, product
from math import comb, isclose, sqrt
from pathlib import Path
from random import Random
from statistics import NormalDist

import pytest

from reward_functions.reports.statistics import (
    EXACT,
    holm,
    mcnemar,
    mean_difference,
    pass_at_k,
    prompts_needed,
    sizes,
    smallest_shown,
    t_quantile,
)
from tests.benchmarks.coverage import DISTRIBUTIONS, covered

REFERENCE = json.loads(Path(__file__).with_name("mcnemar.json").read_text())


@pytest.mark.parametrize("kind", ["exact", "mid_p", "chi_square", "chi_square_p"])
def test_mcnemar_is_that_of_the_reference(kind):
    """Equal counts apart: there statsmodels' correction makes 1/n of a statistic that is 0."""
    at = REFERENCE["columns"].index(kind)
    rows = [row for row in REFERENCE["rows"] if row[0] != row[1] or not kind.startswith("chi")]
    assert len(rows) > 180
    for row in rows:
        found, expected = mcnemar(row[0], row[1]), row[at]
        small = row[0] + row[1] <= EXACT
        ours = {
            "exact": found.p_value if small else None,
            "mid_p": found.mid_p,
            "chi_square": found.chi_square,
            "chi_square_p": None if small else found.p_value,
        }[kind]
        assert ours is None or isclose(ours, expected, rel_tol=1e-9, abs_tol=1e-12), row


@pytest.mark.parametrize(("gained", "lost"), list(product(range(6), repeat=2)))
def test_mcnemar_is_a_count_of_coins_thrown(gained, lost):
    """Of all throws of a fair coin, those as lopsided as this one or more."""
    throws = [sum(throw) for throw in product((0, 1), repeat=gained + lost)]
    lopsided = abs(gained - lost)
    as_much = sum(abs(2 * heads - gained - lost) >= lopsided for heads in throws)
    assert mcnemar(gained, lost).p_value == as_much / len(throws)


def test_mcnemar_of_nothing_and_of_less():
    assert mcnemar(0, 0).p_value == 1.0
    with pytest.raises(ValueError, match="counts are from 0"):
        mcnemar(-1, 2)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # by hand: sorted, times n, n - 1, …; never smaller than the one before; at most 1
        ({"a": 0.01, "b": 0.04, "c": 0.03}, {"a": 0.03, "b": 0.06, "c": 0.06}),
        ({"a": 0.5, "b": 0.6}, {"a": 1.0, "b": 1.0}),
        ({"a": 0.2}, {"a": 0.2}),
        ({}, {}),
    ],
)
def test_holm(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


@pytest.mark.parametrize(("answers", "right", "k"), [(5, 2, 1), (6, 1, 3), (4, 4, 4), (7, 0, 2)])
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(answers, right, k):
    drawn = list(combinations(range(answers), k))
    hit = sum(any(one < right for one in draw) for draw in drawn)
    assert pass_at_k(answers, right, k) == pytest.approx(hit / len(drawn))


def test_pass_at_k_of_too_few_answers_is_refused():
    for bad in ((3, 1, 4), (3, 4, 1), (3, 1, 0)):
        with pytest.raises(ValueError, match="have no pass@"):
            pass_at_k(*bad)


@pytest.mark.parametrize(
    ("answers", "ks"), [(0, []), (1, [1]), (4, [1, 2, 4]), (6, [1, 2, 4, 6])]
)  # fmt: skip
def test_the_ks_of_so_many_answers(answers, ks):
    assert sizes(answers) == ks


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(5, 2.571), (9, 2.262), (29, 2.045), (99, 1.984), (999, 1.962)]
)
def test_students_t_is_that_of_the_tables(freedom, quantile):
    assert t_quantile(freedom) == pytest.approx(quantile, abs=2e-3)


@pytest.mark.parametrize(
    ("freedom", "expanded"),
    [(1, 11.300117563479775), (2, 4.270551341899818), (7, 2.3645753739501316)],
)
def test_students_t_has_all_terms_of_its_expansion(freedom, expanded):
    """Worked out in decimals of 40 digits; of one degree the last term is the largest."""
    assert t_quantile(freedom) == pytest.approx(expanded, rel=1e-12)


def test_the_interval_is_the_same_in_every_run_and_holds_the_mean():
    random = Random(1)
    changes = [random.choice([-1.0, 0.0, 0.0, 1.0]) for _ in range(200)]
    found = mean_difference(changes, seed=3)
    assert found == mean_difference(changes, seed=3) != mean_difference(changes, seed=4)
    assert found.low < found.value < found.high
    normal = 2 * 1.96 * sqrt(sum(each**2 for each in changes) / 200 - found.value**2) / sqrt(200)
    assert found.width == pytest.approx(normal, rel=0.1)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([0.3], (0.3, -1.0, 1.0, 1)),
        ([0.0] * 50, (0.0, -0.071122, 0.071122, 50)),
    ],
)
def test_intervals_of_little(changes, expected):
    assert astuple(mean_difference(changes)) == pytest.approx(expected, rel=1e-4)
    assert mean_difference([]) is None


def test_equal_differences_of_few_prompts_are_not_certain():
    """The plain bootstrap would give an interval without a width."""
    few, many = mean_difference([0.1] * 3), mean_difference([0.1] * 300)
    assert few.low < 0
    assert few.high > 0.1
    assert 0.09 < many.low < many.value < many.high < 0.11
    assert mean_difference([1.0] * 5).high == 1.0


@pytest.mark.parametrize("name", ["right or wrong, 95 % to 97 %", "partial credit, rare leaps"])
def test_the_interval_covers_the_difference(name):
    """A short, seeded version of the benchmark `coverage`."""
    share = covered(DISTRIBUTIONS[name], prompts=100, runs=120, draws=200)
    assert 0.89 <= share <= 1.0  # 95 % and three standard errors of 120 runs


@pytest.mark.parametrize(
    ("square", "difference", "expected"),
    [
        # Connor 1987 by hand: ((1.95996 sqrt(p) + 0.84162 sqrt(p - d²)) / d)², rounded up
        (0.3, 0.1, 234),
        (0.2, 0.02, 3923),
        (1.0, 1.0, 4),
        (0.0, 0.1, None),
    ],
)
def test_the_prompts_that_a_difference_takes(square, difference, expected):
    assert prompts_needed(square, difference) == expected


@pytest.mark.parametrize("prompts", [10, 100, 1000])
@pytest.mark.parametrize("square", [0.05, 0.3, 1.0])
def test_what_a_split_shows_takes_as_many_prompts_as_it_has(square, prompts):
    smallest = smallest_shown(square, prompts)
    assert smallest == 1.0 or prompts_needed(square, smallest) == pytest.approx(prompts, abs=1)


def test_the_power_is_what_is_promised():
    """Drawn prompts, each right-wrong with 20 %, wrong-right with 30 %: as often shown as said."""
    needed = prompts_needed(0.5, 0.1)
    random, level, shown = Random(5), NormalDist().inv_cdf(0.975), 0
    for _ in range(300):
        drawn = random.choices((-1, 0, 1), (0.2, 0.5, 0.3), k=needed)
        gained, lost = drawn.count(1), drawn.count(-1)
        shown += (gained - lost) / sqrt(gained + lost) > level
    assert 0.74 < shown / 300 < 0.86


def test_the_sums_are_whole_numbers():
    """Floats would lose the smallest of 1,000 prompts that differ."""
    assert mcnemar(1000, 0).p_value == 2 / 2**1000
    assert mcnemar(500, 500).mid_p == pytest.approx(1.0)
    assert comb(1000, 500) > 1e299


@pytest.mark.parametrize(
    ("prompts", "end"),
    [
        # 1 - 0.025^(1/n), the upper end of Clopper and Pearson for none of n
        (1, 0.975),
        (30, 0.11570),
        (100, 0.03622),
        (1_000, 0.003682),
    ],
)
def test_no_difference_seen_is_no_certainty(prompts, end):
    found = mean_difference([0.0] * prompts)
    assert (found.low, found.value) == (-found.high, 0.0)
    assert found.high == pytest.approx(1.0 if prompts == 1 else end, rel=1e-3)
