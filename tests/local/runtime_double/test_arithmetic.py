"""Arithmetic in prompts: found, evaluated exactly, written again; anything else is none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from reward_functions.local.runtime_double.policies import (
    DEEPEST,
    evaluated,
    expression_in,
    number_in,
    written,
)

FOUND = [
    # prompt, expression, value as it is written
    ("What is 2 + 3?", "2 + 3", "5"),
    ("Compute (1,234 + 5) * 2.", "(1234 + 5) * 2", "2478"),
    ("12 × 3 − 4 ÷ 2", "12 * 3 - 4 / 2", "34"),
    (r"Evaluate $7 \times (2 - 9)$.", "7 * (2 - 9)", "-49"),
    ("-3 + 4", "-3 + 4", "1"),
    ("- 3 + 4 (a bullet)", "3 + 4", "7"),
    ("1. Add 3 + 4.\n2. Answer.", "3 + 4", "7"),
    ("(as in 3 + 4)", "3 + 4", "7"),
    ("((3 + 4) is the sum", "(3 + 4)", "7"),
    ("gpt-3 is asked: 10 / 4", "10 / 4", "2.5"),
    ("1 / 3", "1 / 3", r"\frac{1}{3}"),
    ("-1 / 8", "-1 / 8", "-0.125"),
    ("2 * -3", "2 * -3", "-6"),
    ("1 + 1, then 2 * 3 + 4", "2 * 3 + 4", "10"),
    (".5 + .25", ".5 + .25", "0.75"),
    ("0.1 + 0.2", "0.1 + 0.2", "0.3"),
    ("What is 7?", "", None),
    ("2 / 0", "", None),
    ("2 + + ", "", None),
    ("3 (4", "", None),
    ("", "", None),
    ("(" * 5_000 + "1+1", "1+1", "2"),
    ("+".join(["1"] * 5_000), "", None),
]


@pytest.mark.parametrize(("prompt", "expression", "value"), FOUND, ids=range(len(FOUND)))
def test_the_expression_of_a_prompt(prompt, expression, value):
    assert expression_in(prompt) == expression
    if value is not None:
        assert written(evaluated(expression)) == value


@pytest.mark.parametrize(
    "text", ["__import__('os')", "1 2", "1..2", "1 ** 2", "9" * 41 + "+1", "()", "x", "2(3)", ")"]
)
def test_what_is_no_expression_has_no_value(text):
    assert evaluated(text) is None


def test_an_expression_is_only_so_deep():
    most = DEEPEST - 1
    assert evaluated("(" * most + "1" + ")" * most) == 1
    assert evaluated("(" * (most + 1) + "1" + ")" * (most + 1)) is None


@pytest.mark.parametrize(
    ("text", "number"), [("The result is 1,204.", 1204), ('{"result": -2.5}', -2.5), ("none", None)]
)
def test_the_number_of_a_tools_result(text, number):
    assert number_in(text) == (None if number is None else Fraction(str(number)))
