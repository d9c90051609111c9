"""Bad input from end to end: a typed error or the spool, one clear sentence, and no reward lost.

Agents are handlers whose reports leave by bearer token, and what a double of the runtime counted is
what the trainer would have. The list is that of issue 13, in its order.
"""

import json
import logging
from dataclasses import replace
from itertools import count, repeat
from time import time

import pytest

from reward_functions.local.runtime_double import NO_FAULTS, FaultPlan, RuntimeDouble
from reward_functions.rollouts import RolloutFeedbackClient, RolloutSettings, rollout_handler
from reward_functions.rollouts.report.delivery import unsent
from reward_functions.rollouts.report.outbox.sqlite import SqliteOutbox
from reward_functions.rollouts.report.reporter import Reporter, replayed
from reward_functions.rollouts.report.transports import open_transport
from reward_functions.rollouts.request.contract import LARGEST
from reward_functions.rollouts.request.errors import (
    BadRequest,
    DeliveryFailed,
    IntentTooLarge,
    InvalidReward,
    UntrustedEndpoint,
)
from reward_functions.rollouts.request.outcomes import NotSent
from tests.rollouts.reporters import QUICK
from tests.waiting import until

JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/agent"
MINIMUM = -1.0
DAY = 86_400.0
READY, FAILED = {"Status": "ready"}, {"Status": "failed"}
OUTAGE = FaultPlan.parse("dropped_before=1.0,most=1000")

nan, inf = float("nan"), float("inf")


class Service(RuntimeDouble):
    """A double whose clock a test sets, and what it counted."""

    def __init__(self):
        self.ahead = iter(())
        self._numbers = count()
        super().__init__(clock=lambda: time() + next(self.ahead, 0.0))

    def new(self, **metadata):
        """A payload of a rollout of its own."""
        rollout = f"rollout-{next(self._numbers)}"
        self.register(JOB, rollout)
        ids = {"jobArn": JOB, "rolloutId": rollout, "endpoint": self.endpoint}
        return {"prompt": "2 + 2?", "metadata": ids | metadata}

    def of(self, payload):
        return self.trajectory(JOB, payload["metadata"]["rolloutId"])

    def counted(self, payload):
        """The state of a rollout and its rewards."""
        found = self.of(payload)
        return found.state, found.rewards

    def sent(self, payload):
        """What arrived of a rollout."""
        return [delivery.body for delivery in self.of(payload).deliveries]

    def nothing(self):
        """Whether no report has arrived at all."""
        return not any(each.deliveries for each in self.trajectories.list())


@pytest.fixture
def service(credentials):
    double = Service()
    with double.in_background():
        yield double


@pytest.fixture
def process(service, tmp_path):
    """A process's reporter over a file."""
    made = Reporter(
        RolloutSettings(transport="bearer"),
        SqliteOutbox(tmp_path / "outbox.sqlite3"),
        transports=lambda kind: open_transport(kind, trusted=[service.endpoint]),
        timing=QUICK,
        random=lambda: 0.0,
    )
    yield made
    made.close(patience=0)


@pytest.fixture
def handled(service, process):
    """A handler of an agent, which trusts the double."""

    def made(agent, **options):
        options = {"trusted": service.endpoint, "minimum": MINIMUM} | options
        return rollout_handler(agent, reporter=process, **options)

    return made


@pytest.fixture
def lines(caplog):
    """What was logged, each in one line, and no line twice."""
    caplog.set_level(logging.WARNING, "reward_functions")

    def found():
        messages = [record.getMessage() for record in caplog.records]
        assert not [each for each in messages if "\n" in each]
        assert len(set(messages)) == len(messages)
        return messages

    return found


