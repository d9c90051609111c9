"""`reward explain` of rows of a file, and that nothing a person reads is a Python repr."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from reward_functions import Scored, Unscored, score_batch, specs
from reward_functions.cli import app
from reward_functions.cli.explaining import Explained, _show
from reward_functions.jobs.asking import (
    AnswerAttempt,
    AnswerFile,
    ModelAnswer,
    Usage,
    chosen,
)
from reward_functions.reports.evidence import rendered
from reward_functions.scoring.results import explanation
from reward_functions.scoring.rows import Read, read_samples

REPR = re.compile(
    r"\b[A-Z]\w*\([a-z_]+=|Fraction\(|Decimal\(|[{[(]'[\w ]*'[:,]|<[\w.]+ object at|frozenset|"
    r"\bNone\b|OrderedDict|mappingproxy"
)
"""What Python writes of an object, and nobody else does."""


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def row(id, response, reference="42", prompt="What is 6 x 7?"):
    turns = [{"role": "user", "content": prompt}, {"role": "assistant", "content": response}]
    return {"id": id, "messages": turns, "reference_answer": reference}


ROWS = [
    row("a", "#### 42"),
    row("b", "#### 41"),
    row("twice", "I give up", prompt="Why?"),
    {"id": "broken", "messages": None},
    row("twice", "#### 40"),
    row("unread", "#### 1", reference="no number"),
    row("long", "word " * 500 + "#### 7"),
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in ROWS))
    return path


@pytest.fixture
def answers(tmp_path):
    """Answers to two of three prompts, as a baseline keeps them; returns both files."""
    rows = [
        {"id": f"r{at}", "messages": [{"role": "user", "content": f"{at} + 7?"}],
         "reference_answer": str(at + 7)}
        for at in range(3)
    ]  # fmt: skip
    data, path = tmp_path / "train.jsonl", tmp_path / "base.jsonl"
    data.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    asked = chosen(*read_samples(str(data), answered=False), 9)
    with AnswerFile(path, "a model") as kept:
        for prompt in sorted(asked, key=lambda each: each.place)[:2]:
            for number, text in enumerate((f"#### {prompt.sample.reference}", "", "It is 7.")):
                attempt = AnswerAttempt(prompt.digest, number)
                kept.keep(attempt, ModelAnswer(text, "stop", Usage(1, 1)))
    with path.open("a") as torn:
        torn.write('{"prompt": "ab')
    return data, path


ANSWERED = {
    "a line": (["--line", "2"], ["#### 8", "", "It is 7."], [1, 0, 0]),
    "an id": (["--id", "r0"], ["#### 7", "", "It is 7."], [1, 0, 0]),
    "the worst": (["--worst", "2"], ["", "It is 7."], [0, 0]),
}


@pytest.mark.parametrize(("words", "texts", "scores"), ANSWERED.values(), ids=ANSWERED)
def test_answers_that_are_kept_are_explained_with_their_rows(words, texts, scores, answers):
    data, kept = answers
    ran = run("explain", "gsm8k", data, "--answers", kept, *words, "--json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert [each["response"] for each in found] == texts
    assert [each["aggregate_reward_score"] for each in found] == scores
    assert all(each["place"].startswith("answer ") for each in found)


def test_answers_of_other_rows_are_said_to_be(answers, file):
    data, kept = answers
    ran = run("explain", "gsm8k", file, "--answers", kept, "--worst", "1")
    assert (ran.exit_code, "holds no answer to a prompt of" in ran.stderr) == (2, True)
    ran = run("explain", "gsm8k", data, "--answers", file, "--worst", "1")
    assert (ran.exit_code, "rows.jsonl is no file of answers" in ran.stderr) == (2, True)


def shown(ran):
    """Names and values of what is shown."""
    return [tuple(re.split(r"  +", line.strip(), maxsplit=1)) for line in ran.stdout.splitlines()]


def test_a_row_is_shown_with_all_that_decided(file):
    ran = run("explain", "gsm8k", file, "--id", "b")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert shown(ran) == [
        ("input line 2, id b",),
        ("prompt", "What is 6 x 7?"),
        ("response", "#### 41"),
        ("reference given", "42"),
        ("answer", "41"),
        ("normal form", "41"),
        ("reference", "42"),
        ("rule", "exact-number"),
        ("the rule", "Numbers are compared exactly, however they are written."),
        ("score", "0"),
        ("reason", "the last #### differs from the reference"),
        ("metric answered", "1"),
        ("metric truncated", "0"),
    ]


def test_several_rows_of_one_id_are_all_shown_and_said(file):
    ran = run("explain", "gsm8k", file, "--id", "twice")
    assert ran.exit_code == 0
    assert ran.stderr == "2 rows have the id 'twice': input line 3, input line 5\n"
    assert ran.stdout.count("id twice") == 2
    assert "Why?" in ran.stdout
    assert "there is no ####" in ran.stdout


def test_of_very_many_rows_of_one_id_the_first_are_shown(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row('a', f'#### {at}'))}\n" for at in range(25)))
    ran = run("explain", "gsm8k", path, "--id", "a")
    assert ran.stderr.startswith("25 rows have the id 'a': input line 1, input line 2, ")
    assert ran.stderr.endswith("input line 20 and 5 more, which are not shown\n")
    assert ran.stdout.count("id a") == 20


def test_a_line_names_one_of_them(file):
    ran = run("explain", "gsm8k", file, "--line", 5)
    assert ran.stdout.startswith("input line 5, id twice")
    assert ran.stdout.count("id twice") == 1


def test_an_item_of_an_array_is_named_by_its_number(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS))
    assert run("explain", "gsm8k", path, "--line", 2).stdout.startswith("input item 2, id b")


@pytest.mark.parametrize("which", [["--id", "q2"], ["--line", "3"], ["--worst", "1"]])
def test_columns_of_any_name_are_mapped_as_score_maps_them(tmp_path, which):
    path = tmp_path / "export.csv"
    path.write_text("key,asked,said,gold\nq1,Why?,#### 3,3\nq2,How?,#### 4,5\n")
    columns = "prompt=asked,response=said,reference=gold,id=key"
    ran = run("explain", "gsm8k", path, "--map", columns, *which)
    assert ran.exit_code == 0, ran.stderr
    assert {("prompt", "How?"), ("response", "#### 4"), ("reference given", "5")} < set(shown(ran))


def test_a_shape_is_named_as_score_takes_it(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question": "Why?", "answer": "#### 4", "ground_truth": "5"}\n')
    ran = run("explain", "gsm8k", path, "--rows", "qar", "--line", "1")
    assert ("reference given", "5") in shown(ran)


def test_the_worst_are_shown_in_the_order_of_the_file(file):
    ran = run("explain", "gsm8k", file, "--worst", 3)
    assert [line for line in ran.stdout.splitlines() if ", id " in line] == [
        "input line 2, id b", "input line 3, id twice", "input line 5, id twice",
    ]  # fmt: skip
    assert ran.stderr == "unscored 2: they follow those with a score\n"
    assert run("explain", "gsm8k", file, "--worst", 100).stdout.count(", id ") == len(ROWS)


def test_an_empty_file_is_said_to_be_empty():
    ran = run("explain", "gsm8k", "-", "--worst", 3, stdin="")
    assert (ran.exit_code, ran.stderr) == (2, "error: standard input holds no rows\n")


def test_standard_input_is_a_file(file):
    ran = run("explain", "gsm8k", "-", "--id", "a", stdin=file.read_text())
    assert "the last #### equals the reference" in ran.stdout


@pytest.mark.parametrize(("id", "error"), [("broken", "BadSample"), ("unread", "BadReference")])
def test_a_row_without_a_score_is_shown_with_its_error(file, id, error):
    ran = run("explain", "gsm8k", file, "--id", id)
    assert ran.exit_code == 1
    assert error in ran.stdout


def test_of_a_long_response_both_ends_are_shown(file):
    ran = run("explain", "gsm8k", file, "--id", "long")
    assert "word" in ran.stdout
    assert "1,606 characters" in ran.stdout
    assert "#### 7" in ran.stdout


def test_json_holds_all_of_a_row(file):
    ran = run("explain", "gsm8k", file, "--id", "twice", "--json")
    first, second = json.loads(ran.stdout)
    assert first["place"] == "input line 3"
    assert (second["prompt"], second["response"]) == ("What is 6 x 7?", "#### 40")
    assert (second["reference"], second["aggregate_reward_score"]) == ("42", 0.0)
    assert second["explanation"]["normal_reference"] == "42"
    (broken,) = json.loads(run("explain", "gsm8k", file, "--id", "broken", "--json").stdout)
    assert (broken["aggregate_reward_score"], broken["explanation"]) == (None, None)
    assert broken["error"]["type"] == "BadSample"


def test_json_of_a_typed_response():
    (found,) = json.loads(
        run("explain", "gsm8k", "--response", "#### 1", "--reference", "1", "--json").stdout
    )
    assert (found["aggregate_reward_score"], found["place"]) == (1.0, "")


def test_a_reference_is_shown_although_nothing_was_compared():
    ran = run("explain", "gsm8k", "--response", "nothing", "--reference", '{"answer": 3}')
    assert ("reference given", '{"answer": 3}') in shown(ran)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "nothing to explain: give --response TEXT, or a FILE with --id ID"),
        (["FILE"], "name rows of FILE by one of --id ID, --line N and --worst N"),
        (["FILE", "--id", "a", "--line", "1"], "name rows of FILE by one of"),
        (["FILE", "--id", "a", "--response", "x"], "--response and a FILE exclude each other"),
        (["FILE", "--id", "a", "--prompt", ""], "--prompt and a FILE exclude each other"),
        (["--id", "a", "--response", "x"], "--id names rows of a FILE"),
        (["--reference", "x"], "nothing to explain"),
        (["--map", "id=a", "--response", "x"], "--map says how to read rows of a FILE"),
        (["--rows", "qa", "--response", "x"], "--rows says how to read rows of a FILE"),
        (["FILE", "--rows", "trll", "--line", "1"], "Did you mean 'trl'?"),
        (["FILE", "--id", "twic"], "has no row with the id 'twic'. Did you mean 'twice'?"),
        (["FILE", "--id", "[link=http://x]y"], "has no row with the id '[link=http://x]y'"),
        (["FILE", "--line", "8"], "has no row at line 8; its last row is input line 7"),
        (["nowhere.jsonl", "--id", "a"], "nowhere.jsonl: No such file or directory"),
    ],
)
def test_what_cannot_be_explained_is_one_line(file, arguments, complaint):
    ran = run("explain", "gsm8k", *[file if each == "FILE" else each for each in arguments])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert complaint in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_reward_that_looks_at_its_group_sees_all_of_it(tmp_path):
    path = tmp_path / "rewards.py"
    path.write_text(
        "from reward_functions import Needs, Score, reward_function\n"
        "@reward_function(version=1, scale=(0, 9), needs=Needs(group=True))\n"
        "def rewards(sample, group):\n    return Score(float(len(group)))\n"
    )
    rows = [row("a", "1"), row("b", "2", prompt="other"), row("c", "3"), row("d", "4")]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for how, score in ((("--id", "c"), 3), (("--line", 2), 1), (("--worst", 1), 1)):
        ran = run("explain", path, tmp_path / "rows.jsonl", *how, "--json")
        assert json.loads(ran.stdout)[0]["aggregate_reward_score"] == score


def examples():
    for name, spec in specs().items():
        for at, example in enumerate(spec.examples):
            yield pytest.param(spec, example, id=f"{name}-{at}")


def texts_of(value):
    """Every string of a JSON value."""
    if isinstance(value, dict | list):
        return [
            text
            for each in (value.values() if isinstance(value, dict) else value)
            for text in texts_of(each)
        ]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(("spec", "example"), list(examples()))
def test_no_example_of_any_reward_is_explained_by_a_repr(spec, example, capsys):
    (result,) = score_batch(spec.bound_to_example(example), [example.sample()])
    found = [Explained(Read("", example.sample()), result)]
    for as_json in (False, True):
        _show(spec, found, as_json=as_json)
    printed = capsys.readouterr().out.replace(json.dumps(example.response), "")
    assert REPR.findall(printed) == []
    assert isinstance(result, (Scored, Unscored))
    assert not REPR.search(" ".join(texts_of(explanation(result, spec.name))))


@pytest.mark.parametrize("name", specs())
def test_no_page_of_the_catalogue_holds_a_repr(name):
    assert REPR.findall(run("show", name).stdout) == []


def test_no_list_holds_a_repr():
    assert REPR.findall(run("list").stdout + run("audit", "math", "--all").stdout) == []


class Pair(NamedTuple):
    value: Any
    places: int | None = None


@dataclass
class Known:
    value: Any
    other: Any = None


class Silent:
    pass


class Kind(Enum):
    ONE = 1


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (None, None),
        (Fraction(617, 50), "617/50"),
        (Decimal("1.50"), "1.50"),
        (Pair(Fraction(1, 2), 3), "value: 1/2; places: 3"),
        (Known(Pair(1)), "value: value: 1"),
        ([{"same": "yes", "reason": ""}, {"same": "no"}], "same: yes | same: no"),
        ({"a": [1, 2], "b": None}, "a: 1, 2"),
        (("x", Decimal(3)), "x, 3"),
        ({Fraction(1, 3)}, "1/3"),
        (Silent(), "Silent"),
        (Silent, "Silent"),
        (b"abc", "3 bytes"),
        ([], ""),
        pytest.param(10**5_000, "a number of too many digits to write", id="digits"),
        ({"n": 10**5_000}, "n: a number of too many digits to write"),
        (LOOP, "…"),
        (list(range(1_002)), ", ".join(map(str, range(1_000))) + " and 2 more"),
    ],
)
def test_a_form_is_written_by_what_it_says_or_by_its_parts(form, text):
    assert rendered(form) == text
