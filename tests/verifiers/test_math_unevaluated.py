"""Answers that leave an operation to be worked out: paid, counted, and refused on request."""

import pytest

from reward_functions import get, sample

MATH = get("math")
LEFT = [
    ("391", r"34 \cdot 23 / 2"),
    ("391", r"17 \cdot 24 - 17"),
    ("391", r"e^{\ln 17 + \ln 23}"),
    ("391", r"\binom{17}{1}\binom{23}{1}"),
    ("391", r"x = 400 - 9"),
    (r"\frac{3}{4}", r"\frac{36}{48}"),
    ("3/4", "36/48"),
    ("1024", "2^{10}"),
    ("12", r"\sqrt{144}"),
    ("24", "4!"),
    ("2, 3", r"\frac{5 \pm \sqrt{5^2 - 4 \cdot 6}}{2}"),
    ("(1, 2)", "(1, 1 + 1)"),
    ("3:4", "6:8"),
]
WORKED_OUT = [
    ("5", "5.0"),
    ("5", "x = 5"),
    ("5", "2 + 3 = 5"),
    ("5", r"5 \text{ cm}"),
    ("1/2", "0.5"),
    ("-0.75", r"-\frac{3}{4}"),
    ("3.5", r"3\frac{1}{2}"),
    ("300000000", r"3 \times 10^8"),
    ("1000", "10^3"),
    ("40", r"40\%"),
    (r"150^\circ", r"\frac{5\pi}{6}"),
    ("1, 2", r"\{1, 2\}"),
    (r"5\sqrt{2}", r"\sqrt{50}"),
    (r"\frac{\sqrt{3}}{3}", r"\frac{1}{\sqrt{3}}"),
    ("x^2 + 2x + 1", "(x + 1)^2"),
    ("7^2", "49"),
]


def scored(reference, answer, **parameters):
    return MATH(sample(rf"\boxed{{{answer}}}", reference, prompt="How many?"), **parameters)


def counted(score):
    return next(metric.value for metric in score.metrics if metric.name == "unevaluated")


@pytest.mark.parametrize(("reference", "answer"), LEFT)
def test_work_left_to_the_reader_is_paid_and_counted_and_refused_on_request(reference, answer):
    paid = scored(reference, answer)
    refused = scored(reference, answer, evaluated=True)
    assert (paid.value, counted(paid)) == (1.0, 1.0)
    assert (refused.value, counted(refused)) == (0.0, 1.0)


@pytest.mark.parametrize(("reference", "answer"), WORKED_OUT)
def test_a_value_as_it_stands_leaves_no_work(reference, answer):
    score = scored(reference, answer, evaluated=True)
    assert (score.value, counted(score)) == (1.0, 0.0)


def test_a_wrong_answer_is_not_counted():
    assert counted(scored("391", r"17 \cdot 22")) == 0.0
