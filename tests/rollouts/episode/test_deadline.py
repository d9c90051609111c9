"""The deadline of an episode: the minimum is reported before the window closes, once."""

import asyncio
import logging
import os
import subprocess
import sys
import time
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from threading import Event, Thread

import pytest

from reward_functions.rollouts.episode.background import handed_in
from reward_functions.rollouts.episode.handler import RolloutHandler, rollout_handler
from reward_functions.rollouts.episode.options import Options
from reward_functions.rollouts.episode.watchdog import PRUNED, Watchdog, watchdog
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import PolicyFailure
from reward_functions.rollouts.request.threads import behind
from tests.rollouts.episode.conftest import LIMIT

MINIMUM = [{"Status": "ready"}, {"Rewards": [-1.0]}]
SOON = {"window": 60.05, "margin": 60.0, "minimum": -1.0}
"""The deadline is at once, and may come before an agent begins; there is a minute to report it."""


ENDS = {
    float: [{"Status": "ready"}, {"Rewards": [1.0]}],
    ValueError: [{"Status": "failed"}, {"Rewards": [-1.0]}],
    PolicyFailure: [{"Status": "ready"}, {"Rewards": [0.5]}],
}
"""What an agent that ends in time is reported as, by what it ends with."""


class Clock:
    def __init__(self, now=100.0):
        self.now = now

    def __call__(self):
        return self.now


def expire(episode):
    """Let the deadline of an episode be now."""
    watches = [watch for _, _, watch in watchdog()._heap if watch.action is not None]
    (watch,) = [each for each in watches if each.action.__self__.episode is episode]
    action = watch.action
    watchdog().end(watch)
    behind(action)


def said(reports):
    return [each for _, each in reports]


def test_an_async_agent_is_cancelled_at_its_deadline(posts, process, new):
    seen = []

    @rollout_handler(reporter=process, minimum=-1.0)
    async def agent(payload, ctx):
        expire(ctx)
        try:
            await asyncio.sleep(LIMIT)
        except asyncio.CancelledError:
            seen.append((ctx.cancelled.is_set(), ctx.remaining() > 0))
            raise

    async def main(payload):
        answer = await agent(payload)
        return answer, asyncio.current_task().cancelling()

    payload = new()
    answer = {"status": "timeout", "trajectory_id": payload["metadata"]["rolloutId"]}
    assert asyncio.run(main(payload)) == (answer, 0)
    assert seen == [(True, True)]
    assert said(posts.of(payload)) == MINIMUM  # reported when the answer is there
    assert agent.rollout.counts == {"deadline": 1}


@pytest.mark.parametrize("ends_with", [{"reward": 1.0}, ValueError("too late")])
def test_a_sync_agent_sees_its_deadline_and_its_late_end_is_not_reported(
    posts, process, new, caplog, ends_with
):
    @rollout_handler(reporter=process, minimum=-1.0)
    def agent(payload, ctx):
        expire(ctx)
        assert ctx.cancelled.wait(LIMIT)
        if isinstance(ends_with, Exception):
            raise ends_with
        return ends_with

    payload = new()
    with caplog.at_level(logging.INFO):
        if isinstance(ends_with, Exception):
            with pytest.raises(ValueError, match="too late"):
                agent(payload)
        else:
            assert agent(payload) is ends_with
    assert said(posts.of(payload)) == MINIMUM
    assert caplog.text.count("comes late") == 1


def test_the_window_runs_from_when_a_server_got_the_request(posts, process, new):
    """It may have waited for a thread: the trainer has counted meanwhile."""

    @rollout_handler(reporter=process, window=120.0, margin=60.0, minimum=-1.0)
    def agent(payload, ctx):
        return 60.0 < ctx.remaining() < 90.1

    waited = copy_context()
    waited.run(handed_in.set, time.time() - 30.0)
    assert waited.run(agent, new())


