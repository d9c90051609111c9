"""JSON objects from a file, JSONL or one array, and what rows may take in memory.

A file is read a piece at a time, however large it is. Memory holds one object, and of an array's
text as much as the object at hand takes. An error names the file and the line. The lines after a
bad one are still read; the rest of a broken array is not. `-` is standard input.

A few bytes can stand for gigabytes: `[[],[],…`, a gzip of zeros, a table whose cells all point at
one long string. So what is counted is what a value takes once it is decoded, before it is.

| command | what it may take |
| --- | --- |
| reads a row and forgets it | `FREE`, and 200 times the file's bytes: in all, not at once |
| keeps something of every row | 64 MB, and 16 times the file's bytes |
"""

from __future__ import annotations

import codecs
import json
import re
import sys
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, RawIOBase
from itertools import chain
from os import fstat
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import (
    MAX_DEPTH,
    decoded_size,
    is_too_deep,
    marks_of,
    may_be_too_deep,
    values_of,
)

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


def row_size(text: bytes, marks: int | None = None) -> int:
    """Bytes that a row takes as Python's values, with what becomes of it; about, from its JSON."""
    return ROW + decoded_size(text, marks)


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


class Room:
    """The limits of a file's rows together: a small file may not become very many.

    Args:
        name: of the file, for messages.
        whole: whether the command keeps something of every row.
    """

    def __init__(self, name: str, *, whole: bool) -> None:
        self._name, self._whole = name, whole
        self._on_disk = self._taken = 0
        self._most = _AT_A_TIME if whole else FREE

    def counted(self, stream: BinaryIO) -> BinaryIO:
        """A stream of this file whose bytes count: those on disk, or those read of a pipe."""
        try:
            found = fstat(stream.fileno())
        except OSError:  # bytes in memory, which a test has put in place of standard input
            return self._piped(stream)
        if not S_ISREG(found.st_mode):
            return self._piped(stream)
        self.read(found.st_size)
        return stream

    def add(self, size: int) -> None:
        """Count the bytes of a row.

        Raises:
            BadInput: all of them take more than a file of these bytes may.
        """
        self._taken += size
        if self._taken > self._most:
            raise self._full()

    def held(self, rows: Iterable[Row | BadInput]) -> Iterator[Row | BadInput]:
        """The same rows, each counted before it is handed on."""
        for row in rows:
            self._taken += row.size  # what `add` does, without a call for each row of a file
            if self._taken > self._most:
                raise self._full()
            yield row

    def _full(self) -> BadInput:
        most = self._most // MB
        if self._whole:
            return BadInput(
                f"{self._name}: this command holds all rows at once, and they take more than "
                f"{most:,} MB: split the file, or unpack it first"
            )
        return BadInput(
            f"{self._name}: its {self._on_disk:,} bytes become more than {most:,} MB of rows, as "
            "no data set's do: look at what it repeats; rows that are meant are read as JSONL"
        )

    def _piped(self, stream: BinaryIO) -> BinaryIO:
        return cast("BinaryIO", BufferedReader(_Piped(stream, self)))

    def read(self, count: int) -> None:
        """Count bytes of the file, which make room for more."""
        self._on_disk += count
        self._most += (_RATIO_HELD if self._whole else _RATIO_READ) * count


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


SHAPE: Final = "one object a line, or one array"
"""The hint for an object that goes on on the next line."""

