"""The objects of a file, in any format: JSONL, JSON, CSV, gzip of these, parquet, a folder.

A format is known by its first bytes; CSV, which has none of its own, by the file's name or by a
line of column names where JSON would begin. Everything is read a piece at a time, and what a
compressed file makes of itself is bounded by the line.

A cell of a CSV may go over several lines, and is JSON where it is an object, or a list of objects
or of strings: messages, a reference with several answers. `[1, 2]` stays a string: it may be an
interval.

The files of a data set's folder stand by split, as the Hugging Face hub has them, or
`save_to_disk`. A folder of several splits is read by `FOLDER/SPLIT`, whether or not that is a
folder itself.

    FOLDER/data/train-00000-of-00002.parquet      FOLDER/train.jsonl
    FOLDER/state.json, data-00000-of-00001.arrow  FOLDER/dataset_dict.json, FOLDER/train/state.json
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import zlib
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from reward_functions.core.jsons import (
    VALUE,
    is_too_deep,
    may_be_too_deep,
    text_size,
    values_of,
)
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.json_rows import (
    BYTE_ORDER_MARK,
    MAX_COLUMNS,
    MAX_TEXT,
    MAX_VALUES,
    MB,
    NOT_UTF8,
    ROW,
    BadInput,
    Room,
    Row,
    bounded_lines,
    has_too_many_values,
    scan_stream,
    shown,
    source_stream,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import RawIOBase
    from typing import BinaryIO


ENDINGS: Final = (".parquet", ".jsonl", ".jsonl.gz", ".json", ".csv", ".csv.gz", ".tsv", ".arrow")

OWN: Final = frozenset(
    {
        "dataset_info.json",
        "state.json",
        "dataset_dict.json",
        "dataset_infos.json",
        "report.json",  # of `reward data prepare`
    }
)
"""Files about a data set, beside its rows."""

MAX_FILES: Final = 20_000
_SHARD: Final = re.compile(r"-\d{1,8}(?:-of-\d{1,8})?(?:-[0-9a-f]{1,40})?$")


def files_of(path: str) -> list[Path] | None:
    """The files to read for a path, in their order; None where it is a file itself, or nothing.

    Raises:
        BadInput: a folder holds no rows, or several splits; or it has no such split.
    """
    folder = Path(path)
    if not path:
        return None
    if folder.is_dir():
        return _only(folder, splits_of(folder))
    if folder.exists() or not folder.parent.is_dir() or folder.suffix:
        return None
    if not _is_data_set(folder.parent):
        return None
    splits = splits_of(folder.parent)
    if folder.name not in splits:
        raise BadInput(
            f"{folder.parent} has no split {folder.name!r}{did_you_mean(folder.name, splits)}"
        )
    return splits[folder.name]


def _is_data_set(folder: Path) -> bool:
    """Whether a folder looks like a data set's, and not like one where a name was mistyped."""
    signs = ("dataset_dict.json", "data/*", "*-of-*", "*/*-of-*")
    return any(next(folder.glob(sign), None) is not None for sign in signs)


def _only(folder: Path, splits: dict[str, list[Path]]) -> list[Path]:
    if not splits:
        raise BadInput(f"{folder}: a folder without rows: no {', '.join(ENDINGS)}")
    if len(splits) > 1:
        named = _is_data_set(folder)  # elsewhere a split is no path
        paths = (folder / name if named else splits[name][0] for name in sorted(splits)[:8])
        names = " or ".join(map(str, paths))
        raise BadInput(f"{folder} holds several splits: name one, {names}")
    return next(iter(splits.values()))


def splits_of(folder: Path) -> dict[str, list[Path]]:
    """The files of each split, without those of hidden folders, such as git's.

    Raises:
        BadInput: there is too much to look through.
    """
    if (folder / "state.json").is_file():
        return {"data": _saved(folder)}
    splits: dict[str, list[Path]] = {}
    for path in sorted(_files(folder)):
        splits.setdefault(_split(path.relative_to(folder)), []).append(path)
    return splits


def _files(folder: Path) -> Iterator[Path]:
    """The files of rows below a folder. What vanishes meanwhile is passed over."""
    seen = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        seen += len(folders) + len(names)
        if seen > MAX_FILES:
            raise BadInput(f"{folder}: more than {MAX_FILES:,} files; name the one to read")
        for name in names:
            path = Path(place, name)
            hidden = name.startswith(".") or name in OWN
            if name.endswith(ENDINGS) and not hidden and path.is_file():
                yield path


