"""A batch: every item whole or marked, every session stopped, however it ends."""

import asyncio
from collections import Counter
from threading import Event
from weakref import ref

import pytest

from reward_functions.core.errors import ConfigurationError
from tests.local.agentcore_double import Faults
from tests.waiting import PATIENCE, collector_at_rest, until_gone

FAST = {"initial_interval": 0.01, "max_interval": 0.05}
STORM = {
    "invoke.throttle": 0.1,
    "invoke.conflict": 0.1,
    "invoke.dropped": 0.05,
    "head.forbidden": 0.1,
    "head.error": 0.1,
    "get.dropped": 0.1,
    "stop.throttle": 0.1,
    "stop.conflict": 0.1,
    "stop.dropped": 0.1,
}


def troubled(payload):
    """Of ten agents one fails, one stores half a result, one NaN, and of twenty one never ends."""
    match payload["n"] % 20:
        case 3 | 13:
            raise RuntimeError("the tool is gone")
        case 4 | 14:
            return b'{"rewards": 1'
        case 5 | 15:
            return b'{"rewards": NaN}'
        case 6:
            return None
    return {"rewards": float(payload["n"])}


def never(_):
    return None


def rows(count):
    return ({"n": n} for n in range(count))


EXPECTED = {"": 39, "agent": 6, "result": 12, "timeout": 3}


def require_whole(items, double):
    assert Counter(item.kind for item in items) == EXPECTED
    assert sorted(item.index for item in items) == list(range(60))
    for item in items:
        assert item.success == (not item.kind) == (item.error is None)
        assert (item.result or {}).get("rewards") == (float(item.index) if item.success else None)
    assert not double.sessions.running
    assert len(double.sessions.invoked) == 60


def test_sixty_sessions_with_every_accident_end_whole_or_marked_and_stopped(collecting, ledgers):
    with collecting(troubled, Faults(STORM)) as (client, double):
        items = list(client.run_batch(rows(60), 20, timeout=5.0, **FAST))
        require_whole(items, double)
        assert double.sessions.most_running <= 20
        assert {item.error for item in items if item.kind == "agent"} == {
            "the agent failed with status 500: RuntimeError: the tool is gone"
        }
    assert not list(ledgers.iterdir())


def test_the_asynchronous_form_gives_the_same(collecting):
    async def gathered(client):
        return [item async for item in client.run_batch_async(rows(60), 20, timeout=5.0, **FAST)]

    with collecting(troubled, Faults(STORM)) as (client, double):
        require_whole(asyncio.run(gathered(client)), double)


def test_break_stops_what_runs(collecting, ledgers):
    with collecting(lambda row: {"rewards": 1.0} if row["n"] == 0 else None) as (client, double):
        for item in client.run_batch(rows(8), 8, **FAST):
            assert item.success
            break
        assert not double.sessions.running
        assert double.sessions.stopped.keys() == double.sessions.invoked.keys()
    assert not list(ledgers.iterdir())


def test_an_exception_of_the_consumer_stops_what_runs(collecting):
    with collecting(lambda row: {"rewards": 1.0} if row["n"] == 0 else None) as (client, double):
        with pytest.raises(ZeroDivisionError):
            _ = [1 / item.index for item in client.run_batch(rows(8), 8, **FAST)]
        assert not double.sessions.running


