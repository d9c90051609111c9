"""A record's answer string, executed answer and program become one reference, or a named noise."""

import json
from collections import Counter
from fractions import Fraction

import pytest

from reward_functions import BadReference
from reward_functions.finqa.reference import (
    Agreement,
    answer_alone,
    as_json,
    classify,
    classify_record,
    prepare,
    prepared,
)


@pytest.mark.parametrize(
    ("record", "agreement", "unit", "value"),
    [
        (("263", 263.0, ""), "plain", "number", "263"),
        (("2.5", 2.50023, ""), "plain", "number", "2.50023"),
        (("$ 5.92", 5.92, ""), "plain", "number", "5.92"),
        (("2.3", 2.25, ""), "plain", "number", "2.25"),
        (("2.2", 2.25, ""), "plain", "number", "2.25"),
        (("$3.2 million", 3.2, ""), "plain", "number", "3.2"),
        (("$3.2 million", 3200000.0, ""), "plain", "number", "3200000"),
        (("$3.234567 million", 3.23457, ""), "plain", "number", "3.23457"),
        (("12.5%", 0.12497, ""), "percent", "percent", "12.497"),
        (("-.6%", -0.006, ""), "percent", "percent", "-0.6"),
        (("16.5%", 16.5, ""), "points", "percent", "16.5"),
        (("3.5%", 0.03456, "what was the decrease?"), "percent", "percent", "3.456"),
        (("3.5%", -0.03456, "what was the decrease?"), "percent", "percent", "-3.456"),
        (("81.6", 81.66667, ""), "truncated", "number", "81.66667"),
        (("2.04%", 2.04524, ""), "truncated", "percent", "2.04524"),
        (
            ("79.6", 0.79588, "what percentage was it?"),
            "percent_sign_forgotten",
            "percent",
            "79.588",
        ),
        (("45.51", 0.4551, "what is the return?"), "percent_sign_forgotten", "number", "0.4551"),
        (("yes", "yes", ""), "yes_no", "yesno", "yes"),
        (("No.", "no", ""), "yes_no", "yesno", "no"),
        (("", 263.0, ""), "empty", "number", "263"),
        (("", 0.12497, "what percent was it?"), "empty", "percent", "12.497"),
        (("", 59.5, "what percent was it?"), "empty", "percent", "59.5"),
        (("", "yes", ""), "empty", "yesno", "yes"),
        (("the total would be $ 56.7 million .", 56.7, ""), "sentence", "number", "56.7"),
        (("there is none", 56.7, ""), "sentence", "number", "56.7"),
        (("yes", 4.39, ""), "kind", "number", "4.39"),
        (("no", "yes", ""), "kind", "yesno", "yes"),
        (("4.39", "yes", ""), "kind", "yesno", "yes"),
        (("58.6%", -0.58621, ""), "sign", "percent", "-58.621"),
        (("41.0%", 0.04097, ""), "scale", "percent", "4.097"),
        (("3829", 38290.0, ""), "scale", "number", "38290"),
        (("263000", 263.0, ""), "scale", "number", "263"),
        (("7", 7e9, ""), "scale", "number", "7000000000"),
        (("7", 7e-9, ""), "scale", "number", "0.000000007"),
        (("7", 7e10, ""), "value", "number", "70000000000"),
        (("7", 7e-10, ""), "value", "number", "0.0000000007"),
        (("50%", 49.0, ""), "within_5_percent", "percent", "49"),
        (("50%", 0.49, ""), "within_5_percent", "percent", "49"),
        (("0%", 14.0, ""), "value", "percent", "1400"),
        (("5", 0.0, ""), "value", "number", "0"),
        (("560", 559.0, ""), "within_1_percent", "number", "559"),
        (("29", 30.0, ""), "within_5_percent", "number", "30"),
        (("331.6", 498.9, ""), "value", "number", "498.9"),
        (("101 stores created per year", 112.5, ""), "value", "number", "112.5"),
    ],
)
def test_the_class_of_a_record(record, agreement, unit, value):
    answer, executed, question = record
    found = classify(answer, executed, question=question)
    assert (found.agreement, found.unit) == (agreement, unit)
    assert as_json(found)["value"] == value
    assert found.noise == (agreement if Agreement(agreement).noisy else None)


