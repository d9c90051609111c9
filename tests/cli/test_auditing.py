"""`reward audit` and `reward compare` as they are typed: what they write, and what they refuse."""

import ast
import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from reward_functions.audit.rendering import SCHEMA_FILE
from reward_functions.cli import app

ROWS = [
    {"id": "same", "prompt": f"What is {at} + {at}?", "answer": str(2 * at)} for at in range(5, 30)
]
ROLLOUTS = [
    {"id": f"{row['prompt']}{at}", **row, "response": f"#### {int(row['answer']) + at}"}
    for row in ROWS
    for at in (0, 1)
]
MINE = "def strict(response, reference):\n    return float(response.strip() == str(reference))\n"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """A command in a folder with rows, rollouts and a function."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("rows.jsonl", ROWS), ("rollouts.jsonl", ROLLOUTS)):
        Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("mine.py").write_text(MINE)
    return lambda *words: CliRunner().invoke(app, [*words])


OVER = [
    ("audit", "gsm8k", "rows.jsonl", "--format", "json", "--out", "rows.jsonl"),
    ("audit", "gsm8k", "rows.jsonl", "--format", "json", "--out", "./rows.jsonl"),
    ("audit", "gsm8k", "rows.jsonl", "--format", "junit", "--out", "linked.jsonl"),
    ("audit", "mine.py:strict", "rows.jsonl", "--format", "markdown", "--out", "mine.py"),
    ("audit", "gsm8k", "rows.html", "--report", "rows.html"),
    ("compare", "gsm8k", "math", "rollouts.jsonl", "--format", "json", "--out", "rollouts.jsonl"),
    (
        "compare",
        "gsm8k",
        "mine.py:strict",
        "rollouts.jsonl",
        "--format",
        "json",
        "--out",
        "mine.py",
    ),
]


@pytest.mark.parametrize("words", OVER, ids=" ".join)
def test_nothing_is_written_over_what_is_read(run, words):
    Path("linked.jsonl").symlink_to("rows.jsonl")
    Path("rows.html").write_text(Path("rows.jsonl").read_text())
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    ran = run(*words)
    assert (ran.exit_code, "is read: write to another file" in ran.stderr) == (2, True), ran.stderr
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("form", ["json", "junit", "markdown"])
def test_a_report_goes_to_a_file_of_its_own_and_over_an_earlier_report(run, form):
    for _ in range(2):
        ran = run("audit", "gsm8k", "rows.jsonl", "--class", "EX-LIST", "--format", form,
                  "--out", "report", "--report", "page.html", "--allow-undecided")  # fmt: skip
        assert (ran.exit_code, ran.stdout) == (0, ""), ran.stderr
    assert "exploit" in Path("report").read_text()
    assert "<svg" in Path("page.html").read_text() or "<table" in Path("page.html").read_text()


def test_what_is_written_to_a_file_is_summed_up_on_standard_error(run):
    asked = ("audit", "gsm8k", "rows.jsonl", "--class", "EX-LIST", "--allow-undecided")
    ran = run(*asked, "--out", "audit.json", "--report", "page.html")
    assert (ran.exit_code, ran.stdout) == (0, "")
    lines = ran.stderr.splitlines()
    assert lines[0].startswith("gsm8k: passed: all ")
    assert lines[-2:] == ["written: audit.json", "written: page.html"]


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_a_folder_that_does_not_exist_is_refused_before_anything_is_scored(run, option):
    ran = run("audit", "gsm8k", "rows.jsonl", option, "none/page.html")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == f"error: {option} none/page.html: the folder none does not exist\n"


def test_rows_of_one_id_are_rows(run):
    """The form that a function pays is found by the row, and not by its id."""
    ran = run("audit", "mine.py:strict", "rows.jsonl", "--format", "json", "--class", "FN-LAYOUT")
    found = json.loads(ran.stdout)
    assert "right answers are the reference, bare" in found["notes"]
    assert found["data"]["prompts"] == 25


def test_where_it_is_not_known_what_is_paid_nothing_was_measured_whatever_the_data_hold(run):
    Path("never.py").write_text("def never(response, reference):\n    return 0.0\n")
    ran = run("audit", "never.py:never", "rollouts.jsonl")
    assert ran.exit_code == 2
    assert "nothing was measured" in ran.stderr
    assert "no form of the reference earns more than an empty answer" in ran.stdout


LOOSE = "def loose(response, reference):\n    return float(str(reference) in response)\n"


def test_without_texts_one_line_says_how_to_see_the_answers(run):
    Path("loose.py").write_text(LOOSE)
    shown = run("audit", "loose.py:loose", "rows.jsonl").stdout
    assert shown.count("--texts") == 1
    assert "input line" not in shown


def test_with_texts_the_end_of_a_long_answer_stays(run):
    Path("loose.py").write_text(LOOSE)
    shown = run("audit", "loose.py:loose", "rows.jsonl", "--texts").stdout
    assert "--texts" not in shown
    (line,) = (each for each in shown.splitlines() if each.startswith("EX-RETRACT, "))
    assert line.startswith("EX-RETRACT, input line 1: 1 for '10\\nLet me look at it once more.")
    assert line.endswith("It is this:\\n12', reference 10; at 25 of 25 prompts")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("audit", "torn.py:f", "rows.jsonl"), "could not be audited: torn.py, line 1"),
        (("compare", "gsm8k", "torn.py:f", "rollouts.jsonl"), "could not be compared: torn.py"),
        (("audit", "never.py:never", "rows.jsonl"), "no form of the reference earns more than"),
    ],
)
def test_what_could_not_be_looked_at_is_written_as_well(run, monkeypatch, words, why):
    """An old comment and an old file would say that it passed."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    Path("torn.py").write_text("import no_such_module_of_mine\n")
    Path("never.py").write_text("def never(response, reference):\n    return 0.0\n")
    for name in ("a.md", "a.xml", "a.json", "a.html"):
        ran = run(*words, "--out", name)
        assert ran.exit_code == 2
        assert why in Path(name).read_text(), name
        assert why in next(line for line in ran.stderr.splitlines() if line.startswith("::error "))
    found = json.loads(Path("a.json").read_text())
    assert (found["status"], found["passed"]) == (2, False)
    jsonschema.validate(found, json.loads(SCHEMA_FILE.read_text()))
    assert Path("a.md").read_text().splitlines()[2].startswith(("**could not", "**nothing was"))
    assert "<tbody>\n</tbody>" not in Path("a.html").read_text()
    assert '<testsuite name="' in (junit := Path("a.xml").read_text())
    assert 'errors="1"' in junit