def test_an_interrupt_while_nothing_is_ready_stops_what_runs(collecting, monkeypatch):
    with collecting(never) as (client, double):
        items = iter(client.run_batch(rows(8), 8, **FAST))
        assert double.sessions.wait_running(8, timeout=PATIENCE)

        def interrupted():
            raise KeyboardInterrupt

        monkeypatch.setattr(items._collection, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(items)
        assert not double.sessions.running


def test_an_iterator_that_nobody_holds_stops_what_runs(collecting):
    with collector_at_rest(), collecting(never) as (client, double):
        kept = [iter(client.run_batch(rows(8), 8, **FAST))]
        kept.append(kept)  # a cycle, which only the garbage collector finds
        alive = ref(kept[0])
        assert double.sessions.wait_running(8, timeout=PATIENCE)
        del kept
        until_gone(alive)
        assert double.sessions.wait_idle(timeout=PATIENCE)


def test_a_with_block_stops_what_a_kept_iterator_runs(collecting):
    with collecting(never) as (client, double):
        with client.run_batch(rows(8), 8, **FAST) as batch:
            kept = iter(batch)
            assert double.sessions.wait_running(8, timeout=PATIENCE)
        assert not double.sessions.running
        assert list(kept) == []


def test_leaving_an_asynchronous_loop_stops_what_runs(collecting):
    async def left(client):
        async for _ in client.run_batch_async(rows(8), 8, **FAST):
            break

    async def cancelled(client, double):
        async def loop():
            async for _ in client.run_batch_async(rows(8), 8, **FAST):
                pass

        task = asyncio.create_task(loop())
        assert await asyncio.to_thread(double.sessions.wait_running, 7, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with collecting(lambda row: {"rewards": 1.0} if row["n"] == 0 else None) as (client, double):
        asyncio.run(left(client))
        assert double.sessions.wait_idle(timeout=PATIENCE)
        asyncio.run(cancelled(client, double))
        assert double.sessions.wait_idle(timeout=PATIENCE)


def test_a_timeout_of_nothing_starts_nothing(collecting):
    with collecting(never) as (client, double):
        items = list(client.run_batch(rows(3), 2, timeout=0))
        assert [item.error for item in items] == ["Timeout after 0s"] * 3
        assert not double.sessions.invoked


def test_an_invocation_under_way_is_over_its_time_too_and_stopped_twice(collecting):
    held = Event()

    class Slow:
        def __init__(self, _):
            pass

        def __call__(self, body, session, bucket):
            held.wait(30)
            return 200, b"{}"

    with collecting(None, agent=Slow) as (client, double):
        items = iter(client.run_batch(rows(1), 1, timeout=0.2))
        assert next(items).error == "Timeout after 0.2s"
        held.set()
        assert list(items) == []
        assert not double.sessions.running
        assert min(double.sessions.stopped.values()) >= 1


def test_rows_are_read_as_sessions_become_free_and_results_are_not_kept(collecting):
    read = []

    def counted():
        for row in rows(40):
            read.append(row)
            yield row

    with collecting(lambda _: {"rewards": 1.0}) as (client, double):
        items = iter(client.run_batch(counted(), 4, **FAST))
        assert next(items).success
        assert double.sessions.wait_idle(timeout=PATIENCE)
        assert len(read) <= 1 + 4 + 2 * 4  # taken, waiting to be taken, under way
        assert len(list(items)) == 39


def test_what_the_rows_raise_is_raised_where_they_are_read(collecting):
    def broken():
        yield {"n": 6}
        raise OSError("the file is gone")

    with collecting(never) as (client, double):
        with pytest.raises(OSError, match="the file is gone"):
            list(client.run_batch(broken(), 2, **FAST))
        assert not double.sessions.running


def test_progress_is_reported_and_its_exception_ends_the_batch(collecting):
    def stop(progress):
        raise StopAsyncIteration(progress.active)

    with collecting(never) as (client, double):
        batch = client.run_batch(rows(2), 2, log_interval=0.0, progress=stop, **FAST)
        with pytest.raises(StopAsyncIteration):
            list(batch)
        assert not double.sessions.running


def test_a_payload_that_cannot_be_sent_is_an_item_and_nothing_is_started(collecting):
    payloads = [{"n": float("nan")}, [1], {"_rollout": {}}, {"n": 1}]
    with collecting(lambda _: {"rewards": 1.0}) as (client, double):
        items = sorted(client.run_batch(payloads, 2, **FAST), key=lambda item: item.index)
        assert [item.kind for item in items] == ["payload", "payload", "payload", ""]
        assert len(double.sessions.invoked) == 1


def test_an_agent_that_refuses_its_invocation_is_an_item(collecting):
    class Refusing:
        def __init__(self, _):
            pass

        def __call__(self, body, session, bucket):
            return 500, b"{}"

    with collecting(None, agent=Refusing) as (client, double):
        (item,) = client.run_batch(rows(1), 1, **FAST)
        assert (item.kind, item.error) == (
            "service",
            "AgentCore refused a call: RuntimeClientError",
        )
        assert not double.sessions.running


@pytest.mark.parametrize("at_once", [0, -1, True, 1.5])
def test_a_batch_runs_a_whole_number_of_sessions(collecting, at_once):
    with (
        collecting(never) as (client, _),
        pytest.raises(ConfigurationError, match="max_concurrent_sessions"),
    ):
        client.run_batch([], at_once)