WITHOUT_IDS = [
    {"prompt": "2 + 2?"},
    {"prompt": "2 + 2?", "metadata": None},
    {"metadata": {"jobArn": JOB}},
    {"metadata": {"rolloutId": "r"}},
    {"metadata": {"jobArn": JOB, "rolloutId": ""}},
    {"metadata": {"jobArn": "", "trajectory_id": "r"}},
    {"metadata": {"jobArn": None, "rolloutId": None}},
    json.dumps({"instance": {}, "metadata": {}}),
    {"body": json.dumps({"prompt": "2 + 2?"})},
]


@pytest.mark.parametrize("payload", WITHOUT_IDS, ids=json.dumps)
def test_a_payload_without_ids_runs_and_is_reported_to_nobody(service, handled, lines, payload):
    assert handled(lambda payload: {"reward": 1.0})(payload) == {"reward": 1.0}
    assert lines() == ["the payload has no jobArn or no rolloutId: nothing is reported"]
    assert service.nothing()


UNREADABLE = [
    (None, "the payload is null, not an object"),
    ("not JSON", "the payload is not JSON"),
    ({"body": "[1]"}, "the body of the event is a list, not an object"),
    ({"metadata": []}, "metadata is a list, not an object"),
    ({"metadata": {"jobArn": 7, "rolloutId": "r"}}, "metadata.jobArn is a number, not a string"),
    (
        {"metadata": {"jobArn": JOB, "rolloutId": ["r"]}},
        "metadata.rolloutId is a list, not a string",
    ),
    ({"inferenceParams": {"temperature": nan}}, "inferenceParams.temperature is not a number of 0"),
    ("x" * (LARGEST + 1), "the payload has more than 6291456 bytes"),
]


@pytest.mark.parametrize(("payload", "sentence"), UNREADABLE, ids=[row[1] for row in UNREADABLE])
def test_a_payload_that_cannot_be_read_runs_nothing(service, handled, lines, payload, sentence):
    with pytest.raises(BadRequest) as raised:
        handled(pytest.fail)(payload)
    assert str(raised.value).startswith(sentence)
    assert (lines(), service.nothing()) == ([], True)


UNREPORTABLE = [
    ({"jobArn": "agent"}, "metadata.jobArn is not the ARN of a SageMaker job"),
    ({"jobArn": JOB + "\r\nX-Other: 1"}, "metadata.jobArn is not the ARN of a SageMaker job"),
    ({"jobArn": JOB + "x" * 256}, "metadata.jobArn is not the ARN of a SageMaker job"),
    ({"rolloutId": "r" * 257}, "metadata.rolloutId has 257 characters, not 1 to 256"),
]


@pytest.mark.parametrize(("ids", "sentence"), UNREPORTABLE)
def test_an_episode_that_cannot_be_reported_is_not_run(service, handled, ids, sentence):
    with pytest.raises(BadRequest) as raised:
        handled(pytest.fail, transport="modelled")(service.new(**ids))
    assert str(raised.value) == sentence
    assert service.nothing()


ENDPOINTS = [
    "https://example.com",
    "http://job-runtime.sagemaker.us-west-2.api.aws",
    "https://job-runtime.sagemaker.us-west-2.api.aws.example.com",
    "https://user@job-runtime.sagemaker.us-west-2.api.aws",
    "https://example.com/job-runtime.sagemaker.us-west-2.api.aws",
    "https://job-runtime.sagemaker.us-west-2.api.aws:8443",
    "https://169.254.169.254",
    "file:///etc/passwd",
    "job-runtime",
]


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_an_unknown_endpoint_gets_no_credential_and_runs_nothing(service, handled, endpoint):
    sentence = "is not AWS's: no credential is sent there; if it is yours, set RFT_RUNTIME_ENDPOINT"
    with pytest.raises(UntrustedEndpoint, match=sentence):
        handled(pytest.fail)(service.new(endpoint=endpoint))
    assert service.nothing()


def test_an_endpoint_that_only_another_handler_trusts_gets_none(service, handled):
    with pytest.raises(UntrustedEndpoint):
        handled(pytest.fail, trusted="http://127.0.0.1:1")(service.new())
    assert service.nothing()


