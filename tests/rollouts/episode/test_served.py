"""Handlers of every kind behind the servers of an agent: answered at once, reported behind."""

import inspect
import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.serve.answering import answering_at_once
from reward_functions.rollouts.serve.app import RolloutApp
from tests.rollouts.episode.conftest import LIMIT
from tests.rollouts.episode.test_forms import async_generator, coroutine, generator, plain

AGENTS = [plain, coroutine, generator, async_generator]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.__name__)
def test_a_handler_that_answers_at_once(posts, process, new, agent):
    handler = answering_at_once(rollout_handler(agent, reporter=process))
    payload = new()
    rollout = payload["metadata"]["rolloutId"]
    assert handler(payload) == {"status": "accepted", "trajectory_id": rollout}
    assert [said for _, said in posts.of(payload, 2)] == [{"Status": "ready"}, {"Rewards": [0.5]}]
    assert list(inspect.signature(handler).parameters) == ["payload"]
    handler.background.close()


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.__name__)
def test_a_handler_behind_the_server(posts, process, new, agent):
    app = RolloutApp(rollout_handler(agent, reporter=process))
    payload = new()
    with app.serving(port=0) as url:
        connection = HTTPConnection(urlsplit(url).netloc, timeout=LIMIT)
        connection.request("POST", "/invocations?wait=1", json.dumps(payload))
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())) == (200, {"reward": 0.5})
        connection.request("POST", "/rollout", json.dumps({"smoke_test": True}))
        assert json.loads(connection.getresponse().read())["handler"] == agent.__name__
        connection.close()
    assert [said for _, said in posts.of(payload)] == [{"Status": "ready"}, {"Rewards": [0.5]}]
