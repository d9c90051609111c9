"""What the buffers of an Arrow stream become once they are unpacked, by its messages alone.

    message = ff ff ff ff, length, metadata (a flatbuffer), body; a compressed buffer of the body
    begins with its length once unpacked

arrow.apache.org/docs/format/Columnar.html, "Encapsulated message format".
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.data.row_limits import MB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

CONTINUES: Final = b"\xff\xff\xff\xff"
"""What a message begins with, since Arrow 0.15."""

LONGEST: Final = 16 * MB
"""Bytes of a message's metadata: a table of 2,000 columns has 200 kB."""

DICTIONARY_BATCH, RECORD_BATCH = 2, 3
"""Kinds of messages with a body."""

_UNCOMPRESSED: Final = -1
_BUFFER: Final = 16
"""Bytes of a buffer's entry: its place and its length."""


class BadMessage(ValueError):
    """Metadata that cannot be read."""


class Body(NamedTuple):
    """The body of a message: its bytes in the file, and once unpacked; a dictionary's stays."""

    packed: int
    unpacked: int
    is_dictionary: bool


def bodies_of(stream: BufferedReader, at: int) -> Iterator[Body]:
    """The bodies of the messages of a stream, which begins at a place.

    Raises:
        BadMessage: a message cannot be read.
    """
    while True:
        stream.seek(at)
        head = stream.read(8)
        long = head.startswith(CONTINUES)
        length = head[4:8] if long else head[:4]
        if len(length) < 4 or not any(length):  # noqa: PLR2004 - the bytes of a length
            return
        (size,) = struct.unpack("<i", length)
        if not 0 < size <= LONGEST:
            raise BadMessage
        begins = at + (8 if long else 4)
        stream.seek(begins)
        message = _Flat(stream.read(size))
        body = message.body_length
        if body < 0:
            raise BadMessage
        unpacked = _unpacked(stream, message, begins + size, body)
        yield Body(body, unpacked, message.kind == DICTIONARY_BATCH)
        at = begins + size + body


def _unpacked(stream: BufferedReader, message: _Flat, body: int, length: int) -> int:
    buffers = message.compressed_buffers()
    if buffers is None:
        return length
    total = 0
    for offset, size in buffers:
        if size < 8:  # noqa: PLR2004 - the bytes of a length
            continue
        stream.seek(body + offset)
        found = stream.read(8)
        if len(found) < 8 or offset < 0:  # noqa: PLR2004
            raise BadMessage
        (unpacked,) = struct.unpack("<q", found)
        total += size if unpacked == _UNCOMPRESSED else max(0, unpacked)
    return total


class _Flat:
    """The fields of a Message, a flatbuffer, that tell sizes: Message.fbs of Arrow's format."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._root = self._u32(0)
        kind = self._field(self._root, 1)
        self.kind = 0 if kind is None else self._bytes(kind, 1)[0]
        length = self._field(self._root, 3)
        self.body_length = 0 if length is None else self._i64(length)

    def compressed_buffers(self) -> list[tuple[int, int]] | None:
        """The places and lengths of the buffers of a batch; None where they are as they are."""
        header = self._field(self._root, 2)
        if header is None or self.kind not in (DICTIONARY_BATCH, RECORD_BATCH):
            return None
        batch = header + self._u32(header)
        if self.kind == DICTIONARY_BATCH:
            data = self._field(batch, 1)
            if data is None:
                return None
            batch = data + self._u32(data)
        buffers = self._field(batch, 2)
        if self._field(batch, 3) is None or buffers is None:
            return None
        vector = buffers + self._u32(buffers)
        count = self._u32(vector)
        text = self._bytes(vector + 4, count * _BUFFER)
        return list(struct.iter_unpack("<qq", text))

    def _field(self, table: int, number: int) -> int | None:
        """Where a table's field stands; None where it has its default."""
        (back,) = struct.unpack("<i", self._bytes(table, 4))
        fields = table - back
        (size,) = struct.unpack("<H", self._bytes(fields, 2))
        at = 4 + 2 * number
        if at + 2 > size:
            return None
        (offset,) = struct.unpack("<H", self._bytes(fields + at, 2))
        return table + offset if offset else None

    def _u32(self, at: int) -> int:
        return int.from_bytes(self._bytes(at, 4), "little")

    def _i64(self, at: int) -> int:
        return int.from_bytes(self._bytes(at, 8), "little", signed=True)

    def _bytes(self, at: int, size: int) -> bytes:
        found = self._text[at : at + size] if at >= 0 else b""
        if len(found) < size:
            raise BadMessage
        return found
