"""Nothing measured is never a pass: every gate that needs no service, in every case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.tools.invocation import FunctionError, Invocation
from reward_functions.tools.measured import Measured
from tests.gates import EMPTY, HALF, INVALID, UNSCORED, cases, ended_with

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


def check(case):
    return "check", reward(case)


def score(case):
    return "score", reward(case), rows(case)


def convert(case):
    return "data", "convert", rows(case), "--to", "trl", "-o", "out.jsonl"


def replay(case):
    return "data", "replay", rows(case), "--reward", reward(case)


def doctor(case):
    prompts = written("prompts.jsonl", [] if case is EMPTY else [row(0)])
    return "judge", "doctor", "reference", "--prompts", prompts, "--replay", verdicts(case, 200)


def calibrate(case):
    lines = [row(at) | {"label": at % 3 == 0} for at in range(LINES)]
    labelled = written("cases.jsonl", [] if case is EMPTY else lines)
    replayed = ("--replay", verdicts(case, LINES))
    return "judge", "calibrate", "reference", "--cases", labelled, *replayed, "--draws", "100"


COMMANDS = {
    "check": check,
    "score": score,
    "data convert": convert,
    "data replay": replay,
    "judge doctor": doctor,
    "judge calibrate": calibrate,
}


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REWARD_JUDGE", raising=False)
    return lambda *words: CliRunner().invoke(app, [*words])


@pytest.mark.parametrize(("command", "case", "status"), cases(*COMMANDS))
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
    monkeypatch.setattr("reward_functions.tools.local_runtime.LocalRuntime", Runtime(case))
    lines = [] if case is EMPTY else [row(at) for at in range(LINES)]
    ran = run("invoke", "gsm8k", written("rows.jsonl", lines), "--batch-size", "1")
    ended_with(ran, status)
