"""The ranges of an object by arithmetic, and the lines that begin in one.

A line belongs to the range that its first byte lies in, whichever range it ends in, so that the
lines of all ranges are those of the whole object: each once, and in order. A line ends with LF
alone: a CR within a line is content, and so is U+2028. The mark of the order of bytes belongs to
    the first range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.data.json_rows import BYTE_ORDER_MARK, MAX_TEXT, MB, BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

STRETCH: Final = 1 << 16
"""Bytes of a line that are passed over at a time."""


class Counted(NamedTuple):
    """What a range holds.

    Args:
        lines: that begin in it, blank ones too.
        rows: that become results.
    """

    lines: int
    rows: int


def cut(size: int, most: int) -> list[tuple[int, int]]:
    """The ranges of an object, of `most` bytes each but the last; an empty object has one.

    Args:
        size: of the object, in bytes.
        most: 1 or more.
    """
    return [(start, min(start + most, size)) for start in range(0, size, most)] or [(0, 0)]


def lines_of(
    stream: BinaryIO, start: int, end: int, name: str = "", before: int = 0
) -> Iterator[bytes]:
    """The lines that begin in a range, with their LF, without a byte order mark.

    Args:
        stream: the whole object; it is sought in.
        start: the first byte of the range.
        end: the first byte after it.
        name: of the object, for messages.
        before: lines of the object before the range, for messages.

    Raises:
        BadInput: a line is longer than a row may be.
    """
    at = _first(stream, start)
    number = before
    while at < end and (line := stream.readline(MAX_TEXT + 1)):
        number += 1
        if len(line) > MAX_TEXT:
            raise BadInput(
                f"{name}, line {number}: longer than {MAX_TEXT // MB} MB: write one row a line, "
                "and leave out what no reward reads"
            )
        yield line if at else line.removeprefix(BYTE_ORDER_MARK)
        at += len(line)


def _first(stream: BinaryIO, start: int) -> int:
    """Where the first line begins that begins at a byte or after it; the stream stands there."""
    at = max(0, start - 1)
    stream.seek(at)
    ended = start == 0
    while not ended and (piece := stream.readline(STRETCH)):
        at += len(piece)
        ended = piece.endswith(b"\n")
    return at


def counted(lines: Iterator[bytes]) -> Counted:
    """How many lines there are, and how many are not blank."""
    found = rows = 0
    for line in lines:
        found += 1
        rows += bool(line.strip())
    return Counted(found, rows)
