"""A box that is glued to the rest of a formula is a part of it, wherever the delimiters stand."""

from itertools import product

import pytest

from reward_functions.extraction.candidates.boxes import last_boxed
from reward_functions.extraction.formula_context import inside_larger_formula

BOX = "\\boxed{5}"
OPERATORS = ["+", "-", "−", "\\cdot", "\\times", "/", "^", "\\ne", "\\pm"]
OPERANDS = ["10", "x", "(a+b)", "\\frac{1}{2}", "\\pi", "x^2", "x_1"]
MATHS = ["${}$", "$${}$$", "\\({}\\)", "\\[\n{}\n\\]"]
BRACKETS = ["{}", "({})", "\\left({}\\right)", "{{{}}}"]


def is_part(text):
    box = last_boxed(text)
    return inside_larger_formula(text, box.start, box.end)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("space", ["", " "])
def test_an_operand_on_either_side_makes_a_box_a_part(operator, space):
    for operand, maths, brackets in product(OPERANDS, MATHS, BRACKETS):
        box = brackets.format(BOX)
        behind = maths.format(f"{operand}{space}{operator} {box}")
        assert is_part(behind), behind
        in_front = maths.format(f"{box}{space}{operator} {operand}")
        assert is_part(in_front), in_front


@pytest.mark.parametrize("lead", ["x =", "x &=", "17 \\cdot 23 =", "\\Rightarrow", "\\approx", ""])
@pytest.mark.parametrize("end", ["", ".", ",", "\\text{ cm}", "\\,\\mathrm{m}", "= 2+3", "^\\circ"])
def test_a_box_that_ends_a_chain_is_the_value(lead, end):
    for maths, brackets in product(MATHS, BRACKETS):
        text = maths.format(f"{lead} {brackets.format(BOX)}{end}")
        assert not is_part(text), text


@pytest.mark.parametrize(
    "text",
    [
        "(a) \\boxed{5}",
        "(a) - \\boxed{5}",
        "Part 2 - \\boxed{5}",
        "- \\boxed{5}",
        "* \\boxed{5}",
        "+ \\boxed{5}",
        "> \\boxed{5}",
        "1. \\boxed{5}",
        "| total | \\boxed{5} |",
        "**\\boxed{5}**",
        "_\\boxed{5}_",
        "<b>\\boxed{5}</b>",
        "so \\boxed{5}!",
        "\\boxed{5} a day",
        "\\boxed{5} - and that is all",
        "(\\boxed{5})",
        "\\boxed{5} (as $x > 0$)",
        "=> \\boxed{5}",
        "-> \\boxed{5}",
    ],
)
def test_the_same_characters_in_prose_make_no_formula(text):
    for before in ("", "As $$x > 3$$ holds,\n", "As \\(x > 3\\) holds,\n", "At $3 each,\n"):
        assert not is_part(before + text), before


@pytest.mark.parametrize(
    "text",
    [
        "$(3, \\boxed{5})$",
        "$(\\boxed{5}, 3)$",
        "$[0, \\boxed{5}]$",
        "$\\{3, \\boxed{5}\\}$",
        "$f(\\boxed{5})$",
        "$\\sqrt[3]{\\boxed{5}}$",
        "$\\log_2 \\boxed{5}$",
        "$\\lfloor \\boxed{5} \\rfloor$",
        "$2\\boxed{5}$",
        "$x\\boxed{5}$",
        "$\\boxed{5}x$",
        "$\\boxed{5}!$",
        "$3:\\boxed{5}$",
        "$\\boxed{5}_8$",
        "1/\\boxed{5}",
        "10-\\boxed{5}",
        "2(\\boxed{5})",
    ],
)
def test_entries_arguments_and_factors_are_parts(text):
    assert is_part(text)
