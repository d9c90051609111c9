"""Left sides that name the quantity a question asks for: A^{-1} = …, and no x + 1 = …."""

import pytest

from reward_functions.symbolic.compare.asked_quantity import names, quantity_asked_for
from reward_functions.symbolic.parsing.document import read

NAMES = [r"A^{-1}", r"T^{-1}", r"\Gamma^{-1}", r"\sin x", r"\det A", r"|z|", r"\log_2 x", "x^n"]
NAMES += ["A^B", "f'x", "f'(x)", r"\vec{v}\vec{w}"]

NO_NAMES = [r"AB^{-1}", "a^{-1}", "A^{-2}", "A^1", "M_1^{-1}", r"\sin 3", r"\ln 5", "2^n", "x^2"]
NO_NAMES += [r"\sqrt{x}", "x+1", r"2\vec{v}", "2x"]


@pytest.mark.parametrize("text", NAMES)
def test_this_is_the_name_of_a_value(text):
    assert names(read(text).tree)


@pytest.mark.parametrize("text", NO_NAMES)
def test_this_is_a_side_of_an_equation(text):
    assert not names(read(text).tree)


ASKED = [
    # left side, asked for as a formula, all formulas of the question, whether it is asked for
    ("x+y", ["x+y"], [], True),
    (r"x \, + y", ["{x}+y"], [], True),
    ("y+x", ["x+y"], [], True),
    ("x-y", ["x+y"], [], False),
    ("xy", ["xy = z"], [], True),
    ("A^{-1}", [], ["A = 3"], True),
    ("A^{-1}", [], ["A^{-1} = 3"], False),
    ("A^{-1}", ["B"], [], False),
    (r"\sin x", [], [r"\sin x = 1"], False),
    (r"\sin x", [], [r"\cos x = 1"], True),
    ("x+1", [], [], False),
    ("x", ["x+1"], [], False),
    ("((", [], [], False),
    ("((", ["(("], [], True),
]


@pytest.mark.parametrize(("left", "asked", "formulas", "expected"), ASKED)
def test_what_is_asked_for_is_named_by_the_formula_or_by_a_name_without_a_value(
    left, asked, formulas, expected
):
    assert quantity_asked_for(left, asked, formulas) == expected
