"""What an agent's answer means, however large or strange it is."""

import tracemalloc

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.drive.agents import KEY, LARGEST, HttpAgent, answer_of, answered
from reward_functions.rollouts.request.contract import RolloutMetadata, RolloutRequest
from tests.hostile_peers import BROKEN, HELD_UP, LARGE, peer
from tests.loopback import Service, served
from tests.waiting import until

REQUEST = RolloutRequest(prompt="x", metadata=RolloutMetadata(job_arn="j", trajectory_id="r"))

ANSWERS = [
    # Our servers, the platform's guide, agentcore-rl-toolkit's AgentCoreRLApp.
    (200, b'{"status": "accepted", "trajectory_id": "r"}', "working", ""),
    (200, b'{"status": "processing"}', "working", ""),
    (202, b"", "working", ""),
    # What an agent returns when its episode is over; its rewards are the runtime's to say.
    (200, b'{"reward": 1.0}', "over", ""),
    (200, b'{"status": "ok"}', "over", ""),
    (204, b"", "over", ""),
    (200, b"not JSON", "over", ""),
    (200, b'{"status": ["accepted"]}', "over", ""),
    (200, b"[" * 100_000, "over", ""),
    (429, b"", "busy", "HTTP 429"),
    (503, b"", "busy", "HTTP 503"),
    (302, b"", "error", "HTTP 302"),
    (404, b"", "error", "HTTP 404"),
    (500, b'{"status": "accepted"}', "error", "HTTP 500"),
]


@pytest.mark.parametrize(
    ("status", "body", "kind", "error"), ANSWERS, ids=[f"{a[0]} {a[1][:20]}" for a in ANSWERS]
)
def test_what_an_answer_means(status, body, kind, error):
    assert answer_of(status, body)[:2] == (kind, error)


def test_the_type_of_an_error_is_a_word_whatever_the_agent_writes():
    hostile = b'{"errorType": "\\u001b[31m\\n<b>' + b"x" * 1000 + b'"}'
    answer = answer_of(200, hostile, forwarder=True)
    assert answer.error.isprintable()
    assert len(answer.error) <= 64
    assert answer_of(200, b'{"errorType": 7}', forwarder=True).error == "an error"


class Odd(Service):
    """An agent that answers as it is set to."""

    reply = (200, {}, b"")

    def operation(self, asked):
        self.last = asked
        return "post", lambda: self.reply


@pytest.fixture
def odd():
    with served(Odd()) as service:
        yield service


def test_of_a_large_answer_only_the_beginning_is_read(odd):
    odd.reply = (200, {}, b'{"status": "accepted"}' + b" " * 3 * LARGEST)
    assert HttpAgent(odd.address).send(REQUEST, timeout=60).kind == "working"


def test_a_redirect_is_not_followed(odd):
    odd.reply = (307, {"Location": f"{odd.address}/elsewhere"}, b"")
    assert HttpAgent(odd.address).send(REQUEST, timeout=60).error == "HTTP 307"
    assert len(odd.asked) == 1


def test_a_connection_that_closes_is_no_second_request(odd):
    odd.faults["post"] = ["before"]
    assert HttpAgent(odd.address).send(REQUEST, timeout=60).kind == "silent"
    assert len(odd.asked) == 1


def test_the_key_of_the_agent_is_a_bearer_token_and_the_rollout_the_session(odd, monkeypatch):
    monkeypatch.setenv(KEY, "sesame")
    HttpAgent(f"{odd.address}/rollout").send(REQUEST, timeout=60)
    assert odd.last.path == ("rollout",)
    assert odd.last.headers["authorization"] == "Bearer sesame"
    assert odd.last.headers["x-amzn-bedrock-agentcore-runtime-session-id"] == "r"


@pytest.mark.parametrize("url", ["http://", "http://x:port", "ftp://x", "http://[::1"])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(ConfigurationError, match="is not the URL of an agent"):
        HttpAgent(url)


@pytest.mark.parametrize("acts", HELD_UP.values(), ids=HELD_UP)
def test_an_agent_holds_up_nobody_for_longer_than_the_window(acts):
    with peer(acts) as (url, asked):
        assert answered(HttpAgent(url), REQUEST, 0.2).kind == "silent"
        until(asked, "the agent is not asked")  # in a thread, which may begin late
        assert len(asked()) == 1


@pytest.mark.parametrize("acts", BROKEN.values(), ids=BROKEN)
def test_an_answer_that_cannot_be_read_says_nothing(acts):
    with peer(acts) as (url, asked):
        assert answered(HttpAgent(url), REQUEST, 60.0).kind == "silent"
        assert len(asked()) == 1


@pytest.mark.parametrize("acts", LARGE.values(), ids=LARGE)
def test_an_answer_fills_no_memory(acts):
    with peer(acts) as (url, _):
        tracemalloc.start()
        try:
            assert answered(HttpAgent(url), REQUEST, 60.0).kind == "over"
            assert tracemalloc.get_traced_memory()[1] < 20 * LARGEST
        finally:
            tracemalloc.stop()


class Raising:
    """An agent that cannot be asked."""

    def __init__(self, error):
        self.error = error

    def send(self, request, *, timeout):
        raise self.error


@pytest.mark.parametrize("error", [ConfigurationError("set it"), OSError("gone")], ids=repr)
def test_what_keeps_every_request_from_being_asked_is_raised(error):
    with pytest.raises(type(error)):
        answered(Raising(error), REQUEST, 60.0)
