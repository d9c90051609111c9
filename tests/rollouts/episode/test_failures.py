"""The table of failure attribution: what each ending of an episode is reported as."""

import asyncio
import logging
from itertools import pairwise
from threading import Event

import pytest

from reward_functions.core.errors import ConfigurationError, JudgeUnavailable
from reward_functions.core.types import Unscored
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.report.transports import Reply
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ContractViolation,
    DeliveryFailed,
    EnvironmentFailure,
    InvalidReward,
    PolicyFailure,
    UntrustedEndpoint,
)
from tests.rollouts.episode.conftest import LIMIT

READY, FAILED = {"Status": "ready"}, {"Status": "failed"}


def rewards(*numbers):
    return {"Rewards": list(numbers)}


RAISED = [
    # What the agent raises, what is reported, and that by on_failure="minimum", which is -1 here.
    (PolicyFailure(), "policy_failure", [READY, rewards(-1)], [READY, rewards(-1)]),
    (
        PolicyFailure("gave up", 0.25),
        "policy_failure",
        [READY, rewards(0.25)],
        [READY, rewards(0.25)],
    ),
    (PolicyFailure("", float("nan")), "agent_failed", [FAILED, rewards(-1)], [READY, rewards(-1)]),
    (
        EnvironmentFailure("down"),
        "environment_failure",
        [FAILED, rewards(-1)],
        [READY, rewards(-1)],
    ),
    (
        ContractViolation("no field"),
        "contract_violation",
        [FAILED, rewards(-1)],
        [FAILED, rewards(-1)],
    ),
    (ValueError("x"), "agent_failed", [FAILED, rewards(-1)], [READY, rewards(-1)]),
    (PolicyFailure("", [0.5, 0.5]), "agent_failed", [FAILED, rewards(-1)], [READY, rewards(-1)]),
    (TimeoutError(), "agent_failed", [FAILED, rewards(-1)], [READY, rewards(-1)]),
    (InvalidReward("x"), "agent_failed", [FAILED, rewards(-1)], [READY, rewards(-1)]),
    (KeyboardInterrupt(), "interrupted", [FAILED, rewards(-1)], [READY, rewards(-1)]),
    (SystemExit(3), "interrupted", [FAILED, rewards(-1)], [READY, rewards(-1)]),
    (asyncio.CancelledError(), "interrupted", [FAILED, rewards(-1)], [READY, rewards(-1)]),
]


@pytest.mark.parametrize("on_failure", ["failed", "minimum"])
@pytest.mark.parametrize(
    ("error", "event", "failed", "minimum"), RAISED, ids=[repr(row[0]) for row in RAISED]
)
def test_what_an_agent_raises(posts, process, new, error, event, failed, minimum, on_failure):
    @rollout_handler(reporter=process, minimum=-1.0, on_failure=on_failure)
    def agent(payload):
        raise error

    payload = new()
    with pytest.raises(type(error)) as raised:
        agent(payload)
    assert raised.value is error
    expected = failed if on_failure == "failed" else minimum
    assert [said for _, said in posts.of(payload)] == expected
    ours = expected != failed
    assert agent.rollout.counts == {f"{event}_as_minimum" if ours else event: 1}


def group(*errors):
    return BaseExceptionGroup("unhandled errors in a TaskGroup", errors)


GROUPS = [
    # What a task group raises is what counts of it: ours before the policy's.
    ([PolicyFailure("", 0.25)], "policy_failure", [READY, rewards(0.25)]),
    ([group(PolicyFailure("", 0.25))], "policy_failure", [READY, rewards(0.25)]),
    ([PolicyFailure("", 0.25), PolicyFailure("", 1)], "policy_failure", [READY, rewards(0.25)]),
    ([PolicyFailure("", 0.25), ValueError("x")], "agent_failed", [FAILED, rewards(0)]),
    ([ValueError("x"), EnvironmentFailure("x")], "environment_failure", [FAILED, rewards(0)]),
    ([group(ValueError("x")), ContractViolation("x")], "contract_violation", [FAILED, rewards(0)]),
    ([KeyboardInterrupt(), PolicyFailure()], "interrupted", [FAILED, rewards(0)]),
]


