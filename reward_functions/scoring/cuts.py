"""The shards that objects are cut into: lines by ranges of bytes, parquet by row groups."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from reward_functions.data.rows.formats import PARQUET, PEEKED, holds_lines, rows_of_groups
from reward_functions.scoring.ranges import cut
from reward_functions.scoring.shards import Shard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.scoring.places import Object, Place


def shards_of(place: Place, objects: Sequence[Object], most: int) -> list[Shard]:
    """The shards of objects, each of `most` bytes at most where its format can be cut."""
    cuts = chain.from_iterable(_cuts(place, each, most) for each in objects)
    shards = [shard._replace(part=part) for part, shard in enumerate(cuts)]
    return shards if len(shards) > 1 else [each._replace(line=0, row=0) for each in shards]


def _cuts(place: Place, one: Object, most: int) -> Iterator[Shard]:
    kind: Literal["lines", "whole", "groups"] = "whole"
    ranges = [(0, one.size)]
    if one.size > most:
        with place.opened(one.name, one.etag) as stream:
            start = stream.read(PEEKED)
            if start.startswith(PARQUET):
                kind, ranges = "groups", _groups(stream, one, most)
            elif holds_lines(start, one.name):
                kind, ranges = "lines", cut(one.size, most)
    for begin, end in ranges:
        yield Shard(0, kind, one.name, one.size, one.etag, begin, end)


def _groups(stream: Any, one: Object, most: int) -> list[tuple[int, int]]:
    """Row groups side by side, of so many bytes at most: by their rows, as if all were alike."""
    rows = rows_of_groups(stream, one.name)
    found: list[tuple[int, int]] = []
    start = taken = 0
    for at, count in enumerate(rows):
        size = one.size * count // max(1, sum(rows))
        if at > start and taken + size > most:
            found.append((start, at))
            start, taken = at, 0
        taken += size
    return [*found, (start, len(rows))]
