"""Deferred rewards, the agent's side: a record in S3 or a report, never both."""

from __future__ import annotations

import pytest
from botocore.stub import Stubber

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts import Deferred, RolloutSettings, rollout_handler
from reward_functions.rollouts.report.deferred import read_record
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.reporter import Reporter
from reward_functions.rollouts.report.transports import open_transport

ARN = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-math:7"


@pytest.fixture
def s3(local_aws):
    client = local_aws.client("s3")
    client.create_bucket(Bucket="deferred-results")
    return client


@pytest.fixture
def deferred(s3):
    return Deferred("s3://deferred-results/rollouts", version=ARN, client=s3)


def records(s3, payload):
    """The records of a payload's rollout."""
    listed = s3.list_objects_v2(Bucket="deferred-results", Prefix="rollouts/").get("Contents", [])
    bodies = [
        s3.get_object(Bucket="deferred-results", Key=each["Key"])["Body"].read() for each in listed
    ]
    found = [read_record(body) for body in bodies]
    name = payload["metadata"]["rolloutId"]
    return [each for each in found if each.metadata.trajectory_id == name]


def test_a_deferred_episode_is_written_and_never_reported(posts, process, new, s3, deferred):
    @rollout_handler(deferred=deferred, reporter=process)
    def agent(payload):
        return "it is 42"

    payload = new(instance={"question": "6 * 7?", "answer": "42", "id": "row-1"})
    assert agent(payload) == "it is 42"
    (record,) = records(s3, payload)
    assert record.sample.response == "it is 42"
    assert (record.sample.reference, record.sample.prompt) == ("42", "6 * 7?")
    assert (record.scorer.arn, record.expires - record.created) == (ARN, 600.0)
    assert posts.of(payload) == []
    assert process.outbox.counts()["running"] == 0
    assert agent.rollout.counts == {"deferred": 1}


def test_an_episode_defers_itself_where_the_process_says_where_to(
    posts, new, s3, deferred, monkeypatch
):
    settings = RolloutSettings(
        transport="bearer", results=deferred.results, scorer=deferred.version
    )
    monkeypatch.setattr("reward_functions.rollouts.report.deferred.s3_client", lambda: s3)
    process = Reporter(settings, MemoryOutbox(), transports=open_transport)

    @rollout_handler(reporter=process)
    def agent(payload):
        return payload["result"]

    first = new(result={"reward": "deferred", "response": "42"})
    second = new(result={"reward": 0.5})
    for payload in (first, second):
        agent(payload)
    assert [each.sample.response for each in records(s3, first)] == ["42"]
    assert posts.of(first) == []
    assert records(s3, second) == []
    assert len(posts.of(second, 2)) == 2
    process.close(patience=0)


def test_the_first_result_counts_and_the_second_is_not_reported(posts, process, new, s3, deferred):
    answers = iter(["one", "two"])

    @rollout_handler(deferred=deferred, reporter=process)
    def agent(payload):
        return next(answers)

    payload = new()
    agent(payload)
    agent(payload)
    assert [each.sample.response for each in records(s3, payload)] == ["one"]
    assert posts.of(payload) == []
    assert process.outbox.counts()["running"] == 0


@pytest.mark.parametrize("refusal", ["AccessDenied", "NoSuchBucket", "SlowDown"])
def test_an_episode_that_s3_does_not_take_is_reported_as_failed(posts, process, new, s3, refusal):
    deferred = Deferred("s3://deferred-results/rollouts", version=ARN, client=s3)

    @rollout_handler(deferred=deferred, reporter=process)
    def agent(payload):
        return "42"

    payload = new()
    with Stubber(s3) as stub:
        stub.add_client_error("put_object", refusal, http_status_code=403)
        agent(payload)
    assert posts.of(payload, 2)[0][1]["Status"] == "failed"
    assert agent.rollout.counts == {"deferred": 1, "environment_failure": 1}


