"""A handler behind its answer, and AgentCore's own app around it."""

import functools
import inspect
import threading

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.request.errors import BadRequest, TooBusy
from reward_functions.rollouts.serve.answering import Answering, RequestContext, answering_at_once

SOON = 60.0

IDS = {"jobArn": "arn:aws:sagemaker:us-west-2:111122223333:job/AgentRFT/a", "rolloutId": "r-1"}
ROLLOUT = {"prompt": "6 × 7?", "metadata": IDS}


def one(payload):
    return payload["prompt"], None


def two(payload, context):
    return payload["prompt"], context.session_id


def with_option(payload, *, loud=False):
    return payload["prompt"], None


async def later(payload, context):
    return payload["prompt"], context.session_id


def items(payload, context):
    yield "first"
    yield payload["prompt"], context.session_id


def returning(payload):
    yield "first"
    return payload["prompt"], None


async def later_items(payload, context):
    yield "first"
    yield payload["prompt"], context.session_id


def returns_a_coroutine(payload, context):
    return later(payload, context)


class Agent:
    def __call__(self, payload):
        return payload["prompt"], None

    def method(self, payload, context):
        return two(payload, context)


HANDLERS = {
    "of a payload": one,
    "of a payload and a context": two,
    "with an option": with_option,
    "async": later,
    "a generator": items,
    "a generator that returns": returning,
    "an async generator": later_items,
    "a function that returns a coroutine": returns_a_coroutine,
    "an object": Agent(),
    "a method": Agent().method,
    "a partial": functools.partial(two),
}


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_a_handler_of_any_form_runs_to_its_end(handler):
    background = Background(1)
    begun = Answering(handler, background).begin(ROLLOUT, RequestContext(session_id="s"))
    prompt, session = begun.future.result(SOON)
    assert (begun.request.metadata.trajectory_id, prompt) == ("r-1", "6 × 7?")
    assert session in {"s", None}
    background.close()


def test_a_handler_that_is_none_is_refused_before_anything_is_served():
    with pytest.raises(ConfigurationError, match="not str"):
        Answering("agent", Background())


class TrackingApp:
    """The two methods of BedrockAgentCoreApp that keep a session alive (bedrock-agentcore 1.25)."""

    def __init__(self):
        self.running = set()
        self.seen = []
        self.ended = threading.Event()

    def add_async_task(self, name, metadata=None):
        self.seen.append(name)
        self.running.add(len(self.seen))
        return len(self.seen)

    def complete_async_task(self, task_id):
        self.running.remove(task_id)
        self.ended.set()
        return True


def test_a_rollout_is_answered_before_it_ends_and_the_session_is_kept_meanwhile():
    app, go = TrackingApp(), threading.Event()

    @answering_at_once(app=app)
    def agent(payload):
        assert go.wait(SOON)

    assert agent(ROLLOUT) == {"status": "accepted", "trajectory_id": "r-1"}
    assert app.running == {1}
    go.set()
    assert app.ended.wait(SOON)
    assert (app.running, app.seen) == (set(), ["rollout"])
    agent.background.close()


def test_a_payload_without_ids_gets_the_result():
    agent = answering_at_once(one)
    assert agent({"prompt": "hello"}) == ("hello", None)
    agent.background.close()


def test_without_ids_what_the_agent_raises_is_raised():
    def agent(payload):
        raise LookupError("no")

    agent = answering_at_once(agent)
    with pytest.raises(LookupError, match="no"):
        agent({"prompt": "hello"})
    agent.background.close()


@pytest.mark.parametrize(
    ("payload", "error"),
    [({"metadata": 3}, BadRequest), ({"prompt": "x", "metadata": IDS}, TooBusy)],
)
def test_a_request_that_is_refused_keeps_no_session(payload, error):
    app, background = TrackingApp(), Background(1)
    background.close()
    agent = answering_at_once(one, app=app, background=background)
    with pytest.raises(error):
        agent(payload)
    assert app.running == set()


def test_the_signature_stays_so_that_agentcore_passes_its_context():
    """BedrockAgentCoreApp._takes_context: the second parameter is called `context`."""
    assert list(inspect.signature(answering_at_once(two)).parameters) == ["payload", "context"]
    assert list(inspect.signature(answering_at_once(one)).parameters) == ["payload"]
