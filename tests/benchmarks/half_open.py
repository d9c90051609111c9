"""A relay beside 5,000 connections that have shown no key: seconds until one with a key is served.

The relay is in a process of its own, once with all the descriptors that it may have and once with
1,024. The connections say nothing, send the head of a request byte by byte, or send a whole head
with a wrong key; some servers are asked while all of these still come.
"""

from __future__ import annotations

import multiprocessing
import resource
import socket
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from threading import Event, Thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from rich.table import Table

from reward_functions.rollouts.relay import Relay

if TYPE_CHECKING:
    from rich.console import Console

MANY = 5_000
FEW_DESCRIPTORS = 1_024
SECONDS = 120.0
KEY = {"Authorization": "Bearer owner"}
WRONG = b"POST /sessions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer guessed\r\n\r\n"
SLOW = b"POST /sessions HTTP/1.1\r\nHost: %s\r\n"
KINDS = ("silent", "byte by byte", "a wrong key", "all of these, still coming")


def report(console: Console) -> None:
    """Print how long a call with a key takes beside them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    table = Table(title=f"{MANY:,} connections without a key: seconds until a call is answered")
    for column in ("connections", "descriptors", "first call", "slowest of 20"):
        table.add_column(column, justify="left" if column == "connections" else "right")
    for descriptors in (most, FEW_DESCRIPTORS):
        for kind in KINDS:
            first, slowest = measured(kind, descriptors)
            table.add_row(kind, f"{descriptors:,}", shown(first), shown(slowest))
    console.print(table)


def shown(seconds: float) -> str:
    """A time, or that there was none."""
    return f"{seconds:.3f}" if seconds < SECONDS else "none"


def measured(kind: str, descriptors: int) -> tuple[float, float]:
    """Seconds until the first call is answered, and the slowest of 20."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=serve, args=(theirs, descriptors), daemon=True)
    child.start()
    address = ours.recv()
    try:
        with half_open(address, kind):
            first = call(address)
            if first >= SECONDS:
                return first, first
            return first, max(call(address) for _ in range(20))
    finally:
        ours.send(None)
        child.join(SECONDS)


def serve(pipe: object, descriptors: int) -> None:
    """The relay's process."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, most))
    with Relay("http://127.0.0.1:1/v1", admin_key="owner").serving() as relay:
        host, _, port = relay.url.removeprefix("http://").partition(":")
        pipe.send((host, int(port)))
        pipe.recv()


def call(address: tuple[str, int]) -> float:
    """Seconds until a session is made by a connection of its own."""
    began = perf_counter()
    while perf_counter() - began < SECONDS:
        connection = HTTPConnection(*address, timeout=SECONDS)
        with suppress(OSError):
            connection.request("POST", "/sessions", b"{}", KEY)
            if connection.getresponse().status == 201:
                connection.close()
                return perf_counter() - began
        connection.close()
        sleep(0.01)
    return SECONDS


@contextmanager
def half_open(address: tuple[str, int], kind: str) -> object:
    """Connections of a kind for a block; a thread keeps the slow ones going."""
    held: list[socket.socket] = []
    ended, opened = Event(), Event()
    thread = Thread(target=hold, args=(address, kind, held, ended, opened), daemon=True)
    thread.start()
    try:
        opened.wait()
        yield
    finally:
        ended.set()
        thread.join()
        for each in held:
            each.close()


def hold(
    address: tuple[str, int], kind: str, held: list[socket.socket], ended: Event, opened: Event
) -> None:
    """Open them, and send what the slow ones still send."""
    host = f"{address[0]}:{address[1]}".encode()
    for number in range(MANY):
        if ended.is_set():
            return
        connection = socket.socket()
        connection.settimeout(5)
        held.append(connection)
        with suppress(OSError):
            connection.connect(address)
            begun = begin(kind, number, host)
            if begun:
                connection.sendall(begun)
        if number == MANY // 2 and kind == KINDS[-1]:
            opened.set()
    opened.set()
    while not ended.wait(0.5):
        for each in held if kind == "byte by byte" else ():
            with suppress(OSError):
                each.send(b"x")


def begin(kind: str, number: int, host: bytes) -> bytes:
    """What a connection sends at once."""
    if kind == KINDS[-1]:
        kind = KINDS[number % 3]
    return {"silent": b"", "byte by byte": SLOW % host, "a wrong key": WRONG % host}[kind]
