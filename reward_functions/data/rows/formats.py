"""The objects of a file, whatever its format: JSONL, JSON, CSV, gzip of these, parquet, a folder.

A format is known by its first bytes; CSV, which has none of its own, by the file's name or by a
line of column names where JSON would begin. Everything is read a piece at a time, and what a
compressed file makes of itself is bounded by the line.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from reward_functions.data.json_rows import BYTE_ORDER_MARK, BadInput, Row, scan_stream, shown
from reward_functions.data.row_limits import Room
from reward_functions.data.rows.csv_rows import scan_csv

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import RawIOBase
    from typing import BinaryIO

GZIP: Final = b"\x1f\x8b"
PARQUET: Final = b"PAR1"
ARROW: Final = b"ARROW1"

NOT_READ: Final = {
    b"\xff\xfe\x00\x00": "is UTF-32: save it as UTF-8",
    b"\xff\xfe": "is UTF-16: save it as UTF-8",
    b"\xfe\xff": "is UTF-16: save it as UTF-8",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: decompress it with `zstd -d`",
    b"BZh": "is compressed with bzip2: decompress it with `bunzip2`",
    b"\xfd7zXZ\x00": "is compressed with xz: decompress it with `unxz`",
    b"\xd0\xcf\x11\xe0": "is a workbook of an old Excel: save it as CSV",
    b"SQLite format 3": "is an SQLite database: export its table as CSV",
    b"%PDF": "is a PDF: save its rows as JSONL or CSV",
    b"FEA1": "is a Feather file of an old version: save it as parquet",
    b"ORC": "is an ORC file: save it as parquet",
    b"\x04\x22\x4d\x18": "is compressed with lz4: decompress it with `lz4 -d`",
    b"7z\xbc\xaf": "is a 7z archive: unpack it, and name the file inside",
    b"Rar!": "is a rar archive: unpack it, and name the file inside",
    b"\x93NUMPY": "is an array of numpy: save its rows as JSONL or CSV",
    b"\x80\x04\x95": "is a Python pickle, which is never read: save it as JSONL",
    b"\x80\x05\x95": "is a Python pickle, which is never read: save it as JSONL",
    b"version https://git-lfs.github.com": "is Git LFS's pointer: fetch the file, `git lfs pull`",
    b"<": "is HTML or XML, as a download page is: fetch the file itself",
    b"\x00": "begins with null bytes: it is not text, or was not written whole",
}
"""The first bytes of what is not read, and what it is."""

TAR: Final = (b"ustar", 257)
"""What a tar archive has, and where."""

ZIP: Final = b"PK\x03\x04"
PEEKED: Final = 1 << 12

_CSV: Final = {".csv": "", ".tsv": "\t"}
"""The delimiter by the ending; "" where the first line tells."""

_JSON: Final = frozenset({".json", ".jsonl", ".ndjson"})
_HEADER: Final = re.compile(
    rb'"?[A-Za-z_][\w .-]{0,60}"?(?:[,;\t]"?[A-Za-z_][\w .-]{0,60}"?)+\r?\n'
)
"""A line of column names, where a file's ending does not say that it is JSON."""


def scan_file(file: str, room: Room | None = None) -> Iterator[Row | BadInput]:
    """The objects of a file; what is not one is a `BadInput` in its place.

    Args:
        file: a path, a folder of a data set, such a folder and the name of a split; - is standard
            input.
        room: for what becomes of these rows, which the caller counts; else the rows are counted
            here.

    Raises:
        BadInput: the format is not read, or not without an extra; a compressed file is broken; all
            rows take more than a file of this size may.
        OSError: the file cannot be read.
    """
    if file != "-":
        from reward_functions.data.rows.folders import files_of  # noqa: PLC0415 - seldom a folder

        if (files := files_of(file)) is not None:
            for one in files:
                yield from scan_file(str(one), room)
            return
    mine = room or Room(shown(file), whole=False)
    with _opened(file, mine) as stream:
        rows = _scan(stream, file, shown(file))
        yield from rows if room else mine.held(rows)


def _scan(stream: BufferedReader, file: str, name: str) -> Iterator[Row | BadInput]:
    start = stream.peek(PEEKED)[:PEEKED]
    if start.startswith((PARQUET, ARROW)) or file.endswith(".arrow"):
        from reward_functions.data.rows.parquet_rows import scan_table  # noqa: PLC0415 - an extra

        yield from scan_table(stream, name, parquet=start.startswith(PARQUET))
    elif start.startswith(GZIP):
        yield from _unpacked(stream, file, name)
    elif (delimiter := _delimiter(start, file)) is not None:
        yield from scan_csv(stream, name, delimiter)
    else:
        _refuse(start, file, name)
        yield from scan_stream(cast("BinaryIO", stream), name)


def _unpacked(stream: BufferedReader, file: str, name: str) -> Iterator[Row | BadInput]:
    """What a gzip holds: JSON or CSV.

    Raises:
        BadInput: it is cut off or broken, or holds something else.
    """
    inner = file.removesuffix(".gz")
    try:
        with gzip.GzipFile(fileobj=stream) as unpacked:
            buffered = _buffered(unpacked)
            start = buffered.peek(PEEKED)
            if start.startswith((GZIP, PARQUET, ARROW)):
                raise BadInput(f"{name}: a compressed table or archive inside gzip: unpack it")
            yield from _scan(buffered, inner, name)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise BadInput(
            f"{name}: the gzip stream is broken or cut off: fetch the file again"
        ) from None


def _delimiter(start: bytes, file: str) -> str | None:
    """What separates the cells of a CSV; None for any other file."""
    line = start.removeprefix(BYTE_ORDER_MARK)
    ending = Path(file).suffix.lower()
    if line[:1] in (b"{", b"["):
        return None
    if ending in _CSV and not _what(start, file):
        return _CSV[ending] or _commonest(line)
    if ending not in _JSON and _HEADER.match(line):
        return _commonest(line)
    return None


def _commonest(line: bytes) -> str:
    header = line.split(b"\n", 1)[0].decode("utf-8", "replace")
    return max(",;\t|", key=header.count)


def _what(start: bytes, file: str) -> str | None:
    """What a file is that is not read."""
    if start.startswith(ZIP):
        is_workbook = file.lower().endswith((".xlsx", ".xlsm")) or b"xl/" in start
        return (
            "is an Excel workbook: save it as CSV"
            if is_workbook
            else "is a zip archive: unpack it, and name the file inside"
        )
    if start[TAR[1] :].startswith(TAR[0]):
        return "is a tar archive: unpack it, and name the file inside"
    if start[:1] in (b"{", b"[") and start[1:2] == b"\x00":
        return NOT_READ[b"\xff\xfe"]
    return next((what for magic, what in NOT_READ.items() if start.startswith(magic)), None)


def _refuse(start: bytes, file: str, name: str) -> None:
    if what := _what(start, file):
        raise BadInput(f"{name} {what}")


def _buffered(stream: object) -> BufferedReader:
    """A stream with `peek`; the types of the standard library ask for a raw one, its code not."""
    return cast("BufferedReader", BufferedReader(cast("RawIOBase", stream)))


@contextmanager
def _opened(file: str, room: Room) -> Iterator[BufferedReader]:
    if file == "-":
        yield cast("BufferedReader", room.counted(sys.stdin.buffer))
        return
    with open(file, "rb") as stream:  # noqa: PTH123 - as typed: Path would read "" as a directory
        yield cast("BufferedReader", room.counted(stream))
