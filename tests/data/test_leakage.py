"""What two prompts share: signs of mathematics are no punctuation, and punctuation says nothing."""

from __future__ import annotations

import tracemalloc

import pytest

from reward_functions.data.splitting import group_of, normal

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


def test_a_long_prompt_takes_some_times_its_bytes():
    """A list of its tokens takes a hundred times as much."""
    text = "ab " * 100_000
    tracemalloc.start()
    try:
        assert normal(text) == text.strip()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30 * len(text)


def test_a_long_group_is_its_beginning_and_a_digest():
    long = "ab " * 5_000
    rows = [{"messages": [{"role": "user", "content": text}]} for text in (long, f"{long} 1", long)]
    one, other, again = (group_of(row, "prompt") for row in rows)
    assert one == again != other
    assert len(one) < 5_000
    assert one[:4096] == long[:4096]
