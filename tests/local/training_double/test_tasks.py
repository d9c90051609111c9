"""The right answer, its kind and its form, of every shape of reference; and slips from it."""

import json
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from reward_functions import get, sample
from reward_functions.core.errors import UnreadableReference
from reward_functions.data.wording import FORMATS
from reward_functions.local.training_double.strategies import NoTask, asked_for, task_of
from reward_functions.scaffold.offers import LABELLED

CASES = Path(__file__).parents[2] / "cases"

RECORD = {"answer": "-12.5%", "exe_ans": -0.12497, "program": "subtract(1, 2)", "question": "?"}
PREPARED = {"value": "12.497", "unit": "percent", "scale": 1, "direction": None, "aliases": []}

REFERENCES = [
    # (reference, answer, kind, form that the reference shows, where the shape is from)
    ("72", "72", "whole number", "sentence", "a string"),
    (72, "72", "whole number", "sentence", "a number"),
    ({"final_answer": "1,200"}, "1,200", "whole number", "sentence", "reward data prepare gsm8k"),
    ({"text": "18"}, "18", "whole number", "sentence", "bedrock-mantle's wrapper"),
    ('{"answer": "18"}', "18", "whole number", "sentence", "an object in a JSON string"),
    ("20 - 2 = 18.\n#### 18", "18", "whole number", "####", "GSM8K's own answer"),
    ({"text": "So.\n#### 18"}, "18", "whole number", "####", "the same, wrapped"),
    (r"It is $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}", "formula", "box", "MATH's own solution"),
    (r"$\frac{1}{2}$", r"\frac{1}{2}", "formula", "box", "delimiters"),
    ({"final_answer": "(3, -4)"}, "(3, -4)", "formula", "box", "reward data prepare math"),
    (r"35\%", r"35\%", "percentage", "sentence", "MATH"),
    (r"\$18.90", r"\$18.90", "decimal", "sentence", "MATH"),
    (r"\text{Evelyn}", r"\text{Evelyn}", "words", "sentence", "MATH"),
    ("56 €", "56 €", "whole number", "sentence", "money"),
    ("1,250.50€", "1,250.50€", "decimal", "sentence", "money"),
    ("EUR 56", "EUR 56", "whole number", "sentence", "money"),
    ("-7 apples", "-7 apples", "whole number", "sentence", "a unit"),
    (PREPARED, "12.497%", "percentage", "ANSWER:", "reward data prepare finqa"),
    (PREPARED | {"value": "yes", "unit": "yesno"}, "yes", "yes or no", "ANSWER:", "the same"),
    (RECORD, "-12.5%", "percentage", "ANSWER:", "FinQA's own fields"),
    ({"qa": RECORD}, "-12.5%", "percentage", "ANSWER:", "a FinQA record"),
    (RECORD | {"answer": ""}, "-0.12497", "decimal", "ANSWER:", "FinQA, no answer string"),
    (RECORD | {"answer": "see note 3"}, "-0.12497", "decimal", "ANSWER:", "FinQA, odd answer"),
    ("B", "B", "choice", "sentence", "multiple choice"),
    ("Paris", "Paris", "words", "sentence", "words"),
    ({"label": 1, "answer": "Response 1"}, "Response 1", "formula", "box", "prepare pandalm"),
    ({"label": 0, "answer": "Tie", "votes": [0, 0, 2]}, "Tie", "words", "sentence", "the same"),
]


NAMES = {"boxed": "box", "hash": "####", "answer": "ANSWER:"}
"""By form of answer that a prompt may ask for: what the simulated policy calls it."""


def asked(text):
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("reference", "answer", "kind", "form"),
    [row[:4] for row in REFERENCES],
    ids=[f"{row[4]}: {row[1]}" for row in REFERENCES],
)
def test_a_reference_holds_an_answer_of_a_kind(reference, answer, kind, form):
    task = task_of(asked("How many?"), reference)
    assert (task.answer, task.kind, task.form.name) == (answer, kind, form)


@pytest.mark.parametrize("reference", [None, "", "  ", {}, {"other": 1}, [], ["34"], True])
def test_without_a_reference_there_is_no_right_answer_to_write(reference):
    with pytest.raises(NoTask, match="give every row a reference_answer"):
        task_of(asked("How many?"), reference)


