"""The table of units: every spelling leads to one name, symbols keep their case, words do not."""

import pytest

from reward_functions.quantities.units import (
    SCALE_ABBREVIATIONS,
    SCALES,
    canonical,
    is_currency,
    noun,
    same_unit,
)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("m", "m"),
        ("metre", "m"),
        ("Meters", "m"),
        ("M", None),
        ("cm", "cm"),
        ("feet", "ft"),
        ("inches", "in"),
        ("hrs", "h"),
        ("HOURS", "h"),
        ("Pa", "Pa"),
        ("dollars", "USD"),
        ("$", "USD"),
        ("€", "EUR"),
        ("pennies", "cent"),
        ("MiB", "MiB"),
        ("ergs", "erg"),
        ("GPa", "GPa"),
        ("mPa", "mPa"),
        ("gigapascals", "GPa"),
        ("µF", "uF"),
        ("TEV", "TeV"),
        ("kilowatt-hours", "kW*h"),
        ("MHZ", "MHz"),
        ("microscope", None),
        ("nah", None),
        ("TeV", "TeV"),
        ("mV", "mV"),
        ("MV", "MV"),
        ("Mbps", "Mb/s"),
        ("μF", "uF"),
        ("mmHg", "mmHg"),
        ("apples", None),
        ("", None),
    ],
)
def test_a_spelling_leads_to_its_name(word, name):
    assert canonical(word) == name


def test_money_is_currency_and_nothing_else_is():
    assert is_currency("USD")
    assert is_currency("cent")
    assert not is_currency("m")


def test_a_pound_is_money_or_a_weight_but_these_are_not_one_another():
    assert same_unit("pound", "GBP")
    assert same_unit("pound", "lb")
    assert not same_unit("GBP", "lb")
    assert not same_unit("cm", "m")


@pytest.mark.parametrize(
    ("word", "singular"),
    [
        ("apples", "apple"),
        ("boxes", "box"),
        ("Glass", "glass"),
        ("berries", "berry"),
        ("bus", "bus"),
    ],
)
def test_a_noun_has_one_spelling_for_singular_and_plural(word, singular):
    assert noun(word) == singular


def test_scale_words_are_factors_and_abbreviations_are_marked():
    assert SCALES["million"] == 10**6
    assert SCALES["bn"] == 10**9
    assert SCALES.keys() > SCALE_ABBREVIATIONS
    assert "million" not in SCALE_ABBREVIATIONS
