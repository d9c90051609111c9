"""Small files in the public formats, and the command line to run over them."""

import json
import tarfile
from functools import cache

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app


@pytest.fixture
def reward():
    def run(*arguments, stdin=None):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture
def write(tmp_path):
    """A file with rows, as JSONL or as an indented array by its name."""

    def written(name, rows):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            path.write_text(json.dumps(rows, indent=2))
        else:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path

    return written


@pytest.fixture(scope="session")
def prepared(shared, tmp_path_factory):
    """The files that the labelled records of a data set are prepared to, made once."""
    files = {"finqa": "finqa/records.jsonl", "gsm8k": "gsm8k/test.jsonl"}

    @cache
    def made(dataset):
        out = tmp_path_factory.mktemp(dataset)
        named = ["--source", str(shared / files[dataset]), "--out", str(out)]
        ran = CliRunner().invoke(app, ["data", "prepare", dataset, *named])
        assert ran.exit_code == 0, ran.stderr
        return sorted(out.glob("*.jsonl"))

    return made


@pytest.fixture
def read():
    def rows(path):
        return [json.loads(line) for line in path.read_text().splitlines()]

    return rows


def gsm8k_record(number=0, **fields):
    return {
        "question": f"A crate holds {number} apples. Two more are put in. How many are there?",
        "answer": f"{number}+2=<<{number}+2={number + 2}>>{number + 2} apples.\n#### {number + 2}",
    } | fields


def finqa_record(number=0, qa=(), **fields):
    return {
        "id": f"ACME/2013/page_{number // 2}.pdf-{number}",
        "filename": f"ACME/2013/page_{number // 2}.pdf",
        "pre_text": ["revenue grew in 2013 .", f"note {number} follows ."],
        "post_text": ["amounts are audited ."],
        "table": [["", "2013", "2012"], ["net sales, (restated)", f"$ {number + 30}", "20"]],
        "qa": {
            "question": f"what was the growth of sales, question {number}?",
            "answer": f"{number + 10}",
            "exe_ans": float(number + 10),
            "program": f"subtract({number + 30}, 20)",
        }
        | dict(qa),
    } | fields


def pandalm_record(number=0, **fields):
    return {
        "idx": number,
        "motivation_app": "Grammarly",
        "cmp_key": "one-7b_other-7b",
        "instruction": f"Shorten text {number // 3}.",
        "input": "It is raining very hard outside at this moment.",
        "response1": f"It is pouring, {number}.",
        "response2": f"Rain, {number}.",
        "annotator1": 1,
        "annotator2": 1,
        "annotator3": 2,
    } | fields


def math_problem(number=0, **fields):
    return {
        "problem": f"What is ${number} + \\frac{{1}}{{2}}$?",
        "level": "Level 2",
        "type": "Algebra",
        "solution": f"It is $\\boxed{{\\frac{{{2 * number + 1}}}{{2}}}}$.",
    } | fields


@pytest.fixture
def records():
    """A record of each data set by number: gsm8k(3, question=…)."""
    return {"gsm8k": gsm8k_record, "finqa": finqa_record, "pandalm": pandalm_record}


@pytest.fixture
def math_folder(tmp_path):
    """The Hendrycks layout, with numbers that do not sort as texts do."""

    def made(numbers=(1, 2, 10), name="MATH"):
        for split in ("train", "test"):
            for number in numbers:
                path = tmp_path / name / split / "algebra" / f"{number}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(math_problem(number + 100 * (split == "test"))))
        return tmp_path / name

    return made


@pytest.fixture
def math_archive(math_folder, tmp_path):
    """The same as the archive it was published as."""
    with tarfile.open(tmp_path / "MATH.tar", "w") as tar:
        tar.add(math_folder(), "MATH")
    return tmp_path / "MATH.tar"
