"""The agent's server over real sockets: its routes, hostile requests, and its end."""

import http.client
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import nan
from urllib.parse import urlsplit

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.http_server.messages import Reply
from reward_functions.core.http_server.server import Server
from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.request.contract import LARGEST
from reward_functions.rollouts.serve.app import CannotListen, RolloutApp, main

SOON = 60.0

ARN = "arn:aws:sagemaker:us-west-2:111122223333:job/AgentRFT/a"
SESSION = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
POSTS = ["/invocations", "/rollout"]


def rollout(name="r-1", **more):
    return {"prompt": "6 × 7?", "metadata": {"jobArn": ARN, "rolloutId": name}, **more}


def request(url, method="POST", path="/rollout", body=None, headers=()):
    """(status, headers, decoded body) of a request on a connection of its own."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SOON)
    sent = json.dumps(body).encode() if isinstance(body, dict) else body
    connection.request(method, path, sent, dict(headers))
    reply = connection.getresponse()
    content = json.loads(reply.read())
    connection.close()
    return reply.status, reply.headers, content


class Agent:
    """Runs until it may end."""

    def __init__(self):
        self.go, self.seen, self.lock = threading.Event(), [], threading.Lock()

    def __call__(self, payload, context=None):
        with self.lock:
            self.seen.append((payload, context.session_id))
        assert self.go.wait(SOON)
        return {"reward": 1.0}


@pytest.fixture
def agent():
    return Agent()


@pytest.fixture
def app(agent):
    return RolloutApp(agent, api_key="")


@pytest.fixture
def url(app, agent):
    with app.serving() as url:
        yield url
        agent.go.set()


@pytest.fixture(scope="module")
def untouched():
    """The URL of a server whose agent is never reached."""

    def agent(payload):
        raise AssertionError

    with RolloutApp(agent, api_key="").serving() as url:
        yield url


@pytest.mark.parametrize("path", POSTS)
def test_a_rollout_is_answered_before_the_agent_ends(url, agent, app, path):
    status, headers, body = request(url, path=path, body=rollout(), headers={SESSION: "s" * 33})
    assert (status, body) == (200, {"status": "accepted", "trajectory_id": "r-1"})
    assert headers["Content-Type"] == "application/json"
    assert app.background.busy == 1
    agent.go.set()
    assert app.background.join(SOON)
    assert agent.seen == [(rollout(), "s" * 33)]


def test_64_rollouts_run_at_once_and_none_gets_anothers_payload(url, agent, app):
    with ThreadPoolExecutor(64) as pool:
        sent = [rollout(f"r-{number}") for number in range(64)]
        replies = list(pool.map(lambda each: request(url, body=each), sent))
    assert [body["trajectory_id"] for _, _, body in replies] == [f"r-{n}" for n in range(64)]
    assert request(url, "GET", "/ping")[2]["status"] == "HealthyBusy"
    agent.go.set()
    assert app.background.join(SOON)
    names = [payload["metadata"]["rolloutId"] for payload, _ in agent.seen]
    assert sorted(names) == sorted(f"r-{number}" for number in range(64))


def test_ping_says_whether_episodes_run_and_since_when(url, agent, app):
    idle = request(url, "GET", "/ping")[2]
    assert idle == {"status": "Healthy", "time_of_last_update": int(app.background.since)}
    request(url, body=rollout())
    assert request(url, "GET", "/ping")[2]["status"] == "HealthyBusy"
    agent.go.set()
    assert app.background.join(SOON)
    assert request(url, "GET", "/ping")[2]["status"] == "Healthy"


def test_health(url):
    assert request(url, "GET", "/health")[::2] == (200, {"status": "healthy"})


@pytest.mark.parametrize(
    ("path", "headers", "body"),
    [
        ("/rollout?wait=1", {}, rollout()),
        ("/invocations?wait=true", {}, rollout()),
        ("/rollout", {"Prefer": "wait"}, rollout()),
        ("/rollout", {"Prefer": "wait=60"}, rollout()),
        ("/invocations", {}, {"prompt": "without ids there is nobody to report to"}),
    ],
)
def test_whoever_waits_gets_the_result(url, agent, path, headers, body):
    agent.go.set()
    assert request(url, path=path, body=body, headers=headers)[::2] == (200, {"reward": 1.0})


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/rollout?wait=0", {}),
        ("/rollout?other=1", {}),
        ("/rollout", {"Prefer": "respond-async"}),
        ("/rollout", {"Prefer": "wait=0"}),
    ],
)
def test_whoever_does_not_wait_does_not(url, path, headers):
    assert request(url, path=path, body=rollout(), headers=headers)[2]["status"] == "accepted"


@pytest.mark.parametrize(
    ("handler", "status", "body"),
    [
        (lambda payload: 0.5, 200, 0.5),
        (lambda payload: None, 200, None),
        (lambda payload: {"at": {1, 2}.__class__}, 200, {"at": "<class 'set'>"}),
        (lambda payload: nan, 500, {"error": "what the handler returned is not JSON"}),
        (lambda payload: payload["none"], 500, {"error": "the agent raised KeyError"}),
    ],
)
def test_what_whoever_waits_gets(handler, status, body):
    with RolloutApp(handler, api_key="").serving() as url:
        assert request(url, path="/rollout?wait=1", body=rollout())[::2] == (status, body)


HOST = "HOST"
"""In a head: the server's own address, which `addressed` puts there."""


