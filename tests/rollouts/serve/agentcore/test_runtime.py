"""`AgentCoreRuntimeApp` over both hosts: starts run once, whoever asks again, hangs up or dies."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from reward_functions.rollouts.request.errors import StateUnavailable
from reward_functions.rollouts.serve.agentcore import apps
from reward_functions.rollouts.serve.agentcore.bedrock_host import BedrockHost
from reward_functions.rollouts.serve.agentcore.invocations import InvocationStore
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from tests.commands import PIPE, Command
from tests.rollouts.serve.agentcore.hosts import (
    LIMIT,
    SESSION,
    SESSION_HEADER,
    ask,
    ping,
    runtime_app,
    serving,
)
from tests.waiting import until

ROOT = Path(__file__).parents[4]


def envelope(operation="start", name="a", **more):
    more = {} if operation == "get" else more
    return {"version": 1, "operation": operation, "invocation_id": name, **more}


def start(name="a", *, background=False, **payload):
    return payload | {"_agentcore_runtime": envelope(name=name, background=background)}


def get(name="a"):
    return {"_agentcore_runtime": envelope("get", name)}


def completed(name="a", **more):
    return {"version": 1, "invocation_id": name, "status": "completed", **more}


def being(status, name="a"):
    return {"version": 1, "invocation_id": name, "status": status}


@pytest.fixture
def app(host, tmp_path):
    return runtime_app(host, state_dir=tmp_path)


def test_a_foreground_start_waits_and_is_never_run_twice(app):
    ran = []

    @app.entrypoint
    def agent(payload, context):
        ran.append((payload, context.session_id))
        return {"n": len(ran)}

    with serving(app) as url:
        assert ask(url, get()) == (200, being("not_found"))
        answers = [ask(url, start(x=1)), ask(url, start(x=2)), ask(url, get())]
        assert ask(url, get(), session="another" * 5) == (200, being("not_found"))
    assert answers == [(200, completed(result={"n": 1}))] * 3
    assert ran == [({"x": 1}, SESSION)]


def test_a_background_start_is_answered_at_once_and_found_later(app):
    go = threading.Event()

    @app.entrypoint
    async def agent(payload):
        assert await asyncio.to_thread(go.wait, LIMIT)
        return [payload["x"]]

    with serving(app) as url:
        assert ask(url, start(background=True, x=1)) == (200, being("in_progress"))
        assert ask(url, start(background=True, x=2)) == (200, being("in_progress"))
        assert ask(url, get()) == (200, being("in_progress"))
        assert ping(url) == "HealthyBusy"
        go.set()
        assert ask(url, start(x=3)) == (200, completed(result=[1]))
        assert ask(url, get()) == (200, completed(result=[1]))
        until(lambda: ping(url) == "Healthy")


def test_of_many_starts_at_once_one_runs_and_all_get_its_end(app):
    ran = []
    app.entrypoint(lambda payload: ran.append(1) or len(ran))
    with serving(app) as url, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: ask(url, start(n=n)), range(8)))
    assert answers == [(200, completed(result=1))] * 8
    assert ran == [1]


def test_who_hangs_up_cancels_nothing(app):
    begun, go = threading.Event(), threading.Event()

    @app.entrypoint
    async def agent(payload):
        begun.set()
        assert await asyncio.to_thread(go.wait, LIMIT)
        return 42

    with serving(app) as url:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=LIMIT)
        body = json.dumps(start())
        connection.request("POST", "/invocations", body, {SESSION_HEADER: SESSION})
        assert begun.wait(LIMIT)
        connection.close()
        go.set()
        until(lambda: ask(url, get()) == (200, completed(result=42)))


ENDS = {
    "null": (lambda _: None, {"result": None}),
    "raises": (lambda _: {}["the model's words"], {"error": "the agent raised KeyError"}),
    "exits": (lambda _: sys.exit("the model's words"), {"error": "the agent raised SystemExit"}),
    "NaN": (lambda _: float("nan"), {"error": apps.NOT_JSON}),
    "a set": (lambda _: {1}, {"error": apps.NOT_JSON}),
}


@pytest.mark.parametrize(("agent", "end"), ENDS.values(), ids=ENDS)
def test_an_end_is_a_result_or_an_error(tmp_path, agent, end):
    app = runtime_app(OwnHost, state_dir=tmp_path)
    app.entrypoint(agent)
    with serving(app) as url:
        assert ask(url, start()) == ask(url, get()) == (200, completed(**end))


HOSTILE = [
    ({"_agentcore_runtime": 7}, "a number"),
    ({"_agentcore_runtime": envelope(name="../../x")}, "invocation_id"),
    ({"_agentcore_runtime": envelope() | {"x": 1}}, "a field that is none"),
    (b'{"_agentcore_runtime": {"version": 1, "version": 1}}', "twice"),
    (b"[]", "not an object"),
]


def test_what_is_no_request_is_refused_and_runs_nothing(app):
    ran = []
    app.entrypoint(ran.append)
    with serving(app) as url:
        for payload, words in HOSTILE:
            status, content = ask(url, payload)
            assert (status, words in content["error"]) == (400, True), payload
    assert ran == []


def test_an_ordinary_request_is_an_ordinary_one(app):
    app.entrypoint(lambda payload: {"echo": payload})
    with serving(app) as url:
        assert ask(url, {"x": 1}) == (200, {"echo": {"x": 1}})
    assert list(app._store.folder.iterdir()) == []


def test_agentcores_app_streams_an_ordinary_generator(tmp_path):
    app = runtime_app(BedrockHost, state_dir=tmp_path)

    @app.entrypoint
    async def agent(payload):
        yield 1
        yield 2

    with serving(app) as url:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=LIMIT)
        connection.request("POST", "/invocations", "{}")
        assert connection.getresponse().read() == b"data: 1\n\ndata: 2\n\n"
        connection.close()


def test_in_the_background_every_request_has_an_id_of_the_servers(host, tmp_path):
    app, go = runtime_app(host, state_dir=tmp_path, background=True), threading.Event()
    app.entrypoint(lambda payload: go.wait(LIMIT) and payload)
    with serving(app) as url:
        first, second = (ask(url, {"x": n})[1] for n in (1, 2))
        assert (first["status"], second["status"]) == ("in_progress", "in_progress")
        go.set()
        name = first["invocation_id"]
        until(lambda: ask(url, get(name))[1] == completed(name, result={"x": 1}))
    assert first["invocation_id"] != second["invocation_id"]


def test_at_the_end_of_the_process_what_still_runs_is_marked(host, tmp_path):
    app, go = runtime_app(host, state_dir=tmp_path, grace=0.0), threading.Event()
    app.entrypoint(lambda payload: go.wait(LIMIT))
    with serving(app) as url:
        ask(url, start(background=True))
    assert InvocationStore(tmp_path).read(SESSION, "a") == completed(error=apps.ENDED)
    go.set()


def test_at_the_end_of_the_process_what_ends_in_time_is_kept(host, tmp_path):
    app, go = runtime_app(host, state_dir=tmp_path), threading.Event()
    app.entrypoint(lambda payload: go.wait(LIMIT) and 42)
    with serving(app) as url:
        ask(url, start(background=True))
        threading.Timer(0.05, go.set).start()
    assert InvocationStore(tmp_path).read(SESSION, "a") == completed(result=42)


def unavailable(*_):
    raise StateUnavailable("the folder is full")


def test_where_a_start_cannot_be_durable_nothing_runs(app, monkeypatch):
    ran = []
    app.entrypoint(ran.append)
    monkeypatch.setattr(app._store, "claim", unavailable)
    with serving(app) as url:
        assert ask(url, start()) == (500, {"error": "the folder is full"})
        assert ping(url) == "Healthy"
    assert ran == []


def test_an_end_that_the_disk_does_not_take_is_never_a_success(app, monkeypatch):
    app.entrypoint(lambda payload: 42)
    monkeypatch.setattr(app._store, "finish", unavailable)
    with serving(app) as url:
        assert ask(url, start()) == (500, {"error": "the folder is full"})
        until(lambda: ask(url, get()) == (200, being("interrupted")))
        until(lambda: ping(url) == "Healthy")


def test_where_the_disk_takes_no_result_it_may_take_an_error(app, monkeypatch):
    finish = app._store.finish

    def small(session, last):
        finish(session, last) if "error" in last else unavailable()

    app.entrypoint(lambda payload: 42)
    monkeypatch.setattr(app._store, "finish", small)
    with serving(app) as url:
        answers = ask(url, start()), ask(url, get())
    assert answers == ((200, completed(error="the folder is full")),) * 2


CHILD = """
import sys, time
from pathlib import Path
from reward_functions.rollouts.serve.agentcore.apps import RuntimeInvocations
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from tests.waiting import until

