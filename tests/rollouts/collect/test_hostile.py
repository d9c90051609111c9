"""What rows, machines and networks do to a batch: it ends, and its sessions are stopped."""

import asyncio
import os
import signal
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from weakref import ref

import boto3
import pytest
from botocore import exceptions

from reward_functions.rollouts.collect import futures
from reward_functions.rollouts.collect.ledger import open_sessions
from reward_functions.rollouts.request.errors import BadResult, ServiceFailed
from tests.commands import PIPE, Command
from tests.local.agentcore_double import FunctionAgent, serving
from tests.waiting import collector_at_rest, until_gone

FAST = {"initial_interval": 0.01, "max_interval": 0.05}
MODULE = "reward_functions.rollouts.collect.batches"
ROOT = Path(__file__).parents[3]


def scored(row):
    return {"rewards": float(row["n"])}


def never(_):
    return None


def test_rows_may_wait_for_the_results_of_those_before(collecting):
    seen = Queue()

    def rows():
        yield {"n": 0}
        yield {"n": seen.get(timeout=20) + 1}
        yield {"n": seen.get(timeout=20) + 1}

    found = []
    with collecting(scored) as (client, _):
        for item in client.run_batch(rows(), 4, **FAST):
            found.append(item.result["rewards"])
            seen.put(int(found[-1]))
    assert found == [0, 1, 2]


def test_rows_that_never_come_hold_up_nobody_who_leaves(collecting):
    ending = Event()

    def rows():
        yield {"n": 0}
        yield {"n": 1}
        ending.wait(60)

    try:
        with collecting(lambda row: scored(row) if row["n"] else None) as (client, double):
            with client.run_batch(rows(), 4, **FAST) as batch:
                kept = iter(batch)
                assert next(kept).index == 1
            assert not double.sessions.running
            assert list(kept) == []

            async def first():
                return await anext(aiter(client.run_batch_async(rows(), 4, **FAST)))

            assert asyncio.run(first()).index == 1
            assert double.sessions.wait_idle(20)
            assert not ending.is_set()
    finally:
        ending.set()


def test_where_no_thread_can_be_begun_no_session_is_left(collecting, monkeypatch):
    begun = []

    class Few(Thread):
        def start(self):
            if len(begun) == 5:
                raise RuntimeError("can't start new thread")
            begun.append(self)
            super().start()

    monkeypatch.setattr(f"{MODULE}.Thread", Few)
    with collecting(never) as (client, double):
        with pytest.raises(RuntimeError, match="thread"):
            iter(client.run_batch(({"n": n} for n in range(9)), 8, **FAST))
        assert not double.sessions.running
        for thread in begun:
            thread.join(20)
            assert not thread.is_alive()


def test_garbage_that_a_thread_of_the_batch_collects_is_waited_for_by_nobody(
    collecting, monkeypatch
):
    monkeypatch.setattr(f"{MODULE}.CLOSING", 600.0)
    held, let_go = [], Event()

    def rows():
        yield {"n": 0}
        assert let_go.wait(20)
        until_gone(alive)  # in a thread of the batch
        yield {"n": 1}

    with collector_at_rest(), collecting(never) as (client, double):
        held = [iter(client.run_batch(rows(), 2, **FAST))]
        held.append(held)
        alive = ref(held[0])
        double.sessions.wait_running(1, 20)
        del held
        let_go.set()
        assert double.sessions.wait_idle(20)


UNSENT = [
    exceptions.NoCredentialsError(),
    exceptions.PartialCredentialsError(provider="env", cred_var="x"),
    exceptions.ParamValidationError(report="x"),
    exceptions.EndpointConnectionError(endpoint_url="x"),
    exceptions.ConnectTimeoutError(endpoint_url="x"),
    exceptions.ProxyConnectionError(proxy_url="x"),
    exceptions.SSLError(endpoint_url="x", error="x"),
    exceptions.UnknownServiceError(service_name="x", known_service_names="x"),
    exceptions.TokenRetrievalError(provider="sso", error_msg="x"),
    exceptions.UnauthorizedSSOTokenError(),
]
LOST = [
    exceptions.ReadTimeoutError(endpoint_url="x"),
    exceptions.ConnectionClosedError(endpoint_url="x"),
    exceptions.HTTPClientError(error="x"),
]


