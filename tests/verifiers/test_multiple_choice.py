"""`multiple_choice` pays for one letter, or for the text that stands beside it."""

import pytest

from reward_functions import BadReference, get
from reward_functions.testing import sample
from reward_functions.text.choices import options_in

REWARD = get("multiple_choice")
PROMPT = "Capital of France?\n(A) Lyon\n(B) Paris\n(C) A dog\n(D) 12"


def value(response, reference="B", prompt=PROMPT, **metadata):
    return REWARD(sample(response, reference, prompt=prompt, **metadata)).value


@pytest.mark.parametrize(
    "response",
    ["B", "b", "(B)", "B.", "B) Paris", "Paris", "The answer is B.", "Answer: (B) Paris", "**B**",
     "\\boxed{B}", "\\boxed{\\text{(B)}}", "\\textbf{(B)}\\ Paris", "<answer>B</answer>",
     "<think>A or C?</think>B", "The answer is option B."],
)  # fmt: skip
def test_right(response):
    assert value(response) == 1.0


@pytest.mark.parametrize(
    "response",
    ["", "A", "A or B", "A, B", "B or C", "ABCD", "\\boxed{A}, \\boxed{B}", "(B) Lyon", "E",
     "not B", "The answer is not B.", "\\boxed{B}. The answer is A.", "<think>B</think>", "Bologna",
     "It could be B, or it could be something else entirely.", PROMPT, "B Lyon"],
)  # fmt: skip
def test_floor(response):
    assert value(response) == 0.0


@pytest.mark.parametrize(
    ("response", "reference", "metadata"),
    [
        ("red", "A", {"choices": ["red", "green"]}),
        ("A", "red", {"choices": ["red", "green"]}),
        ("b", {"answer": "B"}, {"options": {"a": "red", "b": "green"}}),
        ("green", "B", {"options": {"a": "red", "b": "green"}}),
    ],
)
def test_options_may_stand_in_the_metadata(response, reference, metadata):
    assert value(response, reference, prompt="", **metadata) == 1.0


def test_without_options_letters_are_compared():
    assert value("The answer is (C).", "C", prompt="") == 1.0
    assert value("C) whatever", "C", prompt="") == 1.0


@pytest.mark.parametrize("reference", [None, "", "Rome", "Z", "A or B", {"label": "B"}])
def test_a_reference_that_is_no_option_is_the_data_sets_fault(reference):
    with pytest.raises(BadReference):
        value("B", reference)


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        ("A) x\nB) y", {"A": "x", "B": "y"}),
        ("- **A.** x\n- **B.** y", {"A": "x", "B": "y"}),
        ("Pick: (A) 12 (B) 13 (C) 14", {"A": "12", "B": "13", "C": "14"}),
        ("A. old\nB. older\n\nNow:\nA. new\nB. newer\nC. newest",
         {"A": "new", "B": "newer", "C": "newest"}),
        ("A) only one", {}),
        ("B) x\nC) y", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_options_are_read_from_the_prompt(prompt, options):
    assert options_in(prompt) == options
