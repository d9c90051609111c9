"""Each alarm of the deployed stage: its condition comes true, and its runbook is followed.

The emulator evaluates alarms without their dimensions, reads no metrics out of logs, and counts
what Lambda counts alone. So the alarm's own definition is read back and evaluated here, against the
emulator's metrics. Those that other services of AWS count are put there first: of the embedded
format in the log of the function that was really invoked, of a metric filter, of a queue, of the
state machine. Two are put without a cause: a batch near its timeout takes minutes, and so does an
old message.
"""

from __future__ import annotations

import json
import operator
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.aws.names import Names
from reward_functions.cdk.model.operating import ALARMS, QUERIES, QUEUE
from reward_functions.cli import app
from reward_functions.jobs.options import granted
from reward_functions.rollouts.report.deferred import Deferred, DeferredRecord
from reward_functions.rollouts.request.contract import RolloutMetadata
from tests.deploy.what import STAGE
from tests.insights import chosen
from tests.waiting import until

NAMES = Names(STAGE)

FEEDBACK = NAMES.rollouts("feedback")

QUIET, JUDGE = "multiple_choice", "reference"
"""Deployments that no other test has fail, and whose model a test changes."""


COMPARED = {
    "GreaterThanThreshold": operator.gt,
    "LessThanOrEqualToThreshold": operator.le,
}


def state(definition, points):
    """An alarm's state at its newest figure: what is missing breaches nothing.

    Args:
        definition: as CloudWatch describes the alarm.
        points: its metric's figures, by the beginnings of their periods, in seconds.
    """
    period, newest = definition["Period"], max(points, default=0)
    breaches = COMPARED[definition["ComparisonOperator"]]
    watched = [newest - period * back for back in range(definition["EvaluationPeriods"])]
    over = [at in points and breaches(points[at], definition["Threshold"]) for at in watched]
    return "ALARM" if all(over) else "OK"


@dataclass
class Watch:
    """What AWS does of the deployed stage that the emulator does not."""

    stage: Any

    def client(self, service):
        return self.stage.session.client(service)

    @cached_property
    def alarms(self):
        """The definitions of the stage's alarms, by their names."""
        pages = self.client("cloudwatch").get_paginator("describe_alarms").paginate()
        found = [each for page in pages for each in page["MetricAlarms"]]
        ours = (f"reward-{STAGE}-", f"rollouts-{STAGE}-")
        return {each["AlarmName"]: each for each in found if each["AlarmName"].startswith(ours)}

    def figures(self, namespace, name, statistic, period=300, **dimensions):
        """A metric's figures, by the beginnings of their periods."""
        now = datetime.now(UTC)
        found = self.client("cloudwatch").get_metric_statistics(
            Namespace=namespace,
            MetricName=name,
            Dimensions=[{"Name": key, "Value": value} for key, value in dimensions.items()],
            StartTime=now - timedelta(hours=1),
            EndTime=now + timedelta(minutes=5),
            Period=period,
            Statistics=[statistic],
        )["Datapoints"]
        return {int(each["Timestamp"].timestamp()): each[statistic] for each in found}

    def state(self, name):
        """An alarm's state, by its definition."""
        alarm = self.alarms[name]
        dimensions = {each["Name"]: each["Value"] for each in alarm["Dimensions"]}
        points = self.figures(
            alarm["Namespace"],
            alarm["MetricName"],
            alarm["Statistic"],
            alarm["Period"],
            **dimensions,
        )
        return state(alarm, points)

    def put(self, alarm, value):
        """A figure of an alarm's metric, of now."""
        about = self.alarms[alarm]
        self.client("cloudwatch").put_metric_data(
            Namespace=about["Namespace"],
            MetricData=[
                {
                    "MetricName": about["MetricName"],
                    "Dimensions": about["Dimensions"],
                    "Value": value,
                }
            ],
        )

    def lines(self, function, since):
        """The lines of a function's log that are JSON, since a moment in milliseconds."""
        pages = (
            self.client("logs")
            .get_paginator("filter_log_events")
            .paginate(logGroupName=f"/aws/lambda/{function}", startTime=since)
        )
        for page in pages:
            for each in page["events"]:
                if each["message"].startswith("{"):
                    yield json.loads(each["message"])

    def embedded(self, function, since, *, minutes=(0,)):
        """Put the metrics of a log's lines in the embedded format, as CloudWatch does.

        Args:
            function: whose log.
            since: milliseconds.
            minutes: how long ago the lines were written; once for each.
        """
        for line in self.lines(function, since):
            for directive in line.get("_aws", {}).get("CloudWatchMetrics", ()):
                at = datetime.fromtimestamp(line["_aws"]["Timestamp"] / 1000, UTC)
                data = [
                    {
                        "MetricName": each["Name"],
                        "Dimensions": [{"Name": key, "Value": line[key]} for key in dimensions],
                        "Timestamp": at - timedelta(minutes=ago),
                        "Values": line[each["Name"]],
                    }
                    for each in directive["Metrics"]
                    for dimensions in directive["Dimensions"]
                    for ago in minutes
                ]
                self.client("cloudwatch").put_metric_data(
                    Namespace=directive["Namespace"], MetricData=data
                )

    def answered(self, query, function, since):
        """The lines that a saved query finds in a function's log."""
        (asked,) = [each for each in QUERIES if each.name == query]
        return chosen(asked, self.lines(function, since))

    def messages(self, queue):
        """How many messages a queue has that nobody works on."""
        name = "ApproximateNumberOfMessages"
        found = self.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=[name])
        return int(found["Attributes"][name])

    def waiting(self, queue):
        """The same, once there are some."""
        return until(lambda: self.messages(queue), "the queue is empty")

    def invoke(self, function, event):
        """What a function answers, and how it failed."""
        answer = self.client("lambda").invoke(
            FunctionName=function, Payload=json.dumps(event).encode()
        )
        return json.loads(answer["Payload"].read()), answer.get("FunctionError")


