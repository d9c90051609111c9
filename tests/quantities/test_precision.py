"""What the digits of a number say about it."""

from fractions import Fraction

import pytest

from reward_functions.quantities.numerals import quantity
from reward_functions.quantities.precision import precision


@pytest.mark.parametrize(
    ("text", "step", "digits"),
    [
        ("12.50", "1/100", 4),
        ("12.50%", "1/100", 4),
        ("0.05", "1/100", 1),
        (".5", "1/10", 1),
        ("30.", "1", 2),
        ("260", "1", 3),
        ("2.6e2", "10", 2),
        ("1.2 × 10^8", "10000000", 2),
        ("4.926 million", "1000", 4),
        ("$5 billion", "1000000000", 1),
        ("1,723,732.78", "1/100", 9),
        ("4 926 000", "1", 7),
        ("4.926.000", "1", 7),
        ("0", "1", 0),
        ("0.00", "1/100", 0),
        ("twelve", "1", 2),
        ("twelve million", "1000000", 2),
    ],
)
def test_the_last_printed_place_and_the_digits(text, step, digits):
    found = precision(text, quantity(text).value)
    assert (found.step, found.digits) == (Fraction(step), digits)


@pytest.mark.parametrize("text", ["3/4", "1 1/2", "three quarters"])
def test_fractions_are_exact(text):
    assert precision(text, quantity(text).value).step == 0
