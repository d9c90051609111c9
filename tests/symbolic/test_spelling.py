"""The short ways agree with the long one: what is decided by spelling is decided by reading too."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.symbolic.compare.closed_forms import apart
from reward_functions.symbolic.parsing.document import read
from reward_functions.symbolic.parsing.spelling import same_spelling
from reward_functions.symbolic.tiers import by_reading, compared

CASES = Path(__file__).parents[1] / "cases"
ROWS = [
    (row["reference"], row["answer"])
    for path in sorted(CASES.glob("*.jsonl"))
    for row in map(json.loads, path.read_text().splitlines())
    if isinstance(row, dict)
    and isinstance(row.get("reference"), str)
    and isinstance(row.get("answer"), str)
]
PIECES = st.lists(
    st.sampled_from(
        [
            *"x2 5(){}[]+-=,. $|!<>*/^_",
            "\\dfrac",
            "\\frac",
            "\\left",
            "\\right",
            "\\pi",
            "\\text",
            "\\",
        ]
    ),
    max_size=9,
).map("".join)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("$(2,3)$", r"\left(2,3\right)"),
        (r"\dfrac{x}{2}", r"\frac{x}{2}"),
        ("x = 5 + y", "x=5 +y"),
    ],
)
def test_typesetting_is_no_difference(first, second):
    assert same_spelling(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("1 000", "1000"), ("(1, 234)", "(1,234)"), ("$1$ or $2$", "1$ or $2"), ("a b", "ab")],
)
def test_a_space_that_may_mean_something_is_read(first, second):
    assert not same_spelling(first, second)


@given(PIECES, PIECES)
def test_one_spelling_has_one_list_of_tokens(text, other):
    for variant in (other, text.replace(" ", ""), f"${text}$", text.replace("\\frac", "\\dfrac")):
        if same_spelling(text, variant):
            assert read(text).marks == read(variant).marks


def test_the_short_way_says_what_the_long_one_does():
    for reference, answer in ROWS:
        if same_spelling(reference, answer):
            short = compared(reference, answer, solver=False)
            assert short.equal == by_reading(reference, answer, solver=False).equal


ROOTS = st.sampled_from(["", "\\sqrt{2}", "\\sqrt{8}", "\\sqrt3", "\\sqrt{4}", " \\pi"])
TERMS = st.tuples(st.sampled_from(["", "2", "3", "12"]), ROOTS).map("".join).filter(bool)
SUMS = st.tuples(st.sampled_from(["", "-"]), TERMS, st.sampled_from(["+1", " - 2", ""])).map(
    "".join
)
FRACTIONS = st.tuples(SUMS, st.sampled_from("1236"), st.sampled_from(["", "-"])).map(
    lambda parts: f"{parts[2]}\\frac{{{parts[0]}}}{{{parts[1]}}}"
)
PLACES = st.decimals(-99, 99, places=2).map(str)
POWERS = st.tuples(PLACES, st.sampled_from(["e", "e-", " \\times 10^"]), st.sampled_from("037"))
NUMBERS = st.one_of(
    SUMS,
    FRACTIONS,
    PLACES,
    POWERS.map("".join),
    st.sampled_from(["3e6", "4 \\times 10^{5}", "0", "0.5", "0.05", "\\frac{3}{4}\\sqrt{2}"]),
)


@given(NUMBERS, NUMBERS)
def test_numbers_told_apart_at_sight_are_told_apart_by_reading(reference, candidate):
    found = apart(reference, candidate)
    if found is not None:
        read_ = by_reading(reference, candidate, solver=False)
        assert (read_.outcome, read_.rule, read_.reason) == (
            found.outcome,
            found.rule,
            found.reason,
        )


def test_references_and_answers_told_apart_at_sight_are_told_apart_by_reading():
    for reference, answer in ROWS:
        if (found := apart(reference, answer)) is not None:
            assert by_reading(reference, answer, solver=False).rule == found.rule


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("2", "\\sqrt{4}"),  # a root that is none
        ("\\sqrt{8}", "2\\sqrt{2}"),  # equal: a reader wants to know by which rule
        ("1.5", "1 \\frac{1}{2}"),  # a mixed number
        ("3", "2\\frac{\\sqrt{3}}{2}"),
        ("\\sqrt23", "3\\sqrt{2}"),  # braceless: the root of the first digit alone
        ("35", "35%"),
        ("1234", "1,234"),
        ("0.333", "\\frac{1}{3}"),
    ],
)
def test_what_may_be_equal_is_read(reference, candidate):
    assert apart(reference, candidate) is None