@pytest.mark.parametrize("kind", ["function", "coroutine", "generator", "async generator"])
@pytest.mark.parametrize("admitted", [False, True], ids=["called", "admitted"])
def test_an_agent_that_waited_past_its_deadline_does_not_run(
    posts, process, new, caplog, kind, admitted
):
    """A queue that is too long would else run nothing but episodes that are over.

    Its minimum is reported when the answer is there, though the watchdog has not looked yet.
    """

    def function(payload):
        pytest.fail("it ran")

    async def coroutine(payload):
        function(payload)

    def generator(payload):
        yield function(payload)

    async def async_generator(payload):
        yield function(payload)

    async def awaited(result):
        return await (anext(result) if kind == "async generator" else result)

    def called(payload):
        if admitted:
            assert handler.admit(payload) is None
            clock.now += 61.0
        else:
            handed_in.set(clock.now - 61.0)
        result = handler.run(payload)
        if kind in {"coroutine", "async generator"}:
            return asyncio.run(awaited(result))
        return next(result) if kind == "generator" else result

    agents = function, coroutine, generator, async_generator
    made = next(each for each in agents if each.__name__ == kind.replace(" ", "_"))
    clock = Clock(steady() + 3600.0)
    options = Options(window=120.0, margin=60.0, minimum=-1.0)
    handler = RolloutHandler(made, options, reporter=process, clock=clock)
    payload = new()
    answer = {"status": "timeout", "trajectory_id": payload["metadata"]["rolloutId"]}
    assert copy_context().run(called, payload) == answer
    assert said(posts.of(payload)) == MINIMUM
    assert caplog.text.count("has waited past its deadline") == 1
    assert handler.counts == {"deadline": 1}


def test_an_agent_that_swallows_its_cancellation_returns_what_it_likes(posts, process, new):
    @rollout_handler(reporter=process, minimum=-1.0)
    async def agent(payload, ctx):
        expire(ctx)
        try:
            await asyncio.sleep(LIMIT)
        except asyncio.CancelledError:
            return {"reward": 1.0}

    payload = new()
    assert asyncio.run(agent(payload)) == {"reward": 1.0}
    assert said(posts.of(payload)) == MINIMUM


def test_a_timeout_of_the_agents_own_is_its_failure(posts, process, new):
    @rollout_handler(reporter=process)
    async def agent(payload):
        async with asyncio.timeout(0):
            await asyncio.sleep(LIMIT)

    payload = new()
    with pytest.raises(TimeoutError):
        asyncio.run(agent(payload))
    assert said(posts.of(payload)) == [{"Status": "failed"}, {"Rewards": [0.0]}]


def test_the_stream_of_an_async_generator_ends_at_its_deadline(posts, process, new):
    closed = []

    @rollout_handler(reporter=process, minimum=-1.0)
    async def agent(payload, ctx):
        try:
            yield "first"
            expire(ctx)
            await asyncio.sleep(LIMIT)
            yield {"reward": 1.0}
        finally:
            closed.append("the agent")

    async def main(payload):
        return [item async for item in agent(payload)]

    payload = new()
    first, last = asyncio.run(main(payload))
    assert (first, last["status"], closed) == ("first", "timeout", ["the agent"])
    assert said(posts.of(payload)) == MINIMUM


def test_a_deadline_between_two_items_of_an_async_generator(posts, process, new):
    @rollout_handler(reporter=process, minimum=-1.0)
    async def agent(payload, ctx):
        yield ctx
        await asyncio.sleep(LIMIT)

    async def main(payload):
        items = agent(payload)
        episode = await anext(items)
        expire(episode)
        await asyncio.to_thread(episode.cancelled.wait, LIMIT)
        return [item["status"] async for item in items]

    payload = new()
    assert asyncio.run(main(payload)) == ["timeout"]
    assert said(posts.of(payload)) == MINIMUM


def test_an_agent_that_ends_in_time_leaves_nothing_behind(posts, process, new):
    before = len(watchdog())
    during = []
    handler = rollout_handler(lambda payload: during.append(len(watchdog())), reporter=process)
    handler(new())
    assert (during, len(watchdog())) == ([before + 1], before)


def test_a_hundred_deadlines_at_once_on_one_watchdog(posts, process, new):
    @rollout_handler(reporter=process, **SOON)
    async def agent(payload):
        await asyncio.sleep(LIMIT)

    async def main(payloads):
        return await asyncio.gather(*map(agent, payloads))

    payloads = [new() for _ in range(100)]
    answers = asyncio.run(main(payloads))
    assert {answer["status"] for answer in answers} == {"timeout"}
    assert all(said(posts.of(payload)) == MINIMUM for payload in payloads)


