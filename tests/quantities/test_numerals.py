"""Quantities are read exactly or not at all."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.quantities.number_words import cardinal
from reward_functions.quantities.numerals import MAX_LENGTH, Quantity, quantity, same

TABLE = Path(__file__).parents[1] / "cases" / "numerals.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["text"])[:40] for case in CASES])
def test_table(case):
    found = quantity(case["text"])
    read = found and {"value": str(found.value), "unit": found.unit}
    expected = case["value"] and {"value": case["value"], "unit": case["unit"]}
    assert read == expected


@pytest.mark.parametrize(
    ("text", "decimals"),
    [
        ("5", 0),
        ("5.", 0),
        ("5.0", 1),
        ("1,234.56", 2),
        ("0.050", 3),
        ("3/4", None),
        ("five", None),
        ("1.5e3", None),
        ("$3.2 million", None),
        ("12.50%", 2),
    ],
)
def test_printed_decimals_are_remembered(text, decimals):
    assert quantity(text).decimals == decimals


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("35%", "35%", True),
        ("35%", "35", True),
        ("0.35", "35%", True),
        ("35%", "0.35%", False),
        ("50", "0.5", False),
        ("5 cm", "5", True),
        ("5 cm", "5 centimetres", True),
        ("5 cm", "5 m", False),
        ("$5", "5 euros", False),
        ("5 apples", "5 oranges", False),
        ("5 pounds", "£5", True),
        ("5 pounds", "5 lbs", True),
        ("1/3", "0.3333", False),
        ("1,000.0", "1000", True),
    ],
)
def test_same(first, second, verdict):
    assert same(quantity(first), quantity(second)) is verdict
    assert same(quantity(second), quantity(first)) is verdict


integers = st.integers(min_value=-(10**30), max_value=10**30)


@given(integers)
def test_integers_survive_every_rendering(number):
    renderings = [str(number), f"{number:,}", f"{number:,}".replace(",", "\u202f"), f"{number}.0"]
    assert {quantity(text).value for text in renderings} == {number}


@given(integers, st.integers(min_value=0, max_value=12))
def test_decimals_are_exact(digits, places):
    value = Fraction(digits, 10**places)
    sign, size = "-" if digits < 0 else "", str(abs(digits)).rjust(places + 1, "0")
    text = f"{sign}{size[:-places]}.{size[-places:]}" if places else f"{sign}{size}"
    assert quantity(text) == Quantity(value, decimals=places)


@given(integers, st.integers(min_value=1, max_value=10**9))
def test_fractions_are_exact(top, bottom):
    assert quantity(f"{top}/{bottom}").value == Fraction(top, bottom)


@given(
    integers.filter(bool), integers.filter(bool), st.sampled_from([" or ", " and ", ", ", " to "])
)
def test_two_numbers_are_never_one(first, second, joint):
    assert quantity(f"{first}{joint}{second}") is None


@given(st.text(max_size=MAX_LENGTH + 10))
def test_nothing_raises(text):
    found = quantity(text)
    assert found is None or isinstance(found.value, Fraction)


@given(st.text(alphabet="0123456789.,$%()-+/eE xX*^{}· \u2009millionth", max_size=60))
def test_nothing_raises_near_the_grammar(text):
    assert quantity(text) is None or isinstance(quantity(text).value, Fraction)


def spelled(number):
    """An independent speller of English cardinals below a million."""
    ones = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ).split()
    tens = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
    if number < 20:
        return ones[number]
    if number < 100:
        return tens[number // 10] + (f"-{ones[number % 10]}" if number % 10 else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = f" {spelled(number % size)}" if number % size else ""
    return f"{spelled(number // size)} {name}{rest}"


@given(st.integers(min_value=0, max_value=999_999))
def test_number_words(number):
    assert cardinal(spelled(number)) == (number, "")
    assert quantity(f"{spelled(number)} apples") == Quantity(Fraction(number), "apple")
