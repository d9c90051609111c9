"""Requests of somebody hostile, and 64 agents at once: the next one is served, nothing crosses."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from botocore.exceptions import ConnectionClosedError

from reward_functions.local.loopback_service.server import MESSAGE
from reward_functions.local.runtime_double import FaultPlan
from reward_functions.local.runtime_double.faults import Previous
from tests.local.runtime_double.conftest import (
    HEADERS,
    JOB,
    OTHER_JOB,
    QUESTION,
    ask,
    boto,
    send,
    signed,
)

REPORT = "/complete-rollout"
CHAT = "/v1/chat/completions"

WALLS = [
    # method, path, headers, status
    ("GET", "/", {}, 404),
    ("GET", REPORT, {}, 404),
    ("PUT", REPORT, {}, 404),
    ("POST", "/complete-rollout/", {}, 404),
    ("POST", "/_runtimes", {}, 404),
    ("POST", CHAT, {"Host": "evil.example"}, 403),
    ("POST", CHAT, {"Origin": "http://127.0.0.1"}, 403),
    ("GET", "/_runtime/", {"Sec-Fetch-Site": "cross-site"}, 403),
    ("POST", "/_runtime/trajectories", {"Origin": "null"}, 403),
    ("POST", CHAT, {"Content-Length": str(MESSAGE + 1)}, 413),
    ("POST", CHAT, {"Content-Length": "-1"}, 400),
    ("POST", CHAT, {}, 403),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), WALLS)
def test_a_request_from_elsewhere_is_refused_and_the_next_is_served(
    shared_double, method, path, headers, status
):
    answered, _, content = ask(shared_double, path, None, headers, method)
    assert answered == status
    assert json.loads(content)["Message"]
    assert ask(shared_double, "/_runtime/counts", method="GET")[0] == 200


BODIES = [
    # path, body, status
    (REPORT, b"", 400),
    (REPORT, b"[]", 400),
    (REPORT, b"{", 400),
    (REPORT, b"\xff", 400),
    (REPORT, b"[" * 100_000, 400),
    (REPORT, b'{"TrajectoryId": "\\ud800"}', 400),
    (REPORT, b'{"TrajectoryId": 1}', 400),
    (REPORT, b'{"TrajectoryId": ""}', 400),
    (REPORT, b'{"TrajectoryId": "r", "Status": "READY"}', 400),
    (REPORT, b'{"TrajectoryId": "r", "More": 1}', 400),
    ("/update-reward", b'{"TrajectoryId": "r", "Rewards": ["NaN"]}', 400),
    ("/update-reward", b'{"TrajectoryId": "r", "Rewards": [NaN]}', 400),
    ("/update-reward", b'{"TrajectoryId": "r", "Rewards": [1e999]}', 400),
    ("/update-reward", b'{"TrajectoryId": "r", "Rewards": [1%s]}' % (b"0" * 400), 400),
    ("/update-reward", b'{"TrajectoryId": "r", "Rewards": [1%s]}' % (b"0" * 5_000), 400),
    ("/update-reward", b'{"TrajectoryId": "r", "Rewards": [true]}', 400),
    ("/update-reward", b'{"TrajectoryId": "r", "Rewards": 1.0}', 400),
    ("/update-reward", b'{"TrajectoryId": "r"}', 400),
    ("/update-reward", b'{"TrajectoryId": "r"%s, "Rewards": [0]}' % (b" " * 1024 * 1024), 400),
    (CHAT, b"[]", 400),
    (CHAT, b"{}", 400),
    (CHAT, b'{"messages": {}}', 400),
    (CHAT, b'{"messages": [1]}', 400),
    (CHAT, b'{"messages": [{"role": []}]}', 400),
    (CHAT, b'{"messages": [{"role": "user"}], "tools": [1]}', 400),
    (CHAT, b'{"messages": [{"role": "user"}], "stream": "yes"}', 400),
    (CHAT, b'{"messages": [{"role": "user"}], "max_tokens": 0}', 400),
    (CHAT, b'{"messages": [{"role": "user"}], "max_tokens": true}', 400),
    (CHAT, b'{"messages": [{"role": "user"}], "n": []}', 400),
    (CHAT, b'{"messages": [%s]}' % b",".join([b'{"role":"user"}'] * 10_001), 400),
]


@pytest.mark.parametrize(("path", "content", "status"), BODIES, ids=range(len(BODIES)))
def test_a_body_that_is_no_request(shared_double, path, content, status):
    assert send(shared_double, path, content, HEADERS)[:2] == (status, "ValidationException")
    assert shared_double.trajectory(JOB, "r").state == "PENDING"


ODD = [
    {"messages": [{"role": "user", "content": None}]},
    {"messages": [{"role": "user", "content": [1, {"text": 2}]}]},
    {"messages": [{"role": "assistant", "content": "x"}]},
    {"messages": [{"role": "user", "content": "1 + 1"}], "tools": [{"function": 1}]},
    {"messages": [{"role": "user", "content": "1 + 1"}], "tools": [{"function": {"name": 1}}]},
    {"messages": [{"role": "user", "content": "1 + 1"}], "model": ["x"], "stream_options": 1},
    {
        "messages": [{"role": "user", "content": "1 + 1"}],
        "tools": [{"function": {"name": "calc", "parameters": {"properties": {"x": 1}}}}],
    },
]


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_what_is_odd_within_a_request_is_answered(make, body):
    assert send(make(), CHAT, body, HEADERS)[0] == 200


@pytest.mark.parametrize("name", HEADERS)
def test_a_policy_call_without_its_headers_is_nobodys(shared_double, name):
    fewer = {key: value for key, value in HEADERS.items() if key != name}
    assert send(shared_double, CHAT, QUESTION, fewer)[0] == 400


def test_a_client_that_knows_no_chunks_gets_its_stream(make):
    double = make()
    content = json.dumps(QUESTION | {"stream": True}).encode()
    headers = signed(double, CHAT, content, HEADERS)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    host, port = double.server_address
    with socket.create_connection((host, port), timeout=30) as connection:
        line = f"POST {CHAT} HTTP/1.0\r\nHost: {host}:{port}\r\n{head}"
        connection.sendall(f"{line}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert b"Transfer-Encoding" not in answer
    assert answer.endswith(b"data: [DONE]\n\n")


def test_64_agents_at_once_are_each_counted_once_with_their_own_reward(make):
    plan = FaultPlan.parse(
        "dropped_before=0.1,dropped_after=0.1,duplicate=0.1,slow=0.1,error=0.1,slow_seconds=0.01"
    )
    double = make(faults=plan)
    names = [(job, f"r{n}") for n in range(64) for job in (JOB, OTHER_JOB)]
    for each in names:
        double.register(*each)
    # boto3's own retries wait a second: these do not wait, and send the same token.
    client = boto(double, retries={"total_max_attempts": 1}, max_pool_connections=64)

    unanswered = (ConnectionClosedError, client.exceptions.InternalServiceError)

    def until_answered(call, **parameters):
        for _ in range(plan.most):
            with suppress(*unanswered):
                return call(**parameters)
        return call(**parameters)

    def rollout(number):
        job, name = names[number]
        ids = {"JobArn": job, "TrajectoryId": name}
        question = {"messages": [{"role": "user", "content": f"{number} + 1"}]}
        body = until_answered(client.sample, **ids, Body=json.dumps(question))["Body"].read()
        assert rf"\boxed{{{number + 1}}}" in json.loads(body)["choices"][0]["message"]["content"]
        until_answered(client.complete_rollout, **ids, ClientToken=f"c{number}")
        rewards = [float(number)]
        until_answered(client.update_reward, **ids, ClientToken=f"t{number}", Rewards=rewards)

    with ThreadPoolExecutor(64) as threads:
        for done in [threads.submit(rollout, number) for number in range(len(names))]:
            done.result(timeout=120)
    for number, each in enumerate(names):
        found = double.trajectory(*each)
        assert (found.state, found.rewards) == ("REWARD_RECEIVED", (float(number),))
        assert (found.taken("complete"), found.taken("reward")) == (1, 1)
        asked = {json.loads(turn.request)["messages"][0]["content"] for turn in found.turns}
        assert asked == {f"{number} + 1"}
    counts = double.trajectories.counts()
    assert counts["states"]["REWARD_RECEIVED"] == len(names)
    assert counts["reports"]["complete replayed"] > 0
    # The accidents are those of the plan, whichever thread came first.
    for job, name in names:
        met = {each.operation for each in double.trajectory(job, name).deliveries if each.fault}
        assert met == {
            operation
            for operation in ("complete", "reward")
            if plan.fault(name, operation, 0, Previous())
        }
