"""Notations beside those of algebra: bases, units, money, dates and formulas of chemistry."""

import json
from pathlib import Path

import pytest

from reward_functions.symbolic import digits_in_base, equal, restated

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "notations.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case['reference']} ~ {case['candidate']}" for case in CASES]
)
def test_a_notation_is_read_and_its_near_miss_is_another_value(case):
    verdict = equal(case["reference"], case["candidate"])
    assert verdict.equal is case["right"], verdict.reason


BASED = [
    ("1A_{16}", "1A"),
    ("(1A)_{16}", "1A"),
    ("1a_{16}", "1A"),
    ("FF_{16}", "FF"),
    ("2B_{13}", "2B"),
    ("101_2", "101"),
    ("10_3", "10"),
    ("12_{10}", ""),
    ("AB_2", ""),
    ("A_{11}", ""),
    ("x_2", ""),
    ("7", ""),
]


@pytest.mark.parametrize(("text", "digits"), BASED)
def test_a_number_in_another_base_than_ten_has_its_digits(text, digits):
    assert digits_in_base(text) == digits


HANDED_BACK = [
    # the reference, the answer, what the question gives, whether nothing was worked out
    ("5", "2+3", ("2+3",), True),
    ("5", "3+2", ("2+3",), True),
    ("5", "2+0+3", ("2+3",), True),
    ("-5", "-(2+3)", ("-(2+3)",), True),
    ("-6", "2*3*(-1)", ("-(2*3)",), True),
    ("6", "2*3*1", ("2*3",), True),
    ("5", "4+1", ("2+3",), False),
    ("-5", "4-9", ("-(2+3)",), False),
    ("12", "2*2*3", ("2*3",), False),
    ("5", "5", ("2+3",), False),
    ("5", "2+3", (), False),
]


@pytest.mark.parametrize(("reference", "answer", "given", "expected"), HANDED_BACK)
def test_an_answer_that_is_the_question_has_done_nothing(reference, answer, given, expected):
    assert restated(reference, answer, given) == expected