def _split(inside: Path) -> str:
    """The split a file belongs to: its name without the shard, below its configuration."""
    stem = next(
        inside.name.removesuffix(ending)
        for ending in sorted(ENDINGS, key=len, reverse=True)
        if inside.name.endswith(ending)
    )
    name = _SHARD.sub("", stem)
    above = [part for part in inside.parts[:-1] if part != "data"]
    if inside.suffix == ".arrow" and name == "data":
        return "-".join(above) or name
    return "-".join([*above, name])


def _saved(folder: Path) -> list[Path]:
    """The files of a data set saved to disk, in the order it names them.

    Raises:
        BadInput: `state.json` names none, or one elsewhere.
    """
    try:
        listed = json.loads((folder / "state.json").read_bytes())["_data_files"]
        names = [str(each["filename"]) for each in listed]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput(
            f"{folder / 'state.json'} does not say which files the rows are in"
        ) from None
    if any(Path(name).name != name for name in names):
        raise BadInput(f"{folder / 'state.json'} names a file of another folder")
    return [folder / name for name in names]


REPR: Final = ("[{'role'", "[{'content'", "{'role'", "{'messages'")
"""How Python writes messages, which is not JSON; pandas writes them so."""


def scan_csv(stream: BinaryIO, name: str, delimiter: str) -> Iterator[Row | BadInput]:
    """The rows of a CSV as objects. A first or last column without a name is left out.

    The first is the numbers that pandas writes, the last a separator at the end of the line.

    Raises:
        BadInput: the column names are missing or repeated, or the text cannot be taken apart.
    """
    lines = _Lines(stream, name, delimiter)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header = _next(reader, name, 1)
    if header and header[0].lower() == "sep=" and not any(header[1:]):  # as Excel reads it
        header = _next(reader, name, 2)
    if header is None:
        return
    if len(header) > MAX_COLUMNS:
        raise BadInput(
            f"{name}, line 1: {len(header):,} columns, and {MAX_COLUMNS:,} are read: leave some out"
        )
    names = [column.strip() for column in header]
    named = [column for column in names if column]
    if twice := next((column for column in named if names.count(column) > 1), None):
        raise BadInput(f"{name}, line 1: two columns are called {twice[:40]!r}: rename one")
    if not named or "" in names[1:-1]:
        raise BadInput(f"{name}, line 1: a column has no name: name it, or leave it out")
    begins = reader.line_num + 1
    lines.begin()
    while (cells := _next(reader, name, begins)) is not None:
        place, where = f"input line {begins}", f"{name}, line {begins}"
        begins, size = reader.line_num + 1, ROW + lines.decoded
        lines.begin()
        if not any(map(str.strip, cells)):  # a line of separators ends the sheets of Excel
            continue
        if len(cells) != len(names):
            yield BadInput(
                f"{where}: {len(cells)} cells, and there are {len(names)} columns: quote cells "
                "that hold the separator"
            )
            continue
        try:
            content = {
                key: _value(cell, key) for key, cell in zip(names, cells, strict=True) if key
            }
        except ValueError as error:
            yield BadInput(f"{where}: {error}")
            continue
        yield Row(place, content, where, size)


class _Lines:
    """The lines of a CSV as text; those of one row are bounded together.

    Attributes:
        decoded: bytes that the row at hand takes in memory so far, about.
    """

    def __init__(self, stream: BinaryIO, name: str, delimiter: str) -> None:
        self._lines = enumerate(bounded_lines(stream, name), 1)
        self._name, self._delimiter = name, delimiter.encode()
        self.begin()

    def begin(self) -> None:
        """Count from here: another row begins."""
        self.decoded = self._size = self._cells = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        where = f"{self._name}, line {number}"
        cells = line.count(self._delimiter)
        self._size += len(line)
        self._cells += cells
        values = values_of(line, len(line))  # of JSON in cells; commas are among them
        self.decoded += text_size(line) + VALUE * max(cells, values)
        if self._size > MAX_TEXT:
            raise BadInput(
                f"{where}: a row of more than {MAX_TEXT // MB} MB: is a quote never closed?"
            )
        if self._cells > MAX_VALUES:
            raise BadInput(f"{where}: more than {MAX_VALUES:,} cells: is this line CSV?")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{where}, byte {error.start + 1}: {NOT_UTF8}") from None


def _next(reader: Any, name: str, begins: int) -> list[str] | None:
    """The next row; the limit of a cell is the module's own, so it is ours for this row only."""
    before = csv.field_size_limit(MAX_TEXT)
    try:
        return next(reader, None)
    except csv.Error as error:
        lines = f"line {begins}" if reader.line_num <= begins else f"lines {begins} and on"
        hint = "; is a quote never closed?" if "end of data" in str(error) else ""
        problem = str(error).partition(" - ")[0]
        raise BadInput(f"{name}, {lines}: not CSV: {problem}{hint}") from None
    finally:
        csv.field_size_limit(before)


