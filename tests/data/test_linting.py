"""`reward data lint`: what a trainer would refuse is an error, what deserves a look a warning."""

import json
import re
from inspect import signature

import pytest

from reward_functions import get
from reward_functions.data.lengths import prompt_tokens
from reward_functions.data.linting import lint
from reward_functions.data.records import is_synthetic

OK = {"role": "user", "content": "Add 1 and 1."}


def row(number=0, **fields):
    return {
        "id": f"row-{number}",
        "messages": [
            {"role": "system", "content": "You add."},
            {"role": "user", "content": f"What is {number} + 1?"},
        ],
        "reference_answer": {"final_answer": str(number + 1)},
        "metadata": {"dataset": "gsm8k"},
    } | fields


def rows(count=100, first=0):
    return [row(first + at) for at in range(count)]


def findings(path, **options):
    return [(found.level, found.what) for found in lint([str(path)], **options).findings]


def test_good_rows_have_no_findings(reward, write):
    ran = reward("data", "lint", write("train.jsonl", rows()))
    assert ran.exit_code == 0, ran.stdout
    assert "errors 0 · warnings 0" in ran.stderr
    assert "tokens of the prompts, estimated" in ran.stdout


ERRORS = {
    "no messages": ({"messages": None}, "messages is not a list of turns"),
    "empty messages": ({"messages": []}, "messages is not a list of turns"),
    "a message that is a string": ({"messages": ["hi", OK]}, "a message is not an object"),
    "a role nobody knows": (
        {"messages": [OK, {"role": "human", "content": "x"}]},
        "an unknown role",
    ),
    "no role": ({"messages": [OK, {"content": "x"}]}, "an unknown role"),
    "the system turn second": (
        {"messages": [OK, {"role": "system", "content": "x"}]},
        "the system turn is not the first",
    ),
    "no user": ({"messages": [{"role": "system", "content": "x"}]}, "no user turn"),
    "an empty question": ({"messages": [{"role": "user", "content": " "}]}, "an empty user turn"),
    "an answer in the prompt": (
        {"messages": [OK, {"role": "assistant", "content": "2"}]},
        "the prompt ends with an assistant turn",
    ),
    "a picture": (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}]},
        "content is not text only",
    ),
    "null for text": (
        {"messages": [{"role": "user", "content": None}]},
        "content is not text only",
    ),
    "no reference": ({"reference_answer": None}, "reference_answer is empty"),
    "an empty reference": ({"reference_answer": " "}, "reference_answer is empty"),
    "an empty object": ({"reference_answer": {}}, "reference_answer is empty"),
    "an object of nothing": (
        {"reference_answer": {"answer": "", "x": None}},
        "reference_answer is empty",
    ),
    "a reference of another shape": (
        {"reference_answer": {"label": 3}},
        "no reward can read reference_answer",
    ),
    "a reference that is no number": (
        {"reference_answer": "many"},
        "no reward can read reference_answer",
    ),
    "an id that is a list": ({"id": [1]}, "an id that is not a string"),
    "an id given twice": ({"id": "row-1"}, "an id given twice"),
}


@pytest.mark.parametrize(("fields", "what"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_reported_with_its_line_and_the_status_is_1(fields, what, reward, write):
    path = write("train.jsonl", [*rows(), row(100) | fields])
    found = lint([str(path)]).findings
    assert [(finding.level, finding.what) for finding in found] == [("error", what)]
    assert found[0].where == f"{path}, line 101"
    ran = reward("data", "lint", path)
    assert ran.exit_code == 1
    assert "errors 1 · warnings 0" in ran.stderr
    assert what in " ".join(ran.stdout.split())


GOOD = {
    "a developer turn": {"messages": [{"role": "developer", "content": "x"}, OK]},
    "several turns": {
        "messages": [
            OK,
            {"role": "assistant", "content": "2"},
            {"role": "user", "content": "And 3?"},
        ]
    },
    "text in blocks": {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "What is 6?"}]}]
    },
    "a number for an id": {"id": 100},
    "a bare reference": {"reference_answer": "101"},
    "a number for a reference": {"reference_answer": 0},
    "a text of another data set": {"reference_answer": "many", "metadata": {"dataset": "mine"}},
    "no metadata": {"metadata": None},
    "a whole solution": {"reference_answer": "2 + 2 = 4\n#### 4"},
}


