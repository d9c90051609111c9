"""`multiple_choice` pays for one letter, or for the text that stands beside it."""

import json
from pathlib import Path

import pytest

from reward_functions import BadReference, get, sample
from reward_functions.extraction.choices import options_in

REWARD = get("multiple_choice")
TABLE = Path(__file__).parents[1] / "cases" / "multiple_choice.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]
PROMPT = "Capital of France?\n(A) Lyon\n(B) Paris\n(C) A dog\n(D) 12"


def value(response, reference="B", prompt=PROMPT, **metadata):
    return REWARD(sample(response, reference, prompt=prompt, **metadata)).value


@pytest.mark.parametrize(
    "response",
    ["B", "b", "(B)", "B.", "B) Paris", "Paris", "The answer is B.", "Answer: (B) Paris", "**B**",
     "\\boxed{B}", "\\boxed{\\text{(B)}}", "\\textbf{(B)}\\ Paris", "<answer>B</answer>",
     "<think>A or C?</think>B", "The answer is option B.", "B (Paris)", "B - Paris", "B – Paris",
     "Paris (B)", "The answer is 'B'.", "letter B", "Option B: Paris", "So, option B is correct.",
     "Therefore, B is the correct answer.", "I choose B.", "B) Paris\n\nParis is the capital.",
     "B\n\nExplanation: it is.", '{"answer": "B"}', "Therefore, B.", "The capital is Paris.",
     "Answer: B; that is what I know.", "Answer: B;",
     "We know it. So the capital of France is Paris.", "It's Paris", "Hence, (B)."],
)  # fmt: skip
def test_right(response):
    assert value(response) == 1.0


@pytest.mark.parametrize(
    "response",
    ["", "A", "A or B", "A, B", "B or C", "ABCD", "\\boxed{A}, \\boxed{B}", "(B) Lyon", "E",
     "not B", "The answer is not B.", "\\boxed{B}. The answer is A.", "<think>B</think>", "Bologna",
     "It could be B, or it could be something else entirely.", PROMPT, "B Lyon", "B (Lyon)",
     "Lyon (B)", "A is correct. The answer is A.", "B is not correct.", "\\boxed{B}, \\boxed{C}",
     "\\boxed{B} is wrong", "The answer is B. No, C.", "The least likely answer is B",
     "Rule out the answer: B", "The opposite of the answer is B", "Some say the answer is B",
     "The capital is not Paris.", "The capital is Paris or Lyon.", "Some say the capital is Paris.",
     "Is the capital Paris?", "The wrong capital is Paris.", "If the capital is Paris.",
     "I don't know. The capital is Paris.", "Thus, B or C.", "Answer: B; C",
     "The answer is B; A; C", "Answer: (B); (C)", "Answer: B) Paris; C) Rome"],
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
        ("green", "B", {"choices": {"text": ["red", "green"], "label": ["A", "B"]}}),
        ("2", "B", {"choices": [1, 2]}),
    ],
)
def test_options_may_stand_in_the_metadata(response, reference, metadata):
    assert value(response, reference, prompt="", **metadata) == 1.0


def test_options_of_an_unknown_shape_are_none():
    nested = []
    for _ in range(900):
        nested = [nested]
    assert value("B", "B", prompt="", choices=nested) == 1.0
    assert value("B", "B", prompt="", choices=[10**5000]) == 1.0


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


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["response"])[:60] for case in CASES])
def test_table(case):
    assert value(case["response"], case["reference"], prompt=case["prompt"]) == case["right"]
