"""Every server that users start, asked the same: an agent's app, both AgentCore hosts, the relay.

Three of them stand on `core.http_server`. The fourth is AgentCore's own app on starlette and
uvicorn, of which `OTHERWISE` says where it differs.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from reward_functions.core.http_server.server import Server
from reward_functions.rollouts import RolloutApp
from reward_functions.rollouts.record.relay import relay as relay_module
from reward_functions.rollouts.record.relay.relay import Relay
from reward_functions.rollouts.serve import app as app_module
from reward_functions.rollouts.serve.agentcore.bedrock_host import BedrockHost
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from tests.rollouts.serve.agentcore.hosts import serving

SOON = 30.0
SHORT = 0.05
PATIENCE = 4 * SHORT
"""How long a server of short times is waited for, where it has none."""

HOST = b"HOST"
KEY = b"Authorization: Bearer admin"


def agent(payload):
    return {"reward": 1.0}


@contextmanager
def of_app():
    with RolloutApp(agent, api_key="").serving(grace=SOON) as url:
        yield url


@contextmanager
def of_own_host():
    app = OwnHost(api_key="", grace=SOON)
    app.entrypoint(agent)
    with serving(app) as url:
        yield url


@contextmanager
def of_bedrock_host():
    app = BedrockHost(grace=SOON)
    app.bound = "127.0.0.1"
    app.entrypoint(agent)
    with serving(app) as url:
        yield url


@contextmanager
def of_relay():
    with Relay("http://127.0.0.1:9/v1", kind="plain", admin_key="admin").serving() as relay:
        yield relay.url


@dataclass(frozen=True)
class Kind:
    """A server.

    Args:
        serving: its URL, for a block.
        path: of its POST.
        probe: of its GET.
        done: the status of what it did.
    """

    serving: object
    path: bytes = b"/invocations"
    probe: bytes = b"/ping"
    done: int = 200


SERVERS = {
    "app": Kind(of_app),
    "own_host": Kind(of_own_host),
    "bedrock_host": Kind(of_bedrock_host),
    "relay": Kind(of_relay, b"/sessions", b"/health", 201),
}
AGENTS = [name for name in SERVERS if name != "relay"]


@pytest.fixture(scope="module", params=SERVERS)
def running(request):
    kind = SERVERS[request.param]
    with kind.serving() as url:
        yield request.param, kind, url


@pytest.fixture(params=SERVERS)
def short(request, monkeypatch):
    """A server whose times are short, and which has one place."""
    for module in (app_module, relay_module):
        monkeypatch.setattr(
            module,
            "Server",
            lambda *given, **named: Server(
                *given,
                **named
                | {"connections": 1, "idle_seconds": 2 * SHORT, "request_seconds": 2 * SHORT},
            ),
        )
    kind = SERVERS[request.param]
    with kind.serving() as url:
        yield request.param, kind, url


def head(*lines, method=b"POST", path=b"POST", version=b"1.1"):
    first = b"%b %b HTTP/%b" % (method, path, version)
    return b"\r\n".join([first, b"Host: HOST", KEY, *lines, b"", b""])


def ended(*lines, **more):
    return head(b"Connection: close", *lines, **more)


def length(size):
    return b"Content-Length: %d" % size


def addressed(kind, url, sent):
    """A request as this server is sent it: its paths, and its own name as the Host."""
    first, end, rest = sent.partition(b"\r\n")
    for word, path in ((b" POST ", kind.path), (b" GET ", kind.probe)):
        first = first.replace(word, b" %b " % path)
    return first + end + rest.replace(HOST, urlsplit(url).netloc.encode())


@contextmanager
def opened(kind, url, sent, limit=SOON):
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port), limit) as connection:
        connection.sendall(addressed(kind, url, sent))
        yield connection


def read(connection):
    """What comes until the connection is closed, and whether it was."""
    answer = b""
    try:
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionResetError:
        pass
    except TimeoutError:
        return answer, False
    return answer, True


def outcome(kind, url, sent, limit=SOON, said=""):
    """The status of an answer, in which something is said; "closed" or "open" for none."""
    with opened(kind, url, sent, limit) as connection:
        answer, closed = read(connection)
    if said:
        first, _, body = answer.partition(b"\r\n\r\n")
        assert said in json.dumps(json.loads(body))
        assert b"\r\nConnection: close" in first
    if not answer:
        return "closed" if closed else "open"
    return int(answer.split()[1])


BODY = b"{}"
CHUNKED = b"Transfer-Encoding: chunked"
DONE = "done"

REQUESTS = {
    # a probe, a request, another path and another method
    "a probe": (ended(method=b"GET", path=b"GET"), 200),
    "a request": (ended(length(2)) + BODY, DONE),
    "a request in chunks": (ended(CHUNKED) + b"2\r\n{}\r\n0\r\n\r\n", DONE),
    "a client of HTTP 1.0": (head(length(2), version=b"1.0") + BODY, DONE),
    "another path": (ended(length(2), path=b"/run") + BODY, 404),
    "a probe that is posted": (ended(length(2), path=b"GET") + BODY, 404),
    "a request that is got": (ended(method=b"GET", path=b"POST"), 404),
    "a put": (ended(length(2), method=b"PUT") + BODY, 404),
    "a head": (ended(method=b"HEAD", path=b"GET"), 404),
    "a method that nobody knows": (ended(method=b"BREW"), 501),
    # heads
    "no request": (b"\x00\x01\x02 nothing\r\n\r\n", 400),
    "another version": (ended(version=b"2.0"), 505),
    "no Host": (b"GET GET HTTP/1.1\r\nConnection: close\r\n\r\n", 403),
    "another Host": (b"GET GET HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 403),
    "a page of the web": (ended(b"Origin: https://evil.example", length(2)) + BODY, 403),
    "a line without a colon": (ended(b"a line", length(2)) + BODY, 400),
    "a space before a colon": (ended(b"A : b", length(2)) + BODY, 400),
    "a tab before a colon": (ended(b"A\t: b", length(2)) + BODY, 400),
    "a name that is not ASCII": (ended(b"\xe9: b", length(2)) + BODY, 400),
    "a value in the next line": (ended(b"A:", b"\tb", length(2)) + BODY, 400),
    "a colon and no name": (ended(b": b", length(2)) + BODY, 400),
    "a name with a NUL": (ended(b"A\0: b", length(2)) + BODY, 400),
    "a line that goes on": (ended(b"A: b", b" c", length(2)) + BODY, 400),
    "a first line that goes on": (
        b"POST POST HTTP/1.1\r\n A: b\r\nHost: HOST\r\n\r\n",
        400,
    ),
    "a line that is too long": (ended(path=b"/" + b"a" * 60_000), 404),
    "a line of more than 64 KiB": (ended(path=b"/" + b"a" * 70_000), 414),
    "a head of more than 64 KiB": (ended(*[b"A%d: " % n + b"b" * 1000 for n in range(90)]), 431),
    "more than 100 headers": (ended(*[b"A%d: b" % n for n in range(200)], length(2)) + BODY, 431),
    # lengths
    "no length": (ended() + BODY, 411),
    "two lengths": (ended(length(2), length(3)) + BODY, 400),
    "the same length twice": (ended(length(2), length(2)) + BODY, 400),
    "a list of lengths": (ended(b"Content-Length: 2, 2") + BODY, 400),
    "a length and chunks": (ended(length(2), CHUNKED) + b"2\r\n{}\r\n0\r\n\r\n", 400),
    "a length with a sign": (ended(b"Content-Length: +2") + BODY, 400),
    "a negative length": (ended(b"Content-Length: -2") + BODY, 400),
    "a length of many digits": (ended(b"Content-Length: " + b"9" * 4000), 400),
    "a length over the limit": (ended(length(10**9)), 413),
    # chunks
    "a chunk over the limit": (ended(CHUNKED) + b"fffffff\r\n", 413),
    "a chunk of no size": (ended(CHUNKED) + b"0x2\r\n{}\r\n0\r\n\r\n", 400),
    "a chunk that is longer": (ended(CHUNKED) + b"1\r\n{}\r\n0\r\n\r\n", 400),
    "a line of a chunk without an end": (ended(CHUNKED) + b"1;" + b"x" * 70_000, 400),
    "endless trailers": (ended(CHUNKED) + b"0\r\n" + b"a: b\r\n" * 101, 400),
    "another encoding": (ended(b"Transfer-Encoding: gzip"), 501),
    "two encodings in one": (ended(b"Transfer-Encoding: chunked, identity"), 501),
    # bodies
    "a body that is no JSON": (ended(length(1)) + b"{", 400),
    "a body that is a list": (ended(length(2)) + b"[]", 400),
    "a body that is too deep": (ended(length(9999)) + b"[" * 9999, 400),
}

SAID = {
    "a method that nobody knows": "Not Implemented",
    "no request": "Bad Request",
    "another version": "Version Not Supported",
    "no Host": "call the server by that address",
    "another Host": "call the server by that address",
    "a page of the web": "a page of the web has sent this request",
    "a line without a colon": "not a header",
    "a space before a colon": "not a header",
    "a tab before a colon": "not a header",
    "a name that is not ASCII": "not a header",
    "a value in the next line": "not a header",
    "a colon and no name": "not a header",
    "a name with a NUL": "not a header",
    "a line that goes on": "not a header",
    "a first line that goes on": "not a header",
    "a line of more than 64 KiB": "URI Too Long",
    "a head of more than 64 KiB": "Too Large",
    "more than 100 headers": "Too Large",
    "no length": "no Content-Length",
    "two lengths": "said more than once",
    "the same length twice": "said more than once",
    "a length and chunks": "said more than once",
    "a list of lengths": "not a number",
    "a length with a sign": "not a number",
    "a negative length": "not a number",
    "a length of many digits": "not a number",
    "a length over the limit": "bytes at most",
    "a chunk over the limit": "bytes at most",
    "a chunk of no size": "not a number",
    "a chunk that is longer": "a chunk is longer than it says",
    "a line of a chunk without an end": "not in chunks",
    "endless trailers": "too much after the last chunk",
    "another encoding": "in chunks alone",
    "two encodings in one": "in chunks alone",
}
"""What `core.http_server` says, in each server's own shape."""