NOT_REWARDS = [
    (nan, "a reward is nan, not a finite number"),
    (-inf, "a reward is -inf, not a finite number"),
    (10**400, "a reward is inf, not a finite number"),
    ({"reward": nan}, "a reward is nan, not a finite number"),
    ({"reward": "0.5"}, "a reward is a number or a list of them, not a string"),
    ({"reward": "nan"}, "a reward is a number or a list of them, not a string"),
    ({"reward": True}, "a reward is a boolean, not a number"),
    ({"rewards": [0.5, "0.5"]}, "a reward is a string, not a number"),
    ({"rewards": [0.5, nan]}, "a reward is nan, not a finite number"),
    ({"rewards": []}, "a list of rewards is empty"),
    ({"reward": {"value": 1}}, "a reward is a number or a list of them, not an object"),
    # of the wrong length: two turns were recorded
    ([1.0, 0.5, 0.0], "there are 3 rewards for 2 recorded turns"),
    ({"rewards": [0.5] * 5}, "there are 5 rewards for 2 recorded turns"),
]


@pytest.mark.parametrize(("result", "sentence"), NOT_REWARDS, ids=[row[1] for row in NOT_REWARDS])
def test_what_is_no_reward_has_failed_and_says_why(service, handled, lines, result, sentence):
    def agent(payload, rollout):
        rollout.policy_call()
        rollout.policy_call()
        return result

    payload = service.new()
    assert handled(agent)(payload) is result
    rollout = payload["metadata"]["rolloutId"]
    assert lines() == [
        f"rollout {rollout!r} is not scored: {sentence}",
        f"rollout {rollout!r} has failed: InvalidReward",
    ]
    assert service.counted(payload) == ("FAILED", None)
    assert service.sent(payload) == [FAILED, {"Rewards": [MINIMUM]}]


@pytest.mark.parametrize(("result", "sentence"), NOT_REWARDS, ids=[row[1] for row in NOT_REWARDS])
def test_a_client_refuses_it_before_anything_is_sent(service, process, result, sentence):
    given = next(iter(result.values())) if isinstance(result, dict) else result
    client = RolloutFeedbackClient(
        service.new()["metadata"], reporter=process, trusted=[service.endpoint]
    )
    with pytest.raises(InvalidReward) as raised:
        client.report_complete(given, turns=2)
    assert str(raised.value) == sentence
    assert (service.nothing(), process.outbox.counts()["pending"]) == (True, 0)


def test_a_token_that_has_expired_is_made_again(service, handled, process, lines):
    payload = service.new()
    service.ahead = iter([DAY])
    handled(lambda payload: 1.0)(payload)
    assert service.counted(payload) == ("REWARD_RECEIVED", (1.0,))
    assert lines() == []


def test_a_reward_whose_tokens_stay_expired_is_kept_for_a_replay(service, handled, process, lines):
    payload = service.new()
    service.ahead = repeat(DAY)
    with pytest.raises(DeliveryFailed, match="was refused for its credential, tried 2 times"):
        handled(lambda payload: 0.75, on_report_failure="raise")(payload)
    assert service.counted(payload) == ("PENDING", None)
    assert "ExpiredTokenException" in lines()[0]
    service.ahead = iter(())
    kept = process.outbox.list()
    assert all(outcome.delivered for _, outcome in replayed(process, kept))
    assert service.counted(payload) == ("REWARD_RECEIVED", (0.75,))


def fill(outbox):
    """Fill the disk: an error of a real one, by a limit of SQLite's own."""
    outbox.counts()
    (pages,) = outbox._connection.execute("PRAGMA page_count").fetchone()
    outbox._connection.execute(f"PRAGMA max_page_count = {pages}")


def large(number):
    """So many rewards that they need a page of their own."""
    return [number] * 10_000