@pytest.mark.parametrize("fields", GOOD.values(), ids=GOOD)
def test_what_a_trainer_takes_is_no_finding(fields, write):
    assert findings(write("train.jsonl", [*rows(), row(100) | fields])) == []


WARNINGS = {
    "no id": ({"id": None}, "no id"),
    "further keys": ({"messages": [OK | {"weight": 0}]}, "further keys in a message"),
    "the same prompt": (
        {"messages": [{"role": "user", "content": "what is  7 + 1"}], "reference_answer": "8"},
        "the same prompt again",
    ),
}


@pytest.mark.parametrize(("fields", "what"), WARNINGS.values(), ids=WARNINGS)
def test_a_warning_leaves_the_status_at_0(fields, what, reward, write):
    path = write("train.jsonl", [*rows(), row(100) | fields])
    assert findings(path) == [("warning", what)]
    ran = reward("data", "lint", path)
    assert ran.exit_code == 0
    assert "errors 0 · warnings 1" in ran.stderr


def test_the_numbers_of_rows_are_bedrocks(write):
    assert signature(lint).parameters["rows"].default == (100, 20_000)
    assert findings(write("train.jsonl", rows(99))) == [("error", "too few rows")]
    assert findings(write("train.jsonl", rows(100))) == []


@pytest.mark.parametrize(
    ("count", "expected"), [(4, ["too few rows"]), (5, []), (9, []), (10, ["too many rows"])]
)
def test_a_file_has_as_many_rows_as_it_may(count, expected, write):
    found = findings(write("train.jsonl", rows(count)), rows=(5, 9))
    assert [what for _, what in found] == expected


def test_the_numbers_of_rows_can_be_others(reward, write):
    path = write("val.jsonl", rows(20))
    assert reward("data", "lint", path).exit_code == 1
    assert reward("data", "lint", path, "--min-rows", "20").exit_code == 0
    assert reward("data", "lint", path, "--min-rows", "0", "--max-rows", "19").exit_code == 1


def test_a_broken_line_does_not_hide_what_is_wrong_with_others(write, tmp_path):
    path = tmp_path / "train.jsonl"
    lines = [json.dumps(line) for line in rows()]
    lines[3:3] = ['{"id": "cut', "[1]", json.dumps(row(200, reference_answer=None))]
    path.write_text("\n".join(lines))
    found = lint([str(path)]).findings
    assert [finding.what for finding in found] == [
        "not a JSON object",
        "not a JSON object",
        "reference_answer is empty",
    ]
    assert f"{path}, line 4, column" in found[0].detail
    assert found[2].where == f"{path}, line 6"


def test_a_reward_that_is_named_must_read_every_reference(reward, write):
    path = write(
        "train.jsonl", [row(at, reference_answer="many", metadata={}) for at in range(100)]
    )
    assert reward("data", "lint", path).exit_code == 0
    ran = reward("data", "lint", path, "--reward", "gsm8k", "--format", "json")
    assert ran.exit_code == 1
    report = json.loads(ran.stdout)
    assert report["errors"] == 100
    assert report["findings"][0]["detail"] == "gsm8k: the reference is not one number"


def test_a_reference_is_read_whole_and_not_only_looked_at(write):
    """math reads its reference when there is an answer to compare; an empty one would not tell."""
    fields = {"metadata": {"dataset": "math"}, "reference_answer": "\\frac{1}{2"}
    path = write("train.jsonl", [*rows(), row(100) | fields])
    assert findings(path) == [("error", "no reward can read reference_answer")]


def test_what_a_judge_has_against_a_reference_is_reported_without_asking_a_model(write):
    """The judges of the project are deployed with a model; here they are given none."""
    references = {"reference_answer": ""}, {"reference_answer": "Canberra"}
    for at, (fields, expected) in enumerate(zip(references, (1, 0), strict=True)):
        path = write(f"train{at}.jsonl", [*rows(), row(100) | fields])
        found = lint([str(path)], reward=get("reference")).findings
        assert len([each for each in found if each.level == "error"]) == expected


LEAKS = {
    "the same prompt": (row(7, id="other"), ("error", "two files share a prompt")),
    "a prompt with other capitals": (
        row(500) | {"messages": [{"role": "user", "content": "WHAT is 7+1 ?!"}]},
        ("warning", "two files share a near-duplicate"),
    ),
    "a page": (
        row(500) | {"metadata": {"dataset": "gsm8k", "page": "ACME/1"}},
        ("error", "two files share a page"),
    ),
    "a group of prompts": (
        row(500) | {"metadata": {"dataset": "gsm8k", "prompt": "abc"}},
        ("error", "two files share a prompt"),
    ),
}


