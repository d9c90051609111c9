"""Forms are one where nothing but notation differs, and two where something is worked out."""

import pytest

from reward_functions.symbolic.compare.structural_form import form, stands_in
from reward_functions.symbolic.parsing.parser import parse


def form_of(text):
    return form(parse(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("23*17^1", "(17)(23)"),
        ("-(-17*23)", "17*23"),
        ("-(a + b)", "-b - a"),
        ("-(a - b)", "b - a"),
        ("c - (a + b)", "c - a - b"),
        ("a + 0", "a"),
        ("0 - 0", "0"),
        ("-(-a)", "a"),
        ("1/(1/a)", "a"),
        ("1/(a b)", "(1/a)(1/b)"),
        ("x > 2", "2 < x"),
        ("2 = x", "x = 2"),
    ],
)
def test_another_notation_of_the_same_arithmetic_is_the_same_form(one, other):
    assert form_of(one) == form_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("23*17", "391"),
        ("-(a + b)", "-a + b"),
        ("a - b", "b - a"),
        ("a + b", "a b"),
        ("1/a", "a"),
        ("x > 2", "x < 2"),
    ],
)
def test_what_is_worked_out_or_another_value_is_another_form(one, other):
    assert form_of(one) != form_of(other)


@pytest.mark.parametrize(
    ("inner", "outer", "stands"),
    [
        ("2 + 3", "2 + 3 + 5", True),
        ("2*3", "2*3*5", True),
        ("2 + 4", "2 + 3 + 5", False),
        ("2*3", "2 + 3 + 5", False),
        ("x + 3", "x + 3 + 5", False),
        ("x + 3", "x + 3", True),
    ],
)
def test_some_terms_or_factors_stand_in_a_form_of_numbers(inner, outer, stands):
    assert stands_in(form_of(inner), form_of(outer)) is stands