@pytest.mark.parametrize(("errors", "event", "reported"), GROUPS)
def test_what_a_task_group_of_an_agent_raises(posts, process, new, errors, event, reported):
    @rollout_handler(reporter=process)
    async def agent(payload):
        raise group(*errors)

    payload = new()
    with pytest.raises(BaseExceptionGroup):
        asyncio.run(agent(payload))
    assert [said for _, said in posts.of(payload)] == reported
    assert agent.rollout.counts == {event: 1}


def wrapped(*errors):
    """Exceptions, each raised from the next, as frameworks do it; the first is the outermost."""
    for outer, inner in pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


def in_a_loop():
    error = RuntimeError("x")
    return wrapped(error, ValueError("y"), error)


def handled(error):
    """Raised while another was handled, and not from it."""
    error.__context__ = PolicyFailure("", 0.25)
    return error


POLICYS, AGENTS = ("policy_failure", [READY, rewards(0.25)]), ("agent_failed", [FAILED, rewards(0)])
CHAINS = {
    "from a failure": (wrapped(RuntimeError(), PolicyFailure("", 0.25)), *POLICYS),
    "twice": (wrapped(RuntimeError(), ValueError(), PolicyFailure("", 0.25)), *POLICYS),
    "the outer failure counts": (wrapped(PolicyFailure("", 0.25), EnvironmentFailure()), *POLICYS),
    "from ours": (
        wrapped(RuntimeError(), EnvironmentFailure(), PolicyFailure()),
        "environment_failure",
        [FAILED, rewards(0)],
    ),
    "from a violation": (
        wrapped(RuntimeError(), ContractViolation()),
        "contract_violation",
        [FAILED, rewards(0)],
    ),
    "in a group": (group(wrapped(RuntimeError(), PolicyFailure("", 0.25))), *POLICYS),
    "from another": (wrapped(RuntimeError(), ValueError("x")), *AGENTS),
    "beside one": (handled(ValueError("x")), *AGENTS),
    "in a loop": (in_a_loop(), *AGENTS),
    "too deep": (wrapped(*map(ValueError, range(100)), PolicyFailure()), *AGENTS),
    "interrupted": (
        wrapped(KeyboardInterrupt(), PolicyFailure()),
        "interrupted",
        [FAILED, rewards(0)],
    ),
    "from an interruption": (wrapped(ValueError(), SystemExit(), PolicyFailure()), *AGENTS),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_what_a_framework_raises_from_a_failure_is_that_failure(posts, process, new, chain):
    error, event, reported = CHAINS[chain]

    @rollout_handler(reporter=process)
    def agent(payload):
        raise error

    payload = new()
    with pytest.raises(type(error)):
        agent(payload)
    assert [said for _, said in posts.of(payload)] == reported
    assert agent.rollout.counts == {event: 1}


RETURNED = [
    ({"status": "error"}, "returned_error", [FAILED, rewards(0)]),
    (Unscored("s", JudgeUnavailable("throttled")), "returned_error", [FAILED, rewards(0)]),
    ({"reward": float("nan")}, "agent_failed", [FAILED, rewards(0)]),
    ({"reward": "0.5"}, "agent_failed", [FAILED, rewards(0)]),
    ({"reward": True}, "agent_failed", [FAILED, rewards(0)]),
    ({"reward": []}, "agent_failed", [FAILED, rewards(0)]),
    ({"reward": 1, "rewards": [0.5]}, "agent_failed", [FAILED, rewards(0)]),
    ({"reward": 1, "rewards": 1.0}, "rewarded", [READY, rewards(1)]),
]


@pytest.mark.parametrize(("result", "event", "reported"), RETURNED)
def test_what_an_agent_returns_in_place_of_a_reward(posts, process, new, result, event, reported):
    handler = rollout_handler(lambda payload: result, reporter=process)
    payload = new()
    assert handler(payload) is result  # whatever was reported
    assert [said for _, said in posts.of(payload)] == reported
    assert handler.rollout.counts == {event: 1}


def test_a_reward_that_is_none_is_raised_on_request(posts, process, new):
    handler = rollout_handler(
        lambda payload: {"reward": float("inf")}, reporter=process, on_report_failure="raise"
    )
    payload = new()
    with pytest.raises(InvalidReward, match="not a finite number"):
        handler(payload)
    assert [said for _, said in posts.of(payload)] == [FAILED, rewards(0)]


@pytest.mark.parametrize("error", [ValueError("x"), None])
def test_a_refused_report_hides_neither_a_result_nor_an_exception(
    posts, process, new, caplog, error
):
    posts.replies["/update-reward"] = Reply(400, "ValidationException")

    @rollout_handler(reporter=process)
    def agent(payload):
        if error:
            raise error
        return {"reward": 1.0}

    if error:
        with pytest.raises(ValueError, match="x"):
            agent(new())
    else:
        assert agent(new()) == {"reward": 1.0}
    assert "not valid for the service" in caplog.text


def test_a_refused_report_is_raised_on_request(posts, process, new):
    posts.replies["/update-reward"] = Reply(400, "ValidationException")
    handler = rollout_handler(lambda payload: 1.0, reporter=process, on_report_failure="raise")
    payload = new()
    with pytest.raises(DeliveryFailed):
        handler(payload)
    assert posts.of(payload)[0][1] == READY  # and no report as failed behind it
    assert handler.rollout.counts == {"rewarded": 1}


@pytest.mark.parametrize(
    "payload", [None, 3, [], "no JSON", b"[1]", {"metadata": 3}, {"instance": []}]
)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_payload_that_is_no_request_is_refused_before_its_agent_runs(
    posts, process, payload, is_async
):
    ran = []

    async def coroutine(payload):
        ran.append(payload)

    handler = rollout_handler(coroutine if is_async else ran.append, reporter=process)
    with pytest.raises(BadRequest):
        asyncio.run(handler(payload)) if is_async else handler(payload)
    assert ran == []


def test_an_endpoint_of_somebody_else_is_refused_before_its_agent_runs(posts, process, new):
    ran = []
    payload = new()
    payload["metadata"]["endpoint"] = "https://example.com"
    with pytest.raises(UntrustedEndpoint):
        rollout_handler(ran.append, reporter=process)(payload)
    assert (ran, posts.everything()) == ([], {})
    rollout_handler(ran.append, reporter=process, trusted="https://example.com")(payload)
    assert len(ran) == 1


def test_a_rollout_that_was_reported_does_not_run_again(posts, process, new, caplog):
    runs = []
    handler = rollout_handler(lambda payload: len(runs.append(payload) or runs), reporter=process)
    payload = new()
    assert handler(payload) == 1
    with caplog.at_level(logging.INFO):
        again = handler(payload)
    rollout = payload["metadata"]["rolloutId"]
    assert again == {"status": "duplicate", "state": "reported", "trajectory_id": rollout}
    assert "does not run again" in caplog.text
    assert len(runs) == 1
    assert len(posts.of(payload)) == 2


def test_a_rollout_that_runs_does_not_run_twice(posts, process, new):
    payload, again = new(), []

    @rollout_handler(reporter=process)
    def agent(given):
        if not again:
            again.append(agent(given))
        return 1.0

    assert agent(payload) == 1.0
    assert again[0]["state"] == "running"
    assert len(posts.of(payload)) == 2


def test_an_agent_that_reports_itself_counts_first(posts, process, new):
    from reward_functions.rollouts.report.feedback import RolloutFeedbackClient

    @rollout_handler(reporter=process)
    def agent(payload):
        RolloutFeedbackClient(payload["metadata"], reporter=process).report_error("x")
        return {"reward": 1.0}

    payload = new()
    assert agent(payload) == {"reward": 1.0}
    assert [said for _, said in posts.of(payload)] == [FAILED, rewards(0)]


def test_a_generator_that_is_abandoned_has_failed(posts, process, new):
    closed = []

    @rollout_handler(reporter=process)
    def agent(payload):
        try:
            yield "first"
            yield {"reward": 1.0}
        finally:
            closed.append("the agent")

    payload = new()
    items = agent(payload)
    assert next(items) == "first"
    items.close()
    assert closed == ["the agent"]
    assert [said for _, said in posts.of(payload)] == [FAILED, rewards(0)]
    assert agent.rollout.counts == {"interrupted": 1}


def test_an_async_generator_that_is_abandoned_has_failed(posts, process, new):
    closed = []

    @rollout_handler(reporter=process)
    async def agent(payload):
        try:
            yield "first"
            yield {"reward": 1.0}
        finally:
            await asyncio.sleep(0)
            closed.append("the agent")

    async def abandon(payload):
        items = agent(payload)
        assert await anext(items) == "first"
        await items.aclose()

    payload = new()
    asyncio.run(abandon(payload))
    assert closed == ["the agent"]
    assert [said for _, said in posts.of(payload)] == [FAILED, rewards(0)]


def test_a_task_that_is_cancelled_has_failed_and_stays_cancelled(posts, process, new):
    @rollout_handler(reporter=process)
    async def agent(payload):
        started.set()
        await asyncio.Event().wait()

    async def cancel(payload):
        task = asyncio.create_task(agent(payload))
        await started.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    payload, started = new(), asyncio.Event()
    assert asyncio.run(cancel(payload))
    assert [said for _, said in posts.of(payload, 2)] == [FAILED, rewards(0)]


def test_a_task_that_is_cancelled_before_its_agent_runs_has_failed(posts, process, new, account):
    beginning, cancelled = Event(), Event()
    begin = process.outbox.begin

    def slow(*args, **kwargs):
        beginning.set()
        assert cancelled.wait(LIMIT)
        return begin(*args, **kwargs)

    account.setattr(process.outbox, "begin", slow)

    @rollout_handler(reporter=process)
    async def agent(payload):
        pytest.fail("it was cancelled")

    async def cancel(payload):
        task = asyncio.create_task(agent(payload))
        await asyncio.to_thread(beginning.wait, LIMIT)
        task.cancel()
        await asyncio.wait([task])
        cancelled.set()
        return task.cancelled()

    payload = new()
    assert asyncio.run(cancel(payload))
    assert [said for _, said in posts.of(payload, 2)] == [FAILED, rewards(0)]
    assert agent.rollout.counts == {"interrupted": 1}


def test_an_async_agent_is_scored_and_reported_beside_its_event_loop(posts, process, new):
    threads = []
    posts.replies = type("Replies", (), {"get": lambda _, path: threads.append(path)})()

    @rollout_handler(reporter=process)
    async def agent(payload):
        return {"reward": 1.0}

    async def main():
        ticks = 0
        task = asyncio.create_task(agent(new()))
        while not task.done():
            ticks += 1
            await asyncio.sleep(0)
        return ticks

    assert asyncio.run(main()) > 1
    assert threads == ["/complete-rollout", "/update-reward"]


OPTIONS = [
    ({"window": 0}, "window"),
    ({"window": float("inf")}, "window"),
    ({"margin": -1}, "margin"),
    ({"window": 10, "margin": 10}, "margin is not less than window"),
    ({"minimum": float("nan")}, "minimum"),
    ({"on_failure": "zero"}, "on_failure is 'zero', none of 'failed', 'minimum'"),
    ({"on_report_failure": "ignore"}, "on_report_failure"),
    ({"turn_rewards": "returns"}, "turn_rewards is 'returns', none of 'immediate', 'to_go'"),
    ({"transport": "carrier pigeon"}, "transport"),
    ({"reward": "no_such_reward"}, "no_such_reward"),
]


@pytest.mark.parametrize(("options", "named"), OPTIONS)
def test_an_option_that_is_none_is_refused_where_it_stands(options, named):
    with pytest.raises(ConfigurationError, match=named):
        rollout_handler(**options)