@pytest.fixture(scope="module")
def watch(stage):
    return Watch(stage)


def row(response, **fields):
    turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": response}]
    return {"id": "a", "messages": turns, **fields}


def now():
    """Milliseconds, from the beginning of this second."""
    return int(time.time()) * 1000


def test_every_alarm_of_the_table_is_deployed_under_its_name(watch):
    found = {each.condition for kind, rows in ALARMS.items() if kind != QUEUE for each in rows}
    assert {name for name in found if any(each.endswith(f"-{name}") for each in watch.alarms)} == (
        found
    )
    for name in watch.stage.catalogue:
        for each in ALARMS["deployment"]:
            assert f"reward-{STAGE}-{name}-{each.condition}" in watch.alarms


def test_the_dashboard_shows_the_state_of_every_deployed_alarm(watch):
    name = watch.stage.shared.dashboard
    body = watch.client("cloudwatch").get_dashboard(DashboardName=name)["DashboardBody"]
    shown = [
        arn
        for each in json.loads(body)["widgets"]
        if each["type"] == "alarm"
        for arn in each["properties"]["alarms"]
    ]
    assert {*shown} == {each["AlarmArn"] for each in watch.alarms.values()}
    assert len(shown) == len(watch.alarms)


@contextmanager
def changed(watch, function, **configuration):
    """A function's unpublished state with another configuration."""
    client = watch.client("lambda")
    usual = client.get_function_configuration(FunctionName=function)
    client.update_function_configuration(FunctionName=function, **configuration)
    try:
        yield
    finally:
        kept = {key: usual[key] for key in configuration}
        client.update_function_configuration(FunctionName=function, **kept)


def test_errors_and_unscored_name_their_reason_and_the_version_to_leave(watch):
    """A model that may not be asked fails the batch; the version before scores it."""
    function, began = NAMES.function(JUDGE), now()
    usual = watch.client("lambda").get_function_configuration(FunctionName=function)
    variables = usual["Environment"]["Variables"]
    judge = variables["REWARD_JUDGE"].replace("nova-lite", "nova-pro")
    rows = [row("The answer is the city of Canberra.", reference_answer="Canberra")]
    with changed(watch, function, Environment={"Variables": variables | {"REWARD_JUDGE": judge}}):
        told, failed = watch.invoke(function, rows)
    assert failed is not None
    assert "JudgeUnavailable 1" in told["errorMessage"]
    assert watch.state(f"reward-{STAGE}-{JUDGE}-errors") == "ALARM"
    watch.embedded(function, began)
    assert watch.state(f"reward-{STAGE}-{JUDGE}-unscored") == "ALARM"
    assert watch.state(f"reward-{STAGE}-pandalm-unscored") == "OK", "of another deployment"
    *_, reason = watch.answered("unscored-by-reason", function, began)
    assert reason["error"] == "JudgeUnavailable"
    assert reason["function_version"] == "$LATEST"
    (told,), failed = watch.invoke(f"{function}:live", rows)
    assert (failed, told["aggregate_reward_score"]) == (None, 1.0)
    watch.embedded(function, began)
    of = {"stage": STAGE, "deployment": JUDGE}
    shares = {
        version: {*watch.figures("RewardFunctions", "unscored_share", "Average",
                                 function_version=version, **of).values()}
        for version in ("$LATEST", "1")
    }  # fmt: skip
    assert shares == {"$LATEST": {1.0}, "1": {0.0}}, "the rollback is seen"


