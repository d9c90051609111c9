"""Connections that have shown no key beside those that have: a key is served, whatever they do."""

import errno
import socket
import sys
import time
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from threading import Thread
from time import sleep

import pytest

from reward_functions.core.http_server import server as http_server
from reward_functions.core.http_server.messages import Refused, Reply
from reward_functions.core.http_server.server import Server

SOON = 30.0
KEY = {"Authorization": "Bearer key"}


def admit(request):
    if request.path == "/defect":
        raise ZeroDivisionError
    if request.path != "/health" and request.headers.get("authorization") != KEY["Authorization"]:
        raise Refused(401, "no key")


def reply(request):
    return Reply(200, {"path": request.path, "size": len(request.body)})


@contextmanager
def serving(connections=4, waiting=8, **options):
    server = Server(
        ("127.0.0.1", 0),
        reply,
        admit,
        largest=10**6,
        anybody=[("GET", "/health")],
        connections=connections,
        waiting=waiting,
        **options,
    )
    server.handle_error = lambda *_: None
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(server, path="/work", headers=KEY, method="GET"):
    """The status of a request on a connection of its own."""
    connection = HTTPConnection(*server.server_address, timeout=SOON)
    connection.request(method, path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


@contextmanager
def opened(server, sent=b""):
    with socket.create_connection(server.server_address, SOON) as connection:
        connection.sendall(sent)
        yield connection


def is_closed(connection):
    """Whether the server closes it, with or without what it has not read."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def head(server, path="/work", *lines, method="GET"):
    host, port = server.server_address
    first = (f"{method} {path} HTTP/1.1", f"Host: {host}:{port}")
    return "\r\n".join([*first, *lines, "", ""]).encode()


WITHOUT_A_KEY = {
    "silent": lambda _: b"",
    "a part of a head": lambda server: head(server)[:-2],
    "a wrong key": lambda server: head(server, "/work", "Authorization: Bearer guessed"),
    "a web page": lambda server: head(server, "/work", "Authorization: Bearer key", "Origin: x"),
    "another Host": lambda _: b"GET /work HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key\r\n\r\n",
    "no request": lambda _: b"\r\n\r\n",
    "health": lambda server: head(server, "/health"),
    "health with a body that does not come": lambda server: head(
        server, "/health", "Content-Length: 1000"
    ),
    "who asks whether to send": lambda server: head(
        server, "/work", "Expect: 100-continue", "Content-Length: 5", method="POST"
    ),
}


@pytest.mark.parametrize("sent", WITHOUT_A_KEY.values(), ids=WITHOUT_A_KEY)
def test_who_has_shown_no_key_holds_no_place(sent):
    with serving(connections=1) as server, ExitStack() as held:
        for _ in range(30):
            held.enter_context(opened(server, sent(server)))
        assert ask(server) == 200


def test_the_oldest_goes_where_too_many_wait_and_the_newest_stays():
    with serving(waiting=2) as server, ExitStack() as held:
        connections = [held.enter_context(opened(server)) for _ in range(10)]
        for each in connections[:8]:
            assert is_closed(each)
        connections[9].sendall(head(server, "/work", "Authorization: Bearer key"))
        assert connections[9].recv(100).startswith(b"HTTP/1.1 200 ")


def test_a_head_that_comes_byte_by_byte_does_not_make_its_connection_younger():
    with serving(waiting=2) as server, opened(server) as slow, opened(server):
        for byte in b"GET /work":
            slow.send(bytes([byte]))
        with opened(server), opened(server):
            assert is_closed(slow)


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_a_request_that_comes_byte_by_byte_is_served(end):
    with serving() as server:
        sent = head(server, "/work", *(f"{k}: {v}" for k, v in KEY.items()), "Content-Length: 3")
        with opened(server) as slow:
            slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in sent.replace(b"\r\n", end) + b"abc":
                slow.send(bytes([byte]))
            answer = b""
            while not answer.endswith(b"}"):
                answer += slow.recv(1000)
            assert answer.endswith(b'{"path": "/work", "size": 3}')


def test_what_follows_a_head_at_once_is_its_body_and_the_next_request():
    with serving() as server:
        first = head(server, "/work", "Authorization: Bearer key", "Content-Length: 5")
        last = head(server, "/last", "Authorization: Bearer key", "Connection: close")
        with opened(server, first + b"12345" + last) as connection:
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert (answer.count(b"HTTP/1.1 200 "), b'"size": 5' in answer) == (2, True)
    assert b'"path": "/last"' in answer


def test_without_a_place_a_key_is_told_to_come_again_and_everybody_else_what_he_is_told_always():
    with serving(connections=1) as server:
        first = HTTPConnection(*server.server_address, timeout=SOON)
        first.request("GET", "/work", headers=KEY)
        assert first.getresponse().read()  # and the connection stays
        assert [ask(server), ask(server, headers={}), ask(server, "/health", {})] == [503, 401, 200]
        first.request("GET", "/work", headers=KEY)
        assert first.getresponse().status == 200
        first.close()


LARGE = {
    "a line": (lambda _: b"GET /" + b"x" * http_server.HEAD, b"414"),
    "a header": (lambda server: head(server)[:-2] + b"A: " + b"x" * http_server.HEAD, b"431"),
    "many headers": (lambda server: head(server)[:-2] + b"A: b\r\n" * 20_000, b"431"),
    "a head that has an end": (
        lambda server: head(server, "/", "A: " + "x" * http_server.HEAD),
        b"431",
    ),
}


@pytest.mark.parametrize(("sent", "status"), LARGE.values(), ids=LARGE)
def test_a_head_has_64_kib_at_most(sent, status):
    with serving() as server, opened(server, sent(server)) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 " + status)


def test_heads_that_are_not_whole_have_so_many_bytes_together(monkeypatch):
    monkeypatch.setattr(http_server, "HELD", 5000)
    part = b"GET /" + b"x" * 3000
    with serving() as server:
        for _ in range(2):  # one that was answered and is over makes no room for others
            with opened(server, part) as first, opened(server, part) as second:
                assert is_closed(first)
                second.sendall(b" HTTP/1.1\r\n\r\n")
                assert second.recv(100).startswith(b"HTTP/1.1 403 ")
            assert ask(server) == 200


def test_where_no_descriptor_is_left_the_oldest_connection_goes():
    with serving() as server, opened(server) as oldest:
        assert ask(server) == 200
        failures = [OSError(errno.EMFILE, "too many open files")]
        accept = server.get_request

        def get_request():
            if failures:
                raise failures.pop()
            return accept()

        server.get_request = get_request
        assert ask(server) == 200
        assert is_closed(oldest)


def test_who_sends_no_more_is_closed_long_before_his_time_is_over():
    with serving(request_seconds=2 * SOON) as server, opened(server, b"GET /work") as gone:
        gone.shutdown(socket.SHUT_WR)
        assert is_closed(gone)


def test_a_connection_that_is_over_is_closed_at_once_and_not_when_its_memory_is_freed():
    ours, theirs = socket.socketpair()
    with serving() as server, theirs:
        server.shutdown_request((b"", ours))
        assert ours.fileno() == -1
        assert theirs.recv(1) == b""


def test_where_no_thread_is_left_a_connection_is_closed_and_its_place_is_free(monkeypatch):
    with serving(connections=1) as server:

        def failing(*_):
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patched:
            patched.setattr(ThreadingHTTPServer, "process_request", failing)
            sent = head(server, "/work", "Authorization: Bearer key")
            with opened(server, sent) as connection:
                assert connection.recv(100) == b""
        assert ask(server) == 200


def test_the_place_of_a_request_that_is_answered_is_free_again():
    with serving(connections=1) as server:
        assert ask(server) == 200
        # It is given back after the answer, so that the next may come too soon.
        for _ in range(2):
            assert any(ask(server) == 200 for _ in range(100))


def test_a_head_in_two_pieces_has_its_time_between_them():
    with serving() as server:
        sent = head(server, "/work", "Authorization: Bearer key")
        with opened(server, sent[:9]) as slow:
            for _ in range(3):
                looked = server._looked
                while server._looked == looked:
                    sleep(0.001)
            slow.sendall(sent[9:])
            assert slow.recv(100).startswith(b"HTTP/1.1 200 ")


def test_a_defect_of_ours_ends_its_request_and_no_server():
    with serving() as server:
        assert ask(server, "/defect") == 500
        assert ask(server) == 200


def test_a_silent_connection_and_a_slow_head_have_their_time():
    with serving(idle_seconds=0.05, request_seconds=SOON) as server, opened(server) as silent:
        assert is_closed(silent)
    with (
        serving(idle_seconds=SOON, request_seconds=0.05) as server,
        opened(server, b"GET") as slow,
    ):
        slow.settimeout(SOON / 3)  # sooner than who says nothing is closed
        assert is_closed(slow)


def test_where_nobody_says_how_many_descriptors_there_are_there_are_enough(monkeypatch):
    enough = 4 * http_server.WAITING
    assert http_server.descriptors() > 0
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert http_server.descriptors() == enough
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    assert http_server.descriptors() == 256
    monkeypatch.setitem(sys.modules, "resource", None)
    assert http_server.descriptors() == enough


@pytest.mark.parametrize(("limit", "most"), [(1024, 256), (20_000, 4096), (64, 16)])
def test_a_quarter_of_the_descriptors_is_for_those_without_a_key(monkeypatch, limit, most):
    monkeypatch.setattr(http_server, "descriptors", lambda: limit)
    server = Server(("127.0.0.1", 0), reply, admit, largest=1, connections=1)
    server.server_close()
    assert server._most == most


def test_a_body_that_does_not_come_in_time_is_answered():
    with serving(request_seconds=0.05) as server:
        sent = head(server, "/work", *(f"{k}: {v}" for k, v in KEY.items()), "Content-Length: 3")
        with opened(server, sent + b"ab") as slow:
            answer = slow.recv(1000)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"the body did not come in time" in answer


def test_who_asks_whether_to_send_is_told_to():
    lines = (*(f"{k}: {v}" for k, v in KEY.items()), "Expect: 100-continue", "Content-Length: 3")
    with serving() as server, opened(server, head(server, "/work", *lines)) as asking:
        assert asking.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        asking.sendall(b"abc")
        assert asking.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_a_server_serves_for_a_block(capsys):
    server = Server(("127.0.0.1", 0), reply, admit, largest=9)
    with server.serving() as url:
        assert url == server.url == f"http://127.0.0.1:{server.server_address[1]}"
        assert ask(server) == 200
        assert ask(server, "/defect") == 500
    with pytest.raises(OSError):  # noqa: PT011 - refused, however it is called
        socket.create_connection(server.server_address, SOON)
    seen, until = "", time.monotonic() + 5
    while "ZeroDivisionError" not in seen and time.monotonic() < until:
        seen += capsys.readouterr().err  # a thread of the server writes it after its answer
        time.sleep(0.01)
    assert "ZeroDivisionError" in seen
