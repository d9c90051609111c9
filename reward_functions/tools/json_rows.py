"""JSON objects from a file: JSONL, or one JSON array; `-` is standard input.

Both are read a piece at a time: what stays in memory is one object, and of an array's text as much
as the object at hand takes, be the file as large as it likes. An error names the
file and the line. The lines after a bad one are still read; the rest of a broken array is not.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

SHAPE: Final = "one object a line, or one array"
"""The hint for an object that goes on on the next line."""

BLANK: Final = " \t\r\n"
"""What JSON skips."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

STRETCH: Final = 1 << 16
"""Characters an array is read by at a time: a page of a filing is a tenth of it."""

_SCAN: Final = json.JSONDecoder().scan_once  # type: ignore[attr-defined]

MAX_LINE: Final = 64 << 20
"""Bytes of a line, and characters of an object of an array: no row of text is near it."""


class Row(NamedTuple):
    """An object of a file, and where it stands for a person looking for it.

    Args:
        place: "input line 3", where the file is known.
        content: the object.
        where: "rows.jsonl, line 3", where several files are read.
    """

    place: str
    content: dict[str, Any]
    where: str


class BadInput(ConfigurationError):
    """A file, or a line of it, that is not a JSON object. The message names the line."""


def read_rows(file: str) -> Iterator[Row]:
    """The rows of a file, blank lines apart.

    Raises:
        BadInput: not UTF-8, not JSON, or not objects.
        OSError: the file cannot be read.
    """
    for row in scan_rows(file):
        if isinstance(row, BadInput):
            raise row
        yield row


def scan_rows(file: str) -> Iterator[Row | BadInput]:
    """The rows of a file; a line that is not one is a `BadInput` in its place.

    Raises:
        OSError: the file cannot be read.
    """
    with _opened(file) as stream:
        yield from scan_stream(stream, shown(file))


def scan_stream(stream: BinaryIO, name: str) -> Iterator[Row | BadInput]:
    """The rows of an open file; `name` is what messages call it."""
    lines = enumerate(bounded_lines(stream, name), 1)
    for number, line in lines:
        if line.strip():
            rows = _array if line.lstrip().startswith(b"[") else _objects
            yield from rows(name, chain([(number, line)], lines))


def shown(file: str) -> str:
    """What a file is called in a message."""
    return "standard input" if file == "-" else file


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    with open(file, "rb") as stream:  # noqa: PTH123 - as typed: Path would read "" as a directory
        yield stream


