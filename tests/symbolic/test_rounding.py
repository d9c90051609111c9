"""Decimal references: what is nearer is never refused where something farther is paid."""

import random
from fractions import Fraction

import pytest

from reward_functions.symbolic import equal
from reward_functions.symbolic.compare.closed_forms import apart

REFERENCES = 200
"""Each meets five answers."""


def decimal(value, places):
    """A number of so many decimals, written out."""
    sign, digits = ("-" if value < 0 else ""), str(abs(value)).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def longer_decimals(chance, value, places):
    """Answers of more decimals than the reference, from the nearest to the farthest."""
    for more in sorted(chance.choices(range(1, 70), k=5)):
        sign = chance.choice((-1, 1))
        yield Fraction(more, 100), decimal(100 * value + sign * more, places + 2)


def fractions(chance, value, places):
    """The same as exact values."""
    for part in sorted(chance.choices(range(1, 60), k=5)):
        sign = chance.choice((-1, 1))
        off = Fraction(part, 90)
        exact = (value + sign * off) / Fraction(10) ** places
        yield off, rf"\frac{{{exact.numerator}}}{{{exact.denominator}}}"


@pytest.mark.parametrize("form", [longer_decimals, fractions])
def test_payment_is_monotone_in_the_error(form):
    chance = random.Random(7)
    for _ in range(REFERENCES):
        places = chance.randint(1, 4)
        value = chance.choice((1, -1)) * chance.randint(1, 10 ** chance.randint(1, 5))
        reference = decimal(value, places)
        paid = [equal(reference, answer).equal for _, answer in form(chance, value, places)]
        assert paid == sorted(paid, reverse=True), reference


@pytest.mark.parametrize("form", [longer_decimals, fractions])
def test_from_two_digits_on_half_a_unit_decides(form):
    chance = random.Random(11)
    for _ in range(REFERENCES):
        places = chance.randint(1, 4)
        value = chance.randint(10, 99_999)
        for off, answer in form(chance, value, places):
            assert equal(decimal(value, places), answer).equal is (off <= Fraction(1, 2))


def test_a_shorter_decimal_has_the_value_itself_or_is_wrong():
    chance = random.Random(13)
    for _ in range(REFERENCES):
        value = chance.randint(100, 99_999)
        answer = round(value, -1)
        assert equal(decimal(value, 2), decimal(answer // 10, 1)).equal is (answer == value)


@pytest.mark.parametrize(
    ("reference", "apart_from", "may_be"),
    [
        ("0.00", ("1", "0.99", "-0.006", r"\frac{1}{3}"), ("0", "0.000", "-0")),
        ("1.00", ("0", "0.99", "1.006"), ("1", "1.004")),
    ],
)
def test_a_decimal_is_told_from_numbers_that_do_not_round_to_it(reference, apart_from, may_be):
    for candidate in apart_from:
        assert getattr(apart(reference, candidate), "rule", None) == "rounded-decimal", candidate
    for candidate in may_be:
        assert apart(reference, candidate) is None, candidate


@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        ("3", "4", "exact-value"),
        (r"\frac{1}{3}", r"\frac{2}{6}", None),
        ("3", r"\sqrt{2}", "exact-algebra"),
        (r"\sqrt{2}", r"\sqrt{3}", "values-at-points"),
        (r"2\sqrt{2}", r"3\sqrt{2}", "values-at-points"),
        (r"\sqrt{2}-\sqrt{3}", r"\sqrt{3}-\sqrt{2}", "values-at-points"),
        (r"\pi", r"2\pi", "values-at-points"),
        (r"\sqrt{8}", r"2\sqrt{2}", None),
        (r"\sqrt{1000001}", r"\sqrt{1000002}", None),
        (r"\sqrt{2}+\sqrt{3}", r"\sqrt{5+2\sqrt{6}}", None),
    ],
)
def test_numbers_in_roots_are_told_apart_where_they_are_far_from_each_other(first, second, rule):
    for one, other in ((first, second), (second, first)):
        assert getattr(apart(one, other), "rule", None) == rule
