"""Bodies of requests, whole and in chunks: each is read to its end, or refused with a sentence."""

import json

import pytest

from tests.core.http_server.test_half_open import KEY, head, opened, serving

LARGEST = 20
LINES = tuple(f"{name}: {value}" for name, value in KEY.items())
CHUNKED = "Transfer-Encoding: chunked"


def answered(lines, body, method="POST", version=b"HTTP/1.1"):
    """The status of a request and what it is answered, on a connection that then sends no more."""
    with serving() as server:
        server.largest = LARGEST
        sent = head(server, "/work", *LINES, "Connection: close", *lines, method=method)
        with opened(server, sent.replace(b"HTTP/1.1", version, 1) + body) as connection:
            connection.shutdown(1)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
    first, _, rest = answer.partition(b"\r\n")
    return int(first.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize(
    ("lines", "body", "size"),
    [
        (["Content-Length: 0"], b"", 0),
        (["Content-Length: 3"], b"abc", 3),
        ([f"Content-Length: {LARGEST}"], b"x" * LARGEST, LARGEST),
        ([CHUNKED], b"0\r\n\r\n", 0),
        (["Transfer-Encoding:  Chunked "], b"3\r\nabc\r\n0\r\n\r\n", 3),
        ([CHUNKED], b"a\r\n0123456789\r\nA \r\n0123456789\r\n0\r\n\r\n", LARGEST),
        ([CHUNKED], b"3;name=value\r\nabc\r\n0;last\r\nName: value\r\n\r\n", 3),
    ],
)
def test_a_body_is_read_to_its_end(lines, body, size):
    assert answered(lines, body) == (200, {"path": "/work", "size": size})


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_request_that_has_no_body_needs_no_length(method):
    assert answered([], b"", method=method) == (200, {"path": "/work", "size": 0})


@pytest.mark.parametrize(
    ("lines", "body", "status", "words"),
    [
        ([], b"", 411, "has no Content-Length"),
        (["Content-Length: 3", "Content-Length: 3"], b"abc", 400, "said more than once"),
        (["Content-Length: 3", CHUNKED], b"0\r\n\r\n", 400, "said more than once"),
        (["Content-Length: -3"], b"abc", 400, "not a number"),
        (["Content-Length: 3x"], b"abc", 400, "not a number"),
        (["Content-Length: 4"], b"abc", 400, "shorter than its length"),
        ([f"Content-Length: {LARGEST + 1}"], b"x" * (LARGEST + 1), 413, "20 bytes at most"),
        (["Transfer-Encoding: gzip, chunked"], b"", 501, "or in chunks alone"),
        ([CHUNKED], b"15\r\n" + b"x" * 21 + b"\r\n0\r\n\r\n", 413, "20 bytes at most"),
        ([CHUNKED], b"b\r\n01234567890\r\na\r\n0123456789\r\n0\r\n\r\n", 413, "20 bytes at most"),
        ([CHUNKED], b"3\r\nabcd\r\n0\r\n\r\n", 400, "longer than it says"),
        ([CHUNKED], b"3\r\nabc", 400, "not in chunks"),
        ([CHUNKED], b"3\nabc\n0\n\n", 400, "not in chunks"),
        ([CHUNKED], b"5\r\nabc", 400, "shorter than its length"),
        ([CHUNKED], b"g\r\nabc\r\n0\r\n\r\n", 400, "not a number"),
        ([CHUNKED], b"000000003\r\nabc\r\n0\r\n\r\n", 400, "not a number"),
        ([CHUNKED], b"0\r\n" + b"Name: value\r\n" * 1000 + b"\r\n", 400, "too much"),
        (["Name: 1", " folded"], b"", 400, "not a header"),
    ],
)
def test_a_body_that_has_no_clear_end_is_refused(lines, body, status, words):
    found, answer = answered(lines, body)
    assert (found, words in json.dumps(answer)) == (status, True), answer


def test_a_client_that_knows_no_chunks_sends_none():
    status, _ = answered([CHUNKED], b"0\r\n\r\n", version=b"HTTP/1.0")
    assert status == 501