@pytest.mark.parametrize("name", ["a.txt", "a"])
def test_a_file_says_its_format_by_the_end_of_its_name(run, name):
    ran = run("audit", "gsm8k", "rows.jsonl", "--out", name)
    assert (ran.exit_code, Path(name).exists()) == (2, False)
    assert f"--out {name}: end it in .json, .xml, .md, .html" in ran.stderr


def test_undecided_is_called_so(run):
    ran = run("audit", "gsm8k", "rows.jsonl")
    assert ran.exit_code == 1
    assert "not fit to train on" not in ran.stderr
    assert (
        "undecided: exploit>0.02: exploit is 0.0% (0.0% to 13.3%, 25 prompts); "
        "take 189 prompts, or --allow-undecided"
    ) in ran.stderr


@pytest.mark.parametrize("texts", [(), ("--texts",)])
def test_what_a_search_found_is_printed_whole_and_can_be_pasted(run, texts):
    long = [row | {"prompt": f"{row['prompt']} {'Take your time. ' * 30}"} for row in ROWS]
    Path("long.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in long))
    Path("any.py").write_text(
        "def any_box(response, reference):\n"
        "    return float(' or ' in response or response == str(reference))\n"
    )
    ran = run("audit", "any.py:any_box", "long.jsonl", "--search", "300", *texts)
    found = [line for line in ran.stdout.splitlines() if line.startswith("Example(")]
    assert len(found) >= 2
    pasted = ast.parse("[\n" + "\n".join(found) + "\n]", mode="eval")
    assert len(pasted.body.elts) == len(found)
    assert all(line.endswith(",  # of any_box") for line in found)
    assert all(line.count("Take your time.") == 30 for line in found)
