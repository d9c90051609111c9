"""`reward init --reward-only`: it works before the first edit, and overwrites nothing."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app

ROOT = Path(__file__).parents[2]


def reward_only(name, *arguments):
    return CliRunner().invoke(app, ["init", "--reward-only", name, *map(str, arguments)])


def in_process(folder, *command):
    plain = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=plain, capture_output=True, text=True, check=False
    )


WRITTEN = {
    "first_word": [],
    "acme.last_word": [],
    "judged_line": ["--judge"],
    "acme.judged_word": ["--judge"],
}


def test_what_it_writes_is_checked_tested_and_clean_at_once(tmp_path):
    """Rewards and judges, of a team or not: in one folder, each with files of its own."""
    for name, options in WRITTEN.items():
        before = {*tmp_path.iterdir()}
        assert reward_only(name, tmp_path, *options).exit_code == 0
        own = name.rpartition(".")[2]
        more = [f"{own}.md"] if options else []
        scripted = ["--scripted"] if options else []
        made = sorted(path.name for path in {*tmp_path.iterdir()} - before)
        assert made == [*more, f"{own}.py", f"test_{own}.py"]
        checked = CliRunner().invoke(app, ["audit", str(tmp_path / f"{own}.py"), *scripted])
        assert checked.exit_code == 0, checked.output
    ruff = (Path(sys.executable).with_name("ruff"),)
    clean = ("--isolated", "--no-cache", "--line-length=100", ".")
    once = ("-p", "tests.conformance.conftest", "-o", "usefixtures=texts_are_read_once")
    for command in (
        (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *once),
        (*ruff, "format", "--check", *clean),
        (*ruff, "check", *clean),
    ):
        ran = in_process(tmp_path, *command)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_name_it_declares_is_the_one_asked_for(tmp_path):
    reward_only("acme.last_line", tmp_path)
    assert 'name="acme.last_line",' in (tmp_path / "last_line.py").read_text()


def test_what_to_do_next_can_be_pasted(tmp_path):
    ran = reward_only("acme.last_line", tmp_path)
    _, _, entry_point = ran.stdout.partition(", …):\n")
    project = tomllib.loads(entry_point)["project"]
    assert project["entry-points"]["reward_functions"] == {"acme.last_line": "last_line:last_line"}
    commands = [line for line in ran.stdout.splitlines() if line.startswith("  reward audit")]
    assert commands == [f"  reward audit {tmp_path}/last_line.py"]


def test_it_says_that_the_test_needs_pytest_where_that_is_missing(tmp_path, monkeypatch):
    assert "pip install" not in reward_only("last_line", tmp_path / "a").stdout
    monkeypatch.setattr("reward_functions.cli.init.find_spec", lambda _: None)
    reported = reward_only("last_line", tmp_path / "b").stdout.splitlines()
    test = reported.index(f"  pytest {tmp_path}/b/test_last_line.py")
    assert reported[test - 1] == "  pip install pytest"


def test_in_a_package_the_test_imports_through_it(tmp_path):
    inner = tmp_path / "acme" / "rewards"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent):
        (folder / "__init__.py").touch()
    ran = reward_only("acme.last_line", inner)
    assert '"acme.rewards.last_line:last_line"' in ran.stdout
    test = (inner / "test_last_line.py").read_text()
    assert "from acme.rewards.last_line import last_line" in test


def test_a_folder_that_is_missing_is_made(tmp_path):
    assert reward_only("last_line", tmp_path / "a" / "b").exit_code == 0
    assert (tmp_path / "a" / "b" / "last_line.py").exists()


def test_the_current_folder_is_where_it_writes_otherwise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "reward audit ./last_line.py" in reward_only("last_line").stdout
    assert (tmp_path / "last_line.py").exists()


@pytest.mark.parametrize("existing", ["last_line.py", "test_last_line.py"])
def test_nothing_is_overwritten(existing, tmp_path):
    (tmp_path / existing).write_text("mine")
    ran = reward_only("last_line", tmp_path)
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert "not overwritten" in ran.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("My-Reward", "Did you mean 'my_reward'?"),
        ("9lives", "lower case letters"),
        ("", "lower case letters"),
        ("a/b", "'a_b'"),
        ("..", "lower case letters"),
        ("lambda", "means something else in Python"),
        ("len", "means something else in Python"),
        ("acme.reward_function", "means something else in Python"),
        ("test_length", "a test by its name"),
        ("acme.rows", "means something else in Python"),
        ("gsm8k", "'gsm8k' is a reward already"),
        ("math", "'math' is a reward already"),
        ("json", "an installed module"),
        ("pytest", "an installed module"),
    ],
)
def test_a_name_that_cannot_work_is_refused_with_the_reason(name, complaint, tmp_path):
    ran = reward_only(name, tmp_path / "new")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert complaint in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    ran = reward_only("last_line", tmp_path / "file" / "folder")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)


def names_of(path):
    """Every name that a file uses or binds."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.name.partition(".")[0]


@pytest.mark.parametrize("options", [[], ["--judge"]], ids=["a reward", "a judge"])
def test_no_name_of_a_written_test_is_that_of_a_reward(options, tmp_path):
    assert reward_only("new_word", tmp_path, *options).exit_code == 0
    for name in {*names_of(tmp_path / "test_new_word.py")} - {"new_word"}:
        assert reward_only(name, tmp_path / name, *options).exit_code == 2, name


@pytest.mark.parametrize("trains", ["own", "bedrock"])
def test_no_name_that_the_test_of_rows_imports_is_that_of_a_reward(trains, tmp_path):
    own = f"rows_{trains}"
    (tmp_path / "sums.csv").write_text(
        "question,answer\n" + "".join(f"{at} and one?,{at + 1}\n" for at in range(30))
    )
    words = ["--data", tmp_path / "sums.csv", "--own", f"acme.{own}", "--yes", "--for", trains]
    made = CliRunner().invoke(app, ["init", str(tmp_path / "made"), *map(str, words)])
    assert made.exit_code == 0, made.output
    found = ast.walk(ast.parse((tmp_path / "made/tests/test_rows.py").read_text()))
    names = {each.name for each in found if isinstance(each, ast.alias)} - {own}
    names = {name for name in names if name.islower()} | {"rows"}
    assert "lint" in names
    for name in names:
        assert reward_only(f"acme.{name}", tmp_path / name).exit_code == 2, name