@pytest.mark.parametrize(("leaking", "expected"), LEAKS.values(), ids=LEAKS)
def test_what_two_files_share_is_reported(leaking, expected, reward, write):
    metadata = {"dataset": "gsm8k", "page": "ACME/1", "prompt": "abc"}
    grouped = [row(300) | {"metadata": metadata}]
    train = write("train.jsonl", [*rows(), *grouped])
    test = write("test.jsonl", [*rows(100, first=1_000), leaking])
    found = lint([str(train), str(test)]).findings
    assert [(finding.level, finding.what) for finding in found] == [expected]
    assert reward("data", "lint", train, test).exit_code == (expected[0] == "error")
    assert reward("data", "lint", test).exit_code == 0


def test_another_question_about_the_same_words_of_instruction_is_no_leak(write):
    train = write("train.jsonl", rows())
    test = write("test.jsonl", rows(first=100))
    assert lint([str(train), str(test)]).findings == []


def test_pandalm_pairs_of_one_prompt_are_no_repetition(reward, records, write, tmp_path):
    source = write("testset-v1.json", [records["pandalm"](at) for at in range(120)])
    reward("data", "prepare", "pandalm", "--source", source, "--out", tmp_path / "out")
    ran = reward("data", "lint", tmp_path / "out" / "all.jsonl")
    assert (ran.exit_code, "errors 0 · warnings 0" in ran.stderr) == (0, True)


def test_the_json_format_has_every_finding_and_the_lengths(reward, write):
    path = write("train.jsonl", [*rows(), row(100, id=None)])
    report = json.loads(reward("data", "lint", path, "--format", "json").stdout)
    assert report["errors"] == 0
    assert [finding["what"] for finding in report["findings"]] == ["no id"]
    lengths = report["prompt_tokens_estimated"][str(path)]
    assert lengths["rows"] == 101
    assert lengths["max"] == prompt_tokens(row(99)["messages"])
    assert report["maxPromptLength"] >= 2 * lengths["p99"]


def test_findings_of_hostile_rows_cannot_repaint_the_terminal(reward, write):
    path = write("train.jsonl", [*rows(), row(1, id="row-\x1b[2J"), row(2, id="row-\x1b[2J")])
    ran = reward("data", "lint", path)
    assert ran.exit_code == 1
    assert "\x1b" not in re.sub("\x1b\\[[0-9;]*m", "", ran.stdout)


def test_a_file_that_is_not_there_is_unusable(reward, tmp_path):
    assert reward("data", "lint", tmp_path / "none.jsonl").exit_code == 2


@pytest.mark.parametrize("dataset", ["finqa", "gsm8k"])
def test_prepared_records_pass(dataset, reward, prepared):
    ran = reward("data", "lint", *prepared(dataset))
    assert ran.exit_code == 0, ran.stdout


UNREADABLE = {
    r"\frac{1}{2": "its braces are not balanced",
    r"a_1+\ldots+a_n": r"\ldots is not read",
    "1\0002": "NUL",
    "(" * 60 + "1": "",
    r"x+\unknowncommand^2": "unknowncommand",
    r"\begin{pmatrix}1&2": "",
}


@pytest.mark.parametrize("reference", UNREADABLE)
def test_a_reference_of_mathematics_that_nothing_can_be_held_against_is_listed(
    reward, write, reference
):
    """Its own text would equal it; every other answer would go unscored."""
    spoilt = row(50, reference_answer=reference)
    path = write("train.jsonl", [*rows(50), spoilt, *rows(50, 51)])
    ran = reward("data", "lint", path, "--reward", "math", "--format", "json")
    assert ran.exit_code == 1
    (found,) = [each for each in json.loads(ran.stdout)["findings"] if each["level"] == "error"]
    assert found["what"] == "no reward can read reference_answer"
    assert "line 51" in str(found)
    assert UNREADABLE[reference] in str(found).replace("\\\\", "\\")


