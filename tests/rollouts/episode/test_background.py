"""Work behind an answer, on real threads and a real event loop; waits are for events."""

import asyncio
import gc
import logging
import threading
from concurrent.futures import CancelledError
from contextvars import ContextVar
from functools import partial

import pytest

from reward_functions.rollouts.episode.background import Background, handed_in
from reward_functions.rollouts.request.errors import TooBusy

SOON = 60.0
"""Seconds for something that happens at once, on a machine that is busy with other things."""

who = ContextVar("who", default="nobody")


@pytest.fixture
def background():
    made = Background(4)
    yield made
    made.close()


class Callable:
    def __call__(self):
        return threading.current_thread().name


class AsyncCallable:
    async def __call__(self):
        return threading.current_thread().name


def sync():
    return threading.current_thread().name


async def coroutine():
    return threading.current_thread().name


KINDS = {
    "a function": (sync, "rollout-background"),
    "a partial": (partial(sync), "rollout-background"),
    "an object": (Callable(), "rollout-background"),
    "a coroutine function": (coroutine, "rollout-event-loop"),
    "a partial of one": (partial(coroutine), "rollout-event-loop"),
    "an object that calls one": (AsyncCallable(), "rollout-event-loop"),
    "a method": (AsyncCallable().__call__, "rollout-event-loop"),
}


@pytest.mark.parametrize(("work", "thread"), KINDS.values(), ids=KINDS)
def test_each_kind_of_work_runs_where_it_belongs(background, work, thread):
    assert background.run(work).result(SOON) == thread


@pytest.mark.parametrize("asynchronous", [False, True], ids=["threads", "coroutines"])
def test_64_at_a_time_see_the_context_of_whoever_handed_them_in(asynchronous):
    background, meeting = Background(64), threading.Barrier(64)

    def sync():
        meeting.wait(SOON)
        seen = who.get()
        who.set("another")
        return seen

    met = set()

    async def coroutine():
        met.add(who.get())
        while len(met) < 64:
            await asyncio.sleep(0)
        seen = who.get()
        who.set("another")
        return seen

    futures = []
    for number in range(64):
        token = who.set(str(number))
        futures.append(background.run(coroutine if asynchronous else sync))
        who.reset(token)
    assert [each.result(SOON) for each in futures] == [str(number) for number in range(64)]
    assert who.get() == "nobody"
    background.close()


def test_what_is_too_much_waits_and_what_is_more_is_refused():
    background, go = Background(2, waiting=3), threading.Event()
    futures = [background.run(go.wait, SOON) for _ in range(5)]
    assert background.busy == 5
    with pytest.raises(TooBusy, match="2 episodes run and 3 wait"):
        background.run(go.wait, SOON)
    go.set()
    assert [each.result(SOON) for each in futures] == [True] * 5
    assert background.join(SOON)
    assert background.busy == 0
    background.close()


def test_a_place_is_kept_for_a_block_and_given_back_where_nothing_runs_in_it():
    background = Background(1, waiting=0)
    with background.place() as place:
        assert background.busy == 1
        with pytest.raises(TooBusy):
            background.run(sync)
        assert place.run(sync).result(SOON) == "rollout-background"
    with pytest.raises(LookupError), background.place():
        raise LookupError
    assert background.join(SOON)
    assert background.busy == 0
    background.close()


def test_work_in_a_place_that_was_closed_meanwhile_does_not_begin(caplog):
    background = Background(1)
    with background.place() as place:
        background.close()
        future = place.run(sync)
    assert future.cancelled()
    assert background.busy == 0
    assert "1 accepted episodes did not begin" in caplog.text


def test_threads_are_used_again(background):
    names = {
        background.run(threading.get_ident).result(SOON) for _ in range(50) if background.join(SOON)
    }
    assert len(names) == 1


class Surprise(Exception):
    pass


def raising(error):
    raise error


async def raising_later(error):
    await asyncio.sleep(0)
    raise error


@pytest.mark.parametrize("work", [raising, raising_later])
@pytest.mark.parametrize("error", [Surprise("a prompt"), SystemExit(3), KeyboardInterrupt()])
def test_what_it_raises_is_in_the_future_and_by_its_type_in_the_log(
    background, caplog, work, error
):
    future = background.run(work, error)
    assert future.exception(SOON) is error
    assert background.join(SOON)
    assert background.run(sync).result(SOON) == "rollout-background"
    assert background.run(coroutine).result(SOON) == "rollout-event-loop"
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert type(error).__name__ in record.getMessage()
    assert "prompt" not in caplog.text


def test_a_task_that_nobody_refers_to_is_not_collected(background):
    """A loop refers to its tasks weakly; the toolkit of AgentCore lost episodes so (A7)."""
    go = []

    async def waiting():
        future = asyncio.get_running_loop().create_future()
        go.append((asyncio.get_running_loop(), future))
        begun.set()
        return await future

    begun = threading.Event()
    running = background.run(waiting)
    assert begun.wait(SOON)
    gc.collect()
    loop, future = go.pop()
    loop.call_soon_threadsafe(future.set_result, "there")
    assert running.result(SOON) == "there"


def test_its_window_runs_since_it_was_handed_in():
    now = [100.0]
    background, go = Background(1, clock=lambda: now[0]), threading.Event()
    background.run(go.wait, SOON)
    waiting = background.run(handed_in.get)
    now[0] = 200.0
    go.set()
    assert waiting.result(SOON) == 100.0
    assert handed_in.get() is None
    background.close()


def test_it_says_since_when_it_is_busy_or_idle():
    now = [100.0]
    background, go = Background(1, clock=lambda: now[0]), threading.Event()
    assert background.since == 100.0
    now[0] = 200.0
    background.run(go.wait, SOON)
    background.run(go.wait, SOON)
    assert background.since == 200.0
    now[0] = 300.0
    go.set()
    assert background.join(SOON)
    assert background.since == 300.0
    background.close()


def test_join_ends_with_its_time(background):
    go = threading.Event()
    background.run(go.wait, SOON)
    assert not background.join(0.01)
    go.set()
    assert background.join(SOON)


def test_closing_cancels_coroutines_drops_what_waits_and_takes_nothing_more(caplog):
    background, begun, ended = Background(1), threading.Event(), threading.Event()

    async def endless():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    running, waiting = background.run(endless), background.run(sync)
    assert begun.wait(SOON)
    background.close()
    assert ended.wait(SOON)
    assert isinstance(running.exception(SOON), asyncio.CancelledError)
    with pytest.raises(CancelledError):
        waiting.result(SOON)
    assert "1 accepted episodes did not begin" in caplog.text
    with pytest.raises(TooBusy, match="ending"):
        background.run(sync)
    background.close()


def test_a_thread_ends_with_its_last_work_once_it_is_closed():
    background, go, begun = Background(2), threading.Event(), threading.Event()

    def work():
        begun.set()
        go.wait(SOON)
        return threading.current_thread()

    future = background.run(work)
    assert begun.wait(SOON)
    background.close()
    go.set()
    thread = future.result(SOON)
    thread.join(SOON)
    assert thread.daemon
    assert not thread.is_alive()


def test_work_that_its_caller_cancels_before_it_begins_does_not_begin():
    background, go, ran = Background(1), threading.Event(), []
    background.run(go.wait, SOON)
    waiting = background.run(ran.append, 1)
    assert waiting.cancel()
    go.set()
    assert background.run(sync).result(SOON)
    assert ran == []
    background.close()


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"waiting": -1}])
def test_it_has_workers(wrong):
    with pytest.raises(ValueError, match="one worker or more"):
        Background(**wrong)
