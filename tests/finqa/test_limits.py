"""The largest of each kind that is read, and one more."""

from fractions import Fraction

import pytest

from reward_functions import BadReference
from reward_functions.finqa.executor import execute
from reward_functions.finqa.parser import parse
from reward_functions.finqa.program import stated_program
from reward_functions.finqa.question import asked
from reward_functions.finqa.reference import prepared
from reward_functions.finqa.syntax import NoValue, ProgramError, read_number
from reward_functions.finqa.values import values
from reward_functions.finqa.yesno import yes_or_no

STEPS = "add(1, 2)"


def rule(phrase):
    """The rule that an answer is refused by; "" where it has a value."""
    found = values(phrase)
    return found.rule if isinstance(found, NoValue) else ""


ANSWERS = [
    # what grows, its most, the answer of a size, the rule of one more
    ("digits", 400, "7".__mul__, "finqa-too-long"),
    ("characters", 400, "the total is 12 ".ljust, "finqa-too-long"),
    ("numbers", 12, lambda size: "12 and " * (size - 1) + "12", "finqa-too-long"),
    ("a denominator", 100, "3/{}".format, "finqa-not-worked-out"),
]


@pytest.mark.parametrize(("grows", "most", "answer", "refused"), ANSWERS)
def test_an_answer_is_read_up_to_its_limit(grows, most, answer, refused):
    assert rule(answer(most)) != refused
    assert rule(answer(most + 1)) == refused


def power(exponent, base="2"):
    return f"exp({base}, {exponent})"


SMALL = "exp(2, -64), exp(#0, 31), exp(2, -{}), multiply(#1, #2)"
"""Step 3 is 2 to the power of -1984 and so many more: it has 1985 bits and so many more."""

PROGRAMS = [
    # what grows, its most, the program of a size, what is wrong with one more
    ("characters", 4000, STEPS.ljust, "more than 4,000 characters"),
    ("steps", 20, lambda size: ", ".join([STEPS] * size), "more than 20 steps"),
    ("nested", 20, lambda size: "add(1, " * size + "2" + ")" * size, "more than 20 steps"),
    ("digits", 60, lambda size: f"add({'7' * size}, 1)", "is no number"),
    ("an exponent", 64, power, "the exponent is larger than 64"),
    ("below one", 64, lambda size: power(-size), "the exponent is larger than 64"),
    (
        "a double",
        63,
        lambda size: f"exp(2, 64), exp(#0, 15), {power(size)}, multiply(#1, #2)",
        "too large",
    ),
    (
        "bits of a base",
        15,
        lambda size: f"{SMALL.format(size)}, exp(#3, 50)",
        "more than 100,000 bits",
    ),
    (
        "bits",
        49,
        lambda size: f"{SMALL.format(15)}, exp(#3, 50), {power(-size)}, multiply(#4, #5)",
        "100,000 bits",
    ),
]


def result(program):
    """What a program comes to; why it comes to nothing."""
    try:
        return execute(parse(program))
    except ProgramError as error:
        return str(error)


@pytest.mark.parametrize(("grows", "most", "program", "wrong"), PROGRAMS)
def test_a_program_is_run_up_to_its_limit(grows, most, program, wrong):
    assert isinstance(result(program(most)), Fraction)
    assert wrong in result(program(most + 1))


def test_a_row_is_summed_up_to_its_limit():
    rows = [["sales", *["1"] * 1000]]
    assert execute(parse("table_sum(sales, none)"), rows) == 1000
    with pytest.raises(ProgramError, match="more than 1,000 cells"):
        execute(parse("table_sum(sales, none)"), [[*rows[0], "1"]])


def test_a_number_has_sixty_characters():
    assert read_number("0" * 59 + "7") == 7
    assert read_number("0" * 60 + "7") is None


LINES = "add(1, none)\n"


@pytest.mark.parametrize(
    ("response", "found"),
    [
        (f"{STEPS}\n{LINES * 19}", True),
        (f"{STEPS}\n{LINES * 20}", False),
        (f"{STEPS}\n".ljust(20_000), True),
        (f"{STEPS}\n".ljust(20_001), False),
        (f"{STEPS.ljust(4000)}\n", True),
        (f"{STEPS.ljust(4001)}\n", False),
    ],
)
def test_a_program_is_looked_for_at_the_end(response, found):
    assert bool(stated_program(response)) == found


def test_a_question_has_two_thousand_characters():
    assert asked("Question: " + "what? ".rjust(1999)).endswith("what?")
    assert len(asked("x" * 2000 + "?")) == len(asked("x" * 2001 + "?")) == 2000


@pytest.mark.parametrize(
    ("field", "most"),
    [
        ("decimals", 300),
        ("value", "7" * 300),
        ("value", "-." + "7" * 298),
        ("aliases", ["7" * 300]),
    ],
)
def test_a_prepared_reference_has_three_hundred_digits(field, most):
    known = {"value": "7", "unit": "number"}
    assert prepared(known | {field: most})
    larger = (
        [f"7{most[0]}"] if field == "aliases" else most + 1 if field == "decimals" else f"7{most}"
    )
    with pytest.raises(BadReference, match=field):
        prepared(known | {field: larger})


@pytest.mark.parametrize(("gap", "word"), [(" " * 396, "no"), (" " * 397, None)])
def test_a_word_stands_within_four_hundred_characters(gap, word):
    found = yes_or_no(f"So{gap}no")
    assert (None if isinstance(found, NoValue) else found) == word
