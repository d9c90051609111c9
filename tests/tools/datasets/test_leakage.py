"""What two prompts share: signs of mathematics are no punctuation, and punctuation says nothing."""

from __future__ import annotations

import pytest

from reward_functions.tools.datasets.leakage import normal

# Prompts of synthetic data: one template, another question.
DIFFERENT = [
    ("What is 3 + 5?", "What is 3 - 5?"),
    ("What is 3 + 5?", "What is 3 * 5?"),
    ("What is 3.5 + 1?", "What is 3 5 + 1?"),
    ("Solve x > 3", "Solve x < 3"),
    ("Compute -4", "Compute 4"),
    ("2*(3+4)", "(2*3)+4"),
    ("1/(2+3)", "1/2+3"),
    ("x^2 = 4", "x 2 = 4"),
    ("5% of 200", "5 of 200"),
    ("a ≤ b", "a ≥ b"),
    ("What is 7 × 8?", "What is 7 ÷ 8?"),
    ("What is 7 / 8?", "What is 7 * 8?"),
    ("2**3", "2*3"),
    ("Is 3 <= 4", "Is 3 >= 4"),
    ("5! / 3!", "5! * 3!"),
    ("√2", "2"),
    ("Tom has 3 apples", "Tom has 4 apples"),
    ("10:30", "10 30"),
    ("2 * -3", "2 * 3"),
    ("$\\frac{1}{2} + x$", "$\\frac{1}{2} - x$"),
]

ALIKE = [
    ("What is 3 + 7?", "what is 3+7"),
    ("**Question:** How many?", "question: how many"),
    ("well-known", "well known"),
    ("What is  3\n+ 7", "What is 3 + 7"),
    ("**3** apples", "3 apples"),
    ("It’s five, isn't it?", "it’s five isn't it"),
    ("7 × 8", "7 * 8"),
    ("5 − 3", "5 - 3"),
    ("End with:\n#### <number>", "End with #### number"),
    ('He said "5 apples".', "he said 5 apples"),
    ("(see the table)", "see the table"),
    ("$5 each", "5 each"),
    ("A/B test and/or more", "a/b test and or more"),
    ("Pages 3–5.", "pages 3 - 5"),
    ("One -- two", "one, two"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_question_is_no_near_duplicate(one, other):
    assert normal(one) != normal(other)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_a_question_that_is_set_otherwise_is_the_same(one, other):
    assert normal(one) == normal(other)
