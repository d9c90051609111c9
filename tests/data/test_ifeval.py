"""`reward data prepare ifeval`: IFEval's records, RLVR-IFeval's, and what `lint` finds of rows."""

import json

import pytest

from reward_functions import get, sample
from reward_functions.core.types import Sample
from reward_functions.data.ifeval import AROUND, UNKNOWN
from reward_functions.data.public import _TABLE, REWARDS, ROWS
from reward_functions.data.records import BadRecord, Dropped, Record


def ifeval_record(number=0, **fields):
    return {
        "key": number,
        "prompt": f"Write about bird {number} without commas, in less than {number + 30} words.",
        "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
        "kwargs": [
            {"num_words": None, "relation": None},
            {"num_words": number + 30, "relation": "less than"},
        ],
    } | fields


def trained_record(function, **arguments):
    named = {"func_name": function, "N": None, "quantifier": None, "keyword_list": None}
    return {
        "messages": [{"role": "user", "content": f"Write about a bird. {function}"}],
        "ground_truth": json.dumps(named | arguments),
        "dataset": "ifeval",
    }


def test_records_become_rows_that_the_reward_reads(reward, write, read, tmp_path):
    source = write("input_data.jsonl", [ifeval_record(at) for at in range(3)])
    ran = reward("data", "prepare", "ifeval", "--source", source, "--out", tmp_path / "o")
    assert ran.exit_code == 0, ran.stderr
    row = read(tmp_path / "o" / "all.jsonl")[1]
    assert row["messages"] == [{"role": "user", "content": ifeval_record(1)["prompt"]}]
    assert row["reference_answer"] == {
        "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
        "kwargs": [{}, {"num_words": 31, "relation": "less than"}],
    }
    score = get("instructions")("a heron", row["reference_answer"])
    assert score.value == 1.0
    ran = reward("data", "lint", tmp_path / "o" / "all.jsonl", "--reward", "instructions")
    assert "no reward can read" not in ran.stdout


UNREADABLE = [
    (
        {"instruction_id_list": ["punctuation:no_comma", "keywords:rhyme"]},
        "instruction 2: its id is none of IFEval's 25",
    ),
    (
        {"kwargs": [{}, {"num_words": 5}]},
        "instruction 2: length_constraints:number_words lacks relation",
    ),
    (
        {
            "instruction_id_list": ["punctuation:no_comma", "combination:repeat_prompt"],
            "kwargs": [{}, {"prompt_to_repeat": "Heron, or owl?"}],
        },
        "no response was found that follows punctuation:no_comma and the others",
    ),
]


@pytest.mark.parametrize(("fields", "why"), UNREADABLE)
def test_lint_names_the_row_and_the_instruction_that_cannot_be_checked(
    fields, why, reward, write, read, tmp_path
):
    source = write("input_data.jsonl", [ifeval_record(1), ifeval_record(2, **fields)])
    reward("data", "prepare", "ifeval", "--source", source, "--out", tmp_path / "o")
    ran = reward("data", "lint", tmp_path / "o" / "all.jsonl", "--reward", "instructions")
    assert ran.exit_code == 1
    shown = "".join(ran.stdout.split())
    assert "".join(why.split()) in shown
    assert "line2" in shown


TRAINED = [
    ("validate_no_commas", {}, "punctuation:no_comma", {}),
    ("verify_keywords", {"keyword_list": ["a"]}, "keywords:existence", {"keywords": ["a"]}),
    (
        "verify_keyword_frequency",
        {"word": "owl", "N": 2},
        "keywords:frequency",
        {"keyword": "owl", "frequency": 2, "relation": "exactly"},
    ),
    (
        "validate_word_constraint",
        {"N": 9, "quantifier": "at most"},
        "length_constraints:number_words",
        {"num_words": 9, "relation": "at most"},
    ),
    (
        "validate_paragraphs",
        {"N": 2, "i": 1, "first_word": "Owls"},
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 1, "first_word": "Owls"},
    ),
]


@pytest.mark.parametrize(("function", "given", "name", "arguments"), TRAINED)
def test_a_function_is_an_instruction(function, given, name, arguments):
    row = ROWS["ifeval"](Record(trained_record(function, **given), "line 1"))
    assert row.reference == {"instruction_id_list": [name], "kwargs": [arguments]}
    gold = get(REWARDS["ifeval"]).gold_response(sample("", row.reference))
    assert get("instructions")(gold, row.reference).value == 1.0


ARGUMENTS = {
    "N": 2,
    "i": 1,
    "quantifier": "at least",
    "keyword_list": ["owl"],
    "forbidden_words": ["elk"],
    "letter": "q",
    "language": "de",
    "postscript_marker": "P.S.",
}


@pytest.mark.parametrize("function", _TABLE["ifeval"]["functions"])
def test_every_function_becomes_a_reference_that_the_reward_reads(function):
    names = _TABLE["ifeval"]["functions"][function]
    given = {name: ARGUMENTS.get(name, "heron") for name in names if name not in ("id", "exactly")}
    row = ROWS["ifeval"](Record(trained_record(function, **given), "line 1"))
    asked = Sample(id="row", messages=(), reference=row.reference)
    gold = get("instructions").gold_response(asked)
    assert get("instructions")(asked.answered(gold)).value == 1.0


def test_what_no_instruction_says_is_left_out():
    around = trained_record("validate_word_constraint", N=9, quantifier="around")
    choice = trained_record("validate_choice", options=["a", "b"])
    assert [ROWS["ifeval"](Record(each, "line 1")).why for each in (around, choice)] == [
        AROUND,
        UNKNOWN,
    ]
    assert isinstance(ROWS["ifeval"](Record(choice, "line 1")), Dropped)


BAD = [
    (ifeval_record(prompt=""), "prompt is empty"),
    (ifeval_record(kwargs=[{}]), "kwargs is no list as long as instruction_id_list"),
    (ifeval_record(kwargs=[{}, None]), "kwargs holds what is no object"),
    (ifeval_record(instruction_id_list="x"), "instruction_id_list is not a list of strings"),
    (trained_record("validate_title") | {"messages": []}, "messages has no user turn"),
    (trained_record("validate_title") | {"ground_truth": "{"}, "ground_truth is not JSON"),
    (trained_record("validate_title") | {"ground_truth": "[]"}, "ground_truth names no function"),
]


@pytest.mark.parametrize(("record", "why"), BAD)
def test_a_record_that_cannot_be_used_is_named_by_its_field(record, why):
    with pytest.raises(BadRecord, match=f"line 1: {why}"):
        ROWS["ifeval"](Record(record, "line 1"))