@pytest.mark.parametrize(
    ("prompt", "form"),
    [
        ("End with one line:\n#### <number>", "####"),
        ("put the final answer in a box: \\boxed{…}", "box"),
        ("End with one line:\nANSWER: <value>", "ANSWER:"),
        ("Reply with <answer>…</answer>.", "<answer>"),
        ("JUDGMENT: Response 1, or JUDGMENT: Response 2, or JUDGMENT: Tie", "JUDGMENT:"),
        ("Put \\boxed{} around it. No: write #### and the number.", "####"),
        *((FORMATS[form][0], name) for form, name in NAMES.items()),
        (LABELLED.format(labels="late, lost"), "ANSWER:"),
        ("#### <answer>", "####"),
        ("The last line is ANSWER: <answer>.", "ANSWER:"),
        ("Write \\boxed{<answer>}, where <answer> is a number.", "box"),
        ("End with `#### <answer>`", "####"),
        ("Not ####: put it in <answer> tags.", "<answer>"),
        ("Put it between <answer> and </answer>.", "<answer>"),
        ("Put it in a tag <answer>.", "<answer>"),
    ],
)
def test_the_form_that_a_prompt_names_last_is_the_one(prompt, form):
    assert asked_for(prompt).name == form


def test_every_form_that_a_prompt_may_ask_for_is_known():
    assert NAMES.keys() == FORMATS.keys()


def test_a_prompt_that_names_no_form_asks_for_none():
    assert asked_for("How many eggs are left?") is None


def test_a_system_turn_and_blocks_of_text_name_a_form_too():
    turns = [
        {"role": "system", "content": [{"type": "text", "text": "End with #### and the number."}]},
        {"role": "user", "content": "How many eggs are left?"},
    ]
    assert task_of(turns, r"\frac{1}{2}").form.name == "####"


def test_numbers_of_the_prompt_without_the_answer_are_there_to_reason_with():
    task = task_of(asked("Ann has 12 eggs, sells 5 for $1,250 and Bob takes 7."), "7")
    assert task.numbers == ("12", "5", "1,250")
    assert task.names == ("Bob",)


LONG_NUMBERS = [
    # an answer, and its kind; Decimal's own arithmetic has 28 digits
    ("1234567890123456789012345678901234567890", "whole number"),
    ("0.1234567890123456789012345678901234567890", "decimal"),
    ("1" + ",234" * 2_000, "whole number"),
    (f"x^{{{'7' * 5_000}}} + 1", "words"),
    (f"({'7' * 60}, y_1)", "formula"),
]


@pytest.mark.parametrize(
    ("answer", "kind"), LONG_NUMBERS, ids=["40", "0.40", "6001", "^5000", "60"]
)
def test_a_near_miss_of_a_long_number_keeps_its_figures(answer, kind):
    task = task_of(asked("How many?"), answer)
    assert task.kind == kind
    for seed in range(10):
        slip = task.near_miss(Random(seed))
        assert slip != answer
        assert "E" not in slip
        if kind in {"whole number", "decimal"}:
            assert abs(len(slip) - len(answer)) <= 2
            assert ("," in slip) == ("," in answer)


def references(file, *keys):
    rows = map(json.loads, (CASES / file).read_text().splitlines())
    return sorted({str(row[keys[0]]) for row in rows if row.get(keys[0])})


@pytest.mark.parametrize("reward", ["gsm8k", "math"])
def test_a_near_miss_is_never_right(reward):
    random, spec, paid = Random(1), get(reward), []
    mark = {"gsm8k": "#### %s", "math": r"\boxed{%s}"}[reward]
    for reference in references(f"{reward}.jsonl", "reference"):
        if "{" in reference[:1] or "boxed" in reference or "象限" in reference:  # 4 is right there
            continue
        task = task_of(asked("?"), reference)
        for _ in range(3):
            slip = task.near_miss(random)
            assert slip != task.answer
            with suppress(UnreadableReference):  # some are read beside their prompts alone
                if spec(sample(mark % slip, reference)).value:
                    paid.append((reference, slip))
    assert not paid
