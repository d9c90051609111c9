"""The client that reports an episode: durable first, counted once, and nothing lost in silence."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
from reward_functions.rollouts.report.transports import KINDS, WIRES
from reward_functions.rollouts.request import outcomes
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    DeliveryFailed,
    InvalidReward,
    UnsupportedReport,
    UntrustedEndpoint,
)
from tests.loopback import BEFORE, LOST
from tests.scripted_runtime import ARN, ROLLOUT, ReporterInMemory, Time, fault, scripted

METADATA = {"jobArn": ARN, "rolloutId": ROLLOUT}


@pytest.fixture(scope="module")
def runtime():
    with scripted() as served:
        yield served


@pytest.fixture
def reporter(runtime, credentials):
    """A process that reports to the runtime, by the kind of transport that a test names."""
    runtime.empty()
    credentials.setenv("RFT_RUNTIME_ENDPOINT", runtime.address)
    return ReporterInMemory()


@pytest.fixture
def client(reporter):
    def made(metadata=METADATA, **more):
        time = Time()
        parts = {"reporter": reporter, "clock": time.clock, "sleep": time.sleep}
        return RolloutFeedbackClient(metadata, random=lambda: 0.5, **(parts | more))

    return made


def names(reported):
    return [type(each).__name__ for each in reported]


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_durable_before_it_is_sent_and_settled_behind_it(client, runtime, kind):
    reporter = ReporterInMemory(kind)
    reported = client(reporter=reporter).report_complete([0.0, 1.0], turns=2)
    assert names(reported) == ["Reported", "Reported"]
    assert [each.operation for each in reporter.kept] == ["complete", "reward"]
    assert [operation for operation, _ in reporter.settled] == ["complete", "reward"]
    assert runtime.asked == ["complete", "reward"]
    assert {each.target.transport for each in reporter.kept} == {kind}


def test_the_process_says_how_long_the_window_is_and_the_caller_may(client, reporter):
    for more, expires in [({}, 600.0), ({"window": 30.0}, 30.0), ({"expires": 7.0}, 7.0)]:
        client(**more).complete_rollout()
        assert reporter.kept[-1].expires == expires


def test_the_same_report_again_is_the_same_report(client, runtime):
    for _ in range(2):
        assert names(client().report_complete(0.5)) == ["Reported", "Reported"]
    assert len(runtime.taken) == 2


FAULTS = [
    # what happens to the completion and to the reward, and what comes back
    ({"reward": [LOST]}, ["Reported", "Reported"]),
    ({"complete": [BEFORE], "reward": [fault(500)]}, ["Reported", "Reported"]),
    ({"reward": [LOST, fault(409, "ConflictException")]}, ["Reported", "AlreadyReported"]),
    ({"complete": [fault(403)]}, ["Reported", "Reported"]),
    ({"complete": [fault(429, retry_after="5")]}, ["Reported", "Reported"]),
    ({"complete": [fault(409, "ConflictException")]}, ["Conflict", "Reported"]),
    ({"reward": [fault(429, retry_after="60")]}, ["Reported", "Throttled"]),
    ({"complete": [fault(503, retry_after="60")]}, ["ServiceFailed", "NotSent"]),
]


@pytest.mark.parametrize(("faults", "expected"), FAULTS)
def test_what_becomes_of_a_report(client, runtime, reporter, faults, expected):
    runtime.faults.update({name: list(each) for name, each in faults.items()})
    reported = client().report_complete(1.0)
    assert names(reported) == expected
    assert [each.pending for each in reported] == [
        not each.delivered and not isinstance(each, outcomes.Conflict) for each in reported
    ]
    sent = [each for each in reported if each.attempts]
    assert [outcome for _, outcome in reporter.settled] == sent


def test_patience_is_for_both_parts_together(client, runtime):
    runtime.fail("complete", fault(429, retry_after="12"))
    runtime.fail("reward", fault(429, retry_after="12"))
    assert names(client(patience=20.0).report_complete(1.0)) == ["Reported", "Throttled"]


def test_without_patience_everything_is_left_to_the_outbox(client, runtime, reporter):
    reported = client(patience=0.0).report_complete(1.0)
    assert [each.pending for each in reported] == [True, True]
    assert len(reporter.kept) == 2
    assert not runtime.sent


REFUSALS = [
    fault(400, "ValidationException"),
    fault(402, "ServiceQuotaExceededException"),
    fault(404, "ResourceNotFoundException"),
    fault(409, "ConflictException"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: str(each[0]))
def test_a_refused_reward_is_an_exception_with_its_outcome(client, runtime, reporter, refusal):
    runtime.fail("reward", refusal)
    with pytest.raises(DeliveryFailed) as raised:
        client().report_complete(1.0)
    assert raised.value.outcome.status == refusal[0]
    assert reporter.settled[-1] == ("reward", raised.value.outcome)


def test_a_credential_that_is_refused_twice_is_an_exception(client, runtime):
    runtime.fail("complete", fault(403), fault(403))
    with pytest.raises(DeliveryFailed, match="refused for its credential"):
        client().complete_rollout()


def test_a_failure_whose_text_holds_404_is_no_404(client, runtime):
    runtime.fail("complete", fault(500, "InternalServiceError", "404 not in valid status"))
    assert names([client().complete_rollout()]) == ["Reported"]


def test_a_window_that_has_closed_is_an_exception(client, runtime, reporter):
    with pytest.raises(DeliveryFailed) as raised:
        client(expires=0.0).complete_rollout()
    assert isinstance(raised.value.outcome, outcomes.Expired)
    assert not runtime.sent


def test_a_conflict_of_a_reward_behind_a_failure_is_no_error(client, runtime, caplog):
    caplog.set_level(logging.INFO, "reward_functions.rollouts")
    runtime.fail("reward", fault(409, "ConflictException"), fault(409, "ConflictException"))
    reporting = client()
    assert names(reporting.report_error("x")) == ["Reported", "RewardOfFailed"]
    assert names([reporting.update_reward(0.0)]) == ["RewardOfFailed"]
    assert [record.levelname for record in caplog.records] == ["ERROR", "INFO", "INFO", "INFO"]


def test_a_failed_rollout_is_given_the_minimum_of_its_scale(client, reporter):
    client(minimum=-1.0).report_error(ValueError())
    assert [each.payload for each in reporter.kept] == [{"Status": "failed"}, {"Rewards": [-1.0]}]


def test_an_outbox_that_takes_nothing_keeps_nobody_from_reporting(client, runtime):
    reported = client(reporter=ReporterInMemory(durable=False)).report_complete(1.0)
    assert names(reported) == ["Reported", "Reported"]
    assert len(runtime.taken) == 2


def test_another_report_that_is_durable_already_comes_first(client, runtime):
    class Kept(ReporterInMemory):
        def keep(self, intents):
            raise ConflictingReport("another reward is durable")

    with pytest.raises(ConflictingReport):
        client(reporter=Kept()).report_complete(1.0)
    assert not runtime.sent


INVALID = [
    # what is reported, and why sagemaker.train.rft gets it wrong
    ("0.5", "it sends the letters"),
    (True, "it sends true"),
    ([], "it sends an empty list"),
    (float("nan"), "it sends invalid JSON, boto3 a string"),
    ([1.0, float("inf")], "likewise"),
    (None, "TypeError"),
    ([0.1, 0.2, 0.3], "there are two turns"),
]


@pytest.mark.parametrize(("reward", "why"), INVALID)
def test_a_reward_that_is_none_is_refused_before_it_is_durable(
    client, runtime, reporter, reward, why
):
    with pytest.raises(InvalidReward):
        client().report_complete(reward, turns=2)
    assert not reporter.kept
    assert not runtime.sent


BAD = [
    # the transport, the metadata, what is called, the error
    ("modelled", METADATA | {"jobArn": "A"}, "complete_rollout", (), BadRequest),
    ("bearer", METADATA | {"jobArn": "A\r\nB"}, "complete_rollout", (), BadRequest),
    ("bearer", METADATA | {"rolloutId": "r" * 300}, "update_reward", (1,), BadRequest),
    ("bearer", METADATA, "complete_rollout", ("done",), BadRequest),
    ("alpha", METADATA, "report_error", ("x",), UnsupportedReport),
]


@pytest.mark.parametrize(("kind", "metadata", "method", "given", "error"), BAD)
def test_what_cannot_be_sent_is_refused_before_it_is_durable(
    client, runtime, kind, metadata, method, given, error
):
    reporter = ReporterInMemory(kind)
    with pytest.raises(error):
        getattr(client(metadata, reporter=reporter), method)(*given)
    assert not reporter.kept
    assert not runtime.sent


@pytest.mark.parametrize("metadata", [{"jobArn": 5}, {"rolloutId": ["r"]}, {"endpoint": {}}])
def test_a_field_of_the_wrong_type_is_named(client, metadata):
    with pytest.raises(BadRequest, match=r"metadata\."):
        client(metadata)


@pytest.mark.parametrize(
    "metadata",
    [
        {"endpoint": "https://evil.example"},
        {"region": "us-west-2.evil.example/"},
        {"endpoint": "https://job-runtime.sagemaker.us-west-2.api.aws.evil.example"},
    ],
)
def test_a_forged_payload_gets_no_client(client, credentials, metadata):
    credentials.delenv("RFT_RUNTIME_ENDPOINT")
    with pytest.raises(UntrustedEndpoint):
        client(METADATA | metadata)


def test_an_endpoint_that_the_agent_trusts(client, runtime, credentials):
    credentials.delenv("RFT_RUNTIME_ENDPOINT")
    named = METADATA | {"endpoint": f"{runtime.address}/"}
    assert client(named, trusted=[runtime.address]).complete_rollout().delivered


@pytest.mark.parametrize(
    ("metadata", "region"),
    [
        ({"endpoint": "https://job-runtime.sagemaker.eu-west-1.api.aws"}, "eu-west-1"),
        ({"endpoint": "https://job-runtime.sagemaker-fips.us-east-1.api.aws"}, "us-east-1"),
        ({"region": "ap-south-1"}, "ap-south-1"),
        ({}, "us-west-2"),
    ],
)
def test_a_host_takes_signatures_of_its_own_region(client, credentials, metadata, region):
    credentials.delenv("RFT_RUNTIME_ENDPOINT")
    assert client(METADATA | metadata).target.region == region


def test_the_alpha_api_has_a_host_of_its_own(client, credentials):
    credentials.delenv("RFT_RUNTIME_ENDPOINT")
    credentials.setenv("AWS_REGION", "us-east-1")
    target = client(transport="alpha").target
    assert (target.endpoint, target.region) == (WIRES["alpha"].endpoint, "us-west-2")


def test_the_seam_goes_with_bearer_tokens(client):
    with pytest.raises(ConfigurationError, match="transport='bearer'"):
        client(transport="modelled")._bearer_post("/complete-rollout", "{}")


def test_the_token_of_the_seam_is_that_of_the_intent(client, runtime, reporter):
    client().report_complete(0.5)
    sent = [body["ClientToken"] for _, body in runtime.posts]
    assert sent == [each.token for each in reporter.kept]


def test_many_threads_report_many_rollouts_and_nothing_is_crossed(client, runtime, reporter):
    def reported(number):
        metadata = METADATA | {"rolloutId": f"rollout-{number}"}
        made = RolloutFeedbackClient(metadata, reporter=reporter, patience=120.0, window=600.0)
        return made.report_complete(number / 64)

    with ThreadPoolExecutor(16) as pool:
        assert all(each.delivered for pair in pool.map(reported, range(64)) for each in pair)
    rewards = {
        body["TrajectoryId"]: body["Rewards"] for _, body in runtime.posts if "Rewards" in body
    }
    assert rewards == {f"rollout-{number}": [number / 64] for number in range(64)}
    assert len(set(runtime.authorizations)) == 1


def test_one_line_for_what_became_of_each_part_and_nobody_writes_another(client, runtime, caplog):
    caplog.set_level(logging.INFO, "reward_functions.rollouts")
    forged = METADATA | {"rolloutId": "r\n2026-01-01 ERROR forged\x1b[31m"}
    runtime.fail("reward", fault(503, "X", "a\nb", retry_after="60"))
    client(forged).report_complete(1.0)
    lines = [record.getMessage() for record in caplog.records]
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert not [line for line in lines if not line.isprintable()]
    assert lines[1].endswith("tried once (503, X, a b); the outbox tries again")


def test_neither_an_error_nor_a_reward_nor_a_credential_is_logged(client, runtime, caplog):
    caplog.set_level(logging.INFO)
    runtime.fail("reward", fault(403), fault(403))
    made = client(METADATA | {"prompt": "PROMPT"})
    with pytest.raises(DeliveryFailed) as raised:
        made.report_error("RESPONSE of the model", 0.123)
    seen = [caplog.text, str(raised.value), repr(raised.value), repr(made)]
    for secret in ("RESPONSE", "PROMPT", "0.123", "sagemaker-api-key", "wJalr", "SESSION"):
        assert not [each for each in seen if secret in each]