def bounded_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines of a stream without a byte order mark, each of `MAX_LINE` bytes at most.

    Raises:
        BadInput: a line is longer: a small compressed file can hold one of any length.
    """
    first = stream.readline(MAX_LINE + 1).removeprefix(BYTE_ORDER_MARK)
    rest = iter(lambda: stream.readline(MAX_LINE + 1), b"")
    for number, line in enumerate(chain([first] if first else [], rest), 1):
        if len(line) > MAX_LINE:
            raise BadInput(f"{name}, line {number}: longer than {MAX_LINE >> 20} MB")
        yield line


def _objects(file: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Row | BadInput]:
    ahead = None
    while pair := ahead or next(lines, None):
        (number, line), ahead = pair, None
        if (content := _whole(line)) is not None:
            yield Row(f"input line {number}", content, f"{file}, line {number}")
            continue
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        try:
            text = _text(line, where).rstrip(BLANK)
            yield _row(f"input line {number}", _decoded(json.loads, text, where), where)
        except json.JSONDecodeError as error:
            ahead = next((pair for pair in lines if pair[1].strip()), None)
            hint = f"; {SHAPE}" if ahead and error.pos >= len(text) else ""
            yield _not_json(file, number + error.lineno - 1, error.colno, error.msg, hint)
        except BadInput as error:
            yield error


def _whole(line: bytes) -> dict[str, Any] | None:
    """The object that a line consists of; None of any other line, which is looked at closely.

    The decoder's own scanner takes two thirds of what `json.loads` takes.
    """
    try:
        text = line.decode()
        content, end = _SCAN(text, 0)
    except (ValueError, StopIteration, RecursionError):
        return None
    return content if isinstance(content, dict) and not text[end:].strip(BLANK) else None


def _array(file: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Row | BadInput]:
    text = _Text(file, lines)
    try:
        for number, content in enumerate(_items(text), 1):
            yield _row(f"input item {number}", content, f"{file}, item {number}")
    except BadInput as error:
        yield error


def _items(text: _Text) -> Iterator[Any]:
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

    def __init__(self, file: str, lines: Iterator[tuple[int, bytes]]) -> None:
        self.file, self.lines = file, lines
        self.first, self.text, self.at = 0, "", 0
        self._more(1)
        self.next()

    def next(self) -> str:
        """The next character that is not blank, which stays; "" at the end."""
        blanks = 0
        while True:
            while self.at + blanks < len(self.text) and self.text[self.at + blanks] in BLANK:
                blanks += 1
            if self.at + blanks < len(self.text):
                self.at += blanks
                return self.text[self.at]
            if not self._more(STRETCH):
                return ""

    def skip(self, count: int) -> None:
        """Go on by so many characters."""
        self.at += count

    def value(self) -> Any:
        """The JSON value that begins here."""
        where = f"{self.file}, read as a JSON array"
        while True:
            error = None
            try:
                value, end = _decoded(json.JSONDecoder().raw_decode, self.text, where, self.at)
            except json.JSONDecodeError as caught:
                error = caught
            # A value that the text at hand cuts short is an error, and a number may be half of one.
            if (error or end == len(self.text)) and self._more(len(self.text) - self.at):
                if len(self.text) > MAX_LINE + STRETCH:
                    raise BadInput(f"{where}: an item is longer than {MAX_LINE >> 20} MB")
                continue
            if error:
                self.at = min(error.pos, len(self.text.rstrip(BLANK)))
                raise self.error(error.msg)
            self.at = end
            return value

    def error(self, message: str) -> BadInput:
        """What is wrong here, with the line and column."""
        line = self.first + self.text.count("\n", 0, self.at)
        column = self.at - self.text.rfind("\n", 0, self.at)
        return _not_json(self.file, line, column, message)

    def _more(self, wanted: int) -> bool:
        """Read on by whole lines, and forget the lines that are done with."""
        read, pieces = 0, []
        for number, line in self.lines:
            self.first = self.first or number
            pieces.append(_text(line, f"{self.file}, line {number}"))
            read += len(pieces[-1])
            if read >= max(wanted, STRETCH):
                break
        if not pieces:
            return False
        done = self.text.rfind("\n", 0, self.at) + 1
        self.first += self.text.count("\n", 0, done)
        self.at -= done
        self.text = "".join([self.text[done:], *pieces])
        return True


def _row(place: str, content: Any, where: str) -> Row:
    if not isinstance(content, dict):
        raise BadInput(f"{where}: not a JSON object but {_kind(content)}")
    return Row(place, content, where)


def _text(line: bytes, where: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: not UTF-8 from byte {error.start + 1} on") from None


def _decoded(decode: Any, text: str, where: str, *at: int) -> Any:
    """A decoder's value; the caller, who knows the lines, adds the place to its JSONDecodeError."""
    try:
        return decode(text, *at)
    except RecursionError:
        raise BadInput(f"{where}: JSON nested too deep to read") from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise BadInput(f"{where}: an integer of too many digits") from None


def _not_json(file: str, line: int, column: int, message: str, hint: str = "") -> BadInput:
    problem = message.removesuffix(" at").removesuffix(" starting")  # it goes on with a position
    return BadInput(f"{file}, line {line}, column {column}: not JSON: {problem}{hint}")


def _kind(content: Any) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array"}
    return names.get(type(content), "a number")
