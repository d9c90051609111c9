"""Pages whose commands are run in order, in one empty folder, and whose outputs are real.

    ```sh               commands without an output; each must succeed
    ```console          "$ " and a command, and under it what it prints
    ```python           a file of the reader's, where the first line is a comment with its name;
    ```toml, ```yaml    without a name they only must parse
    ```diff             an edit of such a file: "--- NAME", and hunks that "@@" parts; else to read

`<!-- not run: REASON -->` before a block keeps it from being run: what needs an account, an
emulator or minutes. Its `reward` commands must parse all the same; `unparsed` reads any page's.

`reward` runs in this process. All else runs in a shell, in which `reward` and `python` are those of
this checkout. `make docs` writes outputs that differ in more than what is `REMOVED` from both.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest import mock

import typer
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.local.scripted_judge import scripted_judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT: Final = Path(__file__).parents[1]

WALKED: Final = ("tutorial", "calibrate", "composites", "install", "long-runs", "trainers")

PAGES: Final = (
    *(ROOT / "docs" / f"{name}.md" for name in WALKED),
    *sorted((ROOT / "docs/how-to").glob("*.md")),
    *(ROOT / "docs" / f"{name}.md" for name in ("trainers-reference", "write-your-own-reward")),
)
"""The pages that are walked."""

COLUMNS: Final = "104"
"""Of the terminal in which a page's commands run."""

BLOCK: Final = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^>]+?) -->\n+)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)

FILE: Final = re.compile(r"# (\S+\.(?:py|toml|yml|yaml))\n")

EDIT: Final = "--- "
"""Begins a diff of a file of the page's; any other diff is there to be read."""

REMOVED: Final = (
    (re.compile(r"[\d,]+ samples/s"), "… samples/s"),
    (re.compile(r"( passed) in [\d.]+s"), r"\1 in …s"),
    (re.compile(r"(\bworks +)\d+\.\d"), r"\1…"),  # seconds of a probe
    (re.compile(r"  notice: no interpreter of Python [^\n]*\n"), ""),  # of the machine
)
"""What two runs of a command print differently, and what stands for it in a comparison."""

STAND_INS: Final = {"http://localhost:8000": scripted_judge}
"""Servers that a page speaks to, and what serves in their place."""

MARKS: Final = frozenset("|&;<>$`(){}*?~")
"""What makes a command one for a shell."""

QUOTED: Final = re.compile(r"'[^']*'")

PARSERS: Final = {
    "python": ast.parse,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "json": yaml.safe_load,
}

USAGE: Final = typer.BadParameter.__bases__
"""What is raised where a command is typed wrongly."""


class Block(NamedTuple):
    """A fenced block of a page.

    Args:
        language: behind the fence.
        text: between the fences.
        reason: why it is not run; "" where it is.
    """

    language: str
    text: str
    reason: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page's text, in order."""
    return [_block(match) for match in BLOCK.finditer(page)]


def walked(page: str) -> str:
    """The text of a page with every output as its commands print it today.

    Raises:
        AssertionError: a command of an `sh` block failed, or a block does not parse.
    """
    named = {name: serve for name, serve in STAND_INS.items() if name in page}
    with _walk(named) as walk:
        return BLOCK.sub(lambda match: _rewritten(match, walk), page)


def updated(page: str) -> str:
    """The same, but with the outputs that it has where only what is `REMOVED` differs."""
    now = walked(page)
    return page if comparable(page) == comparable(now) else now


def comparable(page: str) -> str:
    """The text of a page without what differs each time."""
    for pattern, instead in REMOVED:
        page = pattern.sub(instead, page)
    return page


def unparsed(page: str) -> Iterator[str]:
    """What is wrong with the `reward` commands of a page: an unknown command, option or value."""
    for block in blocks(page):
        for typed in _reward_commands(block):
            if complaint := _complaint(typed):
                yield f"{shlex.join(['reward', *typed])}: {complaint}"


@dataclass
class _Walk:
    """A reader's shell: where they are, and what stands in for servers.

    Args:
        environment: of the commands.
        addresses: of servers that a page names, and of those that answer in their place.
    """

    environment: dict[str, str]
    addresses: dict[str, str] = field(default_factory=dict)

    def output(self, command: str) -> str:
        """What a command prints on both streams together, its last line complete."""
        return self._named(self._ran(command)[0])

    def must_succeed(self, commands: str) -> None:
        """Run the commands of a block.

        Raises:
            AssertionError: a status is not 0.
        """
        lines = commands.splitlines()
        each = lines if all(map(_is_plain, lines)) else [commands]
        for typed in each:
            printed, status = self._ran(typed)
            assert status == 0, f"{typed}\nexited with {status}:\n{printed}"

    def write(self, name: str, text: str) -> None:
        """A file of the reader's."""
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._served(text), encoding="utf-8")

    def _ran(self, command: str) -> tuple[str, int]:
        typed = self._served(command)
        if _is_plain(typed):
            ran = CliRunner().invoke(app, shlex.split(typed)[1:], prog_name="reward")
            return ran.output, ran.exit_code
        return _in_shell(typed, self.environment)

    def _served(self, text: str) -> str:
        for named, served in self.addresses.items():
            text = text.replace(named, served)
        return text

    def _named(self, text: str) -> str:
        for named, served in self.addresses.items():
            text = text.replace(served, named).replace(_host(served), _host(named))
        return text


def _is_plain(typed: str) -> bool:
    """Whether a line is a command of ours that needs no shell: it is run in this process."""
    return typed.startswith("reward ") and MARKS.isdisjoint(QUOTED.sub("", typed))


