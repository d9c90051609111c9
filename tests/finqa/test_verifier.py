"""`finqa` pays for the value at its printed precision, with its unit, scale and sign."""

import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from reward_functions import BadReference, get, sample
from reward_functions.core.errors import BadParameter
from reward_functions.finqa.question import MAX_QUESTION, asked
from reward_functions.finqa.reference import as_json, classify, classify_record, prepare

FINQA = get("finqa")


def record(answer, executed, question="what was the change in revenue?", program=""):
    return {"answer": answer, "exe_ans": executed, "question": question, "program": program}


CHANGE = "what was the percentage change?"
TABLES = Path(__file__).parents[1] / "cases"
REFERENCES = {
    line["name"]: line["reference"]
    for line in map(json.loads, (TABLES / "finqa_references.jsonl").read_text().splitlines())
}
READING = [json.loads(line) for line in (TABLES / "finqa_reading.jsonl").read_text().splitlines()]
CASES = [json.loads(line) for line in (TABLES / "finqa.jsonl").read_text().splitlines()]
MADE_UP = [
    record("12.5%", 0.12497, CHANGE),
    record("-3.4%", -0.03378, CHANGE),
    record("16.5%", 16.5, "what is the average percentage?"),
    record("0.35%", 0.00354, CHANGE),
    record("250.5%", 2.50495, CHANGE),
    record("263", 263.0, "what was the total, in millions?"),
    record("-292", -292.0, "what was the impact?"),
    record("5.8", 5.81308, "what are net revenues , in billions?"),
    record("1723732.78", 1723732.78, "what was the total cost?"),
    record("0.2", 0.2, "what was the difference?"),
    record("18210", 18210.0, "what is the return?"),
]
"""Records of every kind of value, written for this project."""


def score(response, reference, prompt="", **parameters):
    return FINQA(sample(response, reference, prompt=prompt), **parameters)


def value(response, reference, prompt="", **parameters):
    return score(response, reference, prompt, **parameters).value


def metrics(response, reference, **parameters):
    return {
        metric.name: metric.value
        for metric in score(response, reference, **parameters).metrics
        if metric.value
    }


@pytest.mark.parametrize("case", CASES, ids=[f"{n}" for n in range(len(CASES))])
def test_a_case_is_judged_by_the_rules(case):
    found = score(case["response"], REFERENCES[case["reference"]], "Question: what is it?")
    assert found.value == float(case["right"]), (case, found.reason)


@pytest.mark.parametrize("case", READING, ids=[f"{n}" for n in range(len(READING))])
def test_a_response_is_read_by_the_rules(case):
    found = score(case["response"], case["reference"], case["prompt"])
    assert found.value == float(case["right"]), (case, found.reason)


@pytest.mark.parametrize("executed", [5e-324, -5e-324, 1e-310, 1.7e308, "1e999", "1e-999"])
@pytest.mark.parametrize("answer", ["-12.5%", "7", "$5.5 billion", "1e-400", "yes", ""])
@pytest.mark.parametrize("program", ["", "subtract(3501, 4001), divide(#0, 4001)"])
def test_no_executed_answer_is_too_small_or_too_large_to_compare(executed, answer, program):
    reference = record(answer, executed, CHANGE, program)
    assert value("ANSWER: 41.7%", reference) == 0.0


def test_there_are_cases_on_both_sides_of_every_reference():
    sides = Counter((case["reference"], case["right"]) for case in CASES)
    assert all(sides[name, right] for name in REFERENCES for right in (True, False))


@pytest.mark.parametrize(
    "factor", ["10", "100", "1000", "0.1", "0.01", "1.05", "0.95", "1.02", "2"]
)
@pytest.mark.parametrize("reference", MADE_UP, ids=[made["answer"] for made in MADE_UP])
def test_no_other_value_is_paid(reference, factor):
    percent = "%" in reference["answer"]
    points = percent and reference["exe_ans"] != 16.5
    wrong = float(Fraction(str(reference["exe_ans"])) * Fraction(factor)) * (100 if points else 1)
    assert value(f"ANSWER: {wrong:,.6f}{'%' * percent}", reference) == 0.0
    assert value(f"ANSWER: {wrong * 1.001:.6f}{'%' * percent}", reference) == 0.0


