"""A pool: an agent serves one task at a time, as new, and nobody waits for ever."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as all_of

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.local.runtime_double import serving
from reward_functions.rollouts import AgentPool, rollout_handler
from reward_functions.rollouts.episode.episode import RolloutContext
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter, reporting
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from reward_functions.rollouts.request.errors import EnvironmentFailure

AT_ONCE = 64


class Agent:
    """An agent that remembers, and is used by one task at a time."""

    made: int

    def __init__(self):
        self.memory = []
        self.busy = threading.Lock()
        self.breaks = False

    def __call__(self, payload, ctx=None):
        assert self.busy.acquire(blocking=False), "two tasks at once"
        try:
            self.memory.append(payload)
            return len(self.memory)
        finally:
            self.busy.release()

    def reset(self):
        if self.breaks:
            raise OSError("the sandbox is gone")
        self.memory.clear()


class Waiting(Agent):
    """The same, that awaits."""

    async def __call__(self, payload, ctx=None):
        await asyncio.sleep(0)
        return super().__call__(payload, ctx)

    async def reset(self):
        await asyncio.sleep(0)
        super().reset()


class Made(list):
    """A factory, and what it made."""

    def __init__(self, kind=Agent):
        super().__init__()
        self.kind = kind

    def __call__(self):
        self.append(self.kind())
        return self[-1]


def test_threads_share_agents_and_each_finds_one_as_new():
    made = Made()
    pool = AgentPool(made, size=4)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert set(threads.map(pool, range(AT_ONCE))) == {1}
    assert 1 <= len(made) <= 4


def test_tasks_share_agents_and_each_finds_one_as_new():
    made = Made(Waiting)
    pool = AgentPool(made, size=4)

    async def everyone():
        return await asyncio.gather(*map(pool.arun, range(AT_ONCE)))

    assert set(asyncio.run(everyone())) == {1}
    assert len(made) == 4


def test_threads_and_tasks_wait_in_one_line():
    pool, order = AgentPool(Made(), size=1), []
    lease = pool.agent()
    lease.__enter__()

    def thread():
        with pool.agent():
            order.append("thread")

    async def both():
        with ThreadPoolExecutor(1) as threads:
            first = threads.submit(thread)
            while not pool._waiting:
                await asyncio.sleep(0.001)
            second = asyncio.create_task(task())
            while len(pool._waiting) < 2:
                await asyncio.sleep(0.001)
            lease.__exit__(None, None, None)
            await second
            all_of([first])

    async def task():
        async with pool.agent():
            order.append("task")

    asyncio.run(both())
    assert order == ["thread", "task"]
    assert (pool._used, len(pool._idle)) == (0, 1)


@pytest.mark.parametrize("breaks", [False, True], ids=["resets", "does not reset"])
def test_an_agent_whose_task_raised_is_used_again_where_it_resets(breaks, caplog):
    made = Made()
    pool = AgentPool(made, size=1)

    def task():
        with pool.agent() as agent:
            agent("s3cret")
            agent.breaks = breaks
            raise KeyError("s3cret")

    with pytest.raises(KeyError):
        task()
    assert pool("again") == 1
    assert len(made) == 1 + breaks
    assert [each.getMessage() for each in caplog.records] == [
        "an agent of a pool is discarded: its reset raised OSError"
    ] * breaks


def test_an_agent_whose_task_was_cancelled_is_discarded():
    made = Made()
    pool = AgentPool(made, size=1)

    async def cancelled():
        begun = asyncio.Event()

        async def task():
            async with pool.agent():
                begun.set()
                await asyncio.Event().wait()

        running = asyncio.create_task(task())
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancelled())
    assert (pool("again"), pool._used) == (1, 0)
    assert len(made) == 2


def test_an_agent_without_a_reset_serves_one_task():
    made = Made(lambda: lambda payload: payload)
    pool = AgentPool(made, size=1)
    assert [pool(number) for number in range(3)] == [0, 1, 2]
    assert len(made) == 3


def test_a_reset_that_is_awaited_needs_a_coroutine(caplog):
    made = Made(Waiting)
    pool = AgentPool(made, size=1)
    for _ in range(2):
        with pool.agent():
            pass
    assert len(made) == 2
    assert "discarded" in caplog.text


def test_a_factory_that_fails_holds_no_place():
    def broken():
        raise OSError("no sandbox")

    pool = AgentPool(broken, size=1)
    for _ in range(3):
        with pytest.raises(OSError, match="no sandbox"):
            pool("x")
    assert pool._used == 0


async def awaited(pool):
    async with pool.agent():
        pass


def waited(pool):
    with pool.agent():
        pass


WAYS = {"thread": waited, "task": lambda pool: asyncio.run(awaited(pool))}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("wait", "expires"), [(0.01, None), (60.0, 0.0)], ids=["its own wait", "the episode's window"]
)
def test_who_waits_too_long_has_an_environment_that_failed(way, wait, expires):
    pool = AgentPool(Made(), size=1, wait=wait)
    with pool.agent(), RolloutContext(expires=expires):
        for _ in range(3):
            with pytest.raises(EnvironmentFailure, match="larger size"):
                WAYS[way](pool)
    assert pool("free again") == 1
    assert pool._used == 0


@pytest.mark.parametrize("wrong", [{"size": 0}, {"wait": -1}])
def test_a_pool_of_nobody_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="size of 1"):
        AgentPool(Agent, **wrong)


@pytest.mark.parametrize(
    ("kind", "way", "instead"), [(Waiting, "__call__", "pool.arun"), (Agent, "arun", "the pool")]
)
def test_the_other_form_of_agent_is_answered_with_what_to_hand_on(kind, way, instead):
    called = getattr(AgentPool(Made(kind)), way)
    call = called if way == "__call__" else lambda payload: asyncio.run(called(payload))
    with pytest.raises(TypeError, match=f"hand {instead} to the handler"):
        call("x")


JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j"


class Rewarded(Agent):
    """An agent that rewards itself by how much it remembers."""

    def __call__(self, payload, ctx):
        assert ctx.metadata.trajectory_id == payload["metadata"]["rolloutId"]
        return float(super().__call__(payload))


class RewardedWaiting(Rewarded):
    """The same, that awaits."""

    async def __call__(self, payload, ctx):
        return super().__call__(payload, ctx)


@pytest.mark.parametrize("waits", [False, True])
def test_a_pool_is_an_agent_of_a_handler(monkeypatch, credentials, waits):
    settings = RolloutSettings(outbox="memory:")
    own = Reporter(settings, open_outbox(settings.outbox), transports=open_transport)
    pool = AgentPool(Made(RewardedWaiting if waits else Rewarded), size=2)
    agent = rollout_handler(pool.arun if waits else pool)
    with serving() as double, reporting(own):
        credentials.setenv("RFT_RUNTIME_ENDPOINT", double.endpoint)
        for number in range(3):
            double.register(JOB, f"r{number}")
            made = agent({"metadata": {"jobArn": JOB, "rolloutId": f"r{number}"}})
            assert (asyncio.run(_awaited(made)) if waits else made) == 1.0
        rewards = [double.wait(JOB, f"r{n}", timeout=60).rewards for n in range(3)]
        own.close()
    assert rewards == [(1.0,)] * 3


async def _awaited(made):
    return await made
