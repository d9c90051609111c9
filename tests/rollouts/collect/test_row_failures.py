"""Whatever one row's calls raise is one failed item; what ends a process or a task still ends."""

import asyncio
import io
import json
import ssl
from collections import Counter
from http.client import HTTPException, IncompleteRead, RemoteDisconnected

import pytest
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError
from urllib3.exceptions import HTTPError, ProtocolError

from reward_functions.rollouts.collect.client import RolloutClient

ARN = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-abc"
FAST = {"initial_interval": 0.001, "max_interval": 0.002}
BAD = 3

RAISED = [
    OSError(104, "Connection reset by peer"),
    ssl.SSLError("wrong version number"),
    IncompleteRead(b"", 5),
    RemoteDisconnected("closed"),
    ProtocolError("broken"),
    ReadTimeoutError(endpoint_url="https://x"),
    RuntimeError("Connection refused"),
    KeyError("response"),
    TimeoutError(),
    MemoryError(),
    AssertionError(),
    StopIteration(),
]
CALLS = ["invoke", "read reply", "head", "get", "read", "stop", "limit"]
LOST = {
    "invoke": ReadTimeoutError,
    "read reply": (OSError, HTTPException, HTTPError, BotoCoreError),
}
"""Where the reply alone is lost: its result's key is known, and the row has its result."""


class Broken(io.BytesIO):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def read(self, *_):
        raise self.error


class Cloud:
    """AgentCore and S3 in this process; the calls of one row raise."""

    def __init__(self, call, error):
        self.call, self.error = call, error
        self.stored, self.stopped, self.bad = {}, Counter(), None

    def meets(self, call, session):
        return call == self.call and session == self.bad

    def invoke_agent_runtime(self, *, runtimeSessionId, payload, **_):  # noqa: N803 - boto3's
        asked = json.loads(payload)
        place = asked["_rollout"]
        key = f"{place['exp_id']}/{place['input_id']}/{runtimeSessionId}.json"
        if asked["n"] == BAD:
            self.bad = runtimeSessionId
        fails = self.meets("invoke", runtimeSessionId)
        if not fails or isinstance(
            self.error, ReadTimeoutError
        ):  # the agent runs, its reply is lost
            self.stored[key] = json.dumps({"rewards": asked["n"]}).encode()
        if fails:
            raise self.error
        reply = json.dumps({"s3_bucket": place["s3_bucket"], "result_key": key}).encode()
        broken = self.meets("read reply", runtimeSessionId)
        return {"response": Broken(self.error) if broken else io.BytesIO(reply)}

    def stop_runtime_session(self, *, runtimeSessionId, **_):  # noqa: N803 - boto3's
        if self.meets("stop", runtimeSessionId):
            raise self.error
        self.stopped[runtimeSessionId] += 1

    def head_object(self, *, Key, **_):  # noqa: N803 - boto3's
        if self.meets("head", session_in(Key)):
            raise self.error
        if Key not in self.stored:
            raise ClientError({"Error": {"Code": "404"}}, "HeadObject")

    def get_object(self, *, Key, **_):  # noqa: N803 - boto3's
        if self.meets("get", session_in(Key)):
            raise self.error
        broken = self.meets("read", session_in(Key))
        return {"Body": Broken(self.error) if broken else io.BytesIO(self.stored[Key])}


class Limits:
    """A rate limiter of the caller's own; its first wait fails."""

    def __init__(self, error):
        self.error, self.waits = error, 0

    def wait_sync(self):
        self.waits += 1
        if self.error is not None and self.waits == 1:
            raise self.error


def session_in(key):
    return key.rpartition("/")[2].removesuffix(".json")


def client_of(cloud):
    limits = Limits(cloud.error if cloud.call == "limit" else None)
    found = RolloutClient(
        ARN, "b", "run", agentcore_client=cloud, s3_client=cloud, rate_limiter=limits
    )
    found.runtime._pause = lambda _: None
    return found


def rows(count=6):
    return ({"n": n} for n in range(count))


def items_of(client, form, **settings):
    if form == "sync":
        return list(client.run_batch(rows(), 2, **FAST, **settings))

    async def collected():
        return [item async for item in client.run_batch_async(rows(), 2, **FAST, **settings)]

    return asyncio.run(collected())


@pytest.mark.parametrize("error", RAISED, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("call", CALLS)
def test_an_exception_of_one_row_is_one_item(call, error):
    cloud = Cloud(call, error)
    items = items_of(client_of(cloud), "sync")
    assert sorted(item.index for item in items) == list(range(6))
    lost = {item.index: item for item in items if not item.success}
    if call == "limit":
        assert len(lost) == 1  # which row waited first is the threads' affair
    else:
        assert set(lost) <= {BAD}
    whole = call == "stop" or isinstance(error, LOST.get(call, ()))
    assert [item.kind for item in lost.values()] == ([] if whole else ["service"])
    started = {session_in(key) for key in cloud.stored} | {cloud.bad} - {None}
    assert set(cloud.stopped) >= started - ({cloud.bad} if call == "stop" else set())


@pytest.mark.parametrize("call", CALLS)
def test_the_asynchronous_form_does_the_same(call):
    error = RuntimeError("Connection refused")
    found = [
        sorted((item.success, item.kind) for item in items_of(client_of(Cloud(call, error)), form))
        for form in ("sync", "async")
    ]
    assert found[0] == found[1]


def test_an_exception_that_nobody_foresaw_is_an_item_with_its_traceback():
    items = items_of(client_of(Cloud("invoke", RuntimeError("Connection refused"))), "sync")
    (lost,) = [item for item in items if not item.success]
    assert lost.error.startswith("Traceback (most recent call last)")
    assert lost.error.endswith("RuntimeError: Connection refused\n")


def test_a_message_of_any_length_is_cut():
    items = items_of(client_of(Cloud("invoke", RuntimeError("x" * 100_000))), "sync")
    (lost,) = [item for item in items if not item.success]
    assert len(lost.error) == 8_000


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("call", ["invoke", "head", "stop"])
def test_what_ends_a_process_or_a_task_ends_the_batch(call, error):
    cloud = Cloud(call, error())
    with pytest.raises(error):
        items_of(client_of(cloud), "sync")
    assert {session_in(key) for key in cloud.stored} - set(cloud.stopped) <= {cloud.bad}


@pytest.mark.parametrize("error", RAISED, ids=lambda each: type(each).__name__)
def test_a_cancellation_never_raises(error):
    cloud = Cloud("stop", error)
    future = client_of(cloud).invoke({"n": BAD})
    assert future.cancel() is False
    assert future.cancelled


def test_an_invocation_that_raises_stops_its_session():
    cloud = Cloud("invoke", RuntimeError("Connection refused"))
    with pytest.raises(RuntimeError, match="Connection refused"):
        client_of(cloud).invoke({"n": BAD})
    assert cloud.stopped == {cloud.bad: 1}


@pytest.mark.parametrize("form", ["result", "result_async"])
def test_a_result_that_is_waited_for_stops_its_session_whatever_a_look_raises(form):
    cloud = Cloud("head", RuntimeError("Connection refused"))
    future = client_of(cloud).invoke({"n": BAD})
    future._poll_interval = future._max_interval = 0.0
    with pytest.raises(Exception, match="S3 failed 5 looks at a result in a row: RuntimeError"):
        future.result() if form == "result" else asyncio.run(future.result_async())
    assert cloud.stopped == {cloud.bad: 1}
