"""Nothing measured is never a pass: the gates that ask a deployed function."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from reward_functions.aws.deployed.findings import CheckReport
from reward_functions.aws.deployed.scorer import VersionScorer
from reward_functions.cli import app
from reward_functions.jobs.reward_checks import reward_findings
from tests.cli.job.test_evaluate import (
    MODEL,
    evaluated,
    file,
    functions,
    graded,
    job,
    models,
    rows,
    run,
    served_pair,
)
from tests.gates import EMPTY, HALF, UNSCORED, cases, ended_with
from tests.jobs.graders import FUNCTION
from tests.lambda_api import Function, function_error

__all__ = ["evaluated", "file", "functions", "job", "models", "run", "served_pair"]

VERSION = f"{FUNCTION}:7"


def is_invalid(case, result):
    """All, or every second by the last number in its id."""
    numbers = re.findall(r"\d+", result["id"]) or ["1"]
    return case is not HALF or int(numbers[-1]) % 2 == 1


def results(event):
    return graded([row for row in event if isinstance(row.get("messages"), list)])


def answering(case):
    """A function that fails, or whose results are, or are half of the time, no numbers."""

    def answer(event):
        if case is UNSCORED:
            return function_error(errorType="BatchFailed", errorMessage="no sample was scored")
        return [
            one | ({"aggregate_reward_score": None} if is_invalid(case, one) else {})
            for one in results(event)
        ]

    return Function([answer])


def imputing(case):
    """A function of ours: numbers that stand for no score are flagged."""

    def flag(one):
        unscored = {"name": "unscored", "value": float(is_invalid(case, one)), "type": "Metric"}
        return one | {"metrics_list": [*one["metrics_list"], unscored]}

    return Function([lambda event: [flag(one) for one in results(event)]])


@pytest.fixture
def typed(run, functions):
    """Run any command on a function that answers as in a case."""

    def typed(function, *words):
        functions[0][VERSION] = function
        return CliRunner().invoke(app, [*map(str, words)])

    return typed


@pytest.mark.parametrize(("command", "case", "status"), cases("deployed invoke"))
def test_a_function_that_scores_nothing_is_never_a_pass(typed, file, command, case, status):
    samples = file("samples.jsonl", [] if case is EMPTY else rows(range(4), **ANSWERED))
    ran = typed(answering(case), *command.split(), VERSION, samples, "--batch-size", 1)
    ended_with(ran, status)


ANSWERED = {
    "messages": [
        {"role": "user", "content": "What is 1 + 7?"},
        {"role": "assistant", "content": "#### 8"},
    ]
}


@pytest.mark.parametrize("case", ["all", HALF])
def test_a_number_that_stands_for_no_score_is_none(typed, file, case):
    """The function gives it where it could not score: the audit would pass otherwise."""
    samples = file("samples.jsonl", rows(range(4), **ANSWERED))
    ran = typed(imputing(case), "audit", VERSION, samples)
    ended_with(ran, 2 if case == "all" else 1)
    assert "samples have a number that stands for no score" in " ".join(ran.output.split())


@pytest.mark.parametrize(("_command", "case", "status"), cases("job evaluate"))
def test_an_evaluation_of_nothing_is_never_a_pass(
    run, functions, job, file, _command, case, status
):
    functions[0][VERSION] = answering(case) if case is UNSCORED else imputing(case)
    train = file("train.jsonl", rows(range(1_000, 1_004)))
    test = file("test.jsonl", rows(range(0 if case is EMPTY else 8)))
    ran = run(job, "--data", test, "--train", train, "--yes", "-k", "0")
    ended_with(ran, status)
    if case is HALF:
        assert "4 of 8 prompts measured" in ran.stderr


@pytest.mark.parametrize(("_command", "case", "status"), cases("job baseline"))
def test_a_baseline_of_nothing_is_never_a_pass(
    typed, models, file, tmp_path, _command, case, status
):
    models.base = lambda number: f"#### {number + 7 + number // 2 % 2}"
    data = file("train.jsonl", rows(range(0 if case is EMPTY else 8)))
    function = answering(case) if case is UNSCORED else imputing(case)
    given = ("-m", MODEL, "-d", "x", "--data", data, "-n", "8", "-k", "2", "--yes")
    ran = typed(function, "job", "baseline", *given, "--stage", "dev")
    ended_with(ran, status)
    assert (tmp_path / "baseline.json").exists() == (status != 2), "figures of nothing are not kept"


@pytest.mark.parametrize(("_command", "case", "status"), cases("job preflight")[1:])
def test_a_preflight_of_a_function_that_scores_nothing_fails(
    typed, functions, _command, case, status
):
    from reward_functions.aws.arn import FunctionArn
    from reward_functions.serving.contract import decode_row

    functions[0][VERSION] = answering(case) if case is UNSCORED else imputing(case)
    samples = [decode_row(row, at) for at, row in enumerate(rows(range(8), **ANSWERED))]
    scorer = VersionScorer(FunctionArn.parse(VERSION))
    found = reward_findings(scorer, samples, [f"line {at}" for at in range(8)])
    report = CheckReport(VERSION, tuple(found))
    assert report.measured.status(failed=not report.passed) == status
