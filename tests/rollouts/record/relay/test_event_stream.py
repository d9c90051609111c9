"""Server-sent events: any split of the bytes, any end of line, the same capture."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.rollouts.record.completion import Assembly, TokenCapture
from reward_functions.rollouts.record.relay.wire import (
    DONE,
    EventReader,
    Malformed,
    event,
    read_object,
)
from tests.rollouts.record.relay.engines import chunks, events, message_of, tokens_of


def pieces(content, cuts):
    edges = [0, *sorted(cut % (len(content) + 1) for cut in cuts), len(content)]
    return [content[start:end] for start, end in pairwise(edges)]


def read(parts, largest=10**6):
    reader = EventReader(largest)
    return [*(data for part in parts for data in reader.feed(part)), *reader.end()]


@given(st.lists(st.integers(0, 10**6), max_size=40), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_any_split_of_a_stream_gives_the_same_capture(cuts, line_end):
    content = b": a comment\n\n" + b"".join(events(chunks("tool é"))).replace(b"data: {", b"data:{")
    assembly, tokens = Assembly(strict=True), TokenCapture()
    for data in read(pieces(content.replace(b"\n", line_end), cuts)):
        if data != DONE:
            chunk = read_object(data)
            assembly.add(chunk)
            tokens.add(chunk)
    prompt, ids, logprobs = tokens_of("tool é")
    (choice,) = assembly.completion()["choices"]
    trace = tokens.captured(len(ids)).trace
    assert (choice["message"], choice["finish_reason"]) == message_of("tool é")
    assert [*map(list, (trace.prompt_ids, trace.completion_ids, trace.logprobs))] == [
        *(prompt, ids, logprobs)
    ]


@given(
    st.lists(st.lists(st.text(st.characters(exclude_characters="\r\n")), min_size=1), max_size=5),
    st.lists(st.integers(0, 10**6), max_size=20),
)
def test_what_is_written_is_read_again(written, cuts):
    stream = "".join("".join(f"data: {line}\n" for line in each) + "\n" for each in written)
    content = stream.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    expected = ["\n".join(each) for each in written]
    assert read(pieces(content, cuts)) == [
        each.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for each in expected
    ]


def test_an_event_of_ours_is_one():
    assert read([event({"a": "é\n"}, "error")]) == [
        json.dumps({"a": "é\n"}, ensure_ascii=False).replace(": ", ":")
    ]


@pytest.mark.parametrize(
    "content", [b"data: " + b"x" * 200, b"data: x\n" * 40, b"event: " + b"x" * 200]
)
def test_an_event_is_bounded(content):
    with pytest.raises(Malformed, match="more than 100 bytes"):
        read([content], largest=100)


def test_a_stream_of_comments_is_not_one_event():
    assert read([b": ping\n\n"] * 100 + [b"data: x\n\n"], largest=100) == ["x"]


def test_an_event_that_is_not_utf_8_is_refused():
    with pytest.raises(Malformed, match="UTF-8"):
        read([b"data: \xff\n\n"])
