"""Every server of this project: what a web page can cause is refused, by one table.

The training double has the same table in `training_double/test_control.py`, beside its emulator.
"""

import json
from contextlib import contextmanager
from importlib.util import find_spec
from urllib.parse import urlsplit

import pytest

from reward_functions.local import runtime_double
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.local.scripted_judge import scripted_judge
from reward_functions.rollouts.relay import Relay
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from reward_functions.rollouts.serve.app import RolloutApp
from tests.local import agentcore_double
from tests.local_requests import ELSEWHERE, ON_LOOPBACK, wrong

KEY = "Authorization: Bearer key"
QUESTION = json.dumps(
    {
        "model": "script",
        "messages": [
            {
                "role": "user",
                "content": '<data name="reference" mark="m">\n"a"\n</data>\n'
                '<data name="answer" mark="m">\n"a"\n</data>',
            }
        ],
    }
).encode()
ANSWER = {"answer": "/2018-06-01/runtime/invocation/x/response"}


@contextmanager
def an_app(host):
    with RolloutApp(lambda _: 1, api_key="key").serving(host) as url:
        yield url


@contextmanager
def a_relay(host):
    relay = Relay("http://127.0.0.1:1/v1", admin_key="key")
    with relay.serving(host, exposed=True):
        yield relay.url


@contextmanager
def our_host(host):
    app = OwnHost(api_key="key")
    app.entrypoint(lambda _: 1)
    with app.serving(host) as url:
        yield url


@contextmanager
def bedrocks_host(host):
    pytest.importorskip("bedrock_agentcore")
    from tests.rollouts.serve.agentcore import hosts

    app = hosts.BedrockHost()
    app.entrypoint(lambda _: 1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("uvicorn.run", lambda *_, **__: None)
        app.run(host=host)
    with hosts.serving(app) as url:
        yield url


@contextmanager
def a_lambda_function(_):
    if find_spec("awslambdaric") is None:
        pytest.skip("awslambdaric has wheels for Linux only")
    with LocalRuntime({"REWARD_NAME": "exact_match"}) as runtime:
        runtime.invoke([])
        yield runtime._sandbox.server.url


@contextmanager
def a_runtime_double(_):
    with runtime_double.serving() as double:
        yield double.endpoint


@contextmanager
def an_agentcore_double(_):
    agent = agentcore_double.FunctionAgent(lambda _: 1)
    with agentcore_double.serving(agent) as double:
        yield double.endpoint


@contextmanager
def a_judge(_):
    with scripted_judge() as url:
        yield url


# What serves, a request line with a body, and further lines of its head.
KEYED = {
    "an agent's app": (an_app, "POST /invocations", b"{}", [KEY]),
    "an agent's app, its health": (an_app, "GET /ping", b"", []),
    "a relay": (a_relay, "POST /sessions", b"{}", [KEY]),
    "a relay, its health": (a_relay, "GET /health", b"", []),
    "our host of AgentCore's contract": (our_host, "POST /invocations", b"{}", [KEY]),
    "AgentCore's own host": (bedrocks_host, "POST /invocations", b"{}", []),
}
ALWAYS_ON_LOOPBACK = {
    "a runtime double": (a_runtime_double, "GET /_runtime/", b"", []),
    "an AgentCore double": (an_agentcore_double, "GET /bucket/key", b"", []),
    "a scripted judge": (a_judge, "POST /v1/chat/completions", QUESTION, []),
    "a Lambda function": (
        a_lambda_function,
        "POST /2018-06-01/runtime/invocation/x/response",
        b"1",
        [],
    ),
}
LEFT_TO_UVICORN = {"no Host", "two Hosts", "two Hosts, the other one first", "the same Host twice"}
"""It answers 400 itself, or does not, by the parser that is installed."""


def cases_of(name, table):
    if name != "AgentCore's own host":
        return table
    return {case: row for case, row in table.items() if case not in LEFT_TO_UVICORN}


def elsewhere_of(name):
    """The rows elsewhere: AgentCore's own app leaves them to AgentCore and its signatures."""
    if name != "AgentCore's own host":
        return ELSEWHERE
    return {case: (lines, None) for case, (lines, _) in cases_of(name, ELSEWHERE).items()}


@pytest.mark.parametrize("name", KEYED | ALWAYS_ON_LOOPBACK)
def test_a_server_on_loopback_refuses_what_a_web_page_can_cause(name):
    start, line, body, more = (KEYED | ALWAYS_ON_LOOPBACK)[name]
    with start("127.0.0.1") as url:
        port = urlsplit(url).port
        assert wrong(port, cases_of(name, ON_LOOPBACK), line, body, more) == {}


@pytest.mark.parametrize("name", KEYED)
def test_a_server_elsewhere_serves_a_client_that_has_its_key_by_any_host(name):
    start, line, body, more = KEYED[name]
    with start("0.0.0.0") as url:
        port = urlsplit(url).port
        assert wrong(port, elsewhere_of(name), line, body, more) == {}
        if more:
            nobody = {"no key": (["Host: agent.example"], 401)}
            assert wrong(port, nobody, line, body, []) == {}
