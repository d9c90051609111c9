"""`reward score`: every row comes back, and input that cannot be used leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from reward_functions import get, sample, score_batch, specs
from reward_functions.cli import app
from reward_functions.serving.contract import decode, result_object
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing import wire_row
from tests import commands
from tests.commands import PIPE, Command
from tests.conformance.conftest import remembering, texts_are_read_once
from tests.waiting import PATIENCE, until

__all__ = ["remembering", "texts_are_read_once"]


def row(response="Paris", reference="Paris", **fields):
    return wire_row(sample(response, reference)) | fields


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def score(text, *arguments, reward="exact_match"):
    return run("score", reward, "-", *arguments, stdin=text)


def results(ran):
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_one_result_a_line_in_input_order():
    ran = score(jsonl(row(id="b"), row("Lyon", id="a"), row(id=7)))
    assert ran.exit_code == 0
    assert [result["id"] for result in results(ran)] == ["b", "a", "7"]
    assert [result["aggregate_reward_score"] for result in results(ran)] == [1.0, 0.0, 1.0]


def test_a_scored_line_is_byte_for_byte_what_the_lambda_returns(tmp_path):
    rows = [row(id="é"), row("Lyon"), row("Paris", {"answer": "paris"}), row("", "x")]
    answered = bind(LambdaSettings(name="exact_match"))(rows)
    assert score(jsonl(*rows)).stdout == jsonl(*answered)


def test_an_unscored_line_has_no_number_and_says_why():
    ran = score(jsonl(row(id="good"), row(id="bad", reference_answer=None)))
    assert ran.exit_code == 1
    assert results(ran)[1] == {
        "id": "bad",
        "aggregate_reward_score": None,
        "error": {"type": "BadReference", "message": "input line 2: there is no reference"},
    }


MALFORMED = [
    ({}, "messages is missing"),
    ({"id": "x", "messages": "text"}, "messages is a string"),
    ({"id": "x", "messages": None}, "messages is null"),
    ({"id": "x", "messages": ["text"]}, "messages[0] is a string"),
    ({"id": "x", "messages": [{"role": 1, "content": ""}]}, "messages[0].role is a number"),
    ({"id": "x", "messages": [{"role": "user", "content": 1}]}, "messages[0].content is a number"),
]


@pytest.mark.parametrize(("malformed", "complaint"), MALFORMED)
def test_a_row_that_is_no_sample_names_line_and_field_and_the_others_are_scored(
    malformed, complaint
):
    ran = score("\n" + jsonl(row(id="one"), malformed, row(id="two")))
    assert ran.exit_code == 1
    first, bad, last = results(ran)
    assert bad["error"]["type"] == "BadSample"
    assert bad["error"]["message"].startswith("input line 3: ")
    assert complaint in bad["error"]["message"]
    assert first["aggregate_reward_score"] == last["aggregate_reward_score"] == 1.0


def test_the_shape_of_a_sample_is_reported_once_however_many_rows_are_none():
    flat = {"prompt": "Where?", "response": "Paris"}
    ran = score(jsonl(row(), *[flat] * 50))
    assert ran.stderr.count('a sample is written {"id": …, "messages": [{"role": "user"') == 1
    assert "a sample is written" not in score(jsonl(row(reference_answer=None))).stderr


def test_malformed_rows_everywhere_change_nothing_for_the_good_ones():
    good = [row("Paris" if at % 3 else "Lyon", id=f"good-{at}") for at in range(492)]
    mixed = list(good)
    for at in range(20):
        mixed.insert(at * 25, MALFORMED[at % len(MALFORMED)][0])
    ran = score(jsonl(*mixed))
    scored = [line for line in results(ran) if "error" not in line]
    assert len(results(ran)) == 512
    assert jsonl(*scored) == score(jsonl(*good)).stdout


def test_a_json_array_is_read_as_well():
    rows = [row(id="a"), {"id": "b"}]
    ran = score(json.dumps(rows, indent=2))
    assert [result["id"] for result in results(ran)] == ["a", "b"]
    assert results(ran)[1]["error"]["message"].startswith("input item 2: messages")


def test_blank_lines_and_a_byte_order_mark_are_skipped():
    text = "\ufeff\n" + jsonl(row(id="a")) + "\n  \n" + jsonl(row(id="b"))
    assert [result["id"] for result in results(score(text))] == ["a", "b"]
    assert score("\ufeff" + jsonl(row())).exit_code == 0


@pytest.mark.parametrize("empty", ["", "\n\n", "[]", " [ ] \n"])
def test_no_rows_are_an_error_unless_somebody_expects_them(empty):
    ran = score(empty)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "error: standard input holds no rows: name another file, or add --allow-empty\n"
    )
    expected = score(empty, "--allow-empty")
    assert (expected.exit_code, expected.stdout) == (0, "")
    assert expected.stderr.startswith("samples 0")


def test_an_output_file_stays_what_it_was_where_there_are_no_rows(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("before")
    assert score("", "-o", out).exit_code == 2
    assert out.read_text() == "before"
    assert score("", "-o", out, "--allow-empty").exit_code == 0
    assert out.read_text() == ""


def test_the_json_format_is_one_array_of_the_same_objects():
    text = jsonl(row(id="a"), row(id="b", reference_answer=None))
    assert json.loads(score(text, "--format", "json").stdout) == results(score(text))
    assert json.loads(score("", "--format", "json", "--allow-empty").stdout) == []


def test_explain_adds_an_explanation_and_nothing_else():
    text = jsonl(row("Lyon", id="a"), row(id="b", reference_answer=None))
    explained = results(score(text, "--explain"))
    assert explained[0].pop("explanation") == {
        "answer": "Lyon",
        "reason": "the response is another text",
        "outcome": None,
        "rule": "normalised-text",
        "normal_answer": "lyon",
        "normal_reference": "paris",
    }
    assert explained[1].pop("explanation") is None
    assert explained == results(score(text))


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (r"\boxed{0.5}", "equal"),
        (r"\boxed{0.6}", "different"),
        (r"\boxed{\text{an ellipse}}", "undecided"),
        ("", None),
    ],
)
def test_an_explanation_tells_what_was_proven(response, outcome):
    text = jsonl(row(response, reference_answer=r"\frac{1}{2}"))
    (explained,) = results(score(text, "--explain", reward="math"))
    assert explained["explanation"]["outcome"] == outcome


def test_the_table_shows_scores_and_marks_what_has_none():
    ran = score(jsonl(row(id="a"), row(id="b", reference_answer=None)), "--format", "table")
    header, _, first, second = [line for line in ran.stdout.splitlines() if line.strip()]
    assert header.split() == ["id", "score", "error"]
    assert first.split() == ["a", "1", "-"]
    assert second.split()[:4] == ["b", "unscored", "BadReference:", "input"]


CLASHING = """
from reward_functions import Metric, Sample, Score, reward_function