BLANK: Final = " \t\r\n"
"""What JSON skips."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

STRETCH: Final = 1 << 16
"""Bytes an array is read by at a time: a page of a filing is a tenth of it."""

_BLANKS: Final = re.compile(f"[{BLANK}]*+")

_SCAN: Final = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


TOO_DEEP: Final = f"JSON nested more than {MAX_DEPTH} deep: write the inner part as a string"
TOO_MANY_VALUES: Final = f"more than {MAX_VALUES:,} values: leave out what no reward reads"
NOT_UTF8: Final = (
    'not UTF-8: save it as UTF-8, which Excel calls "CSV UTF-8", or `iconv -f cp1252 -t utf-8 FILE '
    "> NEW`"
)


class Row(NamedTuple):
    """An object of a file, and where it stands for a person looking for it.

    Args:
        place: "input line 3", where the file is known.
        content: the object.
        where: "rows.jsonl, line 3", where several files are read.
        size: bytes that it takes in memory, with what becomes of it; about.
    """

    place: str
    content: dict[str, Any]
    where: str
    size: int = 0


def read_rows(file: str, *, whole: bool = False) -> Iterator[Row]:
    """The rows of a file, blank lines apart.

    Args:
        file: its path; - is standard input.
        whole: whether all of them are kept.

    Raises:
        BadInput: not UTF-8, not JSON, or not objects.
        OSError: the file cannot be read.
    """
    yield from raising(scan_rows(file, whole=whole))


def raising(rows: Iterable[Row | BadInput]) -> Iterator[Row]:
    """The rows, up to the first that cannot be read, which is raised."""
    for row in rows:
        if isinstance(row, BadInput):
            raise row
        yield row


def scan_rows(file: str, *, whole: bool = False) -> Iterator[Row | BadInput]:
    """The rows of a file; a line that is not one is a `BadInput` in its place.

    Args:
        file: its path; - is standard input.
        whole: whether something of each is kept.

    Raises:
        BadInput: all of them take more than a file of this size may.
        OSError: the file cannot be read.
    """
    room = Room(shown(file), whole=whole)
    with source_stream(file) as stream:
        yield from room.held(scan_stream(room.counted(stream), shown(file)))


def scan_stream(stream: BinaryIO, name: str) -> Iterator[Row | BadInput]:
    """The rows of an open file; `name` is what messages call it."""
    begins = stream.readline(STRETCH).removeprefix(BYTE_ORDER_MARK)
    blanks = 0
    while begins and not begins.strip():
        blanks += begins.count(b"\n")
        begins = stream.readline(STRETCH)
    if begins.lstrip().startswith(b"["):
        yield from _array(name, _pieces(stream, name, begins, blanks + 1), blanks)
    else:
        numbered = enumerate(bounded_lines(stream, name, begins, blanks), blanks + 1)
        yield from scan_lines(name, numbered)


def shown(file: str) -> str:
    """The name of a file in a message."""
    return "standard input" if file == "-" else file


@contextmanager
def source_stream(file: str) -> Iterator[BinaryIO]:
    """A file for reading; - is standard input, which stays open."""
    if file == "-":
        yield sys.stdin.buffer
        return
    with open(file, "rb") as stream:  # noqa: PTH123 - as typed: Path would read "" as a directory
        yield stream


def bounded_lines(
    stream: BinaryIO, name: str, begins: bytes = b"", before: int = 0
) -> Iterator[bytes]:
    """The lines of a stream without a byte order mark, each of `MAX_TEXT` bytes at most.

    Args:
        stream: the rest of a file.
        name: what messages call it.
        begins: what was read of it already: a line, or its beginning.
        before: the lines before that.

    Raises:
        BadInput: a line is longer: a small compressed file can hold one of any length.
    """
    most = MAX_TEXT + 1
    if not begins.endswith(b"\n"):
        begins += stream.readline(most - len(begins))
    first = begins.removeprefix(BYTE_ORDER_MARK)
    rest = iter(partial(stream.readline, most), b"")
    for number, line in enumerate(chain([first] if first else [], rest), before + 1):
        if len(line) > MAX_TEXT:
            raise BadInput(
                f"{name}, line {number}: longer than {MAX_TEXT // MB} MB: write one row a line, "
                "and leave out what no reward reads"
            )
        yield line


def _pieces(stream: BinaryIO, name: str, begins: bytes, line: int) -> Iterator[str]:
    """The text of an array, a stretch at a time; lines play no part, for it may be one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = chain([begins], iter(lambda: stream.read(STRETCH), b""), [b""])
    try:
        for piece in read:
            if text := decoder.decode(piece, final=not piece):
                yield text
                line += text.count("\n")
    except UnicodeDecodeError as error:
        line += error.object.count(b"\n", 0, error.start)
        raise BadInput(f"{name}, line {line}: {NOT_UTF8}") from None


def scan_lines(file: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Row | BadInput]:
    """The rows of lines, one object each, with the numbers of the lines; blank ones are skipped."""
    ahead = None
    while pair := ahead or next(lines, None):
        (number, line), ahead = pair, None
        marks = marks_of(line)
        if (content := _whole(line, marks)) is not None:
            size = row_size(line, marks)
            yield Row(f"input line {number}", content, f"{file}, line {number}", size)
            continue
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        try:
            text = _text(line, where).rstrip(BLANK)
            content = _decoded(json.loads, text, where)
            yield _row(f"input line {number}", content, where, text, row_size(line))
        except json.JSONDecodeError as error:
            ahead = next((pair for pair in lines if pair[1].strip()), None)
            hint = f"; {SHAPE}" if ahead and error.pos >= len(text) else ""
            yield _not_json(file, number + error.lineno - 1, error.colno, error.msg, hint)
        except BadInput as error:
            yield error


def _text(line: bytes, where: str) -> str:
    if has_too_many_values(line):
        raise BadInput(f"{where}: {TOO_MANY_VALUES}")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}, byte {error.start + 1}: {NOT_UTF8}") from None


def _whole(line: bytes, marks: int) -> dict[str, Any] | None:
    """The object that a line consists of; None of any other line, which is looked at closely.

    The decoder's own scanner takes two thirds of what `json.loads` takes.

    Args:
        line: as it was read.
        marks: of the line, among which are the brackets that nest.
    """
    if has_too_many_values(line):
        return None
    try:
        text = line.decode()
        content, end = _SCAN(text, 0)
    except (ValueError, StopIteration, RecursionError):
        return None
    if not isinstance(content, dict) or text[end:].strip(BLANK):
        return None
    if marks > MAX_DEPTH and may_be_too_deep(line) and is_too_deep(content):
        return None
    return content


