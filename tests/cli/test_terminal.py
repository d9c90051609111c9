"""Nothing that comes from data or from a file's name is interpreted by the terminal.

Each command runs as on a terminal (FORCE_COLOR), and what it writes is looked at as it is: beside
the colours of our own there is no sequence, no link, no emoji, and all that is there prints.
"""

from __future__ import annotations

import ast
import json
import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions import Example, Sample, Score, reward_function
from reward_functions.cli import app
from reward_functions.cli._console import errors, output
from reward_functions.cli._echo import harmless
from reward_functions.core import registry

HOSTILE = {
    "markup": "[bold red]x[/bold red]",
    "an unopened tag": "a[/b]",
    "a link": "[link=http://evil.example]click[/link]",
    "an action": "[@click=app.bell]x[/]",
    "emoji": ":smile: :skull:",
    "a colour": "\x1b[5mblink",
    "a cleared screen": "\x1b[2J\x1b[H",
    "a link of OSC 8": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "a title of OSC 0": "\x1b]0;owned\x07",
    "C1 controls": "\x9b31m\x9d0;x\x9c",
    "bell and backspace": "\x07\x08\x7f",
    "a carriage return": "good\rbad",
    "bidi": "\u202eevil\u2066x\u2069",
    "zero width": "a\u200b\u2060\ufeffb",
    "a byte of a file name": "\udcff",
    "tags": "\U000e0041\U000e0042",
}
ALL = " ".join(HOSTILE.values())
OURS = re.compile(r"\x1b\[(?:0|1|2|3|4|(?:1;|2;|3;|4;)*(?:0|3[0-7]|9[0-7]|38;5;\d+))?m")
BAR = re.compile(r"\x1b\[(?:\?25[lh]|2K|1A)|\r")
"""Colours, and how rich draws a bar or a spinner again."""


def left(text):
    """What a terminal would act on, apart from what is ours."""
    assert "\x1b[5m" not in text
    rest = BAR.sub("", OURS.sub("", text))
    acting = {char for char in rest if not char.isprintable() and char != "\n"}
    return acting | {char for char in "😄💀" if char in rest}


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def run(*arguments, stdin=None, status=None):
        ran = CliRunner().invoke(app, [str(each) for each in arguments], input=stdin)
        assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
        assert left(ran.output) == set(), arguments
        assert status is None or ran.exit_code == status, ran.output
        return ran

    return run


@reward_function(name="acme.loud", version=1, metrics=["m"], examples=[
    Example("positive", response=ALL, reference={ALL: ALL}, score=1.0, prompt=ALL, why=ALL),
    Example("negative", response="x", score=1.0),
])  # fmt: skip
def loud(sample: Sample) -> Score:
    raise ValueError(ALL)


loud.function.__doc__ = f"{ALL}\n\n{ALL}"


def row(text):
    turns = [{"role": "user", "content": text}, {"role": "assistant", "content": f"{text} #### 3"}]
    return {
        "id": text,
        "messages": turns,
        "reference_answer": {"answer": "4", text: text},
        "metadata": {"page": text, text: text, "is_correct": text},
    }


