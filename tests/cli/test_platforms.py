"""On Windows every command is refused in one sentence that says what to do."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.core.platforms import POSIX_MODULES, NotThisSystem, require_posix
from reward_functions.core.registry import specs

SENTENCE = (
    "error: reward needs Linux or macOS: on Windows, install WSL with `wsl --install`, and "
    "reward-functions inside it\n"
)
COMMANDS = [
    ["list"],
    ["score", "gsm8k", "rows.jsonl"],
    ["data", "lint", "rows.jsonl"],
    ["job", "plan"],
    ["judge", "init"],
    ["rollouts", "outbox"],
    ["deployed", "list"],
    ["local", "up"],
    ["doctor"],
    ["new", "mine"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("module", POSIX_MODULES)
def test_a_command_without_a_module_of_posix_is_one_sentence(command, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    ran = CliRunner().invoke(app, command)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", SENTENCE)


def test_help_is_shown_on_every_system(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert CliRunner().invoke(app, ["--help"]).exit_code == 0


def test_nothing_is_said_where_the_modules_are():
    require_posix("reward")


def test_the_sentence_names_what_was_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(NotThisSystem, match="the outbox needs Linux or macOS: on Windows"):
        require_posix("the outbox")


WINDOWS = """
import os, signal, sys
for module in ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty"):
    sys.modules[module] = None
for name in ("fork", "getuid", "geteuid", "killpg", "register_at_fork", "setsid", "getpgid"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGALRM", "SIGCHLD"):
    delattr(signal, name)
import reward_functions
from reward_functions.core.registry import specs
names = sorted(specs())
scored = reward_functions.score_batch(
    reward_functions.get("gsm8k"), [reward_functions.sample("#### 4", "4")]
)
print(len(names), scored[0].score.value)
from reward_functions.cli import main
sys.argv = ["reward", "score", "gsm8k", "rows.jsonl"]
main()
"""


def test_the_library_is_imported_where_posix_is_not_and_the_command_says_so():
    ran = subprocess.run(
        [sys.executable, "-c", WINDOWS], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (2, SENTENCE)
    assert ran.stdout == f"{len(specs())} 1.0\n"
