"""Which requests are refused by their head, by where a server is bound."""

import pytest

from reward_functions.core.local_requests import is_loopback_address, refusal_of
from tests.local_requests import ELSEWHERE, ON_LOOPBACK

PORT = 8080


def refused(lines, bound):
    heads = [line.format(port=bound[1]).partition(":") for line in lines]
    refusal = refusal_of([(name, value) for name, _, value in heads], bound)
    return refusal and refusal.status


def of_each(table, bound):
    return {name: (lines, refused(lines, bound)) for name, (lines, _) in table.items()}


@pytest.mark.parametrize("bound", [("127.0.0.1", PORT), ("::1", PORT, 0, 0)], ids=["IPv4", "IPv6"])
def test_a_server_on_loopback_is_asked_by_its_own_name_and_by_no_page(bound):
    assert of_each(ON_LOOPBACK, bound) == ON_LOOPBACK


@pytest.mark.parametrize("bound", [("0.0.0.0", PORT), ("10.0.0.7", PORT), ("::", PORT, 0, 0)])
def test_a_server_elsewhere_looks_at_no_host(bound):
    assert of_each(ELSEWHERE, bound) == ELSEWHERE


@pytest.mark.parametrize(
    ("host", "bound", "status"),
    [
        ("127.0.0.5:8080", ("127.0.0.5", 8080), None),
        ("localhost", ("127.0.0.1", 80), None),
        ("localhost:80", ("127.0.0.1", 80), None),
        ("[::1]", ("::1", 80, 0, 0), None),
        ("evil.example", ("127.0.0.1", 80), 403),
        ("[0:0:0:0:0:0:0:1]:80", ("::1", 80, 0, 0), 403),
    ],
)
def test_a_host_is_the_address_that_is_bound_and_port_80_need_not_be_said(host, bound, status):
    assert refused([f"Host: {host}"], bound) == status


def test_a_refusal_quotes_nothing_of_the_request():
    refusal = refusal_of([("Host", "evil.example")], ("::1", PORT, 0, 0))
    assert refusal.sentence == "Host is not [::1]:8080: call the server by that address"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.0.0.5", "::1", "::ffff:127.0.0.1")),
        *((host, False) for host in ("0.0.0.0", "::", "10.0.0.1", "localhost", "", "fe80::1%eth0")),
    ],
)
def test_an_address_is_loopback_or_not(host, loopback):
    assert is_loopback_address(host) == loopback