class CellObject(dict[str, Any]):
    """An object in a cell, and how it stands there: a response of JSON is that text."""

    def __init__(self, decoded: dict[str, Any], written: str) -> None:
        super().__init__(decoded)
        self.written = written


class CellList(list[Any]):
    """A list in a cell, and how it stands there."""

    def __init__(self, decoded: list[Any], written: str) -> None:
        super().__init__(decoded)
        self.written = written


def _value(cell: str, column: str) -> Any:
    """A cell, decoded where it is JSON of a kind that rows hold, and no larger or deeper.

    Raises:
        ValueError: it is messages in Python's notation.
    """
    start = cell.lstrip()[:1]
    if start not in ("{", "["):
        return cell
    if len(cell) > MAX_VALUES and has_too_many_values(cell.encode()):
        return cell
    try:
        decoded = json.loads(cell)
    except (ValueError, RecursionError):
        if cell.lstrip().startswith(REPR):
            raise ValueError(
                f"column {column} holds messages as Python writes them; write them as JSON"
            ) from None
        return cell
    if may_be_too_deep(cell) and is_too_deep(decoded):
        return cell
    if isinstance(decoded, dict):
        return CellObject(decoded, cell)
    parts = any(all(isinstance(item, kind) for item in decoded) for kind in (dict, str))
    return CellList(decoded, cell) if decoded and parts else cell


GZIP: Final = b"\x1f\x8b"
PARQUET: Final = b"PAR1"
ARROW: Final = b"ARROW1"
EXTRA: Final = "pip install 'reward-functions[parquet]'"

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
    if file != "-" and (files := files_of(file)) is not None:
        for one in files:
            yield from scan_file(str(one), room)
        return
    mine = room or Room(shown(file), whole=False)
    with source_stream(file) as stream:
        counted = cast("BufferedReader", mine.counted(stream))
        rows = scan_opened(counted, file, shown(file))
        yield from rows if room else mine.held(rows)


def scan_opened(stream: BufferedReader, file: str, name: str) -> Iterator[Row | BadInput]:
    """The objects of a file that is open, and counted by the caller; `name` is for messages."""
    start = stream.peek(PEEKED)[:PEEKED]
    if start.startswith((PARQUET, ARROW)) or file.endswith(".arrow"):
        is_parquet = start.startswith(PARQUET)
        tables = _tables(name, "parquet" if is_parquet else "Arrow")
        yield from tables.scan_table(stream, name, is_parquet=is_parquet)
    elif start.startswith(GZIP):
        yield from _unpacked(stream, file, name)
    elif (delimiter := _delimiter(start, file)) is not None:
        yield from scan_csv(stream, name, delimiter)
    else:
        if what := _what(start, file):
            raise BadInput(f"{name} {what}")
        yield from scan_stream(cast("BinaryIO", stream), name)


def _tables(name: str, what: str = "parquet") -> Any:
    try:
        from reward_functions.data.rows import tables  # noqa: PLC0415 - an extra
    except ImportError:
        raise BadInput(f"{name}: {what} needs: {EXTRA}") from None
    return tables


def rows_of_groups(stream: BufferedReader, name: str) -> list[int]:
    """How many rows each row group of a parquet file has, by its footer.

    Raises:
        BadInput: the file is broken, or its footer takes more memory than it may.
    """
    found: list[int] = _tables(name).rows_of_groups(stream, name)
    return found


def scan_groups(
    stream: BufferedReader, name: str, groups: range, before: int
) -> Iterator[Row | BadInput]:
    """The rows of row groups of a parquet file, as `scan_opened` reads them.

    Args:
        stream: the whole file.
        name: of it, for messages.
        groups: to read.
        before: rows of the file before them.

    Raises:
        BadInput: the file is broken, or a part of it takes more memory than it may.
    """
    yield from _tables(name).scan_table(stream, name, is_parquet=True, groups=groups, before=before)


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
            yield from scan_opened(buffered, inner, name)
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


def holds_lines(start: bytes, file: str) -> bool:
    """Whether a file that begins so has an object on each line, so that it can be cut at any."""
    if start.startswith((PARQUET, ARROW, GZIP)) or file.endswith(".arrow"):
        return False
    if _delimiter(start, file) is not None or _what(start, file):
        return False
    return start.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"{"


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


def _buffered(stream: object) -> BufferedReader:
    """A stream with `peek`; the types of the standard library ask for a raw one, its code not."""
    return cast("BufferedReader", BufferedReader(cast("RawIOBase", stream)))