@pytest.mark.parametrize("reference", MADE_UP, ids=[made["answer"] for made in MADE_UP])
def test_the_answer_string_is_paid_and_its_opposite_is_not(reference):
    answer = reference["answer"]
    opposite = answer[1:] if answer.startswith("-") else f"-{answer}"
    assert value(f"ANSWER: {answer}", reference) == 1.0
    assert value(f"ANSWER: {opposite}", reference) == 0.0
    assert value(f"ANSWER: {answer} or {opposite}", reference) == 0.0


CONSTANTS = [
    "0.05",
    "0",
    "1",
    "-1",
    "100",
    "10%",
    "5%",
    "yes",
    "no",
    "0.5",
    "50%",
    "2015",
    "unknown",
]


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_earns_nothing(constant):
    assert sum(value(f"ANSWER: {constant}", reference) for reference in MADE_UP) == 0.0


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ({"value": "12.497", "unit": "percent"}, "ANSWER: 12.5%"),
        ({"value": "263", "unit": "number", "scale": 1_000_000}, "ANSWER: $263 million"),
        ({"value": "yes", "unit": "yesno"}, "ANSWER: yes"),
        ({"answer": "12.5%", "exe_ans": 0.12497, "program": "divide(1, 8)"}, "ANSWER: 0.125"),
        ({"answer": "12.5%", "exe_ans": "0.12497"}, "ANSWER: 0.125"),
        ({"answer": "", "exe_ans": 263.0}, "ANSWER: 263"),
        ({"exe_ans": 263.0}, "ANSWER: 263"),
        ({"answer": "12.5%", "exe_ans": None}, "ANSWER: 12.5%"),
        ({"answer": "12.5%"}, "ANSWER: 12.49%"),
        ({"final_answer": "12.5%"}, "ANSWER: 12.5%"),
        ({"text": '{"answer": "12.5%", "exe_ans": 0.12497}'}, "ANSWER: 0.12497"),
        ('{"value": "12.497", "unit": "percent"}', "ANSWER: 12.5%"),
        ("12.5%", "ANSWER: 0.125"),
        ("$ 5.92", "ANSWER: $5.92"),
        ("$3.2 million", "ANSWER: 3,200,000"),
        ("yes", "ANSWER: Yes."),
        (263, "ANSWER: 263"),
        (0.06757, "ANSWER: 0.0676"),
        (
            {"qa": {"question": CHANGE, "answer": "12.5%", "exe_ans": 0.12497}, "table": []},
            "ANSWER: 12.5%",
        ),
    ],
)
def test_every_shape_of_a_reference_is_read(reference, response):
    assert value(response, reference) == 1.0
    assert value("ANSWER: 77.7", reference) == 0.0


@pytest.mark.parametrize(
    ("reference", "named"),
    [
        (None, "no reference"),
        ({}, "without any of"),
        ({"label": 1}, "without any of"),
        ([[263]], "list"),
        (True, "bool"),
        ("", "empty"),
        ("no idea", "answer"),
        ({"answer": ""}, "empty"),
        ({"answer": "", "exe_ans": None}, "answer"),
        ({"answer": 5, "exe_ans": 5.0}, "answer"),
        ({"answer": "5", "exe_ans": "five"}, "exe_ans"),
        ({"answer": "5", "exe_ans": float("nan")}, "exe_ans"),
        ({"answer": "5", "exe_ans": True}, "exe_ans"),
        ({"answer": "5", "exe_ans": [5]}, "exe_ans"),
        ({"answer": "5", "exe_ans": 5.0, "program": ["add(2, 3)"]}, "program"),
        ({"value": "5", "unit": "apples"}, "unit"),
        ({"unit": "number"}, "value"),
        ({"value": "five", "unit": "number"}, "value"),
        ({"value": True, "unit": "number"}, "value is of type bool"),
        ({"value": "1e5", "unit": "number"}, "value"),
        ({"value": "9" * 5000, "unit": "number"}, "value"),
        ({"value": "5", "unit": "yesno"}, "value"),
        ({"value": "5", "unit": "number", "scale": 7}, "scale"),
        ({"value": "5", "unit": "number", "scale": "1000"}, "scale"),
        ({"value": "5", "unit": "number", "direction": "up"}, "direction"),
        ({"value": "5", "unit": "number", "decimals": -1}, "decimals"),
        ({"value": "5", "unit": "number", "aliases": "6"}, "aliases"),
        ({"value": "5", "unit": "number", "aliases": ["six"]}, "aliases"),
        ({"value": "5", "unit": "number", "noise": 1}, "noise"),
        ({"qa": {"answer": "5", "exe_ans": 5.0}}, "qa.question"),
        ({"qa": {"question": "", "answer": "5"}}, "qa.exe_ans"),
        ({"qa": 5}, "qa"),
    ],
)
def test_a_reference_of_no_known_shape_is_the_data_sets_fault(reference, named):
    with pytest.raises(BadReference, match=named):
        value("ANSWER: 5", reference)