@pytest.mark.parametrize(
    ("record", "alias"),
    [
        (("45.51", 0.4551, "what is the return?"), ["45.51"]),
        (("79.6", 0.79588, "what percentage was it?"), []),
        (("81.6", 81.66667, ""), ["81.6"]),
        (("81.7", 81.66667, ""), []),
    ],
)
def test_the_answer_string_is_an_alias_where_rounding_does_not_give_it(record, alias):
    answer, executed, question = record
    assert as_json(classify(answer, executed, question=question))["aliases"] == alias


@pytest.mark.parametrize(
    ("answer", "executed", "alias"),
    [
        ("no", "yes", ["no"]),
        ("Yes.", "no", ["yes"]),
        ("4.39", "yes", []),
        ("it did not", "yes", []),
        ("yes, by 4%", "yes", []),
        ("", "no", []),
    ],
)
def test_of_yes_and_no_only_the_word_that_the_answer_string_states_is_an_alias(
    answer, executed, alias
):
    assert as_json(classify(answer, executed))["aliases"] == alias


@pytest.mark.parametrize(
    ("program", "failure", "agreement"),
    [
        ("subtract(4501, 4001), divide(#0, 4001)", "", "percent"),
        ("divide(500, 40)", "computes to another answer", "program"),
        ("divide(500, 0)", "division by zero", "program"),
        ("guess(500)", "no operation 'guess'", "program"),
        ("table_max(sales, none)", "", "percent"),
        ("", "", "percent"),
    ],
)
def test_the_program_is_executed_again(program, failure, agreement):
    found = classify("12.5%", 0.12497, program=program)
    assert failure in found.failure
    assert bool(failure) == bool(found.failure)
    assert found.agreement == agreement
    assert found.answer.places == (None if program.startswith("subtract") else 3)


def test_a_disagreement_outweighs_a_program_that_fails():
    assert classify("331.6", 498.9, program="divide(1, 0)").agreement is Agreement.VALUE


def test_the_table_serves_the_program():
    table = [["", "2013"], ["sales", "$ 5"]]
    found = classify("5", 5.0, program="table_max(sales, none)", table=table)
    assert (found.failure, found.answer.places) == ("", None)
    missing = classify("5", 5.0, program="table_max(profit, none)", table=table)
    assert "no row 'profit'" in missing.failure


def test_the_exact_result_is_the_value():
    found = classify("33.3%", 0.33333, program="divide(1, 3)")
    assert found.answer.value == Fraction(100, 3)
    assert as_json(found)["value"] == "33.33333333333333333333"


@pytest.mark.parametrize(
    ("question", "scale", "direction"),
    [
        ("what was it , in millions?", 10**6, None),
        ("what was it ( in thousands ) ?", 10**3, None),
        ("what was it in billions of dollars?", 10**9, None),
        ("what was it , in us$ millions?", 10**6, None),
        ("what was it in million dollars?", 10**6, None),
        ("what was it in mm?", 10**6, None),
        ("what was it ( in $ bn ) ?", 10**9, None),
        ("of 5 million in thousands, what was it in mn?", 10**6, None),
        ("what was it in thousands, not in millions?", 10**6, None),
        ("what was the interest on the $ 375 million note?", 1, None),
        ("what was the decrease in rent ( millions ) ?", 10**6, "decrease"),
        ("what was the percentage decline from 2007 to 2008?", 1, "decrease"),
        ("what was the reduction of staff?", 1, "decrease"),
        ("what was the net loss?", 1, "decrease"),
        ("by how much did sales decrease?", 1, "decrease"),
        ("what was the increase or decrease?", 1, None),
        ("what was the change in the losses?", 1, None),
        ("what is the range of losses?", 1, None),
        ("what is the total value of net operating loss carryforwards?", 1, None),
        ("considering the reduction of the rate, what is the tax?", 1, None),
    ],
)
def test_what_the_question_fixes(question, scale, direction):
    found = classify("5.5", 5.5, question=question)
    assert (found.scale, found.direction) == (scale, direction)


def test_a_percentage_has_no_scale():
    assert classify("5.5%", 0.055, question="of sales in millions, what percent?").scale == 1