@pytest.mark.parametrize("error", UNSENT, ids=lambda error: type(error).__name__)
def test_an_invocation_that_never_left_this_machine_fails_at_once(collecting, error):
    with collecting(never, max_retry_attempts=0) as (client, double):
        client.agentcore_client.meta.events.register_first(
            "before-sign.bedrock-agentcore.InvokeAgentRuntime", raising(error)
        )
        with pytest.raises(ServiceFailed):
            client.invoke({"n": 0})
        assert not double.sessions.invoked


@pytest.mark.parametrize("error", LOST, ids=lambda error: type(error).__name__)
def test_an_invocation_whose_reply_is_lost_may_have_begun(collecting, error):
    with collecting(never) as (client, _):
        client.agentcore_client.meta.events.register_first(
            "before-sign.bedrock-agentcore.InvokeAgentRuntime", raising(error)
        )
        future = client.invoke({"n": 0})
        assert future.session_id
        future.cancel()


def raising(error):
    def handler(**_):
        raise error

    return handler


def test_without_credentials_a_batch_ends_at_once(collecting, monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    bare = boto3.session.Session().client("bedrock-agentcore", region_name="us-west-2")
    with collecting(never, agentcore_client=bare) as (client, _):
        items = list(client.run_batch(({"n": n} for n in range(3)), 2, timeout=600, **FAST))
    bare.close()
    assert [(item.kind, "NoCredentials" in item.error) for item in items] == [("service", True)] * 3


def test_a_result_that_is_too_large_is_not_read(collecting, monkeypatch):
    monkeypatch.setattr(futures, "LARGEST", 1000)
    with (
        collecting(lambda _: {"x": "y" * 2000}) as (client, _),
        pytest.raises(BadResult, match="1,000 bytes"),
    ):
        client.invoke({"n": 0}).result(20)


BATCH = """
import sys, time, boto3
from botocore.config import Config
from reward_functions.rollouts.collect.client import RolloutClient

def made(service):
    return boto3.client(service, region_name="us-west-2", endpoint_url=sys.argv[1],
        aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key="x" * 40,
        config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}))
client = RolloutClient("arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/a", "results",
    "run", tps_limit=10_000, agentcore_client=made("bedrock-agentcore"), s3_client=made("s3"))
print("ready", flush=True)
for item in client.run_batch(({"n": n} for n in range(40)), 8, initial_interval=0.01):
    time.sleep(0.01)
"""

ENDS = [
    # the signal, after how many sessions, whether the process stops its sessions
    (signal.SIGINT, 0, True),
    (signal.SIGINT, 8, True),
    (signal.SIGTERM, 8, False),
    (signal.SIGKILL, 8, False),
]


@pytest.mark.parametrize(("number", "running", "stops"), ENDS)
def test_a_signal_leaves_no_session_that_nobody_knows(tmp_path, number, running, stops):
    folder = tmp_path / "sessions"
    with serving(FunctionAgent(lambda row: scored(row) if row["n"] % 5 == 0 else None)) as double:
        with Command(
            [double.endpoint],
            program=BATCH,
            cwd=ROOT,
            env=os.environ | {"REWARD_ROLLOUTS_SESSIONS": str(folder)},
            stdout=PIPE,
        ) as child:
            assert child.stdout.readline() == "ready\n"
            assert double.sessions.wait_running(running, 60)
            child.send_signal(number)
            child.wait(60)
        assert child.returncode != 0
        left = {each.session for each in open_sessions(folder)}
        assert double.sessions.running <= left
        assert bool(left) != stops
        assert not any(each.live for each in open_sessions(folder))
