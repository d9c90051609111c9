"""The ranges of an object by arithmetic, and the lines that begin in one.

A line belongs to the range that its first byte lies in, whichever range it ends in, so that the
lines of all ranges are those of the whole object: each once, and in order. A line ends with LF
alone: a CR within a line is content, and so is U+2028. What marks the order of bytes belongs to the
first range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


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


def lines_of(stream: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """The lines that begin in a range, with their LF, without a byte order mark.

    Args:
        stream: the whole object; it is sought in.
        start: the first byte of the range.
        end: the first byte after it.

    Raises:
        BadInput: a line is longer than a row may be.
    """
    raise NotImplementedError