def test_the_question_comes_from_the_last_line_of_the_prompt_and_never_from_the_filing():
    reference = {"answer": "263", "exe_ans": 263.0}
    filing = "revenue ( in millions ) was 120 and 143 .\n"
    assert value("ANSWER: 263 million", reference, f"{filing}what was it , in millions?") == 1.0
    assert value("ANSWER: 263 million", reference, f"{filing}what was the total?") == 0.0
    asked = f"{filing}Question: what was it, in millions?\nThink. ANSWER: <your answer>"
    assert value("ANSWER: 263 million", reference, asked) == 1.0


def test_of_a_prompt_its_end_is_read_and_of_a_question_too():
    labelled = "Question: who?\n"
    within = labelled + "x" * (4 * MAX_QUESTION - len(labelled))
    assert asked(within) == "who?"
    assert asked(f"{within}x") != "who?"
    assert asked("Question: b" + "a" * MAX_QUESTION) == "a" * MAX_QUESTION


def test_a_noisy_reference_accepts_either_value_and_says_so():
    noisy = record("331.6", 498.9)
    assert value("ANSWER: 331.6", noisy) == value("ANSWER: 498.9", noisy) == 1.0
    assert value("ANSWER: 331.63", noisy) == 1.0, "the answer string was rounded"
    assert value("ANSWER: 29.3", record("29", 30.0)) == 1.0, "two digits were rounded, too"
    assert value("ANSWER: 7.3", record("7", 9.0)) == 0.0, "one digit is exact"
    assert value("ANSWER: 400", noisy) == value("ANSWER: 331.6 or 498.9", noisy) - 1.0 == 0.0
    assert metrics("ANSWER: 400", noisy)["reference_noise"] == 1.0
    with pytest.raises(BadReference, match="disagree: value"):
        value("ANSWER: 331.6", noisy, noise="refuse")
    assert value("ANSWER: 263", record("263", 263.0), noise="refuse") == 1.0


def test_the_exact_result_of_the_program_is_the_value():
    known = record("33.3%", 0.33333, CHANGE, "divide(1, 3)")
    assert value("ANSWER: 33.33333333333%", known) == 1.0
    assert value("ANSWER: 33.33341%", known) == 0.0
    stored = record("33.3%", 0.33333, CHANGE)
    assert value("ANSWER: 33.33333333333%", stored) == 1.0, "beyond five places nothing is known"


@pytest.mark.parametrize(
    ("program", "stored", "right", "wrong"),
    [
        ("divide(5, 22)", 0.22727, ("0.22727", "0.227270"), ("0.227274", "0.227269")),
        ("divide(2273451, 10000000)", 0.22735, ("0.227350", "0.2273500"), ("0.227351", "0.22734")),
        ("divide(-1, 7)", -0.14286, ("-0.142860",), ("-0.142861", "-0.14287")),
    ],
)
def test_a_result_as_it_is_stored_may_be_printed_with_more_zeros(program, stored, right, wrong):
    known = record("", stored, program=program)
    for text in right:
        assert value(f"ANSWER: {text}", known) == 1.0, text
    for text in wrong:
        assert value(f"ANSWER: {text}", known) == 0.0, text


@pytest.mark.parametrize(
    ("response", "named"),
    [
        ("ANSWER: 12.5%", {"answer_correct", "format_followed"}),
        ("So it is 12.5%.", {"answer_correct"}),
        ("ANSWER: $12.5", {"format_followed", "unit_mismatch"}),
        ("ANSWER: 1250%", {"format_followed", "scale_mismatch"}),
        ("ANSWER: 0.125%", {"format_followed", "scale_mismatch"}),
        ("ANSWER: -12.5%", {"format_followed", "sign_mismatch"}),
        ("ANSWER: 17%", {"format_followed"}),
        ("ANSWER: 12.5% or 13%", set()),
        ("ANSWER:", set()),
        ("", set()),
    ],
)
def test_the_metrics_say_why_a_model_loses(response, named):
    assert metrics(response, REFERENCES["rise"]).keys() == named


