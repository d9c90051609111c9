"""One rollout: looks that fail, timeouts that are exact, cancellation, and the client's walls."""

import asyncio
from concurrent.futures import CancelledError

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.collect.client import RolloutClient
from reward_functions.rollouts.collect.ledger import open_sessions
from reward_functions.rollouts.request.errors import (
    AgentFailed,
    BadRequest,
    BadResult,
    ServiceFailed,
)
from reward_functions.rollouts.serve.agentcore.results import destination_of
from tests.local.agentcore_double import Faults
from tests.waiting import PATIENCE


def never(_):
    return None


def paid(_):
    return {"rewards": 1.0}


def test_a_result_is_there_and_the_session_is_stopped(collecting, ledgers):
    with collecting(paid) as (client, double):
        future = client.invoke({"n": 1}, input_id="row-1")
        assert future.result(timeout=PATIENCE)["rewards"] == 1.0
        assert future.done()
        assert future.time_until_next_poll() == float("inf")
        assert not future.cancelled
        assert not future.cancel()
        assert double.bucket.keys() == [f"results/run/row-1/{future.session_id}.json"]
        assert not double.sessions.running
    assert not list(ledgers.iterdir())


def test_a_timeout_of_nothing_looks_once_and_returns_at_once(collecting):
    with collecting(never) as (client, double):
        future = client.invoke({"n": 1})
        with pytest.raises(TimeoutError, match="not ready after 0s"):
            future.result(timeout=0)
        assert future.cancelled
        assert not double.sessions.running
        with pytest.raises(CancelledError):
            future.result()


def test_looks_that_fail_are_repeated_and_end_in_an_error_not_in_a_wait(collecting):
    with collecting(paid, Faults({"head.forbidden": 1.0}, most=99)) as (client, double):
        future = client.invoke({"n": 1})
        future._poll_interval = 0.001
        with pytest.raises(ServiceFailed, match="5 looks at a result in a row: 403"):
            future.result(timeout=60)
        assert not double.sessions.running


def test_an_agents_failure_is_raised_with_its_envelope(collecting):
    def failing(_):
        raise RuntimeError("no tool")

    with collecting(failing) as (client, double):
        with pytest.raises(AgentFailed, match="status 500: RuntimeError: no tool") as caught:
            client.invoke({"n": 1}).result(timeout=PATIENCE)
        assert caught.value.result["status_code"] == 500
        assert not double.sessions.running


def test_awaiting_times_out_is_cancelled_and_succeeds(collecting):
    async def tried(client, double, stuck):
        with pytest.raises(TimeoutError):
            await (await client.invoke_async(stuck)).result_async(timeout=0.05)
        waiting = asyncio.create_task((await client.invoke_async(stuck)).result_async())
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        future = await client.invoke_async({"n": 1})
        while not await future.done_async():
            await asyncio.sleep(0.01)
        assert (await future)["rewards"] == 1.0
        other = await client.invoke_async(stuck)
        assert await other.cancel_async()

    with collecting(lambda row: row.get("n") and {"rewards": 1.0}) as (client, double):
        asyncio.run(tried(client, double, {}))
        assert not double.sessions.running


@pytest.mark.parametrize(
    "reply",
    [b"{}", b"[]", b'{"status": "processing", "s3_bucket": "other", "result_key": "x"}', b"{"],
)
def test_a_reply_that_names_another_place_is_refused_and_the_session_stopped(collecting, reply):
    class Elsewhere:
        def __init__(self, _):
            pass

        def __call__(self, body, session, bucket):
            return 200, reply

    with collecting(None, agent=Elsewhere) as (client, double):
        with pytest.raises(BadResult, match="the agent's reply"):
            client.invoke({"n": 1})
        assert not double.sessions.running


def test_a_lost_reply_loses_no_rollout(collecting):
    with collecting(paid, Faults({"invoke.dropped": 1.0})) as (client, _):
        assert client.invoke({"n": 1}).result(timeout=PATIENCE)["rewards"] == 1.0


@pytest.mark.parametrize(
    "given",
    [
        {"session_id": "short"},
        {"session_id": "x" * 257},
        {"session_id": "../" + "x" * 40},
        {"input_id": "../up"},
        {"input_id": ".."},
        {"input_id": ""},
        {"input_id": "a\n"},
        {"input_id": "a\u200bb"},
        {"input_id": "a\u2028b"},
        {"input_id": True},
        {"input_id": 10**18},
        {"exp_id": "é" * 256, "input_id": "é" * 256},
        {"exp_id": "a/b"},
        {"temperature": float("nan")},
        {"tool": {1, 2}},
    ],
    ids=str,
)
def test_what_agentcore_would_not_take_is_refused_before_a_session_is_started(collecting, given):
    with collecting(paid) as (client, double):
        with pytest.raises(BadRequest):
            client.invoke({"n": 1}, **given)
        assert not double.sessions.invoked


def test_a_session_is_in_the_ledger_before_it_is_invoked(collecting, ledgers):
    known = []

    class Looks:
        """An agent that reads the ledger when it is invoked."""

        def __init__(self, _):
            pass

        def __call__(self, _body, session, _bucket):
            known.append((session, [each.session for each in open_sessions(ledgers)]))
            return 500, b"{}"

    with collecting(None, agent=Looks) as (client, _), pytest.raises(ServiceFailed):
        client.invoke({"n": 1})
    [(session, held)] = known
    assert held == [session]
    assert list(open_sessions(ledgers)) == [], "and is forgotten once it is stopped"


@pytest.mark.parametrize("input_id", ["row-1", "a b", "é", "..a", "1.5", 7, "x" * 256])
def test_a_client_looks_where_the_agents_app_stores(collecting, input_id):
    stored = []

    def named(payload):
        stored.append(destination_of(payload, session, frozenset({"results"})))
        return {"rewards": 1.0}

    with collecting(named) as (client, _):
        session = "s" * 40
        future = client.invoke({"n": 1}, session_id=session, input_id=input_id)
        assert future.result(timeout=PATIENCE)["rewards"] == 1.0
    assert [each.key for each in stored] == [future.result_key]


@pytest.mark.parametrize("arn", ["", "agent", "arn:aws:x", "arn:aws:x:evil.example/:1:r"])
def test_an_arn_without_a_region_is_refused(arn):
    with pytest.raises(ValueError, match="Invalid ARN format, cannot extract region"):
        RolloutClient(arn, "b", "e")


@pytest.mark.parametrize(
    "given", [{"tps_limit": 0}, {"tps_limit": float("nan")}, {"max_pool_connections": 0}]
)
def test_a_limit_out_of_its_range_is_refused(collecting, given):
    with pytest.raises(ConfigurationError), collecting(paid, **given):
        pass
