"""`reward init`: what it writes is green at once, and a mistake is one sentence and no file."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import pty
import subprocess
import sys
import tomllib
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from typer.testing import CliRunner

from reward_functions.cli import app
from tests import commands
from tests.commands import PIPE
from tests.walkthrough import unparsed

ROOT = Path(__file__).parents[2]


def ran(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def table(header, rows, delimiter=","):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def sums(count, header=("question", "answer"), **options):
    """A CSV of sums, each with its answer."""
    return table(header, [[f"What is {at} plus one?", at + 1] for at in range(count)], **options)


def prompts(path):
    rows = map(json.loads, path.read_text().splitlines())
    return [row["messages"][-1]["content"] for row in rows]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def audits():
    """For a test of what the audit finds."""


@pytest.fixture(autouse=True)
def unaudited(request, monkeypatch):
    """An audit takes long: tests of other things have one that passes."""
    if "audits" not in request.fixturenames:
        passed = SimpleNamespace(failures=[])
        monkeypatch.setattr("reward_functions.cli.init.audited", lambda *_, **__: passed)


@pytest.fixture
def shop(here):
    """A folder for Bedrock."""
    (here / "sums.csv").write_text(sums(130))
    done = ran("init", "shop", "--data", "sums.csv", "--yes")
    assert done.exit_code == 0, done.output
    return here / "shop"


def next_commands(done):
    _, _, listed = done.stdout.partition("cd ")
    return [line.split() for line in listed.splitlines()[1:] if line.strip()]


def test_what_it_writes_is_green_at_once(here):
    (here / "sums.csv").write_text(sums(130))
    done = ran("init", "shop", "--data", "sums.csv", "--yes")
    assert done.exit_code == 0, done.output
    typed = next_commands(done)
    assert [words[:3] for words in typed] == [
        ["reward", "data", "lint"],
        ["reward", "data", "lint"],
        ["pytest", "-q"],
        ["reward", "audit", "gsm8k"],
        ["reward", "stage", "check"],
        ["reward", "job", "plan"],
    ]
    with chdir("shop"):
        for words in typed:
            if words[0] == "reward":
                checked = ran(*words[1:])
                assert checked.exit_code == 0, checked.output
            if words[1:3] == ["data", "lint"]:
                assert "errors 0" in checked.stderr
    plain = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd="shop", env=plain, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "3 passed" in tested.stdout, tested.stdout
    assert GREEN in Path("shop/README.md").read_text()


GREEN = "Each command is green in the folder as it was written."


def test_a_reward_that_its_audit_refuses_is_not_called_green(here, audits):
    for name, answers in (("rows", "ABCD"), ("denied", ("no", "yes and"))):
        rows = [[f"Ticket {at}", answers[at % len(answers)]] for at in range(60)]
        (here / f"{name}.csv").write_text(table(("prompt", "answer"), rows))
    words = ["--data", "rows.csv", "--yes", "--for", "own"]
    labels = ["--reward", "answer_text", "-p", "labels=no,yes and"]
    done = ran("init", "red", "--data", "denied.csv", *words[2:], *labels)
    readme = (here / "red/README.md").read_text()
    for text in (done.stderr, readme):
        assert "`reward audit` finds answer_text not fit to train on: `exploit>0.02" in text
    assert GREEN not in readme
    assert "Not each command is green" in readme
    done = ran("init", "green", *words)
    assert "not fit" not in done.stderr
    assert GREEN in (here / "green/README.md").read_text()
    with chdir("green"):
        typed = next(words for words in next_commands(done) if words[1] == "audit")
        assert ran(*typed[1:]).exit_code == 0


def test_splits_that_share_a_prompt_are_not_called_green(here):
    rows = [[f"{at}?", at, part] for part in ("train", "test") for at in range(30)]
    (here / "rows.csv").write_text(table(("prompt", "answer", "split"), rows))
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert "`reward data lint` finds 1 error, such as `two files share a prompt" in done.stderr
    assert "data/test.jsonl" in done.stderr
    readme = (here / "made/README.md").read_text()
    assert GREEN not in readme
    assert "`reward data lint` finds 1 error" in readme


def test_every_file_is_of_its_kind_and_every_command_exists(shop):
    stages = json.loads((shop / "cdk.json").read_text())["context"]["stages"]
    assert stages["local"] == {"extends": "dev", "emulated": True}
    job = tomllib.loads((shop / "job.toml").read_text())
    assert (job["deployment"], job["data"]) == ("gsm8k", "data/train.jsonl")
    project = tomllib.loads((shop / "pyproject.toml").read_text())
    assert project["project"]["name"] == "shop"
    workflow = yaml.safe_load((shop / ".github/workflows/rewards.yml").read_text())
    steps = [each.get("run", "").strip() for each in workflow["jobs"]["test"]["steps"]]
    assert "reward stage check --all" in steps
    assert list(unparsed((shop / "README.md").read_text())) == []


def test_the_readme_rehearses_a_job_to_its_end_with_the_folders_rows(shop):
    text = (shop / "README.md").read_text()
    rehearsal = text.partition("## Rehearse")[2].partition("## Train")[0]
    assert "--data data/train.jsonl --data data/test.jsonl" in rehearsal
    commands = [line.split()[2] for line in rehearsal.splitlines() if line.startswith("reward job")]
    assert commands == [
        *("preflight", "baseline", "start", "watch", "metrics", "deploy-model", "evaluate"),
    ]
    assert all(" -s local" in line for line in rehearsal.splitlines() if "reward job" in line)
    assert text.count("../reward-functions") == 1
    assert 'pip install "${CHECKOUT}[deploy,local]" pytest' in text


def test_the_readme_names_no_file_that_is_not_there(here):
    (here / "sums.csv").write_text(sums(100))
    ran("init", "shop", "--data", "sums.csv", "--yes")
    assert "test.jsonl" not in (here / "shop/README.md").read_text().partition("## Rehearse")[2]


KINDS = {
    "bedrock": [],
    "sagemaker": ["--for", "sagemaker"],
    "a_trainer": ["--for", "own"],
    "own": ["--own", "acme.total"],
    "own_judge": ["--own", "acme.tone", "--judge", "--judge-model", "amazon.nova-lite-v1:0"],
    "judge": ["--reward", "reference", "--judge-model", "m", "--for", "own"],
    "labels": ["--reward", "answer_text", "-p", "f1=true"],
}


def test_what_it_writes_is_clean(here):
    (here / "sums.csv").write_text(sums(101))
    for name, options in KINDS.items():
        done = ran("init", name, "--data", "sums.csv", "--yes", *options)
        assert done.exit_code == 0, done.output
        assert list(unparsed((here / name / "README.md").read_text())) == []
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check", "--select", "E,F,I,W,UP,B,SIM"], ["format", "--check"]):
        clean = subprocess.run(
            [ruff, *command, "--no-cache", "."], capture_output=True, text=True, check=False
        )
        assert clean.returncode == 0, clean.stdout


def test_a_reward_of_your_own_is_found_by_its_package(here):
    (here / "sums.csv").write_text(sums(101))
    done = ran("init", "my-shop", "--data", "sums.csv", "--yes", "--own", "acme.cost")
    assert done.exit_code == 0, done.output
    project = tomllib.loads(Path("my-shop/pyproject.toml").read_text())["project"]
    assert project["entry-points"]["reward_functions"] == {"acme.cost": "my_shop_rewards.cost:cost"}
    stages = json.loads(Path("my-shop/cdk.json").read_text())["context"]["stages"]
    assert stages["dev"]["packages"] == ["."]
    assert Path("my-shop/tests/test_cost.py").exists()
    assert Path("my-shop/my_shop_rewards/cost.py").exists()
    assert "End with one line" in prompts(Path("my-shop/data/train.jsonl"))[0]


def test_a_skeleton_is_given_rows_that_it_does_not_pay_yet(here):
    rows = [[f"Poem {at}", f"line {at}\nline two"] for at in range(20)]
    (here / "rows.csv").write_text(table(("prompt", "answer"), rows))
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--own", "acme.poem")
    assert done.exit_code == 0, done.output
    assert "reading_error(" in Path("made/tests/test_rows.py").read_text()


WORST = 'o"""\nimport os; os.system("touch PWN")\n"""\\'
"""A name of a folder that is code in Python, and two lines elsewhere."""


def test_the_name_of_a_folder_is_no_code(here):
    (here / "sums.csv").write_text(sums(101))
    made = here / WORST
    done = ran("init", made, "--data", "sums.csv", "--yes", "--own", "acme.fee", "--for", "own")
    assert done.exit_code == 0, done.output
    for path in made.rglob("*.py"):
        tree = ast.parse(path.read_text())
        assert "PWN" not in ast.dump(tree), path
    first, blank, *_ = (made / "README.md").read_text().splitlines()
    assert (first[:4], blank) == ('# o"', "")
    line = next(each for each in done.stdout.splitlines() if each.startswith("  cd "))
    entered = subprocess.run(
        ["bash", "-c", f"{line} && ls"], capture_output=True, text=True, check=False
    )
    assert "train.py" in entered.stdout, line


LABELS = [
    "\U00020bb7,野",
    "a\n```\n# b,c",
    "${{ github.token }},b",
    'it\'s "a",b\\',
    "x\x7f,y\u2028",
]


@pytest.mark.parametrize("labels", LABELS)
def test_a_parameter_reaches_every_file_as_it_was_typed(labels, here):
    rows = [[f"Ticket {at}", labels.split(",")[1]] for at in range(30)]
    (here / "rows.csv").write_text(table(("prompt", "answer"), rows))
    words = ["--data", "rows.csv", "--reward", "answer_text", "-p", f"labels={labels}"]
    done = ran("init", "own", *words, "--yes", "--for", "own", "--answer-format", "answer")
    assert done.exit_code == 0, done.output
    module = ast.parse((here / "own/train.py").read_text())
    values = {
        each.targets[0].id: ast.literal_eval(each.value)
        for each in module.body
        if isinstance(each, ast.Assign)
    }
    assert values["PARAMETERS"] == {"labels": labels}
    workflow = yaml.safe_load((here / "own/.github/workflows/rewards.yml").read_text())
    lines = [each["run"].strip() for each in workflow["jobs"]["test"]["steps"] if "run" in each]
    assert "${{ github" not in "".join(lines)
    audit = next(each for each in lines if "reward audit" in each).replace("${{ '${{' }}", "${{")
    assert audit in (here / "own/README.md").read_text().splitlines()
    printed = subprocess.run(
        ["bash", "-c", audit.replace("reward", r"printf '%s\0'", 1)],
        capture_output=True, text=True, check=True, env=os.environ | {"LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert f"labels={labels}" in printed.stdout.split("\0")


def test_a_model_reaches_its_file_as_it_was_typed(here):
    (here / "sums.csv").write_text(sums(20))
    model = 'm`\U00020bb7"\\\x7f\n# x'
    done = ran("init", "made", "--data", "sums.csv", "--reward", "reference", "--judge-model",
               model, "--yes", "--for", "own")  # fmt: skip
    assert done.exit_code == 0, done.output
    (written,) = tomllib.loads((here / "made/judge.toml").read_text())["models"]
    assert written["model"] == model


LETTERS = "What is one plus one?\nA) 1\nB) 2\nC) 3 in row {}"
HELP = "Open the settings, choose security, press reset, and wait for letter {}."
OFFERED = {
    "numbers": (lambda at: [f"{at} plus one?", at + 1], "gsm8k", "####"),
    "money": (lambda at: [f"{at} plus one?", f"{at + 1}.95 €"], "gsm8k", "####"),
    "a code of money": (lambda at: [f"{at} plus one?", f"CHF {at + 1}"], "gsm8k", "####"),
    "formulas": (lambda at: [f"d/dx {at}x^2", f"\\boxed{{{2 * at}x}}"], "math", "box"),
    "letters": (lambda at: [LETTERS.format(at), "B"], "multiple_choice", "ANSWER:"),
    "letters alone": (lambda at: [f"Grade {at}", "BC"[at % 2]], "answer_text", "answers: B, C"),
    "letters with an article": (lambda at: [f"Grade {at}", "AB"[at % 2]], "multiple_choice",
                                "ANSWER:"),
    "objects": (lambda at: [f"Read {at}", json.dumps({"n": at})], "json_fields", "JSON object"),
    "labels": (lambda at: [f"Ticket {at}", ("late", "lost")[at % 2]], "answer_text", "late, lost"),
    "labels of a stranger": (lambda at: [f"Ticket {at}", ("late $HOME", "lost #rm")[at % 2]],
                             "answer_text", "ANSWER: <answer>"),
    "names": (lambda at: [f"Who is {at}?", f"Person {'abcdefghijklmno'[at % 15]}{at}"],
              "answer_text", "ANSWER:"),
    "codes": (lambda at: [f"Which norm is {at}?", f"ISO {9000 + at}"], "answer_text", "ANSWER:"),
    "sentences": (lambda at: [f"How is {at} reset?", HELP.format(at)], "reference", ""),
}  # fmt: skip


@pytest.mark.parametrize(("row", "reward", "asked"), OFFERED.values(), ids=OFFERED)
def test_the_reward_follows_from_what_the_references_look_like(row, reward, asked, here):
    (here / "rows.csv").write_text(table(("prompt", "answer"), map(row, range(30))))
    model = ["--judge-model", "m"] if reward == "reference" else []
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own", *model)
    assert f"graded by {reward}." in done.stdout, done.output
    assert asked in prompts(here / "made/data/train.jsonl")[0]


def test_a_prompt_that_asks_for_the_form_already_is_left_alone(here):
    rows = [[f"{at} plus one? End with #### and the answer.", at + 1] for at in range(20)]
    (here / "rows.csv").write_text(table(("prompt", "answer"), rows))
    ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert all(each.count("####") == 1 for each in prompts(here / "made/data/train.jsonl"))
    ran("init", "none", "--data", "rows.csv", "--yes", "--reward", "math", "--for", "own",
        "--answer-format", "none")  # fmt: skip
    assert not any("boxed" in each for each in prompts(here / "none/data/train.jsonl"))


@pytest.mark.parametrize(
    ("count", "split"),
    [(40, (32, 8)), (100, (100,)), (110, (100, 10)), (200, (160, 40)), (250, (200, 50))],
)
def test_bedrock_has_its_hundred_rows_before_any_is_held_out(count, split, here):
    (here / "sums.csv").write_text(sums(count))
    done = ran("init", "shop", "--data", "sums.csv", "--yes")
    assert done.exit_code == 0, done.output
    report = json.loads((here / "shop/data/report.json").read_text())
    assert tuple(report["rows"].values()) == split
    batch = tomllib.loads((here / "shop/job.toml").read_text())["hyperparameters"]["batchSize"]
    assert batch == 16 or 6 * batch <= split[0]
    assert ("32 rows are too few" in done.stderr) == (count == 40)
    assert (GREEN in (here / "shop/README.md").read_text()) == (count != 40)
    assert ("No row is held out" in done.stderr) == (count == 100)


def test_what_asks_the_same_stands_on_one_side(here):
    rows = [[f"What is {at // 3} plus one{'?!.'[at % 3]}", at // 3 + 1] for at in range(90)]
    (here / "rows.csv").write_text(table(("prompt", "answer"), rows))
    ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    sides = [
        {each.split()[2] for each in prompts(here / f"made/data/{part}.jsonl")}
        for part in ("train", "test")
    ]
    assert sides[0].isdisjoint(sides[1])
    assert all(sides)


def test_the_rows_of_a_page_stay_together(here):
    rows = [[f"What is {at} plus one?", at + 1, f"page {at // 6}"] for at in range(60)]
    (here / "rows.csv").write_text(table(("prompt", "answer", "page"), rows))
    ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    done = ran("data", "lint", "made/data/train.jsonl", "made/data/test.jsonl", "--min-rows", "1")
    assert "errors 0" in done.stderr


def test_the_same_question_on_two_pages_joins_them(here):
    rows = [
        [f"What is {at} plus one{sign}", at + 1, f"page {at // 5 + 10 * copy}"]
        for copy, sign in enumerate("?!")
        for at in range(50)
    ]
    (here / "rows.csv").write_text(table(("prompt", "answer", "page"), rows))
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert " test rows" in done.stdout, done.output
    done = ran("data", "lint", "made/data/train.jsonl", "made/data/test.jsonl", "--min-rows", "1")
    assert "two files share" not in done.output


def test_rows_that_are_all_joined_are_not_held_out(here):
    asked = (
        "What is {} plus one?",
        "what is {} plus one",
        "WHAT IS {} PLUS ONE!",
        "What is {} plus one?!",
    )
    rows = [
        [words.format(at), at + 1, f"page {page}"]
        for page, words in enumerate(asked)
        for at in range(50)
    ]
    (here / "rows.csv").write_text(table(("prompt", "answer", "page"), rows))
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert ": 200 train rows" in done.stdout, done.output
    assert "each shares its page or its prompt with others" in done.stderr
    assert "each shares its page or its prompt" in (here / "made/README.md").read_text()


def test_splits_of_the_file_that_leak_are_named(here):
    rows = [
        [f"{at % 30}{'?!'[at // 30]}", at % 30, ("train", "test")[at // 30]] for at in range(40)
    ]
    (here / "rows.csv").write_text(table(("prompt", "answer", "split"), rows))
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert "near-duplicate of 10 rows" in done.stderr
    assert "near-duplicate of 10 rows" in (here / "made/README.md").read_text()


def test_splits_of_the_file_stay(here):
    rows = [[f"{at}?", at, ("train", "test")[at % 4 == 0]] for at in range(40)]
    (here / "rows.csv").write_text(table(("prompt", "answer", "split"), rows))
    ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert [len(prompts(here / f"made/data/{part}.jsonl")) for part in ("train", "test")] == [
        30,
        10,
    ]


def test_options_in_columns_stand_in_the_prompt(here):
    rows = [[f"{at} plus one?", at, at + 1, at + 2, "B"] for at in range(20)]
    (here / "rows.csv").write_text(
        table(("question", "option_a", "option_b", "option_c", "answer"), rows)
    )
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert "graded by multiple_choice." in done.stdout
    first, *_ = prompts(here / "made/data/train.jsonl")
    assert first.startswith("0 plus one?\n\nA) 0\nB) 1\nC) 2\n\nWork step by step.")


def test_a_folder_with_splits_is_looked_at_where_it_is_trained_on(here):
    for split, count in (("train", 30), ("test", 10)):
        rows = (json.dumps({"question": f"{split} {at}?", "answer": at}) for at in range(count))
        (here / "set").mkdir(exist_ok=True)
        (here / f"set/{split}.jsonl").write_text("\n".join(rows))
    done = ran("init", "made", "--data", "set", "--yes", "--for", "own")
    assert ": 30 train and 10 test rows" in done.stdout, done.output


DOUBTS = {
    "by order": ("result,expression", "add --prompt result --reference expression, or --prompt"),
    "two fit": ("question,answer,correct_answer", "--reference answer or --reference correct_ans"),
    "two ask": ("prompt,question,answer", "add --prompt prompt or --prompt question"),
    "a rest": ("note,question", "no name says that note has the right answers: add --reference"),
}


@pytest.mark.parametrize(("header", "complaint"), DOUBTS.values(), ids=DOUBTS)
def test_a_column_that_no_name_tells_is_not_guessed(header, complaint, here):
    columns = header.split(",")
    rows = [[f"{at} plus {place}" for place, _ in enumerate(columns)] for at in range(20)]
    (here / "rows.csv").write_text(table(columns, rows))
    done = ran("init", "made", "--data", "rows.csv", "--for", "own", "--yes")
    assert (done.exit_code, complaint in done.stderr) == (2, True), done.output
    assert ran("init", "made", "--data", "rows.csv", "--for", "own").exit_code == 2
    typed = ["--prompt", columns[0], "--reference", columns[1], "--reward", "answer_text"]
    done = ran("init", "made", "--data", "rows.csv", "--for", "own", "--yes", *typed)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "header",
    ["input,output", "answer,question", "problem,solution,answer", "instruction,input,output",
     "question,answer,model_answer", "text,label", "question,a,b,answer"],
)  # fmt: skip
def test_a_column_that_a_name_tells_is_guessed(header, here):
    columns = header.split(",")
    rows = [[f"{at} plus {place}" for place, _ in enumerate(columns)] for at in range(20)]
    (here / "rows.csv").write_text(table(columns, rows))
    typed = ["--reward", "answer_text", "--yes", "--for", "own"]
    done = ran("init", "made", "--data", "rows.csv", *typed)
    assert done.exit_code == 0, done.output


def test_a_doubt_is_shown_to_a_person_who_confirms_the_guess(here):
    (here / "sums.csv").write_text(sums(130, ("sum", "result")))
    status, asked = typed(b"\n\n\n\ny\n", "shop", "--data", "sums.csv")
    assert status == 0, asked
    assert "no name tells the columns sum and result apart" in asked


EMPTY = sums(30).replace("\nWhat is 7 plus one?,8", "\nWhat is 7 plus one?,")
MISTAKES = {
    "no file": (None, [], "--data is missing"),
    "a file that is not there": (None, ["--data", "no.csv"], "no.csv: No such file"),
    "rows in one object": ('{"data": [{"a": 1}, {"a": 2}]}', [], "the rows are inside 'data'"),
    "an empty file": ("", [], "rows.csv holds no rows"),
    "a header alone": ("question,answer\n", [], "rows.csv holds no rows"),
    "a missing column": (sums(9), ["--prompt", "questoin"], "Did you mean 'question'?"),
    "unknown columns": (sums(9, ("a b", "c", "d")[:2] + ("d",)[:0]),
                        ["--prompt", "c", "--reference", "e"],
                        "there are a b, c"),
    "a column twice": (sums(9, ("answer", "answer")), [], "two columns are called 'answer'"),
    "unequal rows": (f"{sums(9)}a,1,2\n", [], "line 11: 3 cells, and there are 2 columns"),
    "Latin-1": (sums(9).encode().replace(b"What", b"Qu\xe9"), [], "not UTF-8"),
    "a comma that is left": (sums(19).replace(",7", ',"6,50"'), ["--decimal", "point"],
                             "the reference is not one number: '6,50', write 6.50. Mend them, or"),
    "words among numbers": (sums(19).replace(",7", ",some"), [],
                            "line 8: the reference is not one number: 'some'. Mend them, or"),
    "an empty reference": (EMPTY, [], "line 9: the reference is empty. Mend them, or"),
    "one column": (sums(9), ["--prompt", "answer"], "both name the column answer"),
    "an unknown reward": (sums(9), ["--reward", "gsm9k"], "Did you mean 'gsm8k'?"),
    "a reward's file": (sums(9), ["--reward", "mine.py"], "--own NAME writes a package"),
    "a parameter of none": (sums(9), ["--reward", "gsm8k", "-p", "x=1"], "no parameter 'x'"),
    "no model": (sums(9), ["--reward", "reference"], "--judge-model is missing"),
    "a model of none": (sums(9), ["--judge-model", "m"], "gsm8k asks no model"),
    "two rewards": (sums(9), ["--reward", "math", "--own", "a.b"], "exclude each other"),
    "an unknown sign": (sums(9), ["--decimal", "dot"], "'dot' is not one of"),
    "a name of nothing": (sums(9), ["--own", "9x"], "is not a reward name"),
    "with a reward alone": (sums(9), ["--reward-only", "x"], "--data is for a whole folder"),
    "one word as a form": (sums(9), ["--answer-format", "boxd"], "Did you mean 'boxed'?"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "options", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_and_nothing_is_written(content, options, complaint, here):
    data = [] if content is None else ["--data", "rows.csv"]
    if data:
        text = content if isinstance(content, bytes) else content.encode()
        (here / "rows.csv").write_bytes(text)
    before = sorted(here.iterdir())
    done = ran("init", "made", *data, "--yes", *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr.splitlines()[-1]
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    ("left_out", "option"),
    [("--prompt", "--prompt question"), ("--reward", "--reward"), ("--for", "--for bedrock")],
)
def test_without_a_terminal_a_missing_option_is_named(left_out, option, here):
    (here / "sums.csv").write_text(sums(9))
    given = {"--data": "sums.csv", "--prompt": "question", "--reference": "answer"}
    given |= {"--reward": "gsm8k", "--for": "bedrock"}
    words = [word for pair in given.items() if pair[0] != left_out for word in pair]
    done = ran("init", "made", *words)
    assert (done.exit_code, f"{left_out} is missing" in done.stderr) == (2, True)
    assert option in done.stderr
    assert ran("init", "made", *words, left_out, given[left_out]).exit_code == 0


@pytest.mark.parametrize(
    "text",
    [
        sums(30, delimiter=";"),
        f"\ufeff{sums(30)}",
        sums(30).replace("\n", "\r\n"),
        f"sep=;\r\n{sums(30, delimiter=';')}",
        f"\ufeffsep=,\n{sums(30)}",
        f"{sums(30, delimiter=';')};\n;;\n ; \n",
    ],
    ids=["semicolons", "a BOM", "CRLF", "sep=;", "a BOM and sep=,", "lines of separators"],
)
def test_a_csv_as_a_spreadsheet_writes_it_is_read(text, here):
    (here / "rows.csv").write_text(text, newline="")
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--for", "own")
    assert done.exit_code == 0, done.output
    assert len(prompts(here / "made/data/train.jsonl")) == 24


def prices(write):
    """A CSV as a spreadsheet writes it where the decimal sign is a comma."""
    return table(("question", "answer"), [[f"Item {at}?", write(at)] for at in range(40)], ";")


COMMAS = {
    "cents": (lambda at: f"{at},5{at % 10}", "0,50", "0.50"),
    "thousands": (lambda at: f"{at + 1}.{at:03d},05", "1.000,05", "1000.05"),
    "euros": (lambda at: f"{at},9 €", "0,9 €", "0.9 €"),
    "few": (lambda at: "9,50" if at % 4 == 3 else at, "9,50", "9.50"),
}


@pytest.mark.parametrize(("write", "shown", "written"), COMMAS.values(), ids=COMMAS)
def test_decimal_commas_stop_it_until_you_say_what_they_are(write, shown, written, here):
    (here / "rows.csv").write_text(prices(write))
    words = ["init", "made", "--data", "rows.csv", "--yes", "--for", "own"]
    stopped = ran(*words)
    assert (stopped.exit_code, (here / "made").exists()) == (2, False)
    assert f"such as {shown!r} (comma writes {written}" in stopped.stderr
    done = ran(*words, "--decimal", "comma")
    assert "graded by gsm8k." in done.stdout, done.output
    rows = [json.loads(each) for each in (here / "made/data/train.jsonl").read_text().splitlines()]
    assert not any("," in row["reference_answer"] for row in rows)
    assert all(
        "Write decimals with a point" in each for each in prompts(here / "made/data/train.jsonl")
    )
    left = ran(*words, "--decimal", "point", "--reward", "answer_text", "--force")
    assert left.exit_code == 0, left.output
    rows = (here / "made/data/train.jsonl").read_text().splitlines()
    assert any("," in json.loads(each)["reference_answer"] for each in rows)


def test_thousands_with_points_are_pointed_out(here):
    (here / "rows.csv").write_text(prices(lambda at: f"{at + 1}.250" if at % 2 else at))
    words = ["init", "made", "--data", "rows.csv", "--yes", "--for", "own"]
    done = ran(*words)
    assert "20 of 40 right answers are like '2.250'" in done.stderr, done.output
    assert "if it is 2250, add --decimal comma" in done.stderr
    assert "right answers are like" not in ran(*words, "--decimal", "comma", "--force").stderr
    assert (
        '"2250"'
        in (here / "made/data/train.jsonl").read_text()
        + (here / "made/data/test.jsonl").read_text()
    )


def test_rows_that_cannot_be_used_are_left_out_and_counted(here):
    (here / "rows.csv").write_text(f"{EMPTY}a,1,2\n")
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--skip-bad", "--for", "own")
    assert "left out: 2 rows that cannot be used" in done.stderr
    assert json.loads((here / "made/data/report.json").read_text())["rows"] == {
        "train": 23,
        "test": 6,
    }


def test_a_folder_that_holds_something_is_left_alone(shop):
    (shop / "job.toml").write_text("mine")
    again = ["init", "shop", "--data", "sums.csv", "--yes"]
    refused = ran(*again)
    assert (refused.exit_code, refused.stderr.count("error: shop is not empty")) == (2, 1)
    assert (shop / "job.toml").read_text() == "mine"
    (shop / "notes.txt").write_text("mine")
    assert ran(*again, "--force").exit_code == 0
    assert (shop / "job.toml").read_text() != "mine"
    assert (shop / "notes.txt").read_text() == "mine"


def test_force_leaves_no_split_of_an_earlier_run(here):
    (here / "sums.csv").write_text(sums(150))
    (here / "fewer.csv").write_text(sums(100))
    assert ran("init", "shop", "--data", "sums.csv", "--yes").exit_code == 0
    (here / "shop/data/mine.jsonl").write_text("")
    done = ran("init", "shop", "--data", "fewer.csv", "--yes", "--force")
    assert "removed: shop/data/test.jsonl" in done.stderr, done.output
    left = {path.name for path in (here / "shop/data").iterdir()}
    assert left == {"train.jsonl", "mine.jsonl", "report.json"}


def test_force_never_removes_the_file_it_reads(here):
    (here / "sums.csv").write_text(sums(150))
    assert ran("init", "shop", "--data", "sums.csv", "--yes").exit_code == 0
    before = (here / "shop/data/test.jsonl").read_text()
    again = ["--data", "shop/data/test.jsonl", "--yes", "--force", "--for", "bedrock"]
    ran("init", "shop", *again, "--answer-format", "none")
    assert (here / "shop/data/test.jsonl").read_text() == before


def test_the_file_itself_may_lie_in_the_folder(here):
    (here / "sums.csv").write_text(sums(130))
    (here / ".git").mkdir()
    assert ran("init", "--data", "sums.csv", "--yes").exit_code == 0
    assert (here / "cdk.json").exists()
    assert (here / "sums.csv").read_text() == sums(130)


def test_what_cannot_be_written_leaves_nothing(here):
    (here / "sums.csv").write_text(sums(130))
    (here / "shop/README.md").mkdir(parents=True)
    done = ran("init", "shop", "--data", "sums.csv", "--yes", "--force")
    assert (done.exit_code, "README.md" in done.stderr) == (2, True)
    assert sorted(here.glob("shop/**/*")) == [here / "shop/README.md"]


def test_a_file_that_a_parameter_names_goes_with_the_folder(here):
    (here / "rules.json").write_text('{"n": "number±0.01"}')
    rows = [[f"Read {at}", json.dumps({"n": at})] for at in range(20)]
    (here / "rows.csv").write_text(table(("prompt", "answer"), rows))
    done = ran("init", "made", "--data", "rows.csv", "--yes", "--reward", "json_fields",
               "-p", "fields=rules.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    (deployed,) = json.loads(Path("made/cdk.json").read_text())["context"]["stages"]["dev"][
        "deployments"
    ]
    assert deployed["parameters"] == {"fields": "files/rules.json"}
    assert Path("made/files/rules.json").read_text() == (here / "rules.json").read_text()


def typed(answers, *words):
    """What a person at a terminal is told who types these lines, and the exit status."""
    leader, follower = pty.openpty()
    os.write(leader, answers)
    try:
        ended = commands.run(["init", *words], stdin=follower, stdout=PIPE, stderr=PIPE)
    finally:
        os.close(leader)
        os.close(follower)
    return ended.returncode, ended.stderr


def test_a_person_at_a_terminal_is_asked_until_it_fits(here):
    (here / "sums.csv").write_text(sums(130))
    answers = b"no.csv\nsums.csv\nquestoin\n\n\nnope\n2\n\ny\n"
    status, asked = typed(answers, "shop")
    assert status == 0, asked
    for part in ("no.csv: No such file", "Did you mean 'question'?", "2  math: can use 130 of 130"):
        assert part in asked
    assert json.loads((here / "shop/cdk.json").read_text())["context"]["stages"]["dev"][
        "deployments"
    ] == [{"name": "math", "reward": "math"}]


@pytest.mark.parametrize("answers", [b"sums.csv\n\x04", b"sums.csv\n\n\n\n\nn\n"])
def test_a_person_who_ends_it_or_disagrees_gets_nothing(answers, here):
    (here / "sums.csv").write_text(sums(130))
    status, asked = typed(answers, "shop")
    assert (status, asked.splitlines()[-1].endswith("nothing is written")) == (2, True)
    assert [path.name for path in here.iterdir()] == ["sums.csv"]
