"""`AgentCoreHttpClient`, of an app that speaks the start/get protocol and one that does not."""

import asyncio
import json
from contextlib import contextmanager

import pytest

from reward_functions.rollouts.collect.invocations import AgentCoreHttpClient, InvocationError
from reward_functions.rollouts.request.errors import (
    BadRequest,
    BadResult,
    RolloutError,
    ServiceFailed,
)
from tests.local.agentcore_double import Faults
from tests.waiting import PATIENCE

SESSION = "session-" + "0" * 30


class Protocol:
    """Each start is counted; a look ends it."""

    def __init__(self, ended):
        self.ended, self.started = ended, []

    def __call__(self, body, session, bucket):
        payload = json.loads(body)
        envelope = payload.pop("_agentcore_runtime")
        state = {"version": 1, "invocation_id": envelope["invocation_id"]}
        if envelope["operation"] == "start":
            assert envelope.keys() == {"version", "operation", "invocation_id", "background"}
            self.started.append(payload)
            return 200, json.dumps(state | {"status": "in_progress"}).encode()
        assert envelope.keys() == {"version", "operation", "invocation_id"}
        return 200, json.dumps(state | self.ended).encode()


@pytest.fixture
def invoking(collecting):
    """A client of an app, and the double."""

    @contextmanager
    def started(app, faults=None):
        with collecting(None, faults, agent=lambda _: app) as (rollouts, double):
            client = AgentCoreHttpClient(
                rollouts.agent_runtime_arn, aws_client=lambda: rollouts.agentcore_client
            )
            try:
                yield client, double
            finally:
                client.close()

    return started


def test_an_invocation_is_started_once_and_looked_up_by_its_id(invoking):
    app = Protocol({"status": "completed", "result": {"reward": 1.0}})

    async def run(client):
        handle = await client.invoke(
            {"q": 1}, session_id=SESSION, invocation_id="one", background=True
        )
        assert (await handle.status())["status"] == "completed"
        again = client.get_invocation(session_id=SESSION, invocation_id="one")
        assert await again.result(timeout=PATIENCE) == await handle.result() == {"reward": 1.0}
        await client.stop_session(SESSION)

    with invoking(app) as (client, double):
        asyncio.run(run(client))
        assert app.started == [{"q": 1}]
        assert not double.sessions.running


@pytest.mark.parametrize(
    "ended",
    [
        {"status": "completed", "error": "no tool"},
        {"status": "interrupted"},
        {"status": "not_found"},
    ],
    ids=["error", "interrupted", "not found"],
)
def test_an_invocation_without_a_result_is_an_error_with_its_state(invoking, ended):
    with invoking(Protocol(ended)) as (client, _):
        handle = client.get_invocation(session_id=SESSION, invocation_id="one")
        with pytest.raises(InvocationError, match="Invocation one: ") as caught:
            handle.result_sync(timeout=PATIENCE)
        assert caught.value.snapshot["status"] == ended["status"]
        assert caught.value.session_id == SESSION
        assert isinstance(caught.value, RolloutError)


def test_a_result_that_does_not_come_times_out_here_alone(invoking):
    with invoking(Protocol({"status": "in_progress"})) as (client, _):
        handle = client.get_invocation(session_id=SESSION, invocation_id="one")
        with pytest.raises(TimeoutError):
            handle.result_sync(timeout=0)
        with pytest.raises(TimeoutError):
            asyncio.run(handle.result(timeout=0.01))


def test_an_app_without_the_protocol_has_completed(invoking):
    def app(body, session, bucket):
        return 200, b'{"status": "fine"}'

    with invoking(app) as (client, _):
        assert client.invoke_sync({}, session_id=SESSION) == {"status": "fine"}


WRONG = {
    "version": {"version": 2, "status": "in_progress"},
    "status": {"status": "done"},
    "both": {"status": "completed", "result": 1, "error": "x"},
    "neither": {"status": "completed"},
    "error of no words": {"status": "completed", "error": 1},
    "result before the end": {"status": "in_progress", "result": 1},
    "another": {"status": "completed", "result": 1, "invocation_id": "two"},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_state_that_is_none_is_refused(invoking, name):
    with invoking(Protocol(WRONG[name])) as (client, _), pytest.raises(BadResult):
        client.get_invocation(session_id=SESSION, invocation_id="one").status_sync()


def test_a_lost_reply_says_how_to_look_for_it(invoking):
    app = Protocol({"status": "completed", "result": 1})
    lost = pytest.raises(ServiceFailed, match="look for it by get_invocation")
    with invoking(app, Faults({"invoke.dropped": 1.0})) as (client, _), lost:
        client.invoke_sync({}, session_id=SESSION, invocation_id="one")


@pytest.mark.parametrize(
    "given",
    [
        {"payload": []},
        {"payload": {"_agentcore_runtime": {}}},
        {"invocation_id": "../x"},
        {"invocation_id": "x" * 129},
        {"background": "yes"},
        {"session_id": "short"},
    ],
    ids=str,
)
def test_what_cannot_be_sent_is_refused(invoking, given):
    with invoking(Protocol({})) as (client, double), pytest.raises(BadRequest):
        client.start_sync(**{"payload": {}, "session_id": SESSION} | given)
    assert not double.sessions.invoked
