"""Samples from a file: JSONL, or one JSON array; `-` is standard input.

All rows are read before any is scored, so that unusable input costs nothing and leaves nothing
behind. JSONL is held as text one line at a time: what stays in memory is the samples.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from reward_functions.core.types import Sample, Unscored

SHAPE: Final = "one object a line, or one array"
"""The hint for an object that goes on on the next line."""

BLANK: Final = " \t\r\n"
"""What JSON skips."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """An object of a file, and where it stands for a person looking for it: "input line 3"."""

    place: str
    content: dict[str, Any]


class BadInput(ConfigurationError):
    """A file that is not rows of JSON objects. The message names the line."""


def read_samples(file: str) -> tuple[list[Sample | Unscored], list[str]]:
    """The samples of a file as the Lambda would decode them, and the place of each.

    Raises:
        BadInput: not UTF-8, not JSON, or not objects.
        OSError: the file cannot be read.
    """
    samples, places = [], []
    for position, (place, content) in enumerate(read_rows(file)):
        samples.append(decode_row(content, position))
        places.append(place)
    return samples, places


def read_rows(file: str) -> Iterator[Row]:
    """The rows of a file, blank lines apart.

    Raises:
        BadInput: not UTF-8, not JSON, or not objects.
        OSError: the file cannot be read.
    """
    with _opened(file) as stream:
        lines = enumerate(_without_mark(stream), 1)
        for number, line in lines:
            if line.strip():
                rows = _array if line.lstrip().startswith(b"[") else _objects
                yield from rows(shown(file), chain([(number, line)], lines))


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    with open(file, "rb") as stream:  # noqa: PTH123 - as typed: Path would read "" as a directory
        yield stream


def _without_mark(stream: BinaryIO) -> Iterator[bytes]:
    first = stream.readline()
    return chain([first.removeprefix(BYTE_ORDER_MARK)], stream)


def _objects(file: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Row]:
    for number, line in lines:
        if line.strip():
            where = f"{file}, line {number}"
            text = _text(line, where)
            try:
                content = _parsed(text, where)
            except json.JSONDecodeError as error:
                goes_on = error.pos >= len(text.rstrip(BLANK)) and any(
                    following.strip() for _, following in lines
                )
                raise _not_json(file, number, error, f"; {SHAPE}" * goes_on) from None
            yield _row(f"input line {number}", content, where)


def _array(file: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Row]:
    first, line = next(lines)
    text = "".join(
        _text(line, f"{file}, line {number}") for number, line in chain([(first, line)], lines)
    )
    try:
        items = _parsed(text, f"{file}, read as a JSON array")
    except json.JSONDecodeError as error:
        raise _not_json(file, first, error) from None
    for number, content in enumerate(items, 1):
        yield _row(f"input item {number}", content, f"{file}, item {number}")


def _row(place: str, content: Any, where: str) -> Row:
    if not isinstance(content, dict):
        raise BadInput(f"{where}: not a JSON object but {_kind(content)}")
    return Row(place, content)


def _text(line: bytes, where: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: not UTF-8 from byte {error.start + 1} on") from None


def _parsed(text: str, where: str) -> Any:
    """The JSON of a text; a JSONDecodeError is positioned by the caller, who knows its lines."""
    try:
        return json.loads(text.rstrip(BLANK))
    except RecursionError:
        raise BadInput(f"{where}: JSON nested too deep to read") from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise BadInput(f"{where}: an integer of too many digits") from None


def _not_json(file: str, first: int, error: json.JSONDecodeError, hint: str = "") -> BadInput:
    """The error of a text that begins on a line, at its one place in the whole file."""
    place = f"{file}, line {first + error.lineno - 1}, column {error.colno}"
    said = error.msg.removesuffix(" at").removesuffix(" starting")  # it goes on with a position
    return BadInput(f"{place}: not JSON: {said}{hint}")


def _kind(content: Any) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array"}
    return names.get(type(content), "a number")


def shown(file: str) -> str:
    """What a file is called in a message."""
    return "standard input" if file == "-" else file