OTHERWISE = {
    "bedrock_host": {
        "a probe that is posted": 405,
        "a request that is got": 405,
        "a put": 405,
        "a head": 200,
        "a method that nobody knows": 405,
        "another version": 400,
        "no Host": 400,
        "a line that goes on": DONE,
        "a value in the next line": DONE,
        "a line that is too long": 400,
        "a line of more than 64 KiB": 400,
        "a head of more than 64 KiB": 400,
        "more than 100 headers": DONE,
        "no length": 400,
        "the same length twice": DONE,
        "a list of lengths": DONE,
        "a length and chunks": DONE,
        "a length over the limit": "open",
        "a chunk over the limit": "open",
        "endless trailers": "open",
        "another encoding": 400,
        "two encodings in one": 400,
    }
}
"""What h11, uvicorn and starlette do with them, below AgentCore's app."""


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_is_answered_or_refused(running, case):
    name, kind, url = running
    sent, status = REQUESTS[case]
    status = OTHERWISE.get(name, {}).get(case, status)
    limit = PATIENCE if status == "open" else SOON
    said = "" if name == "bedrock_host" else SAID.get(case, "")
    assert outcome(kind, url, sent, limit, said) == (kind.done if status is DONE else status)


SLOW = {
    "silent": (b"", "closed"),
    "a part of a head": (head(length(2))[:-4], "closed"),
    "a part of a body": (head(length(2)) + b"{", 408),
    "a part of a chunk": (head(CHUNKED) + b"2\r\n{", 408),
}


