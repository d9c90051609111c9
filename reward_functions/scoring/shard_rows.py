"""The rows of a shard: opened, counted, and read as the whole source's would be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.data.json_rows import BadInput, Room, scan_lines
from reward_functions.data.rows.formats import rows_of_groups, scan_groups, scan_opened
from reward_functions.data.rows.reading import canonical_rows
from reward_functions.scoring.ranges import Counted, counted, lines_of
from reward_functions.scoring.rows import unread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from reward_functions.data.json_rows import Row
    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.rows import Unread
    from reward_functions.scoring.shards import Shard


def rows_counted(run: Run, shard: Shard) -> Counted:
    """How many lines and rows a shard has."""
    with run.source.opened(shard.name, shard.etag) as stream:
        if shard.kind == "lines" and not run.asked.several:
            return counted(lines_of(stream, shard.start, shard.end, shard.name))
        if shard.kind == "groups":
            lines = sum(rows_of_groups(stream, shard.name)[shard.start : shard.end])
            if not run.asked.several:
                return Counted(lines, lines)
        elif shard.kind == "lines":
            lines = counted(lines_of(stream, shard.start, shard.end, shard.name)).lines
        else:
            lines = 0
        return Counted(lines, sum(1 for _ in rows_of_shard(run, stream, shard)))


def rows_of_shard(run: Run, stream: BufferedReader, shard: Shard) -> Iterator[Unread]:
    """The rows of a shard, which are as many as were counted.

    Raises:
        BadInput: a line is no row.
    """
    room = Room(shard.name, whole=False)
    room.read(shard.size)
    found = 0
    rows = room.held(canonical_rows(_objects(stream, shard), run.how))
    for found, row in enumerate(unread(rows, shard.row or 0), 1):  # noqa: B007 - counted
        yield row
    if shard.rows is not None and found != shard.rows:
        raise BadInput(
            f"{shard.name}: a line becomes several rows, and none of the first rows does: score it "
            "in one shard, with a larger --shard-mb, or say so to `Plan.of(several=True)`"
        )


def _objects(stream: BufferedReader, shard: Shard) -> Iterator[Row | BadInput]:
    """The objects of a shard."""
    if shard.kind == "groups":
        return scan_groups(
            stream, shard.name, range(shard.start, shard.end), before=shard.line or 0
        )
    if shard.kind == "whole":
        return scan_opened(stream, shard.name, shard.name)
    before = shard.line or 0
    lines = lines_of(stream, shard.start, shard.end, shard.name, before)
    return scan_lines(shard.name, enumerate(lines, before + 1))