def head(path="/rollout", *lines, method="POST"):
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {HOST}", *lines, "", ""]).encode()


def addressed(sent, connection):
    host, port = connection.getpeername()
    return sent.replace(f"Host: {HOST}".encode(), f"Host: {host}:{port}".encode())


def raw(url, sent):
    """(status, body) of the answer to some bytes; the connection is closed behind it."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), SOON) as connection:
        connection.sendall(addressed(sent, connection))
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    first, _, body = answer.partition(b"\r\n\r\n")
    assert b"Connection: close" in first
    return int(first.split()[1]), json.loads(body)


VALID = json.dumps(rollout()).encode()
UNKNOWN = {
    "another path": head("/run", "Content-Length: 0"),
    "another method": head(method="GET"),
    "a put": head("/rollout", "Content-Length: 0", method="PUT"),
}


@pytest.mark.parametrize("sent", UNKNOWN.values(), ids=UNKNOWN)
def test_what_it_does_not_know_it_refuses_and_says_what_it_knows(untouched, sent):
    sentence = "there are POST /invocations, POST /rollout, GET /ping and GET /health"
    assert raw(untouched, sent) == (404, {"error": sentence})
    assert request(untouched, "GET", "/health")[0] == 200


BAD = {
    "not JSON": (b"{", "the payload is not JSON"),
    "nothing": (b"", "the payload is not JSON"),
    "not UTF-8": (b'{"prompt": "\xff"}', "the payload is not UTF-8"),
    "UTF-16": ('{"prompt": "x"}'.encode("utf-16"), "the payload is not UTF-8"),
    "a list": (b"[]", "the payload is a list, not an object"),
    "too deep": (b"[" * 100_000, "the payload is not JSON"),
    "metadata": (b'{"metadata": 3}', "metadata is a number, not an object"),
    "instance": (b'{"instance": "x"}', "instance is a string, not an object"),
    "a number of another kind": (
        b'{"inferenceParams": {"temperature": NaN}}',
        "inferenceParams.temperature is not a number of 0 or more",
    ),
}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(("body", "sentence"), BAD.values(), ids=BAD)
def test_a_payload_that_is_no_request_is_400_in_one_sentence(untouched, path, body, sentence):
    assert request(untouched, path=path, body=body)[::2] == (400, {"error": sentence})


def test_a_body_in_chunks_is_read(url, agent):
    agent.go.set()
    pieces = b"".join(b"%x;a=b\r\n%s\r\n" % (len(each), each) for each in (VALID[:7], VALID[7:]))
    sent = head("/rollout?wait=1", "Transfer-Encoding: chunked", "Connection: close") + pieces
    assert raw(url, sent + b"0\r\nSum: 1\r\n\r\n") == (200, {"reward": 1.0})
    assert agent.seen[0][0] == rollout()


def test_a_body_of_the_limit_is_read(url, agent):
    agent.go.set()
    body = rollout(filling="")
    body["filling"] = "x" * (LARGEST - len(json.dumps(body)))
    assert request(url, path="/rollout?wait=1", body=body)[::2] == (200, {"reward": 1.0})


def test_a_connection_serves_many_requests(url):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SOON)
    for number in range(5):
        connection.request("POST", "/rollout", json.dumps(rollout(f"r-{number}")))
        assert json.loads(connection.getresponse().read())["trajectory_id"] == f"r-{number}"
    connection.close()


def test_who_asks_before_sending_may_send(url):
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), SOON) as connection:
        asking = ("Expect: 100-continue", f"Content-Length: {len(VALID)}", "Connection: close")
        connection.sendall(addressed(head("/rollout", *asking), connection))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(VALID)
        assert b"accepted" in b"".join(iter(lambda: connection.recv(65536), b""))


@contextmanager
def serving(**limits):
    server = Server(("127.0.0.1", 0), lambda _: Reply(200, {}), lambda _: None, **limits)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_slow_body_and_a_slow_head_end_with_their_time():
    with serving(largest=100, request_seconds=0.2, idle_seconds=SOON) as server:
        sent = head("/", "Content-Length: 9")
        assert raw(server.url, sent + b"1") == (408, {"error": "the body did not come in time"})
        with socket.create_connection(server.server_address, SOON) as connection:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: ag")
            assert connection.recv(100) == b""


def test_an_idle_connection_is_closed():
    with (
        serving(largest=100, idle_seconds=0.1) as server,
        socket.create_connection(server.server_address, SOON) as connection,
    ):
        assert connection.recv(100) == b""


def read_until(connection, end):
    read = b""
    while end not in read:
        piece = connection.recv(500)
        assert piece, read
        read += piece
    return read


def test_there_are_so_many_connections_and_no_more():
    with (
        serving(largest=100, connections=1) as server,
        socket.create_connection(server.server_address, SOON) as first,
    ):
        first.sendall(addressed(head("/", method="GET"), first))
        assert read_until(first, b"{}").startswith(b"HTTP/1.1 200 ")
        with socket.create_connection(server.server_address, SOON) as second:
            second.sendall(addressed(head("/", method="GET"), second))
            assert read_until(second, b"close").startswith(b"HTTP/1.1 503 ")
        first.sendall(addressed(head("/", "Connection: close", method="GET"), first))
        assert read_until(first, b"{}").startswith(b"HTTP/1.1 200 ")


def test_a_full_agent_says_so_and_says_when_to_come_again(agent):
    app = RolloutApp(agent, background=Background(1, waiting=0), api_key="")
    with app.serving() as url:
        assert request(url, body=rollout())[0] == 200
        status, headers, body = request(url, body=rollout("r-2"))
        assert (status, headers["Retry-After"]) == (503, "1")
        assert body == {"error": "the agent is full: 1 episodes run and 0 wait"}
        agent.go.set()


@pytest.mark.parametrize(
    "given", ["", "Bearer wrong", "key", "Basic key", "Bearer key ", "bearer key"]
)
@pytest.mark.parametrize("path", POSTS)
def test_without_the_key_nothing_is_read(agent, path, given):
    with RolloutApp(agent, api_key="key").serving() as url:
        sent = {"Authorization": given} if given else {}
        status, headers, body = request(url, path=path, body=b"{", headers=sent)
    assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
    assert body == {"error": "the request does not carry the agent's API key"}
    assert agent.seen == []


def test_the_key_of_the_environment_counts_and_the_probes_need_none(agent, monkeypatch):
    monkeypatch.setenv("AGENT_API_KEY", "key")
    agent.go.set()
    with RolloutApp(agent).serving() as url:
        assert request(url, body=rollout())[0] == 401
        assert request(url, body=rollout(), headers={"Authorization": "Bearer key"})[0] == 200
        assert request(url, "GET", "/ping")[0] == 200
        assert request(url, "GET", "/health")[0] == 200


@pytest.mark.parametrize("key", ["key\n", " key", "a key", "cl\u00e9"])
def test_a_key_that_no_header_can_carry_is_one_sentence(agent, monkeypatch, key):
    monkeypatch.setenv("AGENT_API_KEY", key)
    with pytest.raises(
        ConfigurationError, match=r"^AGENT_API_KEY has .* a key is printable ASCII$"
    ):
        RolloutApp(agent)


def test_an_address_that_anybody_reaches_is_warned_about(agent, caplog):
    with RolloutApp(agent, api_key="").serving("0.0.0.0"):
        assert "anybody who reaches http://0.0.0.0:" in caplog.text
    caplog.clear()
    with RolloutApp(agent, api_key="key").serving("0.0.0.0"), RolloutApp(agent).serving():
        assert not caplog.records


def test_at_its_end_it_takes_nothing_new_and_waits_for_what_runs(agent):
    app, ended = RolloutApp(agent, api_key=""), threading.Event()
    leave = threading.Event()
    urls = []

    def serve():
        with app.serving(grace=SOON) as url:
            urls.append(url)
            started.set()
            leave.wait(SOON)
        ended.set()

    started = threading.Event()
    threading.Thread(target=serve, daemon=True).start()
    assert started.wait(SOON)
    (url,) = urls
    assert request(url, body=rollout())[0] == 200
    leave.set()
    while request(url, "GET", "/health")[::2] != (503, {"status": "draining"}):
        pass
    assert request(url, body=rollout("r-2"))[::2] == (503, {"error": "the agent is ending"})
    assert request(url, "GET", "/ping")[2]["status"] == "HealthyBusy"
    assert not ended.is_set()
    agent.go.set()
    assert ended.wait(SOON)
    assert len(agent.seen) == 1


def test_a_port_that_is_taken_is_one_sentence(agent):
    with RolloutApp(agent).serving() as url:
        port = urlsplit(url).port
        with (
            pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1:{port}: "),
            RolloutApp(agent).serving(port=port),
        ):
            pass


AGENT = """
import sys, threading
go = threading.Event()