REFUSED = [
    ({"reward": 1.0, "response": "42"}, "its own beside"),
    ({"reward": "deferred", "rewards": [1.0], "response": "42"}, "two"),
    (7, "a number"),
    ({"tool": "x"}, "no response"),
]


@pytest.mark.parametrize("result", [each for each, _ in REFUSED], ids=[why for _, why in REFUSED])
def test_a_result_that_cannot_be_deferred_fails_and_writes_nothing(
    posts, process, new, s3, deferred, result
):
    @rollout_handler(deferred=deferred, reporter=process)
    def agent(payload):
        return result

    payload = new()
    agent(payload)
    assert posts.of(payload, 2)[0][1]["Status"] == "failed"
    assert records(s3, payload) == []


def test_a_recorded_reward_beside_a_deferred_one_is_refused(posts, process, new, s3, deferred):
    @rollout_handler(deferred=deferred, reporter=process)
    def agent(payload, ctx):
        ctx.reward(1.0)
        return "42"

    payload = new()
    agent(payload)
    assert posts.of(payload, 2)[0][1]["Status"] == "failed"
    assert records(s3, payload) == []


def test_a_deferred_result_without_a_place_fails(posts, process, new):
    @rollout_handler(reporter=process)
    def agent(payload):
        return {"reward": "deferred", "response": "42"}

    payload = new()
    agent(payload)
    assert posts.of(payload, 2)[0][1]["Status"] == "failed"


ENDINGS = [
    ({"status": "skipped"}, 0),
    ({"status": "error"}, 2),
    (ValueError("x"), 2),
]


@pytest.mark.parametrize(("end", "reports"), ENDINGS)
def test_an_episode_that_did_not_end_well_is_the_agents_to_report(
    posts, process, new, s3, deferred, end, reports
):
    @rollout_handler(deferred=deferred, reporter=process)
    def agent(payload):
        if isinstance(end, Exception):
            raise end
        return end

    payload = new()
    if isinstance(end, Exception):
        with pytest.raises(ValueError, match="x"):
            agent(payload)
    else:
        agent(payload)
    assert len(posts.of(payload, reports)) == reports
    assert records(s3, payload) == []


def test_an_empty_trajectory_is_pinged_before_it_is_deferred(posts, process, new, s3, deferred):
    called = []

    @rollout_handler(deferred=deferred, reporter=process, ping=called.append)
    def agent(payload):
        return "42"

    payload = new()
    agent(payload)
    assert len(called) == len(records(s3, payload)) == 1


def test_a_handler_has_one_reward():
    with pytest.raises(ConfigurationError, match="reward= or deferred="):
        rollout_handler(
            lambda payload: "", reward="math", deferred=Deferred("s3://abc/x", version=ARN)
        )


BAD = [
    ("s3://bucket", ARN, "s3://BUCKET/FOLDER"),
    ("https://bucket/x", ARN, "s3://BUCKET/FOLDER"),
    ("s3://bucket/../x?", ARN, "s3://BUCKET/FOLDER"),
    ("s3://bucket/x", ARN.replace(":7", ":live"), "published version"),
    ("s3://bucket/x", "math", "published version"),
]


@pytest.mark.parametrize(("results", "version", "message"), BAD)
def test_a_place_that_is_none_is_named(results, version, message):
    with pytest.raises(ConfigurationError, match=message):
        Deferred(results, version=version)
    names = {"REWARD_ROLLOUTS_RESULTS": results, "REWARD_ROLLOUTS_SCORER": version}
    with pytest.raises(ConfigurationError, match=message):
        RolloutSettings.from_env(names)


@pytest.mark.parametrize("name", ["RESULTS", "SCORER"])
def test_both_variables_are_set_or_neither(name):
    values = {"RESULTS": "s3://bucket/x", "SCORER": ARN}
    with pytest.raises(ConfigurationError, match="set both of"):
        RolloutSettings.from_env({f"REWARD_ROLLOUTS_{name}": values[name]})