@pytest.mark.parametrize("case", SLOW)
def test_a_slow_client_has_its_time(short, case):
    name, kind, url = short
    sent, expected = SLOW[case]
    if name == "bedrock_host":  # it waits without an end
        assert outcome(kind, url, sent, PATIENCE) == "open"
    else:
        assert outcome(kind, url, sent) == expected


def test_a_connection_is_kept_for_the_next_request_and_for_a_time(short):
    name, kind, url = short
    request = head(length(2)) + BODY
    with opened(kind, url, request) as connection:
        for _ in range(3):
            answer = connection.recv(65536)
            while b"}" not in answer:
                answer += connection.recv(65536)
            assert answer.startswith(b"HTTP/1.1 %d " % kind.done)
            assert b"connection: close" not in answer.lower()
            connection.sendall(addressed(kind, url, request))
        if name != "bedrock_host":  # uvicorn waits five seconds
            assert read(connection)[1]


def test_requests_may_come_at_once(running):
    _, kind, url = running
    several = addressed(kind, url, head(length(2)) + BODY)
    with opened(kind, url, head(length(2)) + BODY) as connection:
        connection.sendall(several + addressed(kind, url, ended(length(2)) + BODY))
        answer, closed = read(connection)
    assert closed
    assert answer.count(b"HTTP/1.1 %d " % kind.done) == 3


