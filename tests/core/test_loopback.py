"""A URL that leads to this machine alone: written out, or by the name of a host."""

from __future__ import annotations

import socket
from threading import Event

import pytest

from reward_functions.core.loopback import is_loopback

NAMES = {
    "emulator.example": ["127.0.0.1"],
    "emulator6.example": ["10.0.0.1", "::1"],
    "proxy.example": ["10.0.0.1", "fe80::1%eth0"],
    "ip6-localhost": ["::1"],
    "emulator.amazonaws.com": ["127.0.0.1"],
    "emulator.api.aws": ["127.0.0.1"],
}


@pytest.fixture(autouse=True)
def name_server(monkeypatch):
    """Nothing is asked beside these names."""

    def found(host, *_, **__):
        if host not in NAMES:
            raise socket.gaierror
        return [(None, None, 0, "", (address, 0)) for address in NAMES[host]]

    monkeypatch.setattr("socket.getaddrinfo", found)


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch):
    over = Event()

    def late(*_, **__):
        over.wait(30)
        return [(None, None, 0, "", ("127.0.0.1", 0))]

    monkeypatch.setattr("reward_functions.core.loopback.RESOLVES_WITHIN", 0.05)
    monkeypatch.setattr("socket.getaddrinfo", late)
    assert not is_loopback("http://emulator.example")
    over.set()


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:4566", True),
        ("https://localhost", True),
        ("http://aws.localhost:1", True),
        ("http://127.0.0.1:4566", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:4566", True),
        ("127.0.0.1:4566", True),
        ("https://s3.us-east-1.amazonaws.com", False),
        ("http://10.0.0.1:4566", False),
        ("http://localhost.example.com", False),
        ("http://LOCALHOST.:1", True),
        ("http://0.0.0.0:4566", True),
        ("http://[::]:4566", True),
        ("http://[::ffff:127.0.0.1]:1", True),
        ("http://[::ffff:10.0.0.1]:1", False),
        ("http://127.1:1", True),
        ("http://0x7f.1:1", True),
        ("http://10.1:1", False),
        ("http://emulator.example:4566", True),
        ("http://emulator6.example.", False),  # one of its addresses is another machine's
        ("http://proxy.example\\@127.0.0.1", False),  # urllib3 connects to proxy.example
        ("http://127.0.0.1\\.proxy.example", False),
        ("http://user@127.0.0.1", False),
        ("http://127.0.0.1\t", False),
        ("http://127.0.0.1 ", False),
        ("http://127.0.0.1\r\nHost: proxy.example", False),
        ("http://[::ffff:127.0.0.1]\x85", False),
        ("http://ip6-localhost:1", True),
        ("http://proxy.example", False),
        ("http://nobody.example", False),
        ("http://127.0.0.1:1@proxy.example", False),
        ("https://emulator.amazonaws.com", False),
        ("https://emulator.api.aws", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_alone(url, loopback):
    assert is_loopback(url) == loopback