@pytest.fixture
def file(tmp_path):
    """Rows of which every text is hostile, in a file whose name is."""
    rows = [row(text) for text in [*HOSTILE.values(), ALL]]
    rows += [{"id": ALL, "messages": ALL}, {"id": ALL, ALL: None}, rows[0] | {"id": "again"}]
    path = tmp_path / "[link=x]y :smile: \u202e\x1b[5m.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["score", "gsm8k", "FILE", "--format", "table"],
        ["score", "gsm8k", "FILE", "--format", "table", "--explain"],
        ["score", "gsm8k", "FILE", "--explain"],
        ["score", "gsm8k", "FILE", "--label", "is_correct"],
        ["score", "gsm8k", "FILE", "--label", ALL],
        ["score", "gsm8k", "FILE", "-o", "[b]out.jsonl", "--report", "[link=x]:smile:\x1b[5m.html"],
        ["score", "gsm8k", "FILE", "-o", "FILE"],
        ["score", "gsm8k", "FILE", "-p", ALL],
        ["score", "gsm8k", "FILE", "-p", f"flexible={ALL}"],
        ["score", "math", "FILE", "--format", "table", "--explain"],
        ["score", "acme.loud", "FILE", "--format", "table"],
        ["explain", "gsm8k", "FILE", "--id", ALL],
        ["explain", "gsm8k", "FILE", "--id", f"{ALL}!"],
        ["explain", "gsm8k", "FILE", "--worst", "30"],
        ["explain", "exact_match", "FILE", "--worst", "30"],
        ["explain", "gsm8k", "FILE", "--line", "3", "--json"],
        ["explain", "acme.loud", "--response", ALL, "--reference", ALL],
        ["data", "lint", "FILE"],
        ["data", "lint", "FILE", "--reward", "gsm8k"],
        ["data", "stats", "FILE"],
        ["data", "split", "FILE", "--out", "[b]:smile:\x1b[5m"],
        ["data", "split", "FILE", "--by", "page", "--out", "there"],
        ["data", "split", "FILE", "--by", ALL],
        ["audit", "gsm8k", "FILE", "--texts"],
        ["audit", "math", "FILE", "--all"],
        ["data", "upload", "FILE", ALL],
        ["list"],
        ["show", "acme.loud"],
        ["show", ALL],
        ["audit", "acme.loud", "--texts"],
        ["rollouts", "report", "FILE"],
        ["invoke", "gsm8k", f"{ALL}.jsonl"],
        ["audit", ALL],
        ["audit", f"arn:{ALL}"],
        ["job", "show", ALL],
        ["judge", "estimate", "rubric", "FILE", "--judge", ALL],
        ["lock", ALL],
        ["new", ALL],
        [ALL],
        [f"--{ALL}"],
        ["list", ALL],
        ["score", "gsm8k", "FILE", "--format", ALL],
        ["score", "gsm8k", "FILE", "--workers", ALL],
    ],
    ids=lambda command: " ".join(
        "hostile" if not (each.isprintable() and each.isascii()) else each for each in command
    ),
)
def test_no_command_lets_data_act_on_the_terminal(terminal, file, monkeypatch, command):
    points = [
        EntryPoint("acme.loud", "acme:loud", registry.ENTRY_POINT_GROUP),
        EntryPoint(f"acme.{ALL}", f"acme:{ALL}", registry.ENTRY_POINT_GROUP),
    ]
    monkeypatch.setattr(EntryPoint, "load", lambda _: loud)
    monkeypatch.setattr(registry, "_entry_points", lambda: points)
    monkeypatch.chdir(file.parent)
    terminal(*[file if each == "FILE" else each for each in command])


@pytest.mark.parametrize("why", HOSTILE)
def test_a_console_prints_what_stands_there(monkeypatch, capsys, why):
    """Whatever way a string gets there: printed, in a cell, as a title, beside a spinner."""
    from rich.table import Table

    monkeypatch.setenv("FORCE_COLOR", "1")
    text = HOSTILE[why]
    for console in (output(), errors()):
        console.print(text, style="bold", soft_wrap=True)
        shown = Table(text, title=text)
        shown.add_row(text)
        console.print(shown)
        with console.status(text) as status:
            status.update(text)
    printed = "".join(capsys.readouterr())
    assert left(printed) == set()
    assert harmless(text) in OURS.sub("", printed)


SHELLS_AND_PROGRAMS = {"_echo.py": 2, "__init__.py": 1, "local.py": 2,
                       "runtime.py": 1, "metrics.py": 1, "init.py": 1, "recipe.py": 1,
                       "trajectories.py": 1, "auditing.py": 1}  # fmt: skip
"""Where typer.echo writes what is neither JSON nor constant: lines that a shell evaluates, the
version, JSON that a function makes, settings and recipes for a file, commands of GitHub's runner,
and what is made harmless there."""


def test_lines_for_a_person_are_said_and_not_echoed():
    found: dict[str, int] = {}
    for path in sorted(Path(__file__).parents[2].joinpath("reward_functions/cli").rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "typer.echo" in text else ():
            echo = isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.echo"
            if not echo or isinstance(node.args[0], ast.Constant):
                continue
            if not ast.unparse(node.args[0]).startswith("json.dumps("):
                found[path.name] = found.get(path.name, 0) + 1
    assert found == SHELLS_AND_PROGRAMS