@contextmanager
def _walk(stand_ins: Mapping[str, Any]) -> Iterator[_Walk]:
    """A reader's shell in an empty folder, with such servers, until the end of the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        commands, home = folder / "bin", folder / "home"
        commands.mkdir()
        home.mkdir()
        _command(commands / "reward", "-c 'from reward_functions.cli import main; main()'")
        _command(commands / "python", "")
        _command(commands / "pytest", "-m pytest -p no:cacheprovider")
        environment = {
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(home), str(ROOT)]),
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "COLUMNS": COLUMNS,
            "HOME": str(home),
        }
        addresses = {name: stack.enter_context(serve()) for name, serve in stand_ins.items()}
        stack.enter_context(chdir(home))
        stack.callback(_forget_modules_in, home)
        stack.enter_context(mock.patch.dict(os.environ, _inherited() | environment, clear=True))
        stack.enter_context(mock.patch.object(sys, "dont_write_bytecode", new=True))
        yield _Walk(environment, addresses)


def _forget_modules_in(folder: Path) -> None:
    """Take out of this process what a page's commands imported from its files."""
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").is_relative_to(folder):
            del sys.modules[name]


def _inherited() -> dict[str, str]:
    """The environment of this process, less what leads to an account or sets up a reward."""
    ours = ("AWS_", "REWARD_", "RFT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def _command(path: Path, arguments: str) -> None:
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
    path.chmod(0o755)


def _in_shell(commands: str, environment: dict[str, str]) -> tuple[str, int]:
    done = subprocess.run(
        ["/bin/sh", "-e"],
        check=False,
        encoding="utf-8",
        env=environment,
        input=commands,
        stderr=subprocess.STDOUT,
        stdout=subprocess.PIPE,
    )
    return done.stdout, done.returncode


def _rewritten(match: re.Match[str], walk: _Walk) -> str:
    """A block after it has run."""
    block = _block(match)
    if block.reason:
        return match[0]
    if block.language == "sh":
        walk.must_succeed(block.text)
    elif block.language == "console":
        commands = [command for command, _ in _exchanges(block.text)]
        shown = "".join(f"$ {command}\n{_tidy(walk.output(command))}" for command in commands)
        return match[0].replace(block.text, shown)
    elif block.language == "diff" and block.text.startswith(EDIT):
        _patch(block.text)
    elif parse := PARSERS.get(block.language):
        _parsed(parse, block.text)
        if name := FILE.match(block.text):
            walk.write(name[1], block.text)
    return match[0]


def _patch(diff: str) -> None:
    """Edit a file of the reader's as a diff shows it."""
    name, _, rest = diff.removeprefix(EDIT).partition("\n")
    text = Path(name).read_text(encoding="utf-8")
    for hunk in rest.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        old, new = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
        assert text.count(old) == 1, f"{name} has not one place with\n{old}"
        text = text.replace(old, new)
    Path(name).write_text(text, encoding="utf-8")


def _parsed(parse: Callable[[str], object], text: str) -> None:
    try:
        parse(text)
    except (SyntaxError, ValueError, yaml.YAMLError) as error:
        raise AssertionError(f"{text}does not parse: {error}") from None


def _tidy(printed: str) -> str:
    """What was printed, without blanks at the ends of lines and empty lines around it."""
    lines = "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")
    return f"{lines}\n" if lines else ""


def _block(match: re.Match[str]) -> Block:
    return Block(match["language"], match["text"], match["reason"] or "")


def _exchanges(text: str) -> list[tuple[str, str]]:
    """(command, output) of a `console` block."""
    _, *parts = re.split(r"(?m)^\$ ", text)
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def _reward_commands(block: Block) -> Iterator[list[str]]:
    """The arguments of every `reward` that a block starts."""
    if read := SCRIPTS.get(block.language):
        text = re.sub(r"(?ms)<<'(\w+)'$.*?^\1$", "", read(block.text)).replace("\\\n", " ")
        for line in text.splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
            lexer.whitespace_split = True
            yield from _commands_of(list(lexer))


def _typed(text: str) -> str:
    """The commands of a `console` block."""
    return "\n".join(command for command, _ in _exchanges(text))


def _ci_script(text: str) -> str:
    """The commands of a CI's file: `- run: …`, or items of a `script`."""
    return "\n".join(re.findall(r"(?m)^ *- (?:run: )?(reward .*)$", text))


SCRIPTS: Final[Mapping[str, Callable[[str], str]]] = {
    "sh": str,
    "console": _typed,
    "yaml": _ci_script,
}
"""What a shell reads, by the language of a block."""


def _commands_of(words: list[str]) -> Iterator[list[str]]:
    """The arguments of `reward` wherever it begins a command of a line."""
    command: list[str] = []
    for word in [*words, ";"]:
        if set(word) <= set("();<>|&"):
            if command[:1] == ["reward"]:
                yield command[1:]
            command = []
        elif command or "=" not in word.partition("/")[0]:
            command.append(word.replace("$(", ""))


@cache
def _program() -> Any:
    return get_command(app)


def _complaint(typed: list[str]) -> str:
    """Why `reward` would refuse what was typed; "" where it would not. Nothing is run."""
    command, rest = _program(), list(typed)
    while commands := getattr(command, "commands", None):
        name = rest.pop(0) if rest else "--help"
        if name.startswith("-"):
            return ""
        if name not in commands:
            return f"there is no command {name}"
        command = commands[name]
    try:
        command.make_context(command.name, rest)
    except USAGE as error:
        return str(error.format_message())
    except typer.Exit:
        pass
    return ""


def _host(url: str) -> str:
    return url.partition("://")[2]
