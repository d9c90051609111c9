"""`reward list`, `show`, `audit`, `explain`, and what every command has in common."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import EntryPoint, version

import pytest
from typer.testing import CliRunner

from reward_functions import Example, Sample, Score, reward_function, specs
from reward_functions.cli import app
from reward_functions.cli._console import plain
from reward_functions.core import registry
from tests import commands
from tests.commands import PIPE

REWARD = (sys.executable, "-c", "from reward_functions.cli import main; main()")

FILE = '''
from dataclasses import dataclass

from reward_functions import Example, Sample, Score, reward_function

@dataclass
class Limit:
    words: "int" = 3

@reward_function({name}version=1, examples=[Example("positive", response="a b", score={score})])
def {function}(sample: Sample, *, words: int = Limit().words) -> Score:
    """At most so many words. Reference: none."""
    return Score(float(len(sample.response.split()) <= words), answer=sample.response)
'''


@reward_function(name="acme.broken", version=3, metrics=["m"], examples=[
    Example("positive", response="4", reference="4", score=1.0),
    Example("negative", response="[bold]\x1b[2J", reference="4", score=1.0),
])  # fmt: skip
def broken(sample: Sample) -> Score:
    """A plug-in [red]with[/red] markup.

    | a | table |
    """
    if sample.response == "4":
        raise ZeroDivisionError("by nothing")
    return Score(0.0)


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """A folder of reward files, forgotten when the test is over."""

    def write(file="brief.py", function="brief", name="", score=1.0, text=FILE):
        path = tmp_path / file
        path.write_text(text.format(function=function, name=name, score=score))
        return path

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return write


@pytest.fixture
def plugin(monkeypatch):
    point = EntryPoint("acme.broken", "acme:broken", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: broken)
    monkeypatch.setattr(registry, "_entry_points", lambda: [point])


def kind_of(spec):
    """By its folder."""
    return spec.function.__module__.split(".")[1].removesuffix("s")


def test_list_names_every_reward_its_kind_and_its_parameters(plugin):
    ran = run("list")
    assert ran.exit_code == 0
    for name, spec in specs().items():
        kind = "plugin" if "." in name else kind_of(spec)
        rows = [line.split()[:3] for line in ran.stdout.splitlines()]
        assert [name, str(spec.version), kind] in rows
    assert "ignore_case" in ran.stdout
    assert "[red]with[/red]" in ran.stdout


@pytest.mark.parametrize("name", specs())
def test_show_says_all_about_a_reward(name):
    ran = run("show", name)
    assert ran.exit_code == 0
    spec = specs()[name]
    kind = kind_of(spec)
    for word in (
        f"{name}, version {spec.version}, {kind}",
        "Reference:",
        "scale",
        "{:g} to {:g}".format(*spec.scale),
        "attack",
    ):
        assert word in ran.stdout
    for parameter in spec.parameters:
        assert parameter in ran.stdout


CUT = [name for name, spec in specs().items() if "was cut off" in (spec.function.__doc__ or "")]


@pytest.mark.parametrize("name", CUT)
def test_a_sign_in_the_text_is_no_word_of_a_token_limit(name):
    said = " ".join(run("show", name).stdout.split())
    assert said.count("text shows that") == said.count("was cut off") > 0


def test_the_rewards_that_see_a_cut_are_known():
    assert CUT == ["answer_text", "finqa", "gsm8k", "math", "multiple_choice"]


def test_the_request_and_reply_of_show_are_json_and_belong_together():
    _, _, exchange = run("show", "exact_match").stdout.partition("Request\n")
    request, _, reply = exchange.partition("Reply\n")
    (row,), (result,) = json.loads(request), json.loads(reply)
    assert row["id"] == result["id"]
    assert row["reference_answer"] == "Paris"
    assert result["aggregate_reward_score"] == 1.0


def test_running_text_of_a_docstring_is_joined_and_lists_are_kept():
    shown = run("show", "exact_match").stdout
    assert "\n    ignore_case: whether" in shown
    assert "canonical form (NFC), before the comparison" in " ".join(shown.split())


def test_an_audit_without_data_says_which_example_differs(plugin):
    ran = run("audit", "acme.broken")
    assert ran.exit_code == 2, "no answer has a score"
    reported = " ".join(ran.stdout.split())
    assert "CONTRACT: acme.broken: the positive example '4' raises ZeroDivisionError" in reported
    assert "\x1b" not in ran.stdout


def test_an_audit_without_data_says_what_an_example_earns(in_folder):
    in_folder(score=0.5)
    ran = run("audit", "brief.py")
    assert ran.exit_code == 1
    assert "positive example 'a b' earns 1.0, not 0.5" in " ".join(ran.stdout.split())
    assert "not fit to train on: contract>0" in ran.stderr


def test_an_audit_names_an_example_with_a_parameter_that_does_not_exist(in_folder):
    path = in_folder()
    path.write_text(path.read_text().replace("score=1.0)", "score=1.0, parameters={'word': 1})"))
    ran = run("audit", "brief.py")
    assert ran.exit_code == 2, "it is the only example"
    assert "no parameter 'word'" in ran.stdout


def test_a_reward_that_fails_is_still_shown(plugin):
    ran = run("show", "acme.broken")
    assert ran.exit_code == 0
    assert "| a | table |" in ran.stdout
    assert "Reply" not in ran.stdout


def test_a_reward_without_examples_does_not_pass(in_folder):
    path = in_folder()
    path.write_text(path.read_text().replace('Example("positive", response="a b", score=1.0)', ""))
    ran = run("audit", "brief.py")
    assert ran.exit_code == 2
    assert "it needs examples of kind positive, negative, attack" in ran.stdout
    assert ran.stderr.startswith("nothing was measured: there are no answers\n")


def test_explain_shows_answer_both_normal_forms_rule_score_and_reason():
    ran = run("explain", "exact_match", "--response", " PARIS ", "--reference", "Paris")
    assert ran.exit_code == 0
    assert [line.split(maxsplit=1)[0] for line in ran.stdout.splitlines()] == [
        "answer", "normal", "reference", "rule", "the", "score", "reason",
    ]  # fmt: skip
    assert ran.stdout.count("paris") == 2
    assert "answer       PARIS" in ran.stdout, "as found, and not its normal form"
    assert "normalised-text" in ran.stdout
    assert "but for case, white space and style of Unicode" in ran.stdout


def test_explain_reads_files_and_standard_input(tmp_path):
    response, reference = tmp_path / "response", tmp_path / "reference"
    response.write_text("Paris")
    reference.write_text('{"answer": "Paris"}')
    ran = run(
        "explain", "exact_match", "--response", f"@{response}", "--reference", f"@{reference}"
    )
    assert "the response is the reference" in ran.stdout
    ran = run(
        "explain", "exact_match", "--response", "-", "--reference", "Paris", "-p",
        "ignore_case=false", stdin="paris",
    )  # fmt: skip
    assert "another text" in ran.stdout


def test_explain_says_what_could_not_be_scored():
    ran = run("explain", "exact_match", "--response", "Paris")
    assert ran.exit_code == 1
    assert "BadReference: there is no reference" in ran.stdout


def test_explain_cannot_be_repainted():
    ran = run("explain", "exact_match", "--response", "\x1b[2J[red]\ud800", "--reference", "x")
    assert ran.exit_code == 0
    assert r"\x1b[2j[red]\ud800" in ran.stdout


@pytest.mark.parametrize("command", ["show", "audit"])
def test_an_unknown_name_is_one_line_with_the_nearest(command):
    ran = run(command, "exactmatch")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert "'exact_match'" in ran.stderr


def test_names_are_lower_case_and_one_that_is_not_is_understood():
    assert "called 'GSM8K'. Did you mean 'gsm8k'?" in run("show", "GSM8K").stderr
    assert "Did you mean 'exact_match'?" in run("show", "EXACT_MACH").stderr


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_list_breaks_no_name(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    words = run("list").stdout.replace(",", " ").split()
    for name, spec in specs().items():
        assert {name, *spec.parameters} <= set(words)


def test_two_at_signs_are_one_and_no_file():
    ran = run("explain", "exact_match", "--response", "@@x", "--reference", "@@x")
    assert "answer       @x" in ran.stdout
    assert "reference    @x" in ran.stdout


def test_text_that_is_not_utf8_is_one_line(tmp_path):
    (tmp_path / "response").write_bytes(b"\xff")
    ran = run("explain", "exact_match", "--response", f"@{tmp_path / 'response'}")
    assert ran.exit_code == 2
    assert ran.stderr.endswith("response: not UTF-8\n")


def test_a_file_is_taken_for_a_name(in_folder):
    in_folder()
    assert run("audit", "brief.py").exit_code == 1, "it pays for whatever is short"
    assert "brief, version 1, file" in run("show", "./brief.py").stdout
    ran = run("explain", "./brief.py", "--response", "a b c d", "-p", "words=4")
    assert "score   1" in ran.stdout


def test_a_file_may_declare_a_qualified_name(in_folder):
    in_folder(name='name="acme.brief", ')
    assert "acme.brief, version 1, plugin" in run("show", "./brief.py").stdout


def test_a_file_named_otherwise_may_hold_one_reward(in_folder):
    in_folder(file="rewards.py")
    assert "brief, version 1" in run("show", "rewards.py").stdout


def test_a_file_of_several_rewards_is_asked_for_the_one_of_its_name(in_folder):
    text = FILE + "from reward_functions.verifiers.exact_match import exact_match\n"
    in_folder(text=text)
    assert "brief, version 1" in run("show", "brief.py").stdout
    in_folder(file="rewards.py", text=text)
    assert "none of brief, exact_match is named like" in run("show", "rewards.py").stderr


def test_a_file_named_like_a_module_does_not_replace_it(in_folder):
    in_folder(file="json.py", function="json", text=FILE)
    assert run("show", "json.py").exit_code == 0
    assert sys.modules["json"] is json


def test_a_file_imports_its_neighbours(in_folder, tmp_path):
    (tmp_path / "neighbour_of_brief.py").write_text("WORDS = 3\n")
    in_folder(text="from neighbour_of_brief import WORDS\n" + FILE)
    assert run("show", "brief.py").exit_code == 0


MISTAKES = {
    "syntax": ("def f(:\n", "brief.py, line 1: SyntaxError: "),
    "a name": ("\n\nnothing\n", "brief.py, line 3: NameError: "),
    "a module": ("import no_such_module\n", "brief.py, line 1: ModuleNotFoundError: "),
    "a package": ("from . import x\n", "brief.py, line 1: ImportError: "),
    "a declaration": (FILE.replace("version=1", "version=-1"), "line 10: ValueError: "),
    "deeper": ("import json\n\njson.loads('')\n", "brief.py, line 3: JSONDecodeError: "),
    "an exit": ("import sys\nsys.exit()\n", "brief.py, line 2: called sys.exit(None)"),
    "no message": ("assert 1 > 2\n", "brief.py, line 1: AssertionError\n"),
    "no reward": ("x = 1\n", "brief.py: no function in it is decorated"),
    "NUL": ("x = '\0'\n", "brief.py"),
}


@pytest.mark.parametrize(("text", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_file_is_one_line_that_names_where(text, complaint, in_folder):
    in_folder(text=text)
    ran = run("audit", "brief.py")
    assert ran.exit_code == 2
    assert ran.stderr.count("\n") == 1
    assert complaint in ran.stderr


def test_the_version_is_the_packages():
    assert run("--version").stdout == f"reward-functions {version('reward-functions')}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["score", "-h"], ["init", "--help"]])
def test_help_is_for_reading(arguments):
    ran = run(*arguments)
    assert ran.exit_code == 0
    assert "Usage" in ran.stdout


def test_help_tells_what_is_refused_whole_and_what_is_unscored():
    reported = " ".join(run("score", "--help").stdout.split())
    assert "A line or an item that is not a JSON object makes the whole file unusable" in reported
    assert "A JSON object that is not a valid sample is an unscored row" in reported
    assert "No path" in run("invoke", "--help").stdout


def test_help_imports_no_reward_and_nothing_heavy():
    code = (
        "import sys; from reward_functions.cli import app\n"
        "try: app(['--help'])\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    loaded = set(ran.stderr.split())
    assert not loaded & {"pydantic", "aws_lambda_powertools", "sympy", "boto3"}
    rooms = {name.split(".")[1] for name in loaded if name.startswith("reward_functions.")}
    assert rooms == {"cli", "core", "reports"}


def test_characters_a_terminal_lacks_are_escaped_and_never_end_the_command():
    ran = subprocess.run(
        [*REWARD, "explain", "exact_match", "--response", "→é", "--reference", "→é"],
        capture_output=True,
        check=False,
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert rb"\u2192" in ran.stdout


def test_plain_text_is_short_and_prints():
    assert plain("a\nb\t\x1b\u202e\ud800é", 100) == r"a\nb\t\x1b\u202e\ud800é"
    assert plain("x" * 5_000_000, 3) == "xxx…"
    assert plain("\0" * 5, 5) == r"\x00\…"


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Several packages with entry points, one of them sound."""
    texts = {
        "leaves": "raise SystemExit('[bold]bye')",
        "fails": "1 / 0",
        "runs": "from reward_functions import Example, Score, reward_function\n"
        "@reward_function(name='runs.out', version=1, examples=[\n"
        "    Example('positive', response='a', score=1.0)])\n"
        "def reward(sample): raise SystemExit(3)\n",
        "sound": "from reward_functions import Example, Score, reward_function\n"
        "@reward_function(name='sound.one', version=1, examples=[\n"
        "    Example('positive', response='a', score=1.0)])\n"
        "def reward(sample):\n    '''Sound.'''\n    return Score(1.0)\n",
    }
    names = {"leaves": "leaves.now", "fails": "fails.now", "runs": "runs.out", "sound": "sound.one"}
    for module, text in texts.items():
        (tmp_path / f"{module}.py").write_text(text)
    points = [
        EntryPoint(name, f"{module}:reward", registry.ENTRY_POINT_GROUP)
        for module, name in names.items()
    ]
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(registry, "_entry_points", lambda: points)