@reward_function(version=1, metrics=["answer", "score"])
def clashing(sample: Sample) -> Score:
    return Score(1.0, (Metric("answer", 12345.0), Metric("score", 0.25)), "text")
"""


def test_metrics_may_be_called_as_our_own_columns_are(tmp_path):
    (tmp_path / "clashing.py").write_text(CLASHING)
    reward = str(tmp_path / "clashing.py")
    ran = score(jsonl(row(id="a")), "--format", "table", "--explain", reward=reward)
    header, _, line = [line.split() for line in ran.stdout.splitlines() if line.strip()]
    assert header == ["id", "score", "answer", "score", "answer", "reason"]
    assert line == ["a", "1", "12345", "0.25", "text", "-"]
    explained = run("explain", reward, "--response", "x").stdout.splitlines()
    assert [line.split()[-1] for line in explained] == ["text", "1", "-", "12345", "0.25"]


def test_a_response_cannot_repaint_the_terminal_or_write_markup():
    text = jsonl(row("\x1b[2J[bold red]\u202eyes\ud800\0\r\n" + "x" * 9_999, id="[/]\x1b]0;x\x07"))
    ran = score(text, "--format", "table", "--explain")
    assert ran.exit_code == 0
    assert not set(ran.stdout) & {"\x1b", "\x07", "\0", "\r", "\u202e", "\ud800"}
    assert r"[/]\x1b" in ran.stdout
    assert len(ran.stdout) < 3_000


IDS = [
    "x" * 100_000,
    "😀" * 300,
    "שלום" * 100,
    "\u202e" * 200,
    "550e8400-e29b-41d4-a716-446655440000",
]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("id", IDS, ids=["long", "wide", "right to left", "override", "uuid"])
def test_an_id_is_one_line_of_any_table_and_cut_where_it_is_long(id, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    ran = score(jsonl(row(id=id), row(id="the-next-1")), "--format", "table")
    lines = [line for line in ran.stdout.splitlines() if line.strip()]
    assert len(lines) == 4
    assert all(cell_len(line) <= width for line in lines)
    assert "the-next-1" in lines[-1]
    assert ("…" in lines[-2]) is (len(id) > 36 or width < 80)
    assert lines[-2].split()[-1] == "1"


def test_a_narrow_table_keeps_the_words_of_an_error(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    bad = row(id="550e8400-e29b-41d4-a716-446655440000", reference_answer=None)
    shown = score(jsonl(row(), bad), "--format", "table").stdout.split()
    assert {"BadReference:", "reference"} <= set(shown)


def test_parameters_reach_the_reward():
    text = jsonl(row("paris"))
    assert results(score(text))[0]["aggregate_reward_score"] == 1.0
    strict = results(score(text, "--param", "ignore_case=false"))
    assert strict[0]["aggregate_reward_score"] == 0.0


def test_the_summary_tells_a_trainers_view_on_standard_error():
    prompts = ["a", "a", "b", "b", "c"]
    rows = [
        wire_row(sample(response, "Paris", prompt=prompt))
        for response, prompt in zip(
            ["Paris", "Lyon", "Lyon", "Lyon", "Paris"], prompts, strict=True
        )
    ]
    ran = score(jsonl(*rows, {"id": "bad"}))
    _, figures, groups, notes, unscored, reasons = ran.stderr.splitlines()
    assert figures.startswith(
        "samples 6 · mean 0.4000 · std 0.4899 · share at the minimum 60.0% · "
        "unscored 1 (BadSample 1) · "
    )
    assert figures.endswith("samples/s")
    assert groups == (
        "prompts with several samples 2 · frac_reward_zero_std 0.500: groups with zero advantage, "
        "1 all at the minimum"
    )
    assert notes == "rows with the id of a row before 4"
    assert unscored == "unscored BadSample (1), the first: input line 6: messages is missing"
    assert reasons == (
        "at the minimum: the response is another text (3) · perhaps the answer stands inside a "
        "longer response; try: math, multiple_choice or the judge reference, or ask for nothing "
        "but the answer"
    )


UNUSABLE = {
    "not JSON": ('{"id": 1}\nnonsense\n', "line 2, column 1: not JSON: Expecting value\n"),
    "cut short": ('{"id": 1}\n\n{"id":', "line 3, column 7: not JSON: Expecting value\n"),
    "cut short in a line that ends": ('{"id":\n', "line 1, column 7: not JSON: Expecting value\n"),
    "one object on several lines": (
        '{\n  "id": 1\n}\n',
        "in double quotes; one object a line, or one array\n",
    ),
    "a list": ('{"id": 1}\n[1]\n', "line 2: not a JSON object but an array"),
    "a number": ('{"id": 1}\n7\n', "line 2: not a JSON object but a number"),
    "a string": ('"row"\n', "line 1: not a JSON object but a string"),
    "null": ("null\n", "line 1: not a JSON object but null"),
    "nested too deep": (
        '{"id": 1}\n{"a":' + "[" * 100_000 + "\n",
        "line 2: JSON nested more than 100",
    ),
    "digits": ('{"id": ' + "9" * 10_000 + "}\n", "line 1: an integer of too many digits"),
    "an array with a number": ("[{}, 7]", "item 2: not a JSON object but a number"),
    "an array cut short": ("\n[{},\n{}\n", "line 3, column 3: not JSON: "),
    "an array and more": ("[{}]\n[{}]\n", "line 2, column 1: not JSON: Extra data\n"),
    "a raw control character": (
        '{"id": "\0"}\n',
        "line 1, column 9: not JSON: Invalid control character\n",
    ),
    "not UTF-8": (
        b'{"id": 1}\n{"id": "\xff"}\n',
        (
            'line 2, byte 9: not UTF-8: save it as UTF-8, which Excel calls "CSV UTF-8", or `iconv '
            "-f cp1252 -t utf-8 FILE > NEW`"
        ),
    ),
    "not UTF-8 in an array": (b'[{"id": 1},\n{"id": "\xff"}]', "line 2: not UTF-8"),
    "UTF-16": ('{"id": 1}'.encode("utf-16"), "is UTF-16: save it as UTF-8"),
    "half a surrogate, raw": (b'{"id": "\xed\xa0\x80"}', "line 1, byte 9: not UTF-8"),
}


@pytest.mark.parametrize(("text", "complaint"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_input_is_one_line_and_nothing_is_written(text, complaint, tmp_path):
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = run("score", "exact_match", file, "-o", out)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert str(file) in ran.stderr
    assert complaint in ran.stderr
    assert list(tmp_path.iterdir()) == [file]


def test_standard_input_is_called_by_its_name():
    assert "standard input, line 1, column 1: not JSON" in score("x").stderr


BAD_ARGUMENTS = {
    "an unknown reward": (["exact_mach", "ok"], "Did you mean 'exact_match'?"),
    "an unknown parameter": (["exact_match", "ok", "--param", "ignorecase=1"], "'ignore_case'?"),
    "a value of the wrong type": (["exact_match", "ok", "-p", "ignore_case=maybe"], "takes bool"),
    "a parameter without a value": (
        ["exact_match", "ok", "-p", "ignore_case"],
        "written name=value",
    ),
    "a file that is not there": (["exact_match", "missing"], "missing: No such file"),
    "a folder": (["exact_match", "."], "a folder without rows"),
    "a name of nothing": (["exact_match", ""], "No such file"),
    "a reward's file that is not there": (["./none.py", "ok"], "none.py: No such file"),
    "a parameter twice": (
        ["exact_match", "ok", "-p", "ignore_case=1", "-p", "ignore_case=0"],
        "parameter 'ignore_case' is set twice",
    ),
    "no folder for the output": (
        ["exact_match", "ok", "-o", "no/out"],
        "no/out: the folder no does not exist",
    ),
    "an output of no name": (["exact_match", "ok", "-o", ""], " '': "),
    "a format": (
        ["exact_match", "ok", "--format", "xml"],
        "'xml' is not one of table, jsonl, json\n",
    ),
    "too few workers": (["exact_match", "ok", "--workers", "0"], "'--workers': 0 is less than 1\n"),
    "workers": (["exact_match", "ok", "--workers", "two"], "'two' is not a whole number\n"),
}


@pytest.mark.parametrize(("arguments", "complaint"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_unusable_arguments_are_one_line_and_nothing_is_written(
    arguments, complaint, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok").write_text(jsonl(row()))
    ran = run("score", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: ")
    assert ran.stderr.count("\n") == 1
    assert complaint in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["ok"]


@pytest.mark.parametrize(
    "arguments", [["--workers", "0"], ["--format", "xml"], ["--what"], ["more"]]
)
def test_unusable_options_have_the_same_status(arguments):
    ran = score("", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_an_output_file_is_complete_and_has_no_companions(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("before")
    text = jsonl(row(id="a"), row(id="b"))
    ran = score(text, "-o", out)
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert out.read_text() == score(text).stdout
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("output", ["rows", "./rows", "hard", "soft"])
def test_the_input_file_is_never_replaced(output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "rows"
    file.write_text(jsonl(row()))
    (tmp_path / "hard").hardlink_to(file)
    (tmp_path / "soft").symlink_to(file)
    ran = run("score", "exact_match", "rows", "-o", output)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: {output} holds the samples")
    assert ran.stderr.count("\n") == 1
    assert file.read_text() == jsonl(row())
    assert len(list(tmp_path.iterdir())) == 3


def test_the_input_file_is_not_replaced_when_it_comes_as_standard_input(tmp_path):
    file = tmp_path / "rows"
    file.write_text(jsonl(row()))
    with file.open("rb") as stdin:
        ran = commands.run(
            ["score", "exact_match", "-", "-o", file], stdin=stdin, stdout=PIPE, stderr=PIPE
        )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert file.read_text() == jsonl(row())


def test_a_dash_is_standard_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = jsonl(row())
    assert score(text, "-o", "-").stdout == score(text).stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is Linux's /dev/full")
@pytest.mark.parametrize("name", ["/dev/full", "standard output"])
def test_a_full_disk_is_one_line_with_the_name_as_typed(name, tmp_path):
    (tmp_path / "rows").write_text(jsonl(row()))
    arguments = ["-o", name] if name == "/dev/full" else []
    with Path("/dev/full").open("wb") as full:
        ran = commands.run(
            ["score", "exact_match", tmp_path / "rows", *arguments], stdout=full, stderr=PIPE
        )
    assert (ran.returncode, ran.stderr) == (2, f"error: {name}: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is Linux's /dev/full")
@pytest.mark.parametrize("arguments", ["--help", "--version", "list", "score --help"])
def test_whatever_is_printed_to_a_full_disk_is_one_line(arguments):
    with Path("/dev/full").open("wb") as full:
        ran = commands.run(arguments.split(), stdout=full, stderr=PIPE)
    assert (ran.returncode, ran.stderr) == (2, "error: standard output: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is Linux's /dev/full")
def test_a_process_that_nobody_forked_ends_without_a_word_of_pythons_own():
    # As a shell has it: unbuffered, Python drops what a pipe or a disk did not take.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = (sys.executable, "-m", "reward_functions.cli", "--version")
    reading, writing = os.pipe()
    os.close(reading)
    with Path("/dev/full").open("wb") as full, os.fdopen(writing, "wb") as closed:
        for stdout, ended in (
            (full, (2, b"error: standard output: No space left on device\n")),
            (closed, (141, b"")),
        ):
            ran = subprocess.run(
                command, stdout=stdout, stderr=subprocess.PIPE, check=False, env=buffered
            )
            assert (ran.returncode, ran.stderr) == ended


def test_a_reader_of_help_that_has_read_enough_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    ran = commands.run(["--help"], stdout=writing, stderr=PIPE)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, "")


FAILING = """
import json, sys
from reward_functions import Sample, Score, reward_function, weighted

