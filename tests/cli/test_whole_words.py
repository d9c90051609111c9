"""No ARN, address or path is broken: in no table, no list of facts, no sentence, at no width.

They are copied from a terminal and given to another command. A line that is longer than the
terminal is wrapped by the terminal itself, and copied whole.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from rich.text import Text
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.aws.deployed import CheckFinding
from reward_functions.cli import app
from reward_functions.cli._console import cell, errors, facts, output, table, whole_words
from reward_functions.cli._fitting import print_table
from reward_functions.cli.job._output import print_findings
from reward_functions.testing import wire_row

CLI = Path(__file__).parents[2] / "reward_functions" / "cli"

LONG = {
    "an ARN": "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:"
    "SageMaker-reward-a-rather-long-stage-a-rather-long-deployment:17",
    "an address": "https://runtime.sagemaker.us-gov-west-1.amazonaws.com/jobs/a-rather-long-name/x",
    "an object": "s3://sagemaker-reward-functions-a-rather-long-stage-123456789012/rft-data/t.jsonl",
    "a path": "/home/somebody/a-rather-long-folder/of-a-project/reward-functions.stage.lock",
    "a relative path": "a-rather-long-folder/of-a-project-with-more/reward-functions.stage.lock",
}

WAYS = {
    "a table": lambda word: output().print(_table(word)),
    "a table that fits": lambda word: print_table(
        ("a", "b"), [[cell("x"), cell(f"see {word}, or not")]], words=("b",)
    ),
    "facts": lambda word: output().print(facts({"job": cell(word), "of": cell("x " * 30)})),
    "a sentence": lambda word: output().print(f"it is {word}: look there, or look elsewhere"),
    "a text": lambda word: errors().print(Text(f"it is {word}")),
    "findings": lambda word: print_findings([_finding(word)], "Findings"),
}


def _table(word):
    shown = table("name", "what", "where", names=("name",), numbers=("what",))
    shown.add_row(cell("a-rather-long-deployment"), cell("12"), cell(f"it is at {word} and there"))
    return shown


def _finding(word):
    return CheckFinding("warning", "question", f"the function is {word}: give that to a job")


@pytest.mark.parametrize("columns", ["20", "40", "80", None])
@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("way", WAYS)
def test_no_width_breaks_it(monkeypatch, capsys, way, what, columns):
    if columns is None:  # a pipe
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    WAYS[way](LONG[what])
    assert LONG[what] in "".join(capsys.readouterr())


@pytest.mark.parametrize("text", ["a word", "and/or", "3/4", "", "e.g. this", "x" * 90, "a:b:c"])
def test_other_words_take_no_room(text):
    assert whole_words(text) == 0


def test_what_is_short_leaves_a_table_as_it_was(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    shown = table("a", "b")
    shown.add_row(cell("words " * 20), cell("/x"))
    output().print(shown)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40


COMMANDS = [
    ["stage", "check", "--all"],
    ["doctor", "--offline"],
    ["lock", "--stage", "dev"],
    ["data", "split", "FILE", "--out", "OUT"],
    ["score", "gsm8k", "nowhere.jsonl"],
    ["audit", "NONE"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_what_commands_name_stands_whole_at_forty_columns(monkeypatch, tmp_path, command):
    agent = LONG["an ARN"].replace("aws-us-gov", "aws").replace("us-gov-west-1", "us-east-1")
    agent = agent.replace("SageMaker-reward-", "")
    dev = {"region": "us-east-1", "deployments": ["gsm8k"], "job_rights": {"agents": [agent]}}
    written = {"app": "reward-cdk-app", "context": {"stages": {"dev": dev}}}
    folder = tmp_path / "a-rather-long-folder-of-a-project" / "with-another-in-it"
    folder.mkdir(parents=True)
    (folder / "cdk.json").write_text(json.dumps(written))
    row = wire_row(sample("#### 1", "1"))
    file = folder / "a-file-of-rows-to-split.jsonl"
    file.write_text("".join(json.dumps(row | {"id": str(at)}) + "\n" for at in range(40)))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    names = {"FILE": str(file), "OUT": str(folder / "parts"), "NONE": agent + ":x!"}
    ran = CliRunner().invoke(app, [names.get(each, each) for each in command])
    squeezed = "".join(ran.output.split())
    for word in (agent, str(folder)):
        assert ran.output.count(word) == squeezed.count(word), ran.output


def test_whatever_a_command_prints_goes_through_these_consoles():
    """rich's own Console, Table and print would break an ARN."""
    own = {"Console", "Table", "Table.grid", "rich.print"}
    for path in sorted(CLI.rglob("*.py")):
        text = path.read_text()
        if path.name in {"_console.py", "_fitting.py"} or not any(each in text for each in own):
            continue
        for node in ast.walk(ast.parse(text)):
            assert not isinstance(node, ast.Call) or ast.unparse(node.func) not in own, path
