"""The policy ping, which keeps a trajectory from being empty, and the smoke route."""

import json
from dataclasses import dataclass, field

import pytest

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.reporter import Reporter
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests.loopback import Service, served
from tests.rollouts.episode.conftest import JOB, LIMIT
from tests.rollouts.episode.test_deadline import expire


@dataclass
class Runtime(Service):
    """A job's runtime: what it was asked, with the headers and the body of the policy calls."""

    calls: list = field(default_factory=list)

    def operation(self, asked):
        operation = "/".join(asked.path)
        if operation in {"sample", "v1/chat/completions"}:
            self.calls.append((asked.headers, json.loads(asked.body)))
        return operation, lambda: (200, {"Content-Type": "application/json"}, b"{}")


@pytest.fixture
def runtime(account):
    with served(Runtime()) as service:
        account.setenv("RFT_RUNTIME_ENDPOINT", service.address)
        yield service


@pytest.fixture(params=["modelled", "bearer"])
def process(request, runtime):
    made = Reporter(
        RolloutSettings(transport=request.param), MemoryOutbox(), transports=open_transport
    )
    yield made
    made.close(patience=0)


SAMPLES = {"modelled": "sample", "bearer": "v1/chat/completions"}
REPORTED = ["complete-rollout", "update-reward"]


def test_an_episode_without_a_turn_calls_the_policy_once_before_it_is_sealed(runtime, process, new):
    payload = new()
    assert rollout_handler(lambda payload: 1.0, ping=True, reporter=process)(payload) == 1.0
    assert runtime.asked == [SAMPLES[process.settings.transport], *REPORTED]
    ((headers, body),) = runtime.calls
    assert headers["x-amzn-sagemaker-job-arn"] == JOB
    assert headers["x-amzn-sagemaker-trajectory-id"] == payload["metadata"]["rolloutId"]
    assert headers["authorization"].startswith(("AWS4-HMAC-SHA256 ", "Bearer sagemaker-api-key-"))
    assert (body["max_tokens"], len(body["messages"])) == (1, 1)
    assert payload["prompt"] not in json.dumps(body)


def test_an_episode_without_a_turn_calls_the_policy_at_its_deadline_too(runtime, process, new):
    @rollout_handler(ping=True, reporter=process)
    def agent(payload, ctx):
        expire(ctx)
        return ctx.cancelled.wait(LIMIT)

    assert agent(new())
    assert runtime.asked == [SAMPLES[process.settings.transport], *REPORTED]


NO_PING = [
    ("without the option", {}, 1.0),
    ("with a turn", {"ping": True}, "turn"),
    ("failed", {"ping": True}, {"status": "error"}),
    ("skipped", {"ping": True}, {"status": "skipped"}),
]


@pytest.mark.parametrize(
    ("options", "result"), [row[1:] for row in NO_PING], ids=[row[0] for row in NO_PING]
)
def test_no_ping_where_none_is_needed(runtime, process, new, options, result):
    @rollout_handler(reporter=process, **options)
    def agent(payload, ctx):
        if result == "turn":
            ctx.policy_call()
        return result

    agent(new())
    assert runtime.calls == []


@pytest.mark.parametrize("status", [403, 500])
def test_a_ping_that_fails_hides_no_reward(runtime, process, new, caplog, status):
    runtime.fail(SAMPLES[process.settings.transport], (status, {}, b"{}"))
    handler = rollout_handler(lambda payload: 1.0, ping=True, reporter=process)
    assert handler(new()) == 1.0
    assert runtime.asked[-2:] == REPORTED
    assert "the policy ping of rollout" in caplog.text


def test_a_ping_of_the_agents_own(runtime, process, new):
    episodes = []
    handler = rollout_handler(lambda payload: 1.0, ping=episodes.append, reporter=process)
    payload = new()
    handler(payload)
    (episode,) = episodes
    assert episode.metadata.trajectory_id == payload["metadata"]["rolloutId"]
    assert episode.turns == 1
    assert runtime.asked == REPORTED


def test_a_ping_of_the_agents_own_that_raises(runtime, process, new, caplog):
    def ping(episode):
        raise RuntimeError("a secret of the agent's")

    rollout_handler(lambda payload: 1.0, ping=ping, reporter=process)(new())
    assert runtime.asked == REPORTED
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_the_smoke_route_says_what_the_handler_is(runtime, process):
    def agent(payload):
        raise AssertionError("not run")

    handler = rollout_handler(agent, reporter=process, window=120, on_failure="minimum")
    answer = handler({"smoke_test": True})
    assert answer.pop("version")
    assert answer == {
        "status": "ok",
        "handler": "agent",
        "reporting": {
            "transport": process.settings.transport,
            "outbox": "memory:",
            "endpoint": runtime.address,
            "window": 120,
            "margin": 12.0,
            "minimum": 0.0,
            "on_failure": "minimum",
            "reward": None,
        },
        "credentials": True,
    }
    assert runtime.asked == []
    json.dumps(answer, allow_nan=False)


def test_the_smoke_route_without_credentials(account, process):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        account.delenv(name)
    account.setenv("AWS_EC2_METADATA_DISABLED", "true")
    answer = rollout_handler(lambda payload: 1.0, reporter=process)({"smoke_test": True})
    assert answer["credentials"] is False


@pytest.mark.parametrize("more", [{"smoke_test": "yes"}, {"smoke_test": 1}, {"smoke_test": False}])
def test_what_is_no_smoke_test(process, more):
    handler = rollout_handler(lambda payload: "ran", reporter=process)
    assert handler({"prompt": "hello"} | more) == "ran"


def test_a_rollout_is_never_a_smoke_test(runtime, process, new):
    handler = rollout_handler(lambda payload: 1.0, reporter=process)
    assert handler(new(smoke_test=True)) == 1.0
    assert runtime.asked == REPORTED
