"""The bootstrap: by cluster, seeded, with the percentiles everybody means."""

from math import sqrt
from random import Random
from statistics import fmean, quantiles

import pytest

from reward_functions.reports.statistics import draws, intervals, percentile


def mean(clusters):
    return {"mean": fmean(value for cluster in clusters for value in cluster)}


@pytest.mark.parametrize("size", [2, 3, 10, 101])
def test_percentiles_are_those_of_the_standard_library(size):
    values = sorted(Random(size).random() for _ in range(size))
    cuts = quantiles(values, n=40, method="inclusive")
    assert [percentile(values, at / 40) for at in range(1, 40)] == pytest.approx(cuts)


def test_whole_clusters_are_drawn_as_many_as_there_are():
    drawn = list(draws("abcde", 50, seed=1))
    assert all(len(one) == 5 and set(one) <= set("abcde") for one in drawn)
    assert len({tuple(one) for one in drawn}) > 1


def test_the_same_seed_gives_the_same_interval_and_another_another():
    clusters = [[Random(at).random()] for at in range(40)]
    first, again, other = (intervals(clusters, mean, seed=seed) for seed in (3, 3, 4))
    assert first == again != other


def test_the_interval_of_a_mean_is_as_wide_as_theory_says():
    values = [Random(at).gauss(0, 1) for at in range(400)]
    (found,) = intervals([[value] for value in values], mean, times=4_000).values()
    error = sqrt(fmean((value - fmean(values)) ** 2 for value in values) / len(values))
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_cases_of_one_prompt_count_once():
    """Fifty copies of each value are no more knowledge than the values are."""
    values = [Random(at).gauss(0, 1) for at in range(30)]
    (alone,) = intervals([[value] for value in values], mean).values()
    (copied,) = intervals([[value] * 50 for value in values], mean).values()
    assert copied == pytest.approx(alone)


def test_draws_without_a_figure_leave_it_to_the_others():
    def figure(clusters):
        return {"some": 1.0 if 1 in clusters else None, "none": None}

    assert intervals([0, 1], figure) == {"some": (1.0, 1.0), "none": None}
