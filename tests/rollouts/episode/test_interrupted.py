"""A process that is asked to end: what outlasts its grace is reported, or left to the next one."""

import asyncio
import json
import multiprocessing
import threading
from dataclasses import replace
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.serve.app import RolloutApp
from tests.rollouts.episode.conftest import LIMIT
from tests.rollouts.serve.agentcore.hosts import ask, runtime_app, serving

FAILED, READY = {"Status": "failed"}, {"Status": "ready"}


class Agent:
    """An agent that goes on for longer than its process, of some shape."""

    def __init__(self, shape, *, calls_policy=False):
        self.begun, self.go, self.calls_policy = threading.Event(), threading.Event(), calls_policy
        self.cancelled = []
        self.act = {"sync": self.sync, "async": self.later, "generator": self.steps}[shape]

    def _begin(self, episode):
        if self.calls_policy:
            episode.policy_call()
        self.begun.set()

    def sync(self, payload, episode):
        self._begin(episode)
        assert self.go.wait(LIMIT)
        self.cancelled.append(episode.cancelled.is_set())
        return 1.0

    async def later(self, payload, episode):
        self._begin(episode)
        try:
            await asyncio.sleep(LIMIT)
        finally:
            self.cancelled.append(episode.cancelled.is_set())

    def steps(self, payload, episode):
        yield "a step"
        yield self.sync(payload, episode)


def post(url, payload):
    connection = HTTPConnection(urlsplit(url).netloc, timeout=LIMIT)
    connection.request("POST", "/rollout", json.dumps(payload))
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer["status"]


# shape, on_failure, rerun, whether the policy was called → the event, and what is reported
ENDS = [
    ("sync", "failed", False, False, "interrupted", [FAILED, {"Rewards": [-1.0]}]),
    ("sync", "failed", False, True, "interrupted", [FAILED, {"Rewards": [-1.0]}]),
    ("async", "failed", False, False, "interrupted", [FAILED, {"Rewards": [-1.0]}]),
    ("generator", "failed", False, False, "interrupted", [FAILED, {"Rewards": [-1.0]}]),
    ("sync", "minimum", False, False, "interrupted_as_minimum", [READY, {"Rewards": [-1.0]}]),
    ("async", "minimum", False, False, "interrupted_as_minimum", [READY, {"Rewards": [-1.0]}]),
    ("sync", "failed", True, True, "interrupted", [FAILED, {"Rewards": [-1.0]}]),
    ("async", "failed", True, True, "interrupted", [FAILED, {"Rewards": [-1.0]}]),
    ("sync", "failed", True, False, None, []),  # the next process runs it again
    ("async", "failed", True, False, None, []),
]


@pytest.mark.parametrize("outbox", ["memory:", "memory://"])
def test_what_no_next_process_can_know_of_is_reported_as_failed(posts, process, new, outbox):
    process.settings = replace(process.settings, outbox=outbox)
    agent = Agent("sync")
    handler = rollout_handler(agent.act, reporter=process)
    payload = new()
    with RolloutApp(handler, api_key="").serving(grace=0.0) as url:
        post(url, payload)
        assert agent.begun.wait(LIMIT)
    assert [body for _, body in posts.of(payload, 2)] == [FAILED, {"Rewards": [0.0]}]
    agent.go.set()


@pytest.mark.parametrize(("shape", "on_failure", "rerun", "calls", "event", "reports"), ENDS)
def test_what_outlasts_the_grace_is_attributed_to_us(
    posts, process, new, shape, on_failure, rerun, calls, event, reports
):
    process.settings = replace(process.settings, rerun=rerun)
    agent, kept = Agent(shape, calls_policy=calls), []
    handler = rollout_handler(
        agent.act, reporter=process, minimum=-1.0, on_failure=on_failure, trajectories=kept.append
    )
    payload = new()
    with RolloutApp(handler, api_key="").serving(grace=0.0) as url:
        assert post(url, payload) == "accepted"
        assert agent.begun.wait(LIMIT)
    assert [body for _, body in posts.of(payload, len(reports))] == reports
    assert handler.rollout.counts == ({event: 1} if event else {})
    assert [each.status for each in kept] == [each["Status"] for each in reports[:1]]
    agent.go.set()
    if shape == "async":
        assert agent.cancelled == [True]


def test_what_comes_after_the_report_counts_no_more_and_sees_that_it_is_cancelled(
    posts, process, new
):
    process.settings = replace(process.settings, rerun=False)
    agent = Agent("sync")
    handler = rollout_handler(agent.act, reporter=process)
    payload, background = new(), Background()
    with RolloutApp(handler, background=background, api_key="").serving(grace=0.0) as url:
        post(url, payload)
        assert agent.begun.wait(LIMIT)
    agent.go.set()
    assert background.join(LIMIT)
    assert agent.cancelled == [True]
    assert [body for _, body in posts.of(payload)] == [FAILED, {"Rewards": [0.0]}]
    assert handler.rollout.counts == {"interrupted": 1}


def test_what_waited_for_its_turn_is_reported_too(posts, process, new):
    process.settings = replace(process.settings, rerun=False)
    agent = Agent("sync")
    handler = rollout_handler(agent.act, reporter=process)
    payloads = [new() for _ in range(5)]
    app = RolloutApp(handler, background=Background(1), api_key="")
    with app.serving(grace=0.0) as url:
        assert {post(url, payload) for payload in payloads} == {"accepted"}
    for payload in payloads:
        assert [body for _, body in posts.of(payload, 2)] == [FAILED, {"Rewards": [0.0]}]
    assert handler.rollout.counts == {"interrupted": 5}
    agent.go.set()


def test_what_ends_in_time_is_reported_as_it_ended(posts, process, new):
    agent = Agent("sync")
    handler = rollout_handler(agent.act, reporter=process)
    payload = new()
    with RolloutApp(handler, api_key="").serving(grace=LIMIT) as url:
        post(url, payload)
        agent.go.set()
    assert [body for _, body in posts.of(payload, 2)] == [READY, {"Rewards": [1.0]}]


def test_agentcores_apps_do_the_same(posts, process, new, tmp_path):
    from reward_functions.rollouts.serve.agentcore.own_host import OwnHost

    agent = Agent("sync")
    app = runtime_app(OwnHost, state_dir=tmp_path, background=True, grace=0.0)
    app.entrypoint(rollout_handler(agent.act, reporter=process))
    payload = new()
    with serving(app) as url:
        ask(url, payload)
        assert agent.begun.wait(LIMIT)
    assert [body for _, body in posts.of(payload, 2)] == [FAILED, {"Rewards": [0.0]}]
    agent.go.set()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_ends_none_of_its_parents(posts, process, new):
    agent = Agent("sync")
    handler = rollout_handler(agent.act, reporter=process)
    payload = new()
    running = threading.Thread(target=handler, args=(payload,))
    running.start()
    assert agent.begun.wait(LIMIT)
    child = multiprocessing.get_context("fork").Process(target=_interrupted, args=(handler,))
    child.start()
    child.join(LIMIT)
    assert child.exitcode == 0
    agent.go.set()
    running.join(LIMIT)
    assert [body for _, body in posts.of(payload, 2)] == [READY, {"Rewards": [1.0]}]


def _interrupted(handler):
    handler.rollout.interrupt()
    assert not handler.rollout.counts