@pytest.mark.parametrize(
    ("line", "stated", "same"),
    [
        ("subtract(4501, 4001), divide(#0, 4001)", 1, 1),
        ("Program: `divide(subtract(4,501, 4001), 4001)`", 1, 1),
        ("subtract(4501, 4001), divide(#0, 4501)", 1, 0),
        ("I use divide(3, 60) here.", 0, 0),
        ("divide(500, 4001)", 1, 0),
        ("add(1", 0, 0),
    ],
)
def test_a_stated_program_is_compared_and_changes_no_score(line, stated, same):
    reference = record("12.5%", 0.12497, CHANGE, "subtract(4501, 4001), divide(#0, 4001)")
    for answer, right in (("12.5%", 1.0), ("15%", 0.0)):
        response = f"{line}\n\nANSWER: {answer}"
        found = metrics(response, reference)
        assert value(response, reference) == right
        assert found.get("program_stated", 0) == stated
        assert found.get("program_accuracy", 0) == same


@pytest.mark.parametrize(
    ("response", "right", "truncated"),
    [
        ("ANSWER: 263", 1, 0),
        ("ANSWER: 263 <think> but", 1, 1),
        ("ANSWER: 263\n```python\nx = 1", 1, 1),
        ("<think> 120 + 143 is", 0, 1),
        ("So it is \\boxed{26", 0, 1),
        ("<think> 120 + 143 </think> ANSWER: 263", 1, 0),
        ("```python\nx = 1\n```\nANSWER: 263", 1, 0),
        ("It is hard to say.", 0, 0),
        ("", 0, 0),
    ],
)
def test_what_was_cut_off_is_counted(response, right, truncated):
    assert value(response, REFERENCES["plain"]) == right
    assert metrics(response, REFERENCES["plain"]).get("truncated", 0) == truncated


def test_the_tolerance_is_a_share_of_the_reference_and_small():
    assert value("ANSWER: 264", REFERENCES["plain"], tolerance=0.005) == 1.0
    assert value("ANSWER: 265", REFERENCES["plain"], tolerance=0.005) == 0.0
    assert value("ANSWER: 264", REFERENCES["plain"]) == 0.0
    for out_of_range in (-0.001, 0.01):
        with pytest.raises(BadParameter, match="tolerance"):
            value("ANSWER: 263", REFERENCES["plain"], tolerance=out_of_range)


@pytest.mark.parametrize(
    ("response", "right"),
    [
        ("So the answer is yes.", 1.0),
        ("or the answer is yes", 0.0),
        ("Or ANSWER: yes", 0.0),
        ("Yes, or the answer is yes.", 0.0),
        ("ANSWER: no or ANSWER: yes", 0.0),
    ],
)
def test_one_word_of_two_is_no_answer_wherever_the_text_begins(response, right):
    assert value(response, {"value": "yes", "unit": "yesno"}) == right


HALF_A_PLACE = {
    "of the answer": ({"value": "25.5", "unit": "number"}, {}, ("25", "26"), ("24.99", "26.01")),
    "of a long answer": (
        {"value": "12.345", "unit": "number"},
        {},
        ("12.34", "12.35"),
        ("12.3399", "12.3501", "12.33", "12.36"),
    ),
    "of an answer whose double rounds": (
        {"value": "1234567890123.50001", "unit": "number"},
        {},
        ("1234567890124",),
        ("1234567890123", "1234567890125"),
    ),
    "of a reference of nothing": (
        record("0.00%", 0.0, CHANGE),
        {},
        ("0.0005%", "0.0004%"),
        ("0.00050000000000000000001%", "0.0006%"),
    ),
    "of the reference": (
        record("12.5%", 0.12497, CHANGE),
        {},
        ("12.4965%", "12.4975%"),
        (
            "12.4964%",
            "12.4976%",
            "12.49649%",
            "12.49649999999999999999%",
            "12.49750000000000000001%",
        ),
    ),
    "no more than the tolerance": (
        {"value": "200", "unit": "number"},
        {"tolerance": 0.005},
        ("199", "201", "199.0", "201.0"),
        ("198.99", "201.01", "198", "202"),
    ),
}


