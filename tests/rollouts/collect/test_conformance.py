"""Everybody who collects rollouts gets the same end of the same agent, and leaves no session."""

import asyncio
import json
from concurrent.futures import CancelledError

import pytest

from reward_functions.rollouts.collect.ledger import Ledger, ledger_folder
from reward_functions.rollouts.compat import agentcore_rl
from reward_functions.rollouts.request.errors import AgentFailed, BadResult, RolloutError
from tests.local.agentcore_double import Faults

FAST = {"initial_interval": 0.01, "max_interval": 0.05}
WAITING = 0.4


def of_error(call):
    """The end of a rollout as (kind, what is said)."""
    try:
        return "", call()["rewards"]
    except AgentFailed as error:
        return "agent", str(error)
    except BadResult as error:
        return "result", str(error)
    except (TimeoutError, CancelledError):
        return "timeout", ""
    except RolloutError as error:
        return "service", str(error)


def of_item(item):
    if item.success:
        return "", item.result["rewards"]
    return item.kind, "" if item.kind == "timeout" else item.error


def by_future(client, timeout):
    return of_error(lambda: client.invoke({"n": 1}).result(timeout))


def by_looks(client, timeout):
    """As a trainer polls futures of its own."""

    def polled():
        future = client.invoke({"n": 1})
        while not future.done():
            if future.elapsed() > timeout:
                future.cancel()
        return future.result(timeout)

    return of_error(polled)


def by_awaited_future(client, timeout):
    async def awaited():
        return await (await client.invoke_async({"n": 1})).result_async(timeout)

    return of_error(lambda: asyncio.run(awaited()))


def by_batch(client, timeout):
    (item,) = client.run_batch([{"n": 1}], 2, timeout, **FAST)
    return of_item(item)


def by_asynchronous_batch(client, timeout):
    async def items():
        return [item async for item in client.run_batch_async([{"n": 1}], 2, timeout, **FAST)]

    (item,) = asyncio.run(items())
    return of_item(item)


def by_toolkits_name(client, timeout):
    theirs = agentcore_rl.RolloutClient(
        client.agent_runtime_arn,
        "results",
        "run",
        tps_limit=10_000,
        agentcore_client=client.agentcore_client,
        s3_client=client.s3_client,
        ledger=Ledger(ledger_folder()),
    )
    (item,) = agentcore_rl.BatchResult(theirs, [{"n": 1}], 2, timeout, **FAST)
    return of_item(item)


CALLERS = [
    *(by_future, by_looks, by_awaited_future, by_batch, by_asynchronous_batch, by_toolkits_name),
]


def fails(_):
    raise RuntimeError("the tool is gone")


ENDS = {
    "a reward": (lambda _: {"rewards": 0.5}, {}, ("", 0.5)),
    "a reward a turn": (lambda _: {"rewards": [0.5, 1.0]}, {}, ("", [0.5, 1.0])),
    "a reward after looks that fail": (
        *(lambda _: {"rewards": 1.0}, {"head.error": 1.0, "get.dropped": 1.0}, ("", 1.0)),
    ),
    "a reward of a start that is sent again": (
        *(lambda _: {"rewards": 1.0}, {"invoke.throttle": 1.0, "stop.throttle": 1.0}, ("", 1.0)),
    ),
    "a failure": (
        *(fails, {}),
        ("agent", "the agent failed with status 500: RuntimeError: the tool is gone"),
    ),
    "half a result": (
        *(lambda _: b'{"rewards": 1', {}),
        ("result", "the stored result is not whole JSON (13 bytes)"),
    ),
    "another's result": (
        *(lambda _: json.dumps({"rewards": 1, "result_key": "x"}).encode(), {}),
        ("result", "the stored result is another rollout's: its result_key differs"),
    ),
    "no object": (
        *(lambda _: b"[1]", {}),
        ("result", "the stored result is a list, not an object"),
    ),
    "no result": (lambda _: None, {}, ("timeout", "")),
}


@pytest.mark.parametrize("caller", CALLERS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("end", ENDS)
def test_an_end_is_the_same_for_every_caller(collecting, ledgers, caller, end):
    agent, accidents, expected = ENDS[end]
    # Each accident comes once: the call after it is answered.
    with collecting(agent, Faults(accidents, most=1)) as (client, double):
        timeout = WAITING if expected[0] == "timeout" else 20.0
        assert caller(client, timeout) == expected
        assert not double.sessions.running
        assert double.sessions.stopped.keys() == double.sessions.invoked.keys()
        assert len(double.sessions.invoked) == 1
    assert not list(ledgers.iterdir())


@pytest.mark.parametrize("caller", CALLERS, ids=lambda each: each.__name__)
def test_a_service_that_refuses_is_the_same_for_every_caller(collecting, ledgers, caller):
    class Refusing:
        def __init__(self, _):
            pass

        def __call__(self, body, session, bucket):
            return 500, b"{}"

    with collecting(None, agent=Refusing) as (client, double):
        refused = ("service", "AgentCore refused a call: RuntimeClientError")
        assert caller(client, 20.0) == refused
        assert not double.sessions.running
    assert not list(ledgers.iterdir())
