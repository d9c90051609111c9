"""Axes: ticks are round, few and within; every value has a place."""

from itertools import pairwise
from math import isclose, log10

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.reports.pages.charts.drawing import (
    STEPS,
    Axis,
    axis,
    logarithmic_axis,
    number,
    powers,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.lists(FINITE, min_size=1, max_size=5)


@given(VALUES, st.integers(2, 8), st.booleans())
def test_ticks_are_few_rise_and_lie_within(values, count, whole):
    made = axis("x", values, 0.0, 100.0, whole=whole)
    ticks = [value for value, _ in made.ticks(count)]
    assert len(ticks) <= count + 1
    assert ticks == sorted(set(ticks))
    assert all(made.low <= each <= made.high for each in ticks)
    assert all(0.0 <= made.place(each) <= 100.0 for each in [*ticks, *values])


@given(VALUES)
def test_neighbouring_ticks_have_different_labels(values):
    labels = [label for _, label in axis("x", values, 0.0, 1.0).ticks()]
    assert labels
    assert len(set(labels)) == len(labels)
    assert not any("nan" in label or "inf" in label for label in labels)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 6))
def test_steps_are_one_two_two_and_a_half_or_five_times_a_power_of_ten(low, span, count):
    ticks = [value for value, _ in axis("x", [low, low + span], 0.0, 1.0).ticks(count)]
    for one, other in pairwise(ticks[1:-1]):  # those at the ends may be moved within
        step = other - one
        lead = step / 10.0 ** int(log10(step) // 1)
        assert any(isclose(lead, each, rel_tol=1e-4) for each in STEPS)


@given(st.lists(st.integers(0, 10_000_000), min_size=1, max_size=4))
def test_between_whole_numbers_there_is_no_tick(values):
    ticks = axis("responses", values, 0.0, 1.0, includes=(0, 1), whole=True).ticks()
    assert all(value == round(value) for value, _ in ticks)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 1], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([0, 100_000], ["0", "20,000", "40,000", "60,000", "80,000", "100,000"]),
        ([0, 2e6], ["0", "5e+05", "1e+06", "1.5e+06", "2e+06"]),
        ([1000, 1001], ["1,000.0", "1,000.2", "1,000.4", "1,000.6", "1,000.8", "1,001.0"]),
        ([0, 2e-5], ["0", "5e-06", "1e-05", "1.5e-05", "2e-05"]),
        ([-1, 1], ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        ([0, 0], ["-0.4", "-0.2", "0.0", "0.2", "0.4"]),
        ([7, 7], ["6.5", "7.0", "7.5"]),
        ([1e16, 1e16 + 2], ["9e+15", "9.5e+15", "1e+16", "1.05e+16", "1.1e+16"]),
        ([5e-324, 0], ["-0.4", "-0.2", "0.0", "0.2", "0.4"]),
    ],
)
def test_labels_have_the_digits_that_tell_them_apart(values, labels):
    assert [label for _, label in axis("x", values, 0.0, 1.0).ticks()] == labels


def test_an_axis_reaches_what_a_reader_expects():
    made = axis("reward", [0.4, 0.5], 0.0, 100.0, includes=(0.0, 1.0))
    assert (made.low, made.high) == (0.0, 1.0)
    assert (made.place(0.0), made.place(0.5), made.place(1.0)) == (0.0, 50.0, 100.0)


def test_what_lies_beyond_an_end_is_drawn_at_the_end():
    made = axis("x", [0.0, 1.0], 0.0, 100.0)
    assert (made.place(-5.0), made.place(float("inf"))) == (0.0, 100.0)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.123456, "0.1235"),
        (1234, "1,234"),
        (999_999, "999,999"),
        (1e6, "1e+06"),
        (-1500, "-1,500"),
    ],
)
def test_a_number_is_short(value, shown):
    assert number(value) == shown


@given(VALUES, st.integers(2, 8))
def test_a_logarithmic_axis_holds_every_value_and_ticks_at_powers_of_ten(values, count):
    made = logarithmic_axis("x", values, 0.0, 100.0)
    ticks = made.ticks(count)
    assert 1 <= len(ticks) <= count + 1
    assert len({label for _, label in ticks}) == len(ticks)
    assert all(0.0 <= made.place(each) <= 100.0 for each in values)


def test_equal_ratios_are_equal_distances():
    made = logarithmic_axis("characters", [0, 10_000_000], 0.0, 700.0)
    assert [made.place(each) for each in (0, 1, 100, 10_000_000)] == [0, 0, 200, 700]
    assert made.ticks(7)[-2:] == [(1e6, "1,000,000"), (1e7, "1e7")]


@pytest.mark.parametrize(
    ("value", "place"),
    [(-5, 10.0), (2, 10.0), (3, 35.0), (5, 85.0), (6, 110.0), (99, 110.0)],
)
def test_a_value_has_its_place_between_the_ends_and_none_beyond_them(value, place):
    assert Axis("x", 2.0, 6.0, 10.0, 110.0).place(value) == place


@pytest.mark.parametrize(
    ("low", "high", "count", "expected"),
    [
        (1.0, 1e3, 3, [1.0, 10.0, 100.0, 1000.0]),
        (100.0, 1e6, 2, [100.0, 1e4, 1e6]),
        (1e3, 1e9, 3, [1e3, 1e5, 1e7, 1e9]),
    ],
)
def test_powers_of_ten_are_few_and_begin_at_the_first(low, high, count, expected):
    assert powers(low, high, count) == expected