def test_rows_without_a_reference_are_named_as_such(watch):
    function, began = NAMES.function(QUIET), now()
    _, failed = watch.invoke(f"{function}:live", [row("A"), row("A")])
    assert failed is None
    watch.embedded(function, began)
    assert watch.state(f"reward-{STAGE}-{QUIET}-bad-references") == "ALARM"
    assert watch.state(f"reward-{STAGE}-{QUIET}-errors") == "OK"
    *_, reason = watch.answered("unscored-by-reason", function, began)
    assert (reason["samples"], reason["function_version"]) == (2, "1")


def test_equal_rewards_of_three_periods_are_an_alarm_and_of_one_none(watch):
    function, name = NAMES.function(QUIET), f"reward-{STAGE}-{QUIET}-no-spread"
    began = now()
    rows = [row("(A)", reference_answer="B"), row("(C)", reference_answer="B")]
    _, failed = watch.invoke(f"{function}:live", rows)
    assert failed is None
    watch.embedded(function, began)
    assert watch.state(name) == "OK"
    watch.embedded(function, began, minutes=(5, 10))
    assert watch.state(name) == "ALARM"
    *_, batch = watch.answered("by-version", function, began)
    assert (batch["samples"], batch["function_version"]) == (2, "1")


def test_a_batch_near_the_timeout_is_found_among_the_slowest(watch):
    """No batch here takes minutes: the figure is put."""
    name = f"reward-{STAGE}-{QUIET}-slow"
    timeout = watch.stage.catalogue[QUIET].timeout_seconds
    watch.put(name, 790.0 * timeout)
    assert watch.state(name) == "OK"
    watch.put(name, 810.0 * timeout)
    assert watch.state(name) == "ALARM"
    found = watch.answered("slowest-requests", NAMES.function(QUIET), 0)
    assert all(each["milliseconds"] > 0 for each in found)
    assert found


THROTTLED = [
    # a function, and the alarm that says it was turned away
    (NAMES.function(QUIET), f"reward-{STAGE}-{QUIET}-throttles"),
    (FEEDBACK, f"rollouts-{STAGE}-feedback-throttles"),
    (NAMES.rollouts("agent"), f"rollouts-{STAGE}-agent-throttles"),
]


@pytest.mark.parametrize(("function", "name"), THROTTLED)
def test_who_is_turned_away_is_let_in_with_more_concurrency(watch, function, name):
    client = watch.client("lambda")
    client.put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=0)
    try:
        with pytest.raises(ClientError, match="TooManyRequests"):
            watch.invoke(function, {})
        assert watch.state(name) == "ALARM"
    finally:
        client.delete_function_concurrency(FunctionName=function)
    assert "ReservedConcurrentExecutions" not in client.get_function_concurrency(
        FunctionName=function
    )


UNUSABLE = [
    # a function, the alarm, and what its error is
    (FEEDBACK, f"rollouts-{STAGE}-feedback-errors"),
    (NAMES.rollouts("agent"), f"rollouts-{STAGE}-agent-errors"),
]


@pytest.mark.parametrize(("function", "name"), UNUSABLE)
def test_a_function_that_does_not_start_says_so(watch, function, name):
    with changed(watch, function, Handler="reward_functions.nothing.handler"):
        told, failed = watch.invoke(function, {})
    assert failed is not None
    assert "reward_functions.nothing" in told["errorMessage"]
    assert watch.state(name) == "ALARM"


def test_a_request_that_is_not_forwarded_is_counted_and_its_reason_found(watch, agent):
    agent.status = 503
    function, began = NAMES.rollouts("agent"), now()
    metadata = {
        "jobArn": "arn:aws:sagemaker:us-east-1:000000000000:job/AgentRFT/alarmed",
        "rolloutId": "r-1",
    }
    asked = {"prompt": "?", "metadata": metadata}
    told, _ = watch.invoke(granted("agent", watch.stage.shared).arn, asked)
    agent.empty()
    assert told["errorMessage"] == "the agent answered 503"
    logs = watch.client("logs")
    (filtered,) = logs.describe_metric_filters(logGroupName=f"/aws/lambda/{function}")[
        "metricFilters"
    ]
    found = logs.filter_log_events(
        logGroupName=f"/aws/lambda/{function}",
        startTime=began,
        filterPattern=filtered["filterPattern"],
    )["events"]
    (made,) = filtered["metricTransformations"]
    name = f"rollouts-{STAGE}-agent-not-forwarded"
    about = watch.alarms[name]
    assert (about["Namespace"], about["MetricName"]) == (
        made["metricNamespace"],
        made["metricName"],
    )
    watch.put(name, len(found) * float(made["metricValue"]))
    assert watch.state(name) == "ALARM"
    assert any("the agent answered 503" in each["message"] for each in found)