def test_who_asks_whether_to_send_is_told_so(running):
    _, kind, url = running
    with opened(kind, url, ended(b"Expect: 100-continue", length(2))) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(BODY)
        assert read(connection)[0].startswith(b"HTTP/1.1 %d " % kind.done)


GONE = {
    "within the head": head(length(2))[:-4],
    "within the body": head(length(9)) + b"{",
    "before the answer": head(length(2)) + BODY,
}


@pytest.mark.parametrize("sent", GONE.values(), ids=GONE)
def test_a_client_that_goes_takes_nobody_with_it(running, sent):
    _, kind, url = running
    with opened(kind, url, sent):
        pass
    assert outcome(kind, url, ended(length(2)) + BODY) == kind.done


def test_without_a_place_a_request_is_told_to_come_again(short):
    name, kind, url = short
    with opened(kind, url, head(length(2)) + BODY) as first:
        first.recv(1)
        with opened(kind, url, ended(length(2)) + BODY) as second:
            answer, _ = read(second)
        assert outcome(kind, url, ended(method=b"GET", path=b"GET")) == 200
    # uvicorn has no limit of places unless it is given one
    assert int(answer.split()[1]) == (kind.done if name == "bedrock_host" else 503)
    assert (b"\r\nRetry-After: 1\r\n" in answer) == (name != "bedrock_host")


@contextmanager
def left(kind):
    """A server whose block is left by `leave`: (URL, leave, whether it has ended)."""
    begun, leave, over = (threading.Event() for _ in range(3))
    urls = []

    def serve():
        with kind.serving() as url:
            urls.append(url)
            begun.set()
            leave.wait(SOON)
        over.set()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert begun.wait(SOON)
    yield urls[0], leave, over
    leave.set()
    thread.join(SOON)
    assert over.is_set()


def test_behind_its_block_nobody_listens(running):
    kind = running[1]
    with left(kind) as (url, leave, _):
        assert outcome(kind, url, ended(method=b"GET", path=b"GET")) == 200
        leave.set()
    where = urlsplit(url)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((where.hostname, where.port), SOON)


@pytest.mark.parametrize("name", AGENTS)
def test_what_runs_at_the_end_has_its_grace(name, monkeypatch):
    begun, go = threading.Event(), threading.Event()

    def waits(payload):
        begun.set()
        assert go.wait(SOON)
        return {"reward": 1.0}

    monkeypatch.setitem(globals(), "agent", waits)
    kind = SERVERS[name]
    with (
        left(kind) as (url, leave, over),
        opened(kind, url, ended(length(2)) + BODY) as connection,
    ):
        assert begun.wait(SOON)
        leave.set()
        assert not over.wait(SHORT)
        go.set()
        answer, _ = read(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"reward": 1.0}
