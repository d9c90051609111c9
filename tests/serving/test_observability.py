"""One log line and one set of metrics a batch, and no text in either."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from reward_functions.aws.arn import GENERATION
from reward_functions.core.errors import BadReference, BadSample
from reward_functions.core.spec import reward_function
from reward_functions.core.types import Message, Sample, Score, Scored, Unscored
from reward_functions.serving import contract, observability
from reward_functions.serving.handler import bind
from reward_functions.serving.imputation import BatchFailed
from reward_functions.serving.observability import BY_VERSION, MAX_KINDS, Telemetry
from reward_functions.serving.settings import LambdaSettings


@reward_function(version=3)
def judged(sample):
    """Scores what the response says, and fails on anything else."""
    return Score(float(sample.response))


@pytest.fixture
def settings():
    return LambdaSettings(name="judged")


def row(name, response, **fields):
    turns = [
        {"role": "user", "content": "the prompt"},
        {"role": "assistant", "content": response},
    ]
    return {"id": name, "messages": turns, **fields}


def written(capsys):
    """The log lines and the metric objects."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if "_aws" not in line], [
        line for line in lines if "_aws" in line
    ]


def test_a_batch_is_one_log_line_and_one_metric_object(capsys, settings):
    serving = bind(settings, judged)
    context = SimpleNamespace(aws_request_id="r-1", get_remaining_time_in_millis=lambda: 30_000)
    serving([row("a", "1"), row("b", "0"), row("c", "0"), row("d", "1"), None], context)
    (line, reason), (metrics,) = written(capsys)
    assert reason["message"] == "not scored"
    assert {key: line[key] for key in ("level", "reward", "version", "service", "samples")} == {
        "level": "WARNING",
        "reward": "judged",
        "version": 3,
        "service": settings.service,
        "samples": 5,
    }
    assert (line["unscored"], line["bad_references"]) == (0, 1)
    assert line["errors"] == {"BadSample: the row is null, not an object": 1}
    assert line["function_request_id"] == "r-1"
    assert 0 < line["milliseconds"] < 600_000, "since it began, not since the machine did"
    (declared,) = metrics["_aws"]["CloudWatchMetrics"]
    assert declared["Namespace"] == "RewardFunctions"
    assert sorted(declared["Dimensions"][0]) == ["reward", "service"]
    assert metrics["reward"] == "judged"
    shown = (
        "samples",
        "unscored",
        "bad_references",
        "reward_mean",
        "reward_std",
        "frac_reward_min",
    )
    assert [metrics[name] for name in shown] == [[5], [0], [1], [0.5], [0.5], [0.5]]
    assert metrics["unscored_share"] == [0]
    assert metrics["milliseconds"] == [line["milliseconds"]]


VERSIONS = [
    # a function's variables, and the version that its lines and metrics name
    ({}, "$LATEST"),
    ({"AWS_LAMBDA_FUNCTION_NAME": "SageMaker-reward-dev-gsm8k"}, "$LATEST"),
    ({"AWS_LAMBDA_FUNCTION_VERSION": "7", "AWS_LAMBDA_FUNCTION_NAME": "SageMaker-reward-x"}, "7"),
    (
        {
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_NAME": f"SageMaker-reward-dev-gsm8k{GENERATION}0a1b2c3d",
        },
        "0a1b2c3d",
    ),
]