def test_a_broken_plugin_is_a_warning_beside_a_whole_list(packages):
    ran = run("list")
    assert ran.exit_code == 0
    assert all(name in ran.stdout for name in (*specs(), "sound.one"))
    assert [line.split(": ")[:3] for line in ran.stderr.splitlines()] == [
        ["warning", "entry point 'fails.now' (fails:reward)", "ZeroDivisionError"],
        ["warning", "entry point 'leaves.now' (leaves:reward)", "SystemExit"],
    ]
    assert "repair, update or uninstall its package" in ran.stderr


def test_an_audit_says_where_a_plugin_ends_the_program(packages):
    ran = run("audit", "runs.out")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "error: runs.py, line 4: called sys.exit(3)\n"


@pytest.mark.parametrize("command", [["show"], ["audit", "--class", "EX-WRONG"]])
def test_the_others_do_not_ask_for_the_broken_one(packages, command):
    assert "sound.one, version 1" in run(*command, "sound.one").stdout
    assert run(*command, "gsm8k").exit_code == 0
    broken = run(*command, "fails.now")
    assert (broken.exit_code, broken.stdout) == (2, "")
    assert "ZeroDivisionError" in broken.stderr
    unknown = run(*command, "soundone")
    assert "Did you mean 'sound.one'" in unknown.stderr


