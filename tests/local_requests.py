"""Heads of requests, and what a server answers to them: bound to loopback, and bound elsewhere.

`{port}` stands for the server's own. None is a request that is served, with its key.
"""

import socket

OWN = "Host: 127.0.0.1:{port}"

ANYWHERE = {
    # name: (lines of the head, at a server on loopback and at any other one)
    "an Origin": ([OWN, "Origin: https://evil.example"], 403),
    "its own address as an Origin": ([OWN, "Origin: http://127.0.0.1:{port}"], 403),
    "an Origin in lower case": ([OWN, "origin: https://evil.example"], 403),
    "the Origin of a sandbox": ([OWN, "Origin: null"], 403),
    "an empty Origin": ([OWN, "Origin:"], 403),
    "another site": ([OWN, "Sec-Fetch-Site: cross-site"], 403),
    "another site in capitals": ([OWN, "SEC-FETCH-SITE: CROSS-SITE"], 403),
    "another port of this machine": ([OWN, "Sec-Fetch-Site: same-site"], 403),
    "a site of an unknown kind": ([OWN, "Sec-Fetch-Site: friendly"], 403),
    "two sites": ([OWN, "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"], 403),
    "an address that was typed": ([OWN, "Sec-Fetch-Site: none"], None),
    "a link of its own page": ([OWN, "Sec-Fetch-Site: same-origin"], None),
    "a program": ([OWN], None),
}

HOSTS = {
    # name: (lines of the head, at a server on loopback); elsewhere all of them are served
    "localhost": (["Host: localhost:{port}"], None),
    "capitals": (["HOST: LocalHost:{port}"], None),
    "IPv6": (["Host: [::1]:{port}"], None),
    "spaces": (["Host: \t 127.0.0.1:{port} "], None),
    "a name of somebody else": (["Host: evil.example"], 403),
    "a name that is rebound": (["Host: evil.example:{port}"], 403),
    "a name that begins with localhost": (["Host: localhost.evil.com:{port}"], 403),
    "a name that begins with the address": (["Host: 127.0.0.1.evil.com:{port}"], 403),
    "a name that ends with localhost": (["Host: evil.localhost:{port}"], 403),
    "a name that leads to the address": (["Host: 127.0.0.1.nip.io:{port}"], 403),
    "a trailing dot": (["Host: localhost.:{port}"], 403),
    "another port": (["Host: 127.0.0.1:1"], 403),
    "no port": (["Host: 127.0.0.1"], 403),
    "an empty port": (["Host: 127.0.0.1:"], 403),
    "two ports": (["Host: 127.0.0.1:{port}:{port}"], 403),
    "a port with a zero before it": (["Host: 127.0.0.1:0{port}"], 403),
    "another address of this machine": (["Host: 127.0.0.2:{port}"], 403),
    "a short form of the address": (["Host: 127.1:{port}"], 403),
    "the address as a number": (["Host: 2130706433:{port}"], 403),
    "the address within IPv6": (["Host: [::ffff:127.0.0.1]:{port}"], 403),
    "no address in particular": (["Host: 0.0.0.0:{port}"], 403),
    "a user before the address": (["Host: evil@127.0.0.1:{port}"], 403),
    "a list": (["Host: 127.0.0.1:{port}, evil.example"], 403),
    "a path": (["Host: 127.0.0.1:{port}/"], 403),
    "a URL": (["Host: http://127.0.0.1:{port}"], 403),
    "nothing": (["Host:"], 403),
    "no Host": ([], 403),
    "two Hosts": ([OWN, "Host: evil.example"], 400),
    "two Hosts, the other one first": (["Host: evil.example", OWN], 400),
    "the same Host twice": ([OWN, OWN], 400),
}

ON_LOOPBACK = {name: case for table in (ANYWHERE, HOSTS) for name, case in table.items()}
ELSEWHERE = ANYWHERE | {name: (lines, None) for name, (lines, _) in HOSTS.items()}


def wrong(port, table, line, body=b"", more=()):
    """The rows of a table that a server answers in another way, by name: the status it gives.

    Args:
        port: of the server, on 127.0.0.1.
        table: as the ones here.
        line: method and path.
        body: of each request.
        more: further lines of each head.
    """
    found = {
        name: status_of(port, [f"{line} HTTP/1.1", *lines, *more], body)
        for name, (lines, _) in table.items()
    }
    return {name: got for name, got in found.items() if not is_right(got, table[name][1])}


def is_right(got, status):
    return got not in {400, 401, 403, 500} if status is None else got == status


def status_of(port, lines, body):
    """The status of a request on a connection of its own."""
    head = [*lines, f"Content-Length: {len(body)}", "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall("\r\n".join(head).format(port=port).encode() + body)
        answer = b""
        while b"\r\n" not in answer and (piece := connection.recv(4096)):
            answer += piece
    return int(answer.split()[1])
