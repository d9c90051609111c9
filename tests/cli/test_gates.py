"""Nothing measured is never a pass: every gate that needs no service, in every case."""

from __future__ import annotations

import ast
import inspect
import json
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from reward_functions import cli as CLI  # noqa: N812 - a module beside its app
from reward_functions.aws.deployed.function import FunctionError, Invocation
from reward_functions.cli import app
from reward_functions.reports.measured import Measured
from tests.gates import EMPTY, GATES, HALF, INVALID, UNSCORED, cases, ended_with

LINES = 6

REWARD = """
from reward_functions import Example, Sample, Score, reward_function

@reward_function(
    version=1,
    gold_response=lambda sample: f"It is {{sample.reference}}.",
    examples=[{examples}],
)
def mine(sample: Sample) -> Score:
    '''A reward. Reference: a word. Scale: 0 to 1.'''
    if {fails}:
        raise RuntimeError
    return Score(float(sample.response == f"It is {{sample.reference}}."))
"""

EXAMPLES = {
    EMPTY: "",
    UNSCORED: 'Example("positive", response="It is a.", reference="a", score=1.0)',
    INVALID: 'Example("positive", response="It is a.", reference="a", score=1.0,'
    ' parameters={"unknown": 1})',
    HALF: 'Example("positive", response="It is a.", reference="a", score=1.0),'
    ' Example("negative", response="No.", reference="a", score=0.0, parameters={"unknown": 1})',
}


