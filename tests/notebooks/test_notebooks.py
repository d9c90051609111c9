"""What every notebook is: narrative, with its outputs, safe to show, the same when run again."""

import ast
import json
import os
import re

import pytest

from helpers import here
from reward_functions.aws.emulator_record import Folder, Record
from reward_functions.local.emulator import LocalAws, emulator
from reward_functions.local.emulator.emulator import process_of
from tests.notebooks import files, stage
from tests.notebooks.alike import assert_alike
from tests.notebooks.files import ALONE

EVERY = pytest.mark.parametrize("path", files.notebooks(), ids=lambda path: path.stem)

MOST_CELLS = 14

LARGEST = 200_000
"""Bytes of a notebook with its outputs."""

FIRST = """\
RUN_IN = "local"  # or "account", or the name of an AWS profile

from helpers.here import run_in

here = run_in(RUN_IN)
here"""
"""The first cell of every notebook that calls AWS."""

FURTHER = {"09_": FIRST.replace("run_in(RUN_IN)", 'run_in(RUN_IN, also=["sagemaker"])')}
"""The same of those that need further policies, by how their names begin."""

LOGIC = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.While)
"""What belongs into `helpers`, where it is typed and tested."""

PRIVATE = {
    "an access key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a token": r"\b(?:bedrock-api-key-|sk-)[A-Za-z0-9]",
    "a path of somebody's machine": r"(?:/home/|/root/|/tmp/|/Users/|/var/folders/)",
    "a control character": r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
    "a script": r"<script|javascript:|\son\w+=",
}
"""What no output may hold."""


def modules(tree):
    """The names of what a cell imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@EVERY
def test_narrative_only(path):
    cells = files.code_cells(files.read(path))
    assert len(cells) <= MOST_CELLS
    for cell in cells:
        tree = ast.parse(cell["source"])
        assert not [node for node in ast.walk(tree) if isinstance(node, LOGIC)], cell["source"]
        foreign = {name.partition(".")[0] for name in modules(tree)} - {
            "helpers",
            "reward_functions",
        }
        assert not foreign, cell["source"]
        private = [
            name for name in modules(tree) if any(part[0] == "_" for part in name.split("."))
        ]
        assert not private


@EVERY
def test_the_first_cell_says_where_it_runs(path):
    first = files.code_cells(files.read(path))[0]["source"]
    expected = FURTHER.get(path.name[:3], FIRST)
    assert (first == expected) is not path.name.startswith(ALONE)


@EVERY
def test_every_cell_was_run_and_shows_something(path):
    notebook = files.read(path)
    cells = files.code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert cell["outputs"], cell["source"]
        assert {output.get("name", "stdout") for output in cell["outputs"]} == {"stdout"}
        assert "error" not in {output["output_type"] for output in cell["outputs"]}
    assert path.stat().st_size < LARGEST


@EVERY
@pytest.mark.parametrize("what", PRIVATE)
def test_outputs_hold_nothing_private_and_nothing_harmful(path, what):
    for cell in files.code_cells(files.read(path)):
        for output in files.normal(cell["outputs"]):
            for text in (output.get("text", ""), *output.get("data", {}).values()):
                assert not re.search(PRIVATE[what], text)


@EVERY
def test_the_file_is_in_its_normal_form(path):
    notebook = files.read(path)
    made = [cell["outputs"] for cell in files.code_cells(notebook)]
    before = path.read_text(encoding="utf-8")
    kept = json.dumps(files.with_outputs(notebook, made), indent=1, ensure_ascii=False)
    assert f"{kept}\n" == before


@pytest.mark.parametrize(
    "path",
    [path for path in files.notebooks() if path.name.startswith(ALONE)],
    ids=lambda path: path.stem,
)
def test_a_notebook_without_aws_runs_and_its_outputs_are_the_committed_ones(
    path, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert_alike(path)


def test_the_kernels_go_to_the_emulator_that_was_started_beside_others(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(LocalAws, "training_endpoint", "http://127.0.0.1:1")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for port, name in enumerate((emulator.DEFAULT, stage.NAME, "further"), 4_600):
        folder = Folder(name)
        folder.make()
        folder.write(Record(process_of(os.getpid()), port, None, "python"))
    started = emulator.find(stage.NAME)
    for name, value in started.environment.items():
        monkeypatch.setenv(name, value)  # undone behind the test, whatever the runner sets
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    stage.point_at(started)
    assert here._emulator(os.environ).name == stage.NAME