def agent(payload):
    print("begun", flush=True)
    sys.stdin.readline()
    print("ended", flush=True)

number = 3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "an_agent.py").write_text(AGENT)
    return tmp_path


@pytest.mark.parametrize("name", ["an_agent:agent", "an_agent.py:agent"])
def test_a_process_ends_at_sigterm_behind_its_episodes(folder, name):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "AGENT_API_KEY": ""}
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "reward_functions.rollouts.servers.app",
            name,
            "--port",
            "0",
            "--grace",
            "60",
        ],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = re.search(r"http://\S+", process.stderr.readline())[0]
        assert request(url, body=rollout())[0] == 200
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert "ending: 1 episodes" in process.stderr.readline()
        assert request(url, "GET", "/ping")[2]["status"] == "HealthyBusy"
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ended\n"
        assert process.wait(SOON) == 0
    finally:
        process.kill()
        process.communicate()


UNUSABLE = {
    "an_agent": "is not MODULE:NAME, such as my_agent:agent",
    "no_such:agent": "there is no module 'no_such' here",
    "no/such.py:agent": "no/such.py: No such file or directory",
    "an_agent:agnet": "an_agent has no 'agnet'. Did you mean 'agent'?",
    "an_agent:number": "a handler is a function, not int",
}


def test_a_queue_that_nobody_may_read_is_one_line(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(SystemExit) as ended:
        main(
            ["an_agent:agent", "--port", "0", "--queue", "https://sqs.eu-west-1.amazonaws.com/1/q"]
        )
    assert ended.value.code == 2
    assert "is a rollout_handler" in capsys.readouterr().err.splitlines()[-1]
    logging.getLogger().handlers.clear()


@pytest.mark.parametrize(("name", "sentence"), UNUSABLE.items(), ids=UNUSABLE)
def test_a_name_that_leads_nowhere_is_one_line(folder, monkeypatch, capsys, name, sentence):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(SystemExit) as ended:
        main([name, "--port", "0"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(sentence)
    logging.getLogger().handlers.clear()
