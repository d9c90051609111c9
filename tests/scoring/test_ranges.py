"""The lines of all ranges are the lines of the object: each once, in order, whatever the cut."""

import random
from io import BytesIO

import pytest

from reward_functions.data.json_rows import BadInput
from reward_functions.scoring import ranges
from reward_functions.scoring.ranges import Counted, counted, cut, lines_of
from reward_functions.scoring.shards import Done, Shard, numbered

PIECES = (
    b"\n",
    b"\r\n",
    b"\r",
    b"{}",
    b'{"a": "\xc3\xa9\xe2\x80\xa8"}',
    b" ",
    b"\n\n",
    b"\xf0\x9f\x98\x80",
    b"x" * 37,
    b"",
)


def split(content):
    """The lines by another rule: what LF ends."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]


def contents(count):
    draw = random.Random(36)
    for _ in range(count):
        text = b"".join(draw.choices(PIECES, k=draw.randrange(12)))
        yield draw, (b"\xef\xbb\xbf" if draw.random() < 0.2 else b"") + text


def test_ranges_give_the_lines_of_the_whole():
    for draw, content in contents(10_000):
        most = draw.choice((1, 2, 3, 7, 16, 64, 1 << 20))
        found = [
            line
            for start, end in cut(len(content), most)
            for line in lines_of(BytesIO(content), start, end)
        ]
        assert [each for each in found if each] == split(content), (content, most)


def test_counts_before_a_range_are_the_lines_and_rows_before_its_first():
    for draw, content in contents(500):
        most = draw.choice((1, 5, 20))
        shards = [
            Shard(part, "lines", "rows.jsonl", len(content), "etag", *each)
            for part, each in enumerate(cut(len(content), most))
        ]
        counts = {
            each.part: counted(lines_of(BytesIO(content), each.start, each.end)) for each in shards
        }
        before = Counted(0, 0)
        for shard in numbered(shards, counts):
            assert (shard.line, shard.row) == before
            lines = list(lines_of(BytesIO(content), shard.start, shard.end))
            rows = sum(bool(each.strip()) for each in lines)
            before = Counted(before.lines + len(lines), before.rows + rows)


@pytest.mark.parametrize(
    ("size", "most", "expected"),
    [
        (0, 5, [(0, 0)]),
        (5, 5, [(0, 5)]),
        (6, 5, [(0, 5), (5, 6)]),
        (3, 1, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_ranges_are_arithmetic(size, most, expected):
    assert cut(size, most) == expected


def test_a_line_that_is_too_long_names_itself_where_it_begins(monkeypatch):
    monkeypatch.setattr(ranges, "MAX_TEXT", 4)
    content = b"1\n23456\n7\n"
    with pytest.raises(BadInput, match=r"in\.jsonl, line 12: longer"):
        list(lines_of(BytesIO(content), 0, 5, "in.jsonl", 10))
    assert list(lines_of(BytesIO(content), 5, 10)) == [b"7\n"]


def test_lines_start_again_with_each_object():
    shards = [Shard(part, "lines", name, 9, "e", 0, 9) for part, name in enumerate(["a", "a", "b"])]
    counts = {0: Counted(3, 2), 1: Counted(4, 4), 2: Counted(1, 1)}
    assert [(each.line, each.row) for each in numbered(shards, counts)] == [(0, 0), (3, 2), (0, 6)]


def test_a_shard_and_what_came_of_it_pass_through_json():
    shard = Shard(3, "lines", "in/rows.jsonl", 9, "e", 0, 9, 1, 2)
    assert Shard.of(shard.item()) == shard
    done = Done(3, rows=2, seconds=1)
    assert done.item() == {"part": 3, "rows": 2, "seconds": 1}
    assert Done.of(done.item()) == done
    with pytest.raises(ValueError, match="other fields"):
        Shard.of({"part": 3})