def _array(file: str, pieces: Iterator[str], blanks: int) -> Iterator[Row | BadInput]:
    try:
        text = _Text(file, pieces, blanks + 1)
        for number, (content, own) in enumerate(_items(text), 1):
            size = row_size(own.encode("utf-8", "surrogatepass"))
            yield _row(f"input item {number}", content, f"{file}, item {number}", own, size)
    except BadInput as error:
        yield error


def _items(text: _Text) -> Iterator[tuple[Any, str]]:
    text.skip(1)  # the bracket it was known by
    if text.next() == "]":
        text.skip(1)
    else:
        yield text.value()
        while text.next() == ",":
            text.skip(1)
            text.next()
            yield text.value()
        if text.next() != "]":
            raise text.error("Expecting ',' delimiter")
        text.skip(1)
    if text.next():
        raise text.error("Extra data")


class _Text:
    """The text of an array: as much of it as the value at hand takes, and where that stands."""

    def __init__(self, file: str, pieces: Iterator[str], line: int) -> None:
        self.file, self.pieces = file, pieces
        self.first, self.column, self.text, self.at = line, 0, "", 0
        self._more(1)
        self.next()

    def next(self) -> str:
        """The next character that is not blank, which stays; "" at the end."""
        blanks = 0
        while True:
            blanks = _BLANKS.match(self.text, self.at + blanks).end() - self.at  # type: ignore[union-attr]
            if self.at + blanks < len(self.text):
                self.at += blanks
                return self.text[self.at]
            if blanks > MAX_TEXT:
                raise BadInput(f"{self.file}, read as a JSON array: holds nothing but blanks")
            if not self._more(max(STRETCH, blanks)):
                return ""

    def skip(self, count: int) -> None:
        """Go on by so many characters."""
        self.at += count

    def value(self) -> tuple[Any, str]:
        """The JSON value that begins here, and its text.

        Raises:
            BadInput: no JSON value begins here, or it is too large.
        """
        where = f"{self.file}, read as a JSON array"
        while True:
            error = None
            self._require_modest(where)
            try:
                value, end = _decoded(json.JSONDecoder().raw_decode, self.text, where, self.at)
            except json.JSONDecodeError as caught:
                error = caught
            # A value that the text at hand cuts short is an error, and a number may be half of one.
            if (error or end == len(self.text)) and self._more(len(self.text) - self.at):
                continue
            if error:
                self.at = min(error.pos, len(self.text.rstrip(BLANK)))
                raise self.error(error.msg)
            own, self.at = self.text[self.at : end], end
            return value, own

    def _require_modest(self, where: str) -> None:
        length = len(self.text) - self.at
        if length > MAX_TEXT:
            raise BadInput(f"{where}: an item is longer than {MAX_TEXT // MB} MB")
        # A value that is cut short is decoded in vain, but it is decoded.
        if length > MAX_VALUES and has_too_many_values(self.text[self.at :].encode()):
            raise BadInput(f"{where}: an item has {TOO_MANY_VALUES}")

    def error(self, message: str) -> BadInput:
        """What is wrong here, with the line and column."""
        line = self.first + self.text.count("\n", 0, self.at)
        begins = self.text.rfind("\n", 0, self.at)
        column = self.at - begins + (0 if begins >= 0 else self.column)
        return _not_json(self.file, line, column, message)

    def _more(self, wanted: int) -> bool:
        """Read on, no further than an item may go, and forget the text that is done with."""
        read, pieces = 0, []
        for piece in self.pieces:
            pieces.append(piece)
            read += len(piece)
            if read >= min(wanted, MAX_TEXT + 1 - (len(self.text) - self.at)):
                break
        if not pieces:
            return False
        begins = self.text.rfind("\n", 0, self.at) + 1
        self.column = self.at - begins + (0 if begins else self.column)
        self.first += self.text.count("\n", 0, begins)
        self.text, self.at = self.text[self.at :], 0
        self.text = "".join([self.text, *pieces])
        return True


def _row(place: str, content: Any, where: str, text: str, size: int) -> Row:
    if not isinstance(content, dict):
        raise BadInput(f"{where}: not a JSON object but {_kind(content)}: {SHAPE}")
    if may_be_too_deep(text) and is_too_deep(content):
        raise BadInput(f"{where}: {TOO_DEEP}")
    return Row(place, content, where, size)


def _decoded(decode: Any, text: str, where: str, *at: int) -> Any:
    """A decoder's value; the caller, who knows the lines, adds the place to its JSONDecodeError."""
    try:
        return decode(text, *at)
    except RecursionError:
        raise BadInput(f"{where}: {TOO_DEEP}") from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise BadInput(f"{where}: an integer of too many digits: write it as a string") from None


def _not_json(file: str, line: int, column: int, message: str, hint: str = "") -> BadInput:
    problem = message.removesuffix(" at").removesuffix(" starting")  # it goes on with a position
    return BadInput(f"{file}, line {line}, column {column}: not JSON: {problem}{hint}")


def _kind(content: Any) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array"}
    return names.get(type(content), "a number")