@pytest.mark.parametrize(("environ", "version"), VERSIONS)
def test_a_rollback_is_seen_by_the_version_that_runs(
    capsys, settings, monkeypatch, environ, version
):
    for name in ("AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    settings = replace(settings, deployed_stage="dev", deployed_name="gsm8k")
    serving = bind(settings, judged)
    for _ in range(2):  # what is flushed takes its dimensions along
        serving([row("a", "1"), row("b", "no number"), *[row("c", "0")] * 9])
        (line, reason), (metrics,) = written(capsys)
        assert line["function_version"] == reason["function_version"] == version
        lasting, by_version = metrics["_aws"]["CloudWatchMetrics"]
        assert sorted(lasting["Dimensions"][0]) == ["reward", "service"]
        assert by_version["Dimensions"] == [["stage", "deployment", "function_version"]]
        assert [metrics[name] for name in by_version["Dimensions"][0]] == ["dev", "gsm8k", version]
        assert {each["Name"] for each in by_version["Metrics"]} == {*BY_VERSION}
        assert lasting["Namespace"] == by_version["Namespace"]
        names = {each["Name"] for each in lasting["Metrics"]}
        assert names > {*BY_VERSION}, "each of the others costs once, and not for each version"
        assert all(name in metrics for name in names)


def test_a_function_of_no_stage_counts_nothing_by_version(capsys, settings):
    bind(settings, judged)([row("a", "1")])
    _, (metrics,) = written(capsys)
    assert len(metrics["_aws"]["CloudWatchMetrics"]) == 1
    assert "function_version" not in metrics


def test_batches_do_not_leak_into_each_other(capsys, settings):
    serving = bind(settings, judged)
    serving([row("a", "1")])
    serving([row("a", "0")])
    _, metrics = written(capsys)
    assert [line["reward_mean"] for line in metrics] == [[1.0], [0.0]]


def test_one_reward_has_no_spread(capsys, settings):
    """A trainer may send its samples one by one: that is no sign of equal rewards."""
    serving = bind(settings, judged)
    serving([row("a", "1")])
    serving([row("a", "1"), row("b", "1")])
    _, metrics = written(capsys)
    assert [line.get("reward_std") for line in metrics] == [None, [0.0]]


def test_nothing_scored_has_no_mean(capsys, settings):
    bind(settings, judged)([])
    _, (metrics,) = written(capsys)
    assert metrics["samples"] == [0]
    assert "reward_mean" not in metrics


def test_a_failed_invocation_is_told_too_with_the_line_and_without_the_text(capsys, settings):
    with pytest.raises(BatchFailed):
        bind(settings, judged)([row("a", "the response"), row("b", "the response")])
    (line, reason), (metrics,) = written(capsys)
    ((kind, times),) = line["errors"].items()
    assert (reason["error"], reason["reason"], reason["samples"]) == ("ValueError", kind, times)
    assert kind.startswith("ValueError at ")
    assert kind.partition(" at ")[2].startswith(f"{__name__}:")
    assert times == 2
    assert metrics["unscored"] == [2]
    assert "the response" not in str(line)
    assert "the prompt" not in str(line)


def test_of_many_kinds_of_errors_the_most_frequent_are_logged(settings):
    logged = []
    telemetry = Telemetry(judged, settings)
    telemetry.logger.warning = lambda _, extra: logged.append(extra)
    rows = [Unscored(str(at), BadSample(f"messages[{at}] is null")) for at in range(50)]
    telemetry.batch(rows, [*rows, Unscored("x", BadReference("none"))] * 2, seconds=1.0)
    batch, *reasons = logged
    assert len(batch["errors"]) == len(reasons) == MAX_KINDS
    assert {each["reason"]: each["samples"] for each in reasons} == batch["errors"]


def test_what_a_judge_cost_stands_in_the_line_and_in_the_metrics(capsys, settings):
    account = {"judge_usd": 0.25, "judge_calls": 3}
    telemetry = Telemetry(judged, settings)
    sample = Sample(id="a", messages=[Message(role="assistant", content="1")])
    telemetry.batch([sample], [Scored("a", Score(1.0))], seconds=1.0, account=account)
    (line,), (metrics,) = written(capsys)
    assert {name: line[name] for name in account} == account
    assert {name: metrics[name] for name in account} == {"judge_usd": [0.25], "judge_calls": [3]}
    units = metrics["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    assert {"Name": "judge_usd", "Unit": "None"} in units
    assert {"Name": "judge_calls", "Unit": "Count"} in units
    assert metrics["milliseconds"] == [1000.0]


def test_texts_are_logged_only_where_asked_for(capsys, settings):
    rows = [row("a", "1", reference_answer="the reference")]
    bind(settings, judged)(rows)
    assert "the prompt" not in capsys.readouterr().out
    bind(replace(settings, log_text_rate=1.0), judged)(rows)
    lines, _ = written(capsys)
    assert (lines[1]["prompt"], lines[1]["response"], lines[1]["score"]) == ("the prompt", "1", 1.0)


@pytest.mark.parametrize(("drawn", "shown"), [(0.0, 1), (0.24, 1), (0.25, 0), (0.9, 0)])
def test_a_share_of_the_texts_is_logged_and_no_row_that_has_none(
    drawn, shown, capsys, settings, monkeypatch
):
    monkeypatch.setattr(observability, "random", lambda: drawn)
    serving = bind(replace(settings, log_text_rate=0.25, max_unscored=1.0), judged)
    serving([row("a", "1"), None])
    lines, _ = written(capsys)
    assert [line["id"] for line in lines if line["message"] == "sampled text"] == ["a"] * shown


def test_half_a_surrogate_pair_can_be_logged(capsys, settings):
    telemetry = Telemetry(judged, replace(settings, log_text_rate=1.0))
    sample = Sample(id="a", messages=[Message(role="assistant", content="\ud800")])
    telemetry.batch([sample], [Scored("a", Score(0.0))], seconds=1.0)
    lines, _ = written(capsys)
    assert lines[1]["response"] == "\ud800"


def test_dropped_metrics_are_logged(capsys, settings, monkeypatch):
    monkeypatch.setattr(contract, "MAX_RESPONSE_BYTES", 100)
    bind(settings, judged)([row("a", "1")])
    (warning, _), (metrics,) = written(capsys)
    assert (warning["level"], warning["samples"]) == ("WARNING", 1)
    assert metrics["metrics_dropped"] == [1.0]


def test_an_error_from_nowhere_has_no_line(settings):
    telemetry = Telemetry(judged, settings)
    assert telemetry.kind(ValueError("secret")) == "ValueError at an unknown line"
    assert telemetry.kind(BadReference("none")) == "BadReference: none"
