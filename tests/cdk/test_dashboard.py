"""A stage's dashboard and saved queries: a rollback is seen, every field is one that is logged."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from reward_functions.cdk.model.operating import ALARMS, QUERIES
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from tests.cdk.conftest import ROOT, STAGES
from tests.insights import chosen, fields

ALARM, DASHBOARD = "AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"
QUERY = "AWS::Logs::QueryDefinition"

A_METRIC = 0.30
"""Dollars a month."""

SPREAD = 1
"""A metric that a batch with two scores has, and the one here has not."""


def widgets(stage):
    """The dashboard's, with what deployment decides as `…`."""
    (dashboard,) = stage.properties(DASHBOARD)
    _, parts = dashboard["DashboardBody"]["Fn::Join"]
    text = "".join(part if isinstance(part, str) else "…" for part in parts)
    return json.loads(text)["widgets"]


def row(response, **fields):
    turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": response}]
    return {"id": "a", "messages": turns, **fields}


@pytest.fixture
def lines(capsys, monkeypatch):
    """What a handler writes of a batch with a row that it cannot score."""
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_VERSION", "7")
    settings = LambdaSettings(
        name="gsm8k",
        service="SageMaker-reward-everything-math",
        deployed_stage="everything",
        deployed_name="math",
    )
    context = SimpleNamespace(aws_request_id="r", get_remaining_time_in_millis=lambda: 30_000)
    bind(settings)([row("#### 1", reference_answer="1"), row("#### 1")], context)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("name", ["everything", "company"])
def test_the_dashboard_begins_with_the_state_of_every_alarm(synthesised, name):
    stage = synthesised(name)
    shown = [each["properties"] for each in widgets(stage) if each["type"] == "alarm"]
    made = [
        e for e in stage.template["Resources"].values() if e["Type"] == "AWS::CloudWatch::Alarm"
    ]
    assert widgets(stage)[0]["type"] == "alarm"
    assert sum(len(each["alarms"]) for each in shown) == len(made)


def test_a_widget_shows_no_more_alarms_than_cloudwatch_takes(stack_of):
    given = [{"name": f"a{number}", "reward": "gsm8k"} for number in range(17)]
    shown = [each for each in widgets(stack_of({"deployments": given})) if each["type"] == "alarm"]
    counted = [len(each["properties"]["alarms"]) for each in shown]
    assert counted == [100, 17 * len(ALARMS["deployment"]) + 1 - 100]


def searches(stage):
    """The search expressions of the dashboard."""
    return [
        metric[0]["expression"]
        for each in widgets(stage)
        for metric in each["properties"].get("metrics", ())
        if isinstance(metric[0], dict) and "expression" in metric[0]
    ]


def test_each_version_is_shown_by_metrics_that_a_function_writes(synthesised, lines):
    found = [each for each in searches(synthesised("everything")) if "AWS/Lambda" not in each]
    (written,) = [line for line in lines if "_aws" in line]
    _, by_version = written["_aws"]["CloudWatchMetrics"]
    names = {each["Name"] for each in by_version["Metrics"]}
    for each in found:
        schema, metric = re.search(r"\{(.*?)\} MetricName=\"(\w+)\"", each).groups()
        assert schema.split(",") == [
            f'"{name}"' for name in (by_version["Namespace"], *by_version["Dimensions"][0])
        ]
        assert metric in names
    of_math = [each for each in found if 'deployment="math"' in each]
    assert len(of_math) == 3
    assert all(f'stage="{written["stage"]}"' in each for each in of_math)


def test_the_page_says_what_the_metrics_of_a_month_cost(lines):
    page = " ".join((ROOT / "docs/how-to/operate.md").read_text().replace("> ", "").split())
    (written,) = [line for line in lines if "_aws" in line]
    every, some = (
        A_METRIC * (len(each["Metrics"]) + extra)
        for each, extra in zip(written["_aws"]["CloudWatchMetrics"], (SPREAD, 0), strict=True)
    )
    assert f"has nine metrics (${every:.2f}), and four more" in page
    assert f"(${some:.2f})" in page
    assert f"A month of two versions in use costs ${every + 2 * some:.2f}." in page


def test_errors_are_shown_by_version_where_a_function_has_some(synthesised):
    found = [each for each in searches(synthesised("everything")) if "AWS/Lambda" in each]
    functions = {re.search(r'FunctionName="([\w-]+)"', each)[1] for each in found}
    assert functions == {
        f"SageMaker-reward-everything-{name}"
        for name in ("math", "gsm8k-strict", "gsm8k-flexible")  # the fourth is immutable
    }


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_but_an_emulator_s_saves_the_queries_under_one_name(synthesised, name):
    given, stage = STAGES[name], synthesised(name)
    made = [e["Properties"] for e in stage.template["Resources"].values() if e["Type"] == QUERY]
    expected = {each.name for each in QUERIES}
    expected -= set() if given.get("forwarders") else {"not-forwarded"}
    prefix = f"{given['name_prefix']}-" if "name_prefix" in given else ""
    names = {f"{prefix}reward-{name}/{each}" for each in expected}
    assert {each["Name"] for each in made} == (set() if given.get("emulated") else names)
    for each in made:
        assert 1 <= len(each["LogGroupNames"]) <= 50
        assert len(each["QueryString"]) <= 10_000


def test_a_query_reads_every_log_it_is_of(synthesised):
    stage = synthesised("everything")
    made = {e["Name"].rpartition("/")[2]: e["LogGroupNames"] for e in stage.properties(QUERY)}
    functions = len(stage.stack.functions)
    assert len(made["by-version"]) == functions
    assert len(made["errors-by-type"]) == functions + 2  # deferred rewards, and shards


OF_LAMBDA = [
    {
        "type": "platform.report",
        "record": {
            "status": "timeout",
            "metrics": {"durationMs": 1.0, "initDurationMs": 1.0, "restoreDurationMs": 1.0},
        },
    },
    {"level": "ERROR", "errorType": "BadEvent", "errorMessage": "x", "message": "x"},
    {"level": "WARNING", "message": "not forwarded: BadGateway: x"},
]
"""Lines that the runtime writes, as "Telemetry API event schema" and "Log and monitor Python Lambda
functions" in the Lambda developer guide have them, and a forwarder's."""


@pytest.mark.parametrize("query", QUERIES, ids=lambda each: each.name)
def test_a_query_s_fields_are_those_that_lines_have(query, lines):
    found = chosen(query, [*lines, *OF_LAMBDA])
    assert found, "a line of this kind is written"
    assert fields(query)
    assert fields(query) <= set().union(*found), fields(query) - set().union(*found)


def test_a_query_leaves_out_what_it_is_not_about(lines):
    by_name = {each.name: chosen(each, [*lines, *OF_LAMBDA]) for each in QUERIES}
    assert [len(found) for found in by_name.values()] == [1, 1, 2, 1, 1, 1]
    (reason,) = by_name["unscored-by-reason"]
    assert (reason["function_version"], reason["samples"]) == ("7", 1)


def test_the_field_test_can_fail():
    query = QUERIES[0]
    assert "milliseconds" in fields(query)
    assert "wrong" in fields(query._replace(lines=("stats sum(wrong) as right by version",)))