RACES = 60
"""Agents of each kind that end when their deadline comes."""


@pytest.mark.parametrize("ends_with", [1.0, ValueError("x"), PolicyFailure("", 0.5)], ids=str)
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_an_agent_that_ends_at_its_deadline_is_reported_once(
    posts, process, new, ends_with, is_async
):
    def end(payload, ctx):
        expire(ctx)
        if isinstance(ends_with, Exception):
            raise ends_with
        return ends_with

    async def end_async(payload, ctx):
        return end(payload, ctx)

    agent = rollout_handler(end_async if is_async else end, reporter=process, minimum=-1.0)

    async def main(payloads):
        await asyncio.gather(*map(agent, payloads), return_exceptions=True)

    payloads = [new() for _ in range(RACES)]
    if is_async:
        asyncio.run(main(payloads))
    else:
        for payload in payloads:
            with suppress(ValueError, PolicyFailure):
                agent(payload)
    reports = [said(posts.of(payload, 2)) for payload in payloads]
    at_deadline = reports.count(MINIMUM)
    assert [len(each) for each in reports] == [2] * RACES
    assert agent.rollout.counts.total() == RACES
    assert agent.rollout.counts["deadline"] == at_deadline
    assert {str(each) for each in reports if each != MINIMUM} <= {str(ENDS[type(ends_with)])}


def closed(watchdog):
    watchdog.close()
    return watchdog


def test_actions_run_at_their_deadlines_and_not_once_they_have_ended():
    clock, ran = Clock(), []
    dog = closed(Watchdog(run=lambda action: action(), clock=clock))
    watches = [dog.watch(when, lambda when=when: ran.append(when)) for when in (130, 110, 120, 110)]
    dog.end(watches[2])
    dog.end(watches[2])
    dog.run_due()
    assert ran == []
    clock.now = 125
    dog.run_due()
    assert ran == [110, 110]
    dog.end(watches[1])
    clock.now = 1e9
    dog.run_due()
    assert (ran, len(dog)) == ([110, 110, 130], 0)


def test_what_ended_early_is_not_kept_until_its_deadline():
    dog = closed(Watchdog(clock=Clock()))
    for _ in range(20 * PRUNED):
        dog.end(dog.watch(1e9, print))
    assert len(dog._heap) <= PRUNED + 1


def test_the_thread_wakes_for_the_first_deadline_and_ends_on_close():
    ran = Event()
    dog = Watchdog(run=lambda action: action())
    dog.watch(1e12, lambda: None)
    dog.watch(0.0, ran.set)
    assert ran.wait(LIMIT)
    thread = dog._thread
    assert isinstance(thread, Thread)
    assert thread.daemon
    dog.close()
    thread.join(LIMIT)
    assert not thread.is_alive()


FORKED = """
import asyncio, json, os, sys
from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
from reward_functions.rollouts.episode.handler import RolloutHandler, rollout_handler
from reward_functions.rollouts.episode.options import Options

posts = []
RolloutFeedbackClient._bearer_post = lambda self, path, body: posts.append(json.loads(body))

@rollout_handler(transport="bearer", window=60.05, margin=60)
async def agent(payload):
    await asyncio.sleep(60)

def rollout(name):
    job = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/agent"
    payload = {"metadata": {"jobArn": job, "rolloutId": name}}
    assert asyncio.run(agent(payload))["status"] == "timeout"
    assert [post["TrajectoryId"] for post in posts[-2:]] == [name, name]

rollout("parent")
child = os.fork()
if child == 0:
    rollout("child")
    os._exit(len(posts) - 4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
rollout("parent-again")
print("both")
"""


def test_a_process_that_is_forked_has_a_watchdog_of_its_own(account, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        env={**os.environ, "REWARD_ROLLOUTS_OUTBOX": "memory:", "HOME": str(tmp_path)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=4 * LIMIT,
        check=False,
    )
    assert done.stdout == "both\n", done.stderr