@pytest.mark.parametrize("depth", [101, 900])
def test_a_deep_reference_is_a_finding_of_its_line(depth, tmp_path):
    file = tmp_path / "train.jsonl"
    deep = "[" * (depth - 1) + '"1"' + "]" * (depth - 1)
    lines = [json.dumps(each) for each in rows()]
    file.write_text("\n".join([*lines, f'{{"id": "deep", "reference_answer": {deep}}}']))
    (finding,) = lint([str(file)]).errors
    assert finding.what == "not a JSON object"
    assert "line 101: JSON nested more than 100 deep" in finding.detail


def test_a_reference_as_deep_as_rows_may_be_is_read(tmp_path):
    file = tmp_path / "train.jsonl"
    deep = "[" * 98 + '"1"' + "]" * 98
    lines = [json.dumps(each) for each in rows()]
    lines[7] = lines[7].replace('{"final_answer": "8"}', deep)
    file.write_text("\n".join(lines))
    (finding,) = lint([str(file)]).errors
    assert finding.what == "no reward can read reference_answer"


SYNTHETIC = [
    {"metadata": {"dataset": "gsm8k", "synthetic": True}},
    {"metadata": '{"synthetic": true}'},
    {"metadata": {"synthetic": "true"}},
    {"extra_info": {"synthetic": True}},
    {"info": {"synthetic": True}},
    {"synthetic": True},
]
"""Rows of `reward data generate`, as `reward data convert` writes them too."""

REAL = [
    {},
    {"metadata": {"synthetic": False}},
    {"metadata": {"synthetic": None}},
    {"metadata": "synthetic"},
    {"metadata": "[" * 5_000 + "synthetic"},
    {"metadata": ["synthetic"]},
    {"info": 3},
    {"metadata": {"synthetics": True}},
]


@pytest.mark.parametrize("fields", SYNTHETIC)
def test_a_row_that_says_it_is_synthetic_is_found_in_every_shape(fields):
    assert is_synthetic(row(1) | fields)


@pytest.mark.parametrize("fields", REAL)
def test_no_other_row_counts_as_synthetic(fields):
    assert not is_synthetic(row(1) | fields)


def test_synthetic_rows_are_one_warning_a_file(write):
    marked = [each | SYNTHETIC[0] for each in rows(2)]
    found = lint([str(write("train.jsonl", [*marked, *rows(98, 2)]))]).findings
    assert [(each.level, each.what) for each in found] == [("warning", "synthetic rows")]
    assert found[0].detail == "2, to rehearse with, not to train on"


LISTS = {
    # reference, reward, what a list is
    "numbers to any": ([1, -1], None, "a reference that lists the members of one answer"),
    "numbers to math": ([1, -1], "math", "a reference that lists the members of one answer"),
    "its text": ("[2, 0]", "math", "a reference that lists the members of one answer"),
    "truths": (
        {"answer": [True, False]},
        "math",
        "a reference that lists the members of one answer",
    ),
    "numbers to another": ([1, -1], "gsm8k", "a reference that lists alternatives"),
    "strings": (["1", "-1"], "math", "a reference that lists alternatives"),
}


@pytest.mark.parametrize(("reference", "name", "what"), LISTS.values(), ids=LISTS)
def test_a_list_as_the_reference_is_called_what_it_is(reference, name, what, write):
    file = write("train.jsonl", [row(1, reference_answer=reference, metadata={})])
    chosen = get(name) if name else None
    assert findings(file, reward=chosen, rows=(1, 9)) == [("warning", what)]


def test_instructions_are_no_alternatives(write):
    reference = [{"id": "punctuation:no_comma"}, {"id": "detectable_format:title"}]
    file = write("train.jsonl", [row(1, reference_answer=reference, metadata={})])
    assert findings(file, reward=get("instructions"), rows=(1, 9)) == []


def test_a_reference_in_stray_notation_is_listed_with_its_place_and_a_suggestion(write):
    file = write("train.jsonl", [row(1, reference_answer=r"5\inch"), row(2)])
    (found,) = lint([str(file)], reward=get("math"), rows=(1, 9)).findings
    assert found.where.endswith("line 1")
    assert r"\inch is not read, near" in found.detail
    assert found.detail.endswith(r"write \text{inch}")


def test_splits_of_a_plain_folder_are_named_as_they_can_be_typed(reward, write, tmp_path):
    for split in ("train", "test"):
        write(f"set/{split}.jsonl", [{"question": "?", "answer": "1"}])
    refused = reward("data", "lint", tmp_path / "set")
    assert f"name one, {tmp_path}/set/test.jsonl or {tmp_path}/set/train.jsonl" in refused.stderr
