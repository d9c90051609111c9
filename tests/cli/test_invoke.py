"""`reward invoke`: the results a trainer gets, from the real entry point."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.aws.deployed.function import InitError
from reward_functions.cli import app
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.reports.statistics import quantile
from reward_functions.testing import wire_row

pytest.importorskip("awslambdaric")


def run(*arguments, rows=()):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return CliRunner().invoke(app, [*arguments], input=text)


def rows(count):
    return [wire_row(sample(str(at % 3), "1", id=f"é{at}")) for at in range(count)]


@pytest.mark.parametrize("mode", ["list", "envelope"])
def test_results_are_those_of_reward_score_whatever_the_batches(mode):
    scored = run("score", "exact_match", "-", rows=rows(10))
    invoked = run(
        "invoke", "exact_match", "-", "--batch-size", "4", "--response-mode", mode,
        rows=rows(10),
    )  # fmt: skip
    assert invoked.exit_code == 0
    assert invoked.stdout == scored.stdout
    cold, warm = invoked.stderr.splitlines()
    assert cold.startswith("cold start and first batch ")
    assert warm.startswith("warm batches of 4: 2, p50 ")


def test_parameters_reach_the_function():
    row = wire_row(sample("paris", "Paris"))
    ran = run("invoke", "exact_match", "-", "-p", "ignore_case=false", rows=[row])
    assert json.loads(ran.stdout)["aggregate_reward_score"] == 0.0


def test_a_batch_that_fails_is_reported_and_the_others_are_answered():
    huge = wire_row(sample("x" * 7_000_000, "1"))
    ran = run(
        "invoke",
        "exact_match",
        "-",
        "--batch-size",
        "1",
        rows=[*rows(1), huge, *rows(1)],
    )
    assert ran.exit_code == 1
    assert len(ran.stdout.splitlines()) == 2
    assert "batch 2 failed: RequestEntityTooLargeException" in ran.stderr


def test_a_row_of_the_data_set_s_error_earns_the_minimum_here():
    ran = run("invoke", "exact_match", "-", rows=[{"id": "a", "messages": 7}])
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["aggregate_reward_score"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["exact_mach", "-"], "'exact_match'"),
        (["exact_match", "no such file"], "No such file"),
        (["exact_match", "-", "-p", "x=1"], "no parameter 'x'"),
        (["./mine.py", "-"], "by name, not by path"),
        (["./mine.py", "-"], 'write "acme.mine" = "mine:mine" under [project.entry-'),
        (["exact_match", "-", "--response-mode", "xml"], "one of list, envelope\n"),
    ],
)
def test_unusable_arguments_are_one_line(arguments, complaint):
    ran = run("invoke", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert complaint in ran.stderr


def test_a_batch_over_the_limit_is_reported_once_before_anything_runs():
    ran = run("invoke", "exact_match", "-", "--batch-size", "20000", rows=rows(10_001))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "error: --batch-size 20000: the function takes 10000 samples at most\n"


def test_no_samples_are_reported():
    ran = run("invoke", "exact_match", "-")
    assert (ran.exit_code, "standard input holds no rows" in ran.stderr) == (2, True)
    ran = run("invoke", "exact_match", "-", "--allow-empty")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "")


def test_a_function_that_does_not_start_is_one_line(monkeypatch):
    def fails(*_):
        raise InitError("Runtime.ImportModuleError", "no module")

    monkeypatch.setattr(LocalRuntime, "invoke", fails)
    ran = run("invoke", "exact_match", "-", rows=rows(1))
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "does not start: Runtime.ImportModuleError" in ran.stderr


def test_quantiles_are_values_that_were_measured():
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([3.0, 1.0, 2.0], 0.95) == 3.0
    assert quantile([1.0], 0.5) == 1.0


def test_results_go_to_a_file(tmp_path):
    out = tmp_path / "rewards.jsonl"
    ran = run("invoke", "exact_match", "-", "-o", str(out), rows=rows(3))
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert out.read_text() == run("score", "exact_match", "-", rows=rows(3)).stdout
    assert run("invoke", "exact_match", "-", "-o", "-", rows=rows(3)).stdout == out.read_text()


def test_a_batch_that_fails_costs_the_others_no_line_of_the_file(tmp_path):
    out = tmp_path / "rewards.jsonl"
    huge = wire_row(sample("x" * 7_000_000, "1"))
    batches = ("--batch-size", "1", "-o", str(out))
    ran = run("invoke", "exact_match", "-", *batches, rows=[*rows(1), huge])
    assert ran.exit_code == 1
    assert len(out.read_text().splitlines()) == 1


def test_results_do_not_take_the_place_of_the_samples(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(rows(1)[0]))
    ran = run("invoke", "exact_match", str(file), "-o", str(file))
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert "holds the samples" in ran.stderr
    assert json.loads(file.read_text()) == rows(1)[0]
