"""What value an answer gives, as it is written."""

import pytest

from reward_functions.finqa.final import final
from reward_functions.finqa.values import values


@pytest.mark.parametrize("before", ["", "So it is:\n", "The result is 6.\n"])
def test_a_last_line_of_an_answer_is_read_whole(before):
    assert final(f"{before}ANSWER: 263. 264").text == "263. 264"


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("3 x 4 = 12", "12"),
        ("total = 12 (in 2009)", "12"),
        # Behind the sign is no number, or half of a comment.
        ("12 = total", "12"),
        ("12 (the sum, = 5 + 7)", "12"),
        ("x = 12 (5 = 2 + 3)", "12"),
        ("total = 12 million (a = b)", "12000000"),
    ],
)
def test_the_right_hand_side_is_the_value(answer, value):
    assert [str(each) for each in values(answer)] == [value]


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ("12 (at least)", "finqa-bound"),
        ("12 (or more)", "finqa-bound"),
        ("12 (1.2.3)", "finqa-two-values"),
        ("12 (12.5,6)", "finqa-two-values"),
        ("12 (5 or 6)", "finqa-two-values"),
    ],
)
def test_a_comment_that_takes_the_value_back_leaves_none(answer, rule):
    assert values(answer).rule == rule


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("(12)", "-12"),
        ("($12)", "-12 USD"),
        ("(12%)", "-12 %"),
        ("(-12)", "-12"),
        ("total (-12)", "-12"),
        ("(-$12 million)", "-12000000 USD"),
    ],
)
def test_a_number_in_brackets_is_negative_once(answer, value):
    assert [str(each) for each in values(answer)] == [value]