def divided(sample: Sample) -> float:
    return 1 / len(sample.response)

@reward_function(version=1)
def part(sample: Sample, *, stop: bool = False) -> Score:
    if stop:
        sys.exit(0)
    assert sample.response != "x"
    return Score(json.loads(sample.response) if sample.response else divided(sample))

failing = weighted({"part": (part, 1)}, version=1, name="failing")
"""


@pytest.mark.parametrize("name", ["part", "failing"])
def test_a_bug_in_a_reward_names_the_line_of_its_own_file(name, tmp_path):
    reward = tmp_path / f"{name}.py"
    reward.write_text(FAILING if name == "failing" else FAILING.partition("\nfailing")[0])
    ran = score(jsonl(row(""), row("x"), row("{")), reward=reward)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("nothing was measured: 0 of 3 rows measured\n")
    empty, asserted, parsed = [result["error"]["message"] for result in results(ran)]
    explained = " ".join(run("explain", reward, "--response", "").stdout.split())
    if name == "failing":  # a composite names its part as well
        raised = "input line {}: part raises {} (failing.py, line {})"
        assert empty == raised.format(1, "ZeroDivisionError", 6) + ": division by zero"
        assert asserted == raised.format(2, "AssertionError", 12)
        assert parsed.startswith(raised.format(3, "JSONDecodeError", 13) + ": Expecting property")
        assert "part raises ZeroDivisionError (failing.py, line 6)" in explained
        return
    assert empty == "input line 1: division by zero (part.py, line 6)"
    assert asserted == "input line 2: (part.py, line 12)"
    assert parsed.startswith("input line 3: Expecting property name")
    assert parsed.endswith(" (part.py, line 13)")
    assert "ZeroDivisionError: division by zero (part.py, line 6)" in explained


@pytest.mark.parametrize("workers", [1, 3])
def test_a_reward_that_exits_does_not_end_the_command_silently(workers, tmp_path):
    reward = tmp_path / "part.py"
    reward.write_text(FAILING)
    ran = score(jsonl(row()), "-p", "stop=1", "--workers", workers, reward=reward)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "error: part.py, line 11: called sys.exit(0)\n"


def test_an_output_that_is_no_file_is_written_to_and_not_replaced():
    assert score(jsonl(row()), "-o", os.devnull).exit_code == 0
    assert Path(os.devnull).is_char_device()


def test_a_table_goes_to_a_file_too(tmp_path):
    score(jsonl(row(id="a")), "-o", tmp_path / "out.txt", "--format", "table")
    assert "score" in (tmp_path / "out.txt").read_text()


def test_workers_change_nothing():
    text = jsonl(*[row(str(at), str(at % 2), id=at) for at in range(50)])
    assert score(text, "--workers", "8").stdout == score(text).stdout


VERIFIERS = {name: spec for name, spec in specs().items() if not spec.needs.judge}


@pytest.mark.usefixtures("texts_are_read_once")
@pytest.mark.parametrize("spec", VERIFIERS.values(), ids=VERIFIERS)
def test_hostile_responses_pass_through_and_are_explained(spec, remembering, tmp_path):
    example = next(example for example in spec.examples if example.kind == "positive")
    _, hostile = remembering
    # A long row takes the same way to every reward, and the suite of the contract scores it.
    longest = 1_000_000 if spec.name == "math" else 100_000
    texts = [(name, text) for name, text in hostile if len(text) < longest]
    fields = example.metadata
    rows = [row(text, example.reference, id=name, **fields) for name, text in texts]
    (tmp_path / "rows").write_text(jsonl(*rows))
    ran = run("score", spec.name, tmp_path / "rows", "--explain")
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.isascii()
    assert [result["id"] for result in results(ran)] == [name for name, _ in texts]
    assert max(result["aggregate_reward_score"] for result in results(ran)) <= spec.most_undeserved
    # A table cuts whatever is longer: the long ones are not scored again.
    short = [each for each, (_, text) in zip(rows, texts, strict=True) if len(text) <= 10_000]
    (tmp_path / "rows").write_text(jsonl(*short))
    assert (
        run("score", spec.name, tmp_path / "rows", "--format", "table", "--explain").exit_code == 0
    )


def test_the_command_scores_what_the_library_scores():
    rows = [row(str(at), str(at % 3), id=at) for at in range(30)]
    library = [result_object(result) for result in score_batch(get("exact_match"), decode(rows))]
    assert score(jsonl(*rows)).stdout == jsonl(*library)


SLOW = """
import time
from reward_functions import Sample, Score, reward_function

