"""Peers that break HTTP on purpose: what a client meets with from whoever wants to hold it up."""

import gzip
import socket
from contextlib import contextmanager, suppress
from threading import Event, Thread

from tests.waiting import until

HEAD = b"HTTP/1.1 200 OK\r\n"


def _endlessly(first, piece):
    """Sends a piece again and again, so that no timeout of a socket ever runs out."""

    def acts(connection, ended):
        connection.sendall(first)
        while not ended.wait(0.02):
            connection.sendall(piece)

    return acts


def _once(answer):
    return lambda connection, _: connection.sendall(answer)


def _sized(body, *headers):
    return _once(
        b"\r\n".join([HEAD.strip(), *headers, b"Content-Length: %d" % len(body), b"", body])
    )


HELD_UP = {
    "says nothing": lambda _, ended: ended.wait(60),
    "drips its header": _endlessly(HEAD + b"X: ", b"x"),
    "sends one interim answer after the other": _endlessly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "drips its body": _endlessly(HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
}
"""Those that never come to an end."""

BROKEN = {
    "closes at once": _once(b""),
    "closes in its body": _once(HEAD + b"Content-Length: 100\r\n\r\n{"),
    "speaks no HTTP": _once(b"\0\xff\r\n" * 100),
    "has a status of six digits": _once(b"HTTP/1.1 999999 x\r\n\r\n"),
    "has chunks of no length": _once(HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n"),
    "has thousands of headers": _once(HEAD + b"X: y\r\n" * 10_000 + b"\r\n"),
}
"""Those whose answer cannot be read."""

LARGE = {
    "sends a hundred megabytes": _sized(b" " * 100_000_000),
    "sends a body that unpacks to a gigabyte": _sized(
        gzip.compress(b" " * 10_000_000) * 100, b"Content-Encoding: gzip"
    ),
}


LAST = b"the last"
"""A call of the test's own: once it is read, so is all that was sent before it."""


@contextmanager
def peer(acts):
    """The URL of a peer, and what returns the requests that were sent to it until now.

    A client may have left before this peer is awake, so its requests are waited for.
    """
    ended, heads = Event(), []

    def serve(connection):
        with connection, suppress(OSError):
            acts(connection, ended)

    def listen():
        with suppress(OSError):
            while not ended.is_set():
                connection = server.accept()[0]
                heads.append(connection.recv(65536))
                Thread(target=serve, args=(connection,), daemon=True).start()

    def asked():
        calls = heads.count(LAST) + 1
        with socket.create_connection(server.getsockname()) as connection:
            connection.sendall(LAST)
        until(lambda: heads.count(LAST) == calls, "the peer does not listen")
        return [head for head in heads if head != LAST]

    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=listen, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            ended.set()