def test_a_result_that_expired_is_unreported_and_redrive_says_why(watch, trainer, monkeypatch):
    job, rollout = "arn:aws:sagemaker:us-east-1:000000000000:job/AgentRFT/alarms", "rollout-late"
    trainer.register(job, rollout)
    parts, began = watch.stage.shared.feedback, now()
    deferred = Deferred(
        f"s3://{parts.results_bucket}/rollouts",
        watch.stage.catalogue["gsm8k"].version_arn,
        client=watch.client("s3"),
    )
    deferred.write(
        DeferredRecord(
            scorer=deferred.scorer,
            metadata=RolloutMetadata(job_arn=job, trajectory_id=rollout),
            sample=sample("#### 1", "1", id="a"),
            created=time.time() - 1000,
            expires=time.time() - 1,
        )
    )
    unreported = f"rollouts-{STAGE}-feedback-unreported"
    watch.put(unreported, watch.waiting(parts.dead_letters_url))
    assert watch.state(unreported) == "ALARM"
    until(
        lambda: [each for each in watch.lines(FEEDBACK, began) if each.get("expired") == [1.0]],
        "nothing expired",
    )
    watch.embedded(FEEDBACK, began)
    assert watch.state(f"rollouts-{STAGE}-feedback-expired") == "ALARM"
    for key, value in watch.stage.aws.environment.items():
        monkeypatch.setenv(key, value)
    words = ["rollouts", "redrive", "--stage", STAGE, "--json", "--dry-run"]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    assert [each["kind"] for each in json.loads(ran.stdout)["letters"]] == ["expired"]
    ran = CliRunner().invoke(app, [*words[:-1], "--drop", "expired", "--yes"])
    assert ran.exit_code == 0, ran.output
    assert watch.messages(parts.dead_letters_url) == 0


def test_a_result_that_waits_for_half_a_window_is_an_alarm(watch):
    """No result here waits for minutes: the figures are put."""
    name = f"rollouts-{STAGE}-feedback-waiting"
    watch.put(name, 300.0)
    assert watch.state(name) == "OK"
    watch.put(name, 301.0)
    assert watch.state(name) == "ALARM"


def test_a_run_that_fails_is_an_alarm(watch):
    states, machine = watch.client("stepfunctions"), watch.stage.shared.scale_machine_arn
    run = states.start_execution(stateMachineArn=machine, input=json.dumps({"run": "nowhere"}))

    def ended():
        status = states.describe_execution(executionArn=run["executionArn"])["status"]
        return status if status != "RUNNING" else None

    assert until(ended, "the run goes on") == "FAILED"
    failed = states.list_executions(stateMachineArn=machine, statusFilter="FAILED")["executions"]
    name = f"reward-{STAGE}-scale-failed-runs"
    watch.put(name, len(failed))
    assert watch.state(name) == "ALARM"


def test_an_event_that_reached_nobody_is_an_alarm(watch):
    sqs = watch.client("sqs")
    (queue,) = sqs.list_queues(QueueNamePrefix=f"{NAMES.stack}-JobEvents")["QueueUrls"]
    sqs.send_message(QueueUrl=queue, MessageBody="an event")
    name = f"reward-{STAGE}-job-events-undelivered"
    watch.put(name, watch.waiting(queue))
    assert watch.state(name) == "ALARM"
    sqs.purge_queue(QueueUrl=queue)


POINTS = [
    # figures by the minute of their period, and whether a definition of three periods of 0 alarms
    ({}, "OK"),
    ({0: 0.0}, "OK"),
    ({0: 0.0, 5: 0.0, 10: 0.0}, "ALARM"),
    ({0: 0.0, 5: 0.0, 10: 0.5}, "OK"),
    ({0: 0.0, 10: 0.0, 15: 0.0}, "OK"),
    ({0: 0.5, 5: 0.0, 10: 0.0, 15: 0.0}, "ALARM"),
]


@pytest.mark.parametrize(("minutes", "expected"), POINTS)
def test_the_evaluator_itself(minutes, expected):
    definition = {
        "Period": 300,
        "EvaluationPeriods": 3,
        "Threshold": 0.0,
        "ComparisonOperator": "LessThanOrEqualToThreshold",
    }
    assert state(definition, {60 * at: value for at, value in minutes.items()}) == expected