@reward_function(version=1)
def slow(sample: Sample) -> Score:
    time.sleep(30)
    return Score(0.0)
"""


def test_an_interrupt_ends_quietly_and_leaves_no_file(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "rows").write_text(jsonl(row()))
    running = Command(["score", "./slow.py", "rows", "-o", "out"], cwd=tmp_path, stderr=PIPE)
    try:
        until((tmp_path / "out.partial").exists)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    message = "\ninterrupted: 0 of 1 scored, and nothing is kept\n"
    assert running.returncode == 130
    assert stderr in {"", message} or stderr.startswith("\ninterrupted before the first row")
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


@pytest.mark.parametrize("format", ["jsonl", "json", "table"])
def test_a_reader_that_has_read_enough_is_no_error(format, tmp_path):
    rows = tmp_path / "rows"
    rows.write_text(jsonl(*[row(id="wide" * 15 + str(at)) for at in range(3_000)]))
    running = Command(["score", "exact_match", rows, "--format", format], stdout=PIPE, stderr=PIPE)
    running.stdout.read(10)
    running.stdout.close()
    stderr = running.stderr.read()
    running.stderr.close()
    assert running.wait(timeout=PATIENCE) == 141
    assert "Traceback" not in stderr


def read_to_end(terminal):
    """What was written to a terminal whose other end is closed; it hands over a piece at a time."""
    pieces = []
    with suppress(OSError):  # nobody is left who writes
        while piece := os.read(terminal, 100_000):
            pieces.append(piece)
    return b"".join(pieces).decode()


def test_on_a_terminal_there_is_a_table_and_a_progress_bar(tmp_path):
    (tmp_path / "rows").write_text(jsonl(row(id="a")))
    ours, theirs = os.openpty()
    ran = commands.run(
        ["score", "exact_match", tmp_path / "rows"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={"TERM": "xterm"},
    )
    os.close(theirs)
    shown = read_to_end(ours)
    os.close(ours)
    assert ran.returncode == 0
    assert "scoring" in shown
    assert "answered" not in shown
    assert "aggregate_reward_score" not in shown
    assert "samples 1" in shown