def test_a_reward_is_counted_though_the_disk_under_the_outbox_is_full(
    service, handled, process, lines
):
    payloads = [service.new() for _ in range(3)]
    fill(process.outbox)
    for number, payload in enumerate(payloads):
        handled(lambda payload, number=number: large(float(number)))(payload)
        assert service.counted(payload) == ("REWARD_RECEIVED", tuple(large(float(number))))
    (sentence,) = lines()
    assert "the disk is full: make room on it; meanwhile reports are kept in memory" in sentence


def test_a_reward_outlives_a_full_disk_and_an_outage_together(service, process, lines):
    payload = service.new()
    process.timing = replace(QUICK, hold=0.05, own=0.05)
    fill(process.outbox)
    service.faults = OUTAGE
    process.start()
    client = RolloutFeedbackClient(
        payload["metadata"], reporter=process, trusted=[service.endpoint], patience=0
    )
    outcomes = client.report_complete(large(0.5))
    assert [outcome.pending for outcome in outcomes] == [True, True]
    assert service.counted(payload) == ("PENDING", None)
    service.faults = NO_FAULTS
    until(lambda: service.of(payload).finished)
    assert service.counted(payload) == ("REWARD_RECEIVED", tuple(large(0.5)))
    assert sum("the disk is full" in line for line in lines()) == 1


@pytest.fixture
def late(process):
    """Have the completions in the outbox wait for a minute, and send what is due meanwhile."""

    def made():
        for stored in process.outbox.list(["pending"]):
            later = unsent(NotSent, stored.intent, detail="a minute")
            process.outbox.settle(stored.intent, later, due=process.clock() + 60)
        process._drainer.drain(5)
        for stored in process.outbox.list(["pending"]):
            process.outbox.replay(stored.intent, now=process.clock())

    return made


def test_a_completion_is_not_written_down_where_its_reward_has_no_room(service, process, late):
    payload = service.new()
    fill(process.outbox)
    service.faults = OUTAGE
    client = RolloutFeedbackClient(
        payload["metadata"], reporter=process, trusted=[service.endpoint], patience=0
    )
    client.report_complete(large(0.5))
    process.recover()
    service.faults = NO_FAULTS
    late()
    process.close()
    assert service.counted(payload) == ("REWARD_RECEIVED", tuple(large(0.5)))


def test_a_reward_in_memory_waits_for_its_completion_in_the_outbox(service, process, late):
    payload = service.new()
    service.faults = OUTAGE
    client = RolloutFeedbackClient(
        payload["metadata"], reporter=process, trusted=[service.endpoint], patience=0
    )
    assert client.complete_rollout().pending
    fill(process.outbox)
    assert client.update_reward(large(0.5)).pending
    service.faults = NO_FAULTS
    late()
    assert service.counted(payload) == ("PENDING", None)
    process.close()
    assert service.counted(payload) == ("REWARD_RECEIVED", tuple(large(0.5)))


def test_more_rewards_than_an_outbox_takes_have_failed(service, handled, lines):
    payload = service.new()
    with pytest.raises(IntentTooLarge, match="report one reward for the rollout instead"):
        handled(lambda payload: [0.5] * 100_000, on_report_failure="raise")(payload)
    assert service.counted(payload) == ("FAILED", None)
    assert "the reward report has 400,124 bytes, and an outbox takes 350,000" in lines()[0]


RESULTS = [
    {"reward": 1.0, "response": "x" * 20_000_000},
    {"reward": 1.0, "messages": [{"role": "assistant", "content": "x"}] * 100_000},
]


@pytest.mark.parametrize("result", RESULTS, ids=["a long one", "a wide one"])
def test_a_result_of_any_size_is_given_back_and_its_reward_counted(service, handled, lines, result):
    payload = service.new()
    assert handled(lambda payload: result)(payload) is result
    assert service.counted(payload) == ("REWARD_RECEIVED", (1.0,))
    assert lines() == []
