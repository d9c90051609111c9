"""Replies in pieces: sent as they come, closed where nobody reads them, cut where they break."""

import socket
from contextlib import contextmanager
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected
from threading import Event, Thread

import pytest

from reward_functions.core.http_server.messages import Refused, Reply
from reward_functions.core.http_server.server import Server


@contextmanager
def serving(reply, **options):
    server = Server(("127.0.0.1", 0), reply, lambda _: None, largest=1000, **options)
    server.handle_error = lambda *_: None
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    connection = HTTPConnection(*server.server_address[:2], timeout=20)
    try:
        yield connection
    finally:
        connection.close()
        server.shutdown()
        thread.join()
        server.server_close()


def asked(connection):
    connection.request("GET", "/")
    return connection.getresponse()


def test_a_piece_arrives_before_the_next_one_is_made():
    read = Event()

    def pieces():
        yield b"one"
        assert read.wait(20)
        yield b""
        yield b"two"

    with serving(lambda _: Reply(200, pieces(), {"Content-Type": "text/plain"})) as connection:
        reply = asked(connection)
        assert reply.headers["Transfer-Encoding"] == "chunked"
        assert reply.headers["Content-Type"] == "text/plain"
        assert reply.read1() == b"one"
        read.set()
        assert reply.read() == b"two"
        read.set()
        assert asked(connection).read() == b"onetwo"


def test_pieces_of_a_known_length_are_not_chunks():
    with serving(lambda _: Reply(200, iter([b"ab", b"c"]), {"Content-Length": "3"})) as connection:
        reply = asked(connection)
        assert reply.headers["Transfer-Encoding"] is None
        assert reply.read() == b"abc"
        assert asked(connection).status == 200


def test_a_client_of_http_1_0_reads_to_the_end_of_the_connection():
    with (
        serving(lambda _: Reply(200, iter([b"ab", b"c"]))) as connection,
        socket.create_connection((connection.host, connection.port), timeout=20) as old,
    ):
        host = f"{connection.host}:{connection.port}".encode()
        old.sendall(b"GET / HTTP/1.0\r\nHost: %b\r\n\r\n" % host)
        content = b"".join(iter(lambda: old.recv(1000), b""))
    assert content.endswith(b"\r\n\r\nabc")


def test_pieces_that_break_off_are_not_taken_for_the_whole():
    def pieces():
        yield b"one"
        raise ValueError

    with serving(lambda _: Reply(200, pieces())) as connection, pytest.raises(IncompleteRead):
        asked(connection).read()


def test_pieces_are_closed_where_nobody_reads_them():
    closed, gone = Event(), Event()

    def pieces():
        try:
            yield b"one"
            assert gone.wait(20)
            while True:
                yield b"x" * 1000
        finally:
            closed.set()

    with serving(lambda _: Reply(200, pieces())) as connection:
        reply = asked(connection)
        reply.read1()
        reply.close()
        connection.close()
        gone.set()
        assert closed.wait(20)


def test_a_request_knows_whether_its_sender_is_gone():
    seen, gone, ended = [], Event(), Event()

    def reply(request):
        seen.append(request.gone())
        assert gone.wait(20)
        seen.append(request.gone())
        ended.set()
        return Reply(200, {})

    with serving(reply) as connection:
        connection.request("GET", "/")
        while not seen:
            pass
        connection.close()
        gone.set()
        assert ended.wait(20)
    assert seen == [False, True]


def test_a_server_refuses_in_its_own_shape():
    def reply(_):
        raise Refused(404, "nothing here")

    def shape(path, status, sentence):
        return [path, status, sentence]

    with serving(reply, refusal=shape) as connection:
        assert asked(connection).read() == b'["/", 404, "nothing here"]'


def test_the_head_of_a_form_is_a_head():
    kind = "multipart/form-data; boundary=b"
    with serving(lambda request: Reply(200, len(request.body))) as connection:
        connection.request("POST", "/", b"--b--", {"Content-Type": kind})
        assert connection.getresponse().read() == b"5"


def test_a_reply_without_a_status_closes_the_connection():
    with serving(lambda _: Reply(0, None)) as connection, pytest.raises(RemoteDisconnected):
        asked(connection)