@pytest.mark.parametrize("case", HALF_A_PLACE.values(), ids=HALF_A_PLACE)
@pytest.mark.parametrize("sign", ["", "-"])
def test_half_a_place_is_allowed_and_nothing_beyond(case, sign):
    reference, parameters, right, wrong = case
    if sign and "value" in reference:
        reference = reference | {"value": sign + reference["value"]}
    elif sign:
        reference = record(sign + reference["answer"], -reference["exe_ans"], CHANGE)
    paid = {each: value(f"ANSWER: {sign}{each}", reference, **parameters) for each in right + wrong}
    assert paid == dict.fromkeys(right, 1.0) | dict.fromkeys(wrong, 0.0)


def test_only_a_marked_answer_may_be_asked_for():
    assert value("So the total is 263.", REFERENCES["plain"], marked=True) == 0.0
    assert value("ANSWER: 263", REFERENCES["plain"], marked=True) == 1.0


@pytest.mark.parametrize(
    "response",
    [
        "ANSWER: " + "9" * 1_000_000,
        "ANSWER: 1e999999999",
        "ANSWER: 10^10^10^10",
        "ANSWER: " + "1/" * 200_000 + "3",
        "ANSWER: " + "(" * 200_000 + "263" + ")" * 200_000,
        "ANSWER: " + "263 or " * 200_000,
        "ANSWER:\n" * 300_000,
        "exp(10, 1000000000)\nANSWER: 1",
        "\n".join(["exp(exp(exp(9, 64), 64), 64)"] * 1000),
        "add(" * 500_000,
        "add(1, 2), " * 200_000,
        "x" * 5_000_000,
        "12.5% " * 500_000,
    ],
    ids=lambda response: response[:20].strip(),
)
def test_hostile_responses_earn_the_minimum(response):
    reference = record("263", 263.0, program="add(120, 143)")
    assert value(response, reference) == 0.0


def test_an_echo_of_the_question_earns_nothing():
    prompt = "what was the total of 120 and 143?\nEnd with ANSWER: <your answer>"
    assert value(prompt, REFERENCES["plain"], prompt) == 0.0
    assert value(f"{prompt}\nANSWER: 263", REFERENCES["plain"], prompt) == 1.0


def rows(path):
    return list(map(json.loads, path.read_text().splitlines()))


@pytest.mark.parametrize("shape", ["own", "prepared"])
def test_the_labelled_cases_are_judged_as_their_labels_say(shared, shape):
    for row in rows(shared / "finqa/cases.jsonl"):
        gold, question = row["gold"], row["question"]
        reference = gold | {"question": question}
        if shape == "prepared":
            program = gold["program"]
            found = classify(gold["answer"], gold["exe_ans"], program=program, question=question)
            reference = as_json(found)
        judged = score(row["pred"], reference, f"Question: {question}")
        assert judged.value == float(row["label"]), (row["id"], judged.reason)


def test_the_data_sets_own_answers_are_right_and_constants_earn_next_to_nothing(shared):
    records = rows(shared / "finqa/records.jsonl")
    references = [prepare(row) for row in records]
    for row, reference in zip(records, references, strict=True):
        answer = row["qa"]["answer"] or row["qa"]["exe_ans"]
        assert value(f"ANSWER: {answer}", reference) == 1.0, row["id"]
    for constant in ("0.05", "0", "100", "-1", "0.01", "50%", "5%"):
        earned = sum(value(f"ANSWER: {constant}", reference) for reference in references)
        assert earned / len(references) < 0.005, constant


def test_no_transformed_answer_of_a_record_is_right(shared):
    for row in rows(shared / "finqa/records.jsonl"):
        found = classify_record(row)
        if found.noise or found.aliases or found.unit == "yesno" or not found.answer.value:
            continue
        number, sign = float(found.answer.value), "%" * (found.unit == "percent")
        for factor in (10, 100, 0.1, 0.01, 1.05, 0.95, 1.02):
            wrong = f"ANSWER: {number * factor:,.4f}{sign}"
            assert value(wrong, as_json(found)) == 0.0, (row["id"], wrong)
        if found.direction is None:
            assert value(f"ANSWER: {-number:,.4f}{sign}", as_json(found)) == 0.0, row["id"]


def test_no_algebra_is_loaded():
    code = (
        "import sys; from reward_functions import get, sample;"
        "assert get('finqa')(sample('ANSWER: a decrease of 5', '-5')).value == 1.0;"
        "assert not {'sympy', 'mpmath', 'reward_functions.symbolic'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
