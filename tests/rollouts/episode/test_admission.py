"""What a server accepts is durable before it answers, and what it does not accept is not."""

import json
import threading
import time
from contextvars import copy_context
from http.client import HTTPConnection
from math import inf
from urllib.parse import urlsplit

import pytest

from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.report.intents import Target
from reward_functions.rollouts.report.outbox import Episode
from reward_functions.rollouts.request.errors import BadRequest
from reward_functions.rollouts.serve.app import RolloutApp
from tests.rollouts.episode.conftest import JOB, LIMIT


class Agent:
    """Ends when it may; an app around it, with one worker and one place to wait."""

    def __init__(self, process):
        self.go, self.seen = threading.Event(), []
        self.handler = rollout_handler(self.act, reporter=process)
        background = Background(1, waiting=1)
        self.app = RolloutApp(self.handler, background=background, api_key="")

    def act(self, payload, context):
        self.seen.append((payload["metadata"]["rolloutId"], context.session_id))
        assert self.go.wait(LIMIT)
        return {"reward": 0.5}

    def ask(self, payload):
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=LIMIT)
        connection.request("POST", "/rollout", json.dumps(payload))
        reply = connection.getresponse()
        body = json.loads(reply.read())
        connection.close()
        return reply.status, body


@pytest.fixture
def agent(posts, process):
    agent = Agent(process)
    with agent.app.serving() as agent.url:
        yield agent
        agent.go.set()


def accepted(payload):
    return 200, {"status": "accepted", "trajectory_id": payload["metadata"]["rolloutId"]}


def test_an_episode_that_waits_for_its_turn_is_durable(agent, posts, process, new):
    first, second = new(), new()
    assert agent.ask(first) == accepted(first)
    assert agent.ask(second) == accepted(second)
    assert process.outbox.counts()["running"] == 2
    agent.go.set()
    assert agent.app.background.join(LIMIT)
    assert [name for name, _ in agent.seen] == [
        each["metadata"]["rolloutId"] for each in (first, second)
    ]
    for each in (first, second):
        reports = [said for _, said in posts.of(each, 2)]
        assert reports == [{"Status": "ready"}, {"Rewards": [0.5]}]


def test_an_episode_that_is_not_accepted_is_not_durable(agent, process, new):
    for payload in (new(), new()):
        assert agent.ask(payload) == accepted(payload)
    status, body = agent.ask(new())
    assert (status, body["error"]) == (503, "the agent is full: 1 episodes run and 1 wait")
    assert process.outbox.counts()["running"] == 2
    agent.go.set()
    assert agent.app.background.join(LIMIT)
    assert len(agent.seen) == 2


def test_a_rollout_that_is_asked_for_twice_is_answered_as_a_duplicate(agent, new):
    payload = new()
    name = payload["metadata"]["rolloutId"]
    assert agent.ask(payload) == accepted(payload)
    answer = {"status": "duplicate", "state": "running", "trajectory_id": name}
    assert agent.ask(payload) == (200, answer)
    agent.go.set()
    assert agent.app.background.join(LIMIT)
    assert agent.ask(payload) == (200, answer | {"state": "reported"})
    assert len(agent.seen) == 1


def test_an_endpoint_that_is_not_trusted_is_refused_before_anything_runs(agent, process, new):
    payload = new()
    payload["metadata"]["endpoint"] = "https://evil.example"
    status, body = agent.ask(payload)
    assert status == 400
    assert body["error"].startswith("the payload names a runtime endpoint that is not AWS's")
    assert (agent.seen, process.outbox.counts()["running"]) == ([], 0)
    assert agent.app.background.busy == 0


def test_a_smoke_test_is_answered_at_once_by_an_agent_that_is_busy(agent, new):
    agent.ask(new())
    status, body = agent.ask({"smoke_test": True})
    assert (status, body["status"]) == (200, "ok")


def test_an_orphan_is_run_again_by_the_same_handler(agent, posts, process, new):
    payload = new()
    name = payload["metadata"]["rolloutId"]
    agent.go.set()
    target = Target(job_arn=JOB, trajectory_id=name, endpoint="", region="us-west-2")
    process.rerun(
        Episode(target=target, began=time.time(), expires=inf, payload=json.dumps(payload))
    )
    assert agent.seen == [(name, None)]
    assert [said for _, said in posts.of(payload, 2)] == [{"Status": "ready"}, {"Rewards": [0.5]}]


def test_an_orphan_has_the_window_that_it_began_with(posts, process, new):
    seen = []

    @rollout_handler(reporter=process, window=600.0)
    def agent(payload, ctx):
        seen.append(ctx.expires)
        return 0.5

    payload = new()
    name = payload["metadata"]["rolloutId"]
    target = Target(job_arn=JOB, trajectory_id=name, endpoint="", region="us-west-2")
    began = time.time() - 100.0
    with RolloutApp(agent, api_key="").serving():
        process.rerun(Episode(target=target, began=began, expires=inf, payload=json.dumps(payload)))
    assert seen == [began + 600.0]


def test_a_rollout_that_is_skipped_is_nobodys_and_may_come_again(posts, process, new):
    ran = []

    @rollout_handler(reporter=process)
    def agent(payload):
        ran.append(payload)
        return {"status": "skipped"}

    payload = new()
    for times in (1, 2):
        agent(payload)
        assert len(ran) == times
        assert process.outbox.counts()["running"] == 0


@pytest.mark.parametrize(
    "metadata", [{"jobArn": "x" * 300}, {"jobArn": "é"}, {"rolloutId": "r" * 257}]
)
def test_a_rollout_that_cannot_be_reported_is_no_other_processs_either(process, new, metadata):
    payload = new()
    payload["metadata"] |= metadata
    with pytest.raises(BadRequest):
        rollout_handler(pytest.fail, reporter=process)(payload)
    assert process.outbox.counts()["running"] == 0


@pytest.mark.parametrize("name", ["jobArn", "rolloutId", "endpoint", "region"])
def test_half_a_character_is_refused_before_the_agent_runs(process, new, name):
    payload = new()
    payload["metadata"][name] = "\ud800"
    with pytest.raises(BadRequest, match=f"^metadata.{name} is not Unicode: it has half a char"):
        rollout_handler(pytest.fail, reporter=process)(payload)


def test_what_ran_an_orphan_is_gone_with_its_server(posts, process):
    agent = Agent(process)
    with agent.app.serving():
        assert process.rerun is not None
    assert process.rerun is None
    assert process.closed


def test_what_was_admitted_is_run_once_by_the_handler_that_admitted_it(posts, process, new):
    runs = []
    first, second = (
        rollout_handler(lambda _, name=name: runs.append(name) or 0.5, reporter=process)
        for name in ("first", "second")
    )
    payload = new()
    assert copy_context().run(lambda: calls_of(first, second, payload)) == [
        "running",
        0.5,
        "reported",
    ]
    assert runs == ["first"]
    assert len(posts.of(payload)) == 2


def calls_of(first, second, payload):
    """What another handler, the one that admitted the payload, and that one again answer."""
    assert first.rollout.admit(payload) is None
    answers = [second(payload), first(payload), first(payload)]
    return [each["state"] if isinstance(each, dict) else each for each in answers]