folder = Path(sys.argv[1])
app = type("App", (RuntimeInvocations, OwnHost), {})(state_dir=folder / "state")

@app.entrypoint
def agent(payload):
    with (folder / "ran").open("a") as ran:
        ran.write(payload["x"])
    time.sleep(0 if payload["x"] == "q" else 600)
    return payload["x"]

with app.serving() as url:
    print(url, flush=True)
    sys.stdin.read()
"""


def test_a_process_that_is_killed_leaves_its_starts_interrupted_and_its_ends_whole(tmp_path):
    until_killed, writing = os.pipe()
    first, second = (
        Command([tmp_path], program=CHILD, cwd=ROOT, stdin=until_killed, stdout=PIPE)
        for _ in range(2)
    )
    try:
        url, other = first.stdout.readline().strip(), second.stdout.readline().strip()
        assert ask(url, start("quick", x="q")) == (200, completed("quick", result="q"))
        assert ask(url, start("slow", background=True, x="s")) == (
            200,
            being("in_progress", "slow"),
        )
        until(lambda: (tmp_path / "ran").read_text() == "qs")
        assert ask(other, start("slow", x="s")) == (200, being("in_progress", "slow"))
        os.kill(first.pid, signal.SIGKILL)
        first.wait(LIMIT)
        assert ask(other, get("slow")) == (200, being("interrupted", "slow"))
        assert ask(other, start("slow", x="s")) == (200, being("interrupted", "slow"))
        assert ask(other, start("quick", x="q")) == (200, completed("quick", result="q"))
    finally:
        for each in (first, second):
            each.kill()
            each.communicate()
        os.close(until_killed)
        os.close(writing)
    assert (tmp_path / "ran").read_text() == "qs"
