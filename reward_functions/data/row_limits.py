"""What one row, and all rows of one file, may take in memory; asked before they are decoded.

A few bytes can stand for gigabytes: `[[],[],…`, a gzip of zeros, a table whose cells all point at
one long string. So what is counted is what a value takes once it is decoded.

| command | what it may take |
| --- | --- |
| reads a row and forgets it | `FREE`, and 200 times the file's bytes: in all, not at once |
| keeps something of every row | 64 MB, and 16 times the file's bytes |
"""

from __future__ import annotations

from io import BufferedReader, RawIOBase
from os import fstat
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import decoded_size, values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

MB: Final = 1 << 20

MAX_TEXT: Final = 8 * MB
"""Bytes of a row, as a line, an item of an array, or the cells of a table: no row of text is near
it. One character beyond the usual makes each of the others take four bytes."""

MAX_VALUES: Final = 500_000
"""Values of a row, such as token ids: twice those of a trajectory of 128,000 tokens with their
log-probabilities. An empty object takes 72 bytes, its text three."""

MAX_COLUMNS: Final = 2_000
"""Columns of a table: each takes about 20 kB while it is read."""

BATCH: Final = 8 * MB
"""Bytes of decoded rows that are held until they are handed on."""

ROW: Final = 512
"""Bytes of a row beside its values: of the sample, the result and the notes that become of it."""

_AT_A_TIME: Final = 64 * MB
_RATIO_AT_A_TIME: Final = 8

_RATIO_HELD: Final = 16
"""Of rows that are held, to the bytes on disk: short ones take ten times their text."""

FREE: Final = 256 * MB
_RATIO_READ: Final = 200
"""Bytes that a compressed file may become: text shrinks to a tenth, and rows that all repeat one
long prompt to a hundredth."""


def has_too_many_values(text: bytes, most: int = MAX_VALUES) -> bool:
    """Whether a JSON text holds more values; exact where it may."""
    return len(text) >= 2 * most and values_of(text, most) > most


def row_size(text: bytes) -> int:
    """Bytes that a row takes as Python's values, with what becomes of it; about, from its JSON."""
    return ROW + decoded_size(text)


def allowance(size: int) -> int:
    """Bytes that what is unpacked at a time of a file may take, by the file's bytes on disk.

    A file of less than 10 MB gets 144 MB at most. A large one is written in large pieces, by
    writers that mean no harm: text shrinks to an eighth at the best.
    """
    return _AT_A_TIME + _RATIO_AT_A_TIME * size


class BadInput(ConfigurationError):
    """A file, or a row of it, that cannot be read. The message names the line."""

    size: Final = ROW
    """Bytes that are kept of such a row."""


class Sized(Protocol):
    """What says how many bytes it takes."""

    @property
    def size(self) -> int:
        """Bytes."""


Counted = TypeVar("Counted", bound=Sized)


class Room:
    """What the rows of a file may take together: a small file may not become very many.

    Args:
        name: of the file, for messages.
        whole: whether the command keeps something of every row.
    """

    def __init__(self, name: str, *, whole: bool) -> None:
        self._name, self._whole = name, whole
        self._on_disk = self._taken = 0

    def counted(self, stream: BinaryIO) -> BinaryIO:
        """A stream of this file whose bytes count: those on disk, or those read of a pipe."""
        try:
            found = fstat(stream.fileno())
        except OSError:  # bytes in memory, which a test has put in place of standard input
            return self._piped(stream)
        if not S_ISREG(found.st_mode):
            return self._piped(stream)
        self._on_disk += found.st_size
        return stream

    def add(self, size: int) -> None:
        """Count the bytes of a row.

        Raises:
            BadInput: all of them take more than a file of these bytes may.
        """
        self._taken += size
        on_disk = self._on_disk
        most = _AT_A_TIME + _RATIO_HELD * on_disk if self._whole else FREE + _RATIO_READ * on_disk
        if self._taken <= most:
            return
        if self._whole:
            raise BadInput(
                f"{self._name}: this command holds all rows at once, and they take more than "
                f"{most // MB:,} MB: split the file, or unpack it first"
            )
        raise BadInput(
            f"{self._name}: its {on_disk:,} bytes become more than {most // MB:,} MB of rows, as "
            "no data set's do: look at what it repeats; rows that are meant are read as JSONL"
        )

    def held(self, rows: Iterable[Counted]) -> Iterator[Counted]:
        """The same rows, each counted before it is handed on."""
        for row in rows:
            self.add(row.size)
            yield row

    def _piped(self, stream: BinaryIO) -> BinaryIO:
        return cast("BinaryIO", BufferedReader(_Piped(stream, self)))

    def read(self, count: int) -> None:
        """Count bytes that came through a pipe."""
        self._on_disk += count


class _Piped(RawIOBase):
    """A pipe whose bytes are counted as they are read. It stays open: it is somebody else's."""

    def __init__(self, stream: BinaryIO, room: Room) -> None:
        self._stream, self._room = stream, room

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        piece = self._stream.read1(len(view))  # type: ignore[attr-defined]
        view[: len(piece)] = piece
        self._room.read(len(piece))
        return len(piece)