def written(name, lines):
    Path(name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return name


def reward(case):
    fails = "True" if case is UNSCORED else "False"
    Path("mine.py").write_text(REWARD.format(examples=EXAMPLES[case], fails=fails))
    return "mine.py"


def row(at):
    turns = [{"role": "user", "content": f"{at}?"}, {"role": "assistant", "content": f"{at}"}]
    return {"id": str(at), "messages": turns, "reference_answer": "abcdef"[at]}


def is_invalid(case, at):
    return case is INVALID or (case is HALF and at % 2 == 1)


def rows(case):
    """Rows that are no samples where they are invalid."""
    lines = [row(at) | ({"messages": 7} if is_invalid(case, at) else {}) for at in range(LINES)]
    return written("rows.jsonl", [] if case is EMPTY else lines)


def verdicts(case, count):
    """A recording in which a question without a line has no answer."""
    valid = {"verdict": {"same": "no"}}
    invalid = {"error": "NoVerdict", "kind": "malformed"}
    lines = [{"id": str(at)} | (invalid if is_invalid(case, at) else valid) for at in range(count)]
    return written("verdicts.jsonl", [] if case is UNSCORED else lines)


def audit(case):
    return "audit", reward(case), rows(case)


def score(case):
    return "score", reward(case), rows(case)


def convert(case):
    return "data", "convert", rows(case), "--to", "trl", "-o", "out.jsonl"


def calibrate(case):
    lines = [row(at) | {"label": at % 3 == 0} for at in range(LINES)]
    labelled = written("cases.jsonl", [] if case is EMPTY else lines)
    replayed = ("--judge-answers", verdicts(case, LINES))
    return "audit", "reference", labelled, "--card", "cards", *replayed


COMMANDS = {
    "audit": audit,
    "score": score,
    "data convert": convert,
    "audit --card": calibrate,
}

WITH_A_CARD = [("audit --card", case, status) for _, case, status in cases("audit")]
"""The statuses of an audit hold for a judge beside people, too."""


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REWARD_JUDGE", raising=False)
    return lambda *words: CliRunner().invoke(app, [*words])


BY_THE_TABLE = cases(*(name for name in COMMANDS if name in GATES))


@pytest.mark.parametrize(("command", "case", "status"), [*BY_THE_TABLE, *WITH_A_CARD])
def test_nothing_measured_is_never_a_pass(run, command, case, status):
    ran = run(*COMMANDS[command](case))
    ended_with(ran, status)
    if status == 2:
        first, *_ = ran.stderr.splitlines()
        assert first.startswith(("nothing was measured: ", "error: "))


@pytest.mark.parametrize("command", ["score", "data convert"])
def test_a_pipeline_that_expects_empty_files_says_so(run, command):
    ran = run(*COMMANDS[command](EMPTY), "--allow-empty")
    assert ran.exit_code == 0, ran.output


def test_a_refused_conversion_writes_no_file(run):
    assert run(*convert(EMPTY)).exit_code == 2
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(
    ("measured", "failed", "status", "sentence"),
    [
        (Measured("rows", 0), False, 2, "nothing was measured: there are no rows"),
        (Measured("rows", 3), False, 0, "3 of 3 rows measured"),
        (Measured("rows", 3), True, 1, "3 of 3 rows measured"),
        (Measured("rows", 3, 1), False, 1, "3 of 4 rows measured"),
        (Measured("rows", 0, 4), False, 2, "nothing was measured: 0 of 4 rows measured"),
        (Measured("rows", 0, 4), True, 2, "nothing was measured: 0 of 4 rows measured"),
        (Measured("rows", 0, 0, 5), False, 2, "nothing was measured: 5 decided without a model"),
        (
            Measured("attacks", 0, 102, 28),
            False,
            2,
            "nothing was measured: 0 of 102 attacks measured, 28 decided without a model",
        ),
        (
            Measured("rows", 1000, 0, 1),
            False,
            0,
            "1,000 of 1,000 rows measured, 1 decided without a model",
        ),
    ],
)
def test_what_was_measured_decides_the_status(measured, failed, status, sentence):
    assert (measured.status(failed=failed), measured.sentence) == (status, sentence)


class Runtime:
    """A Lambda function of this machine that answers no batch, or every second one."""

    def __init__(self, case):
        self.case, self.calls = case, 0

    def __call__(self, *_, **__):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def invoke(self, event):
        self.calls += 1
        if self.case is UNSCORED or self.calls % 2:
            raise FunctionError("BatchFailed", "no sample was scored")
        results = [{"id": row["id"], "aggregate_reward_score": 1.0} for row in event]
        return Invocation(json.dumps(results).encode(), 0.1, cold=False)


@pytest.mark.parametrize(("_command", "case", "status"), cases("invoke"))
def test_a_function_that_answers_no_batch_is_never_a_pass(run, monkeypatch, _command, case, status):
    monkeypatch.setattr("reward_functions.cli.invoking.LocalRuntime", Runtime(case))
    lines = [] if case is EMPTY else [row(at) for at in range(LINES)]
    ran = run("invoke", "gsm8k", written("rows.jsonl", lines), "--batch-size", "1")
    ended_with(ran, status)


@pytest.mark.parametrize(("command", "case", "status"), cases("runs watch", "runs resume"))
def test_a_run_over_shards_without_scores_is_never_a_pass(run, command, case, status):
    began = run(*score(case), "--on", "processes", "--concurrency", "1", "-o", "run")
    ran = run(*command.split(), "run")
    for each in (began, ran):
        ended_with(each, status)
        if status == 2:
            lines = each.stderr.splitlines()
            assert any(line.startswith(("nothing was measured: ", "error: ")) for line in lines)


# -- no gate is missing ---------------------------------------------------------------------------

RULE = "leave"
"""What ends a command by the one rule, and what a command calls that does."""

WITHOUT_ROWS = {
    "compare": "it is held to what --fail-on says: tests/audit/test_comparing.py",
    "rollouts doctor": "it looks at settings: tests/cli/rollouts/test_doctor.py",
}
"""Commands that end by the rule and are given no rows, with what tries them."""

OWN_STATUS = {
    "data convert": "what has no place in the shape; of no rows it is a gate",
    "data lint": "an error of the data; of no rows there is one",
    "data prepare": "records that were skipped; of none nothing is written, status 2",
    "demo": "an example of ours that is not as it should be",
    "doctor": "a check of this machine that fails",
    "explain": "a response that is shown and has no score",
    "job cleanup": "something that could not be removed",
    "lock": "a lock that is stale",
    "deployed prune": "a version that could not be removed",
    "rollouts outbox replay": "a report that was not delivered",
    "rollouts redrive": "a letter that was not sent back",
    "rollouts sessions stop": "a session that could not be stopped",
    "stage check": "a stage that AWS would refuse",
}
"""Commands with a status 1 of their own: what it says. None of them measures."""


def commands(group, name=()):
    """(name, function) of every command."""
    if hasattr(group, "commands"):
        for word, each in group.commands.items():
            yield from commands(each, (*name, word))
    else:
        yield " ".join(name), inspect.unwrap(group.callback)


@cache
def functions_of(path):
    tree = ast.parse(Path(path).read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def mentioned(function):
    """Every name in the body of a command, and in the functions of its module that it calls.

    A name that is given a value there is none of the shared functions.
    """
    path = inspect.getsourcefile(function)
    known, left, found = functions_of(path), [function.__name__], set()
    while left:
        nodes = [node for node in ast.walk(known[left.pop()]) if isinstance(node, ast.Name)]
        names = {node.id for node in nodes if isinstance(node.ctx, ast.Load)}
        names -= {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
        left += [name for name in names - found if name in known]
        found |= names
    return found


@cache
def enders():
    """`leave`, the one of an audit, and the functions that commands share and that call it."""
    shared = Path(inspect.getsourcefile(CLI)).parent.glob("_*.py")
    return {RULE, "_leave"} | {
        name
        for path in shared
        for name, node in functions_of(path).items()
        if any(isinstance(each, ast.Name) and each.id == RULE for each in ast.walk(node))
    }


EVERY = dict(commands(typer.main.get_command(app)))


def test_every_command_that_ends_by_the_rule_is_in_the_table():
    found = {name for name, function in EVERY.items() if mentioned(function) & enders()}
    assert {"score", "invoke", "deployed invoke", "audit"} < found
    assert found == (GATES.keys() - {"data convert"}) | WITHOUT_ROWS.keys()


def test_every_command_with_a_status_of_its_own_says_what_it_is():
    """A new command is a gate, and stands in the table, or says here why it is none."""
    found = {name for name, function in EVERY.items() if "INCOMPLETE" in mentioned(function)}
    assert found == OWN_STATUS.keys()


def tried():
    """The commands whose cases some test runs."""
    for path in Path(__file__).parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "cases":
                yield from (each.value for each in node.args if isinstance(each, ast.Constant))


def test_every_case_of_the_table_is_tried():
    assert {*tried(), *COMMANDS} - {"audit --card"} == GATES.keys()


def test_the_help_of_score_names_the_status_of_a_tracker_that_failed():
    said = (EVERY["score"].__doc__ or "").partition("Exit status: ")[2]
    assert "--track" in said.partition("1 ")[2].partition("2 ")[0]


@pytest.mark.parametrize("command", GATES)
def test_what_a_gate_says_of_its_status_is_in_its_help(command):
    """The sentence names each status that the table has, and 2 is that nothing was measured."""
    said = " ".join((EVERY[command].__doc__ or "").split()).partition("Exit status: ")[2]
    wanted = {status for status in GATES[command] if status is not None}
    assert all(f"{status} " in said for status in wanted | {0}), said