RECORD = {
    "qa": {
        "question": "what was the total, in millions?",
        "answer": "$ 5.92",
        "exe_ans": 5.92,
        "program": "subtract(11.34, 5.42)",
    },
    "table": [["a", "1"]],
}


def test_a_record_is_prepared_and_read_back():
    shape = prepare(RECORD)
    assert shape == {
        "value": "5.92",
        "unit": "number",
        "scale": 1_000_000,
        "direction": None,
        "decimals": 2,
        "aliases": [],
        "program": "subtract(11.34, 5.42)",
        "noise": None,
        "currency": "USD",
    }
    assert json.loads(json.dumps(shape)) == shape
    assert as_json(prepared(shape)) == shape


def test_a_noisy_record_is_read_back_as_one():
    shape = prepare(RECORD | {"qa": RECORD["qa"] | {"answer": "331.6"}})
    assert shape["noise"] == "value"
    assert as_json(prepared(shape)) == shape


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"qa": None}, "qa is of type NoneType"),
        ({"qa": {}}, "qa.exe_ans is missing"),
        ({"qa": RECORD["qa"] | {"answer": 5}}, "qa.answer is of type int"),
        ({"qa": RECORD["qa"] | {"question": None}}, "qa.question is of type NoneType"),
        ({"qa": RECORD["qa"] | {"program": 5}}, "qa.program is of type int"),
        ({"qa": RECORD["qa"] | {"exe_ans": "n/a"}}, "exe_ans is neither"),
        ({"table": "a"}, "table is no list of rows"),
        ({"table": ["a"]}, "table is no list of rows"),
    ],
)
def test_a_broken_field_is_named(change, named):
    with pytest.raises(BadReference, match=named):
        prepare(RECORD | change)


def test_a_missing_column_is_named():
    with pytest.raises(BadReference, match="qa is missing"):
        prepare({})


@pytest.mark.parametrize(
    ("answer", "value", "places", "scale"),
    [
        ("12.5%", "12.5", 1, 1),
        ("263", "263", 0, 1),
        ("7", "7", None, 1),
        ("$3.2 million", "3.2", 1, 10**6),
        ("3/4", "0.75", None, 1),
    ],
)
def test_an_answer_string_alone_is_known_to_its_last_place(answer, value, places, scale):
    found = answer_alone(answer)
    assert (found.answer.value, found.answer.places) == (Fraction(value), places)
    assert found.scale == scale


def test_the_classes_of_the_records_are_those_that_were_counted(shared):
    lines = (shared / "finqa/records.jsonl").read_text().splitlines()
    found = [classify_record(json.loads(line)) for line in lines]
    assert not any(reference.failure for reference in found)
    counted = Counter(str(reference.agreement) for reference in found)
    assert counted == {
        "plain": 165,
        "percent": 124,
        "points": 9,
        "truncated": 10,
        "empty": 6,
        "yes_no": 4,
        "percent_sign_forgotten": 4,
        "sentence": 3,
        "value": 41,
        "scale": 4,
        "sign": 3,
        "within_1_percent": 4,
        "within_5_percent": 5,
        "kind": 1,
    }
    for reference in found:
        back = prepared(json.loads(json.dumps(as_json(reference))))
        assert as_json(back) == as_json(reference)


NOT_FINITE = "exe_ans is no finite number"
NO_VALUE = "exe_ans is neither a number nor yes nor no"
REFUSED = [
    (True, NOT_FINITE),
    (False, NOT_FINITE),
    (float("inf"), NOT_FINITE),
    (float("-inf"), NOT_FINITE),
    (float("nan"), NOT_FINITE),
    ("inf", NO_VALUE),
    ("true", NO_VALUE),
    ("about 5", NO_VALUE),
    ("", NO_VALUE),
    (None, NO_VALUE),
    ([5], NO_VALUE),
]


@pytest.mark.parametrize(("executed", "reason"), REFUSED)
def test_an_executed_answer_that_is_no_value_is_refused_by_what_it_is(executed, reason):
    with pytest.raises(BadReference, match=f"^{reason}$"):
        prepare({"qa": {"question": "", "answer": "5", "exe_ans": executed}})