def test_a_prototype_is_told_what_it_lacks(in_folder):
    in_folder(
        text="from reward_functions import reward_function\n\n@reward_function\n"
        "def brief(sample):\n    return len(sample.response) < 9\n"
    )
    ran = run("audit", "brief.py")
    shown = " ".join(ran.stdout.split())
    assert ran.exit_code == 2, "it has no example that could be scored"
    for words in ("version=1", "examples of kind positive, negative, attack", "a docstring"):
        assert words in shown
    assert run("explain", "brief.py", "--response", "short").exit_code == 0


def test_a_composite_in_a_file_is_explained_with_its_parts_and_their_rules(in_folder):
    path = in_folder().with_name("tutor.toml")
    path.write_text('gated = { gate = "exact_match", reward = { cascade = ["gsm8k", "math"] } }')
    ran = run("explain", "tutor.toml", "--response", "5", "--reference", "4")
    shown = " ".join(ran.stdout.split())
    assert ran.exit_code == 0
    assert "the gate is closed: exact_match 0 (the response is another text)" in shown
    assert "cascade > math" in shown
    assert "not needed" in shown
    path.write_text("weighted = { maht = 1.0 }")
    ran = run("explain", "tutor.toml", "--response", "5")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "error: tutor.toml: no reward function is called 'maht'. Did you mean 'math'?\n"
    )


def test_a_shell_completes_commands_and_options():
    def completed(*words):
        names = {"COMP_WORDS": " ".join(("reward", *words)), "COMP_CWORD": str(len(words))}
        environment = {"_REWARD_COMPLETE": "complete_bash", "PATH": "", **names}
        ran = commands.run([], env=environment, stdout=PIPE, stderr=PIPE)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout.split()

    assert completed("sc") == ["score"]
    assert {"lint", "stats", "split"} <= set(completed("data", ""))
    assert "--worst" in completed("explain", "gsm8k", "--w")
