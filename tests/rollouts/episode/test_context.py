"""Which rollout an agent's code runs for: in every form, in threads, and never another's."""

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from threading import Barrier

import pytest

from reward_functions.rollouts.episode.episode import RolloutContext, current_rollout
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.request.context import (
    get_inference_params,
    get_rollout_context,
    rollout,
    set_rollout_context,
)
from reward_functions.rollouts.request.headers import get_inference_headers
from tests.rollouts.episode.conftest import JOB, LIMIT

OWN = ContextVar("OWN", default=None)
MANY = 64


def seen():
    """The rollout that this code runs for, by all that is known of it."""
    headers = get_inference_headers()["X-Amzn-SageMaker-Trajectory-Id"]
    assert get_rollout_context()["rolloutId"] == headers
    assert current_rollout().metadata.trajectory_id == headers
    return headers


def index_of(payload):
    return payload["metadata"]["rolloutId"]


def plain(payload, ctx):
    set_rollout_context(payload["metadata"])  # as the platform's template does once more
    assert get_inference_params() == payload["inferenceParams"]
    with ThreadPoolExecutor(1) as pool:
        return [seen(), pool.submit(copy_context().run, seen).result()]


async def coroutine(payload, ctx):
    OWN.set(index_of(payload))
    await asyncio.sleep(0)
    inner = await asyncio.create_task(coroutine_of_its_own())
    assert OWN.get() == index_of(payload)
    return [seen(), inner, await asyncio.to_thread(seen)]


async def coroutine_of_its_own():
    await asyncio.sleep(0)
    return seen()


def generator(payload, ctx):
    OWN.set(index_of(payload))
    yield seen()
    assert OWN.get() == index_of(payload)
    yield seen()


async def async_generator(payload, ctx):
    OWN.set(index_of(payload))
    yield seen()
    await asyncio.sleep(0)
    assert OWN.get() == index_of(payload)
    yield seen()


AGENTS = [plain, coroutine, generator, async_generator]


def outcome(result):
    if inspect.isawaitable(result):
        return asyncio.run(listed(result))
    if inspect.isasyncgen(result):
        return asyncio.run(listed(result))
    return list(result)


async def listed(result):
    if inspect.isasyncgen(result):
        return [item async for item in result]
    return await result


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.__name__)
def test_an_agents_code_knows_its_rollout_and_its_caller_keeps_its_own(posts, process, new, agent):
    payload = new()
    handler = rollout_handler(agent, reporter=process)
    outer = RolloutContext({"jobArn": JOB, "rolloutId": "outer"}, {"temperature": 1.0})
    with outer:
        assert set(outcome(handler(payload))) == {index_of(payload)}
        assert current_rollout() is outer
        assert get_inference_params() == {"temperature": 1.0}
        assert OWN.get() is None
    assert current_rollout() is None
    assert get_rollout_context() is None


@pytest.mark.parametrize("agent", [generator, async_generator], ids=lambda agent: agent.__name__)
def test_between_the_items_of_a_generator_the_caller_is_in_its_own(posts, process, new, agent):
    handler = rollout_handler(agent, reporter=process)
    first, second = new(), new()

    async def main():
        items = [handler(first), handler(second)]
        step = anext if inspect.isasyncgen(items[0]) else _next
        got = []
        for _ in range(2):
            for each in items:
                got.append(await step(each))
                assert get_rollout_context() is None
        return got

    assert asyncio.run(main()) == [index_of(first), index_of(second)] * 2


async def _next(items):
    return next(items)


def test_each_item_of_a_generator_may_be_taken_in_another_context(posts, process, new):
    """As Starlette does: each `next` on a thread, in another copy of the context."""
    payload = new()
    items = rollout_handler(generator, reporter=process)(payload)
    with ThreadPoolExecutor(2) as pool:
        got = [pool.submit(copy_context().run, next, items).result() for _ in range(2)]
    assert got == [index_of(payload)] * 2
    assert list(items) == []
    assert posts.of(payload) != []


def test_a_rollout_within_a_rollout(posts, process, new):
    inner = rollout_handler(lambda payload: seen(), reporter=process)

    @rollout_handler(reporter=process)
    def outer(payload):
        return [seen(), inner(within), seen()]

    payload, within = new(), new()
    assert outer(payload) == [index_of(payload), index_of(within), index_of(payload)]


def test_sixty_four_async_rollouts_of_one_handler_never_cross(posts, process, new):
    together = asyncio.Barrier(MANY)

    @rollout_handler(reporter=process)
    async def agent(payload, ctx):
        got = [seen()]
        await together.wait()  # all are in the middle of it
        got += [seen(), await asyncio.to_thread(seen)]
        ctx.policy_call()
        return {"reward": float(index_of(payload)[1:]), "seen": got}

    async def main(payloads):
        return await asyncio.gather(*map(agent, payloads))

    never_crossed(posts, [new() for _ in range(MANY)], lambda payloads: asyncio.run(main(payloads)))


def test_sixty_four_threads_in_one_handler_never_cross(posts, process, new):
    together = Barrier(MANY)

    @rollout_handler(reporter=process)
    def agent(payload, ctx):
        got = [seen()]
        together.wait(LIMIT)
        got.append(seen())
        return {"reward": float(index_of(payload)[1:]), "seen": got}

    def main(payloads):
        with ThreadPoolExecutor(MANY) as pool:
            return list(pool.map(agent, payloads))

    never_crossed(posts, [new() for _ in range(MANY)], main)


def never_crossed(posts, payloads, main):
    for payload, result in zip(payloads, main(payloads), strict=True):
        assert set(result["seen"]) == {index_of(payload)}
        reward = {"Rewards": [float(index_of(payload)[1:])]}
        assert posts.of(payload) == [
            ("/complete-rollout", {"Status": "ready"}),
            ("/update-reward", reward),
        ]
    assert len(posts.everything()) == MANY


def test_an_agents_context_survives_what_leaves_it(posts, process, new):
    from reward_functions.rollouts.request.context import clear_rollout_context

    with rollout({"rolloutId": "outer"}):
        rollout_handler(lambda payload: clear_rollout_context(), reporter=process)(new())
        assert get_rollout_context() == {"rolloutId": "outer"}
