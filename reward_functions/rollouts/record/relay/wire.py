"""What somebody else sends: JSON and server-sent events, within bounds; and how both are written.

JSON is an object, no deeper than anybody needs, and every number a number. Events are read from
bytes that are split anywhere: "Server-sent events" of the HTML standard, section 9.2.6; only `data`
is read.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import MAX_DEPTH, is_too_deep, may_be_too_deep, no_constant
from reward_functions.rollouts.record.completion import Malformed

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_object(content: bytes | str) -> dict[str, Any]:
    """An object of JSON.

    Raises:
        Malformed: it is no object, it is nested too deeply, or it holds NaN, an infinity, or a
            number beyond those of a float.
    """
    try:
        value = json.loads(content, parse_constant=no_constant, parse_float=_finite)
    except Malformed:
        raise
    except (ValueError, RecursionError):
        raise Malformed("what was sent is not JSON") from None
    if not isinstance(value, dict):
        raise Malformed("what was sent is not a JSON object")
    if may_be_too_deep(content) and is_too_deep(value):
        raise Malformed(f"what was sent is nested more than {MAX_DEPTH} deep")
    return value


def written(value: Any) -> bytes:
    """JSON without spaces."""
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a pair, as a stream may cut one: JSON writes it escaped
        return json.dumps(value, separators=(",", ":")).encode()


def _finite(text: str) -> float:
    """A number; one that is too large for a float would be written as no JSON."""
    value = float(text)
    if not isfinite(value):
        raise Malformed("a number is too large")
    return value


DONE: Final = "[DONE]"
"""The data of the event that ends a stream of chat completions."""

HEADERS: Final = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


class EventReader:
    """Reads the data of events, however their bytes are split.

    Args:
        largest: bytes of one event.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._after_cr = False

    def feed(self, piece: bytes) -> Iterator[str]:
        """The data of the events that end in a piece.

        Raises:
            Malformed: an event is too large, or not UTF-8.
        """
        if self._after_cr and piece.startswith(b"\n"):
            piece, self._after_cr = piece[1:], False
        if not piece:
            return
        self._after_cr = piece.endswith(b"\r")
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *ended, rest = piece.split(b"\n")
        for line in ended:
            self._grow(line)
            whole, self._line = bytes(self._line), bytearray()
            if whole:
                self._take(whole)
            elif self._data:
                yield self._event()
        self._grow(rest)

    def end(self) -> Iterator[str]:
        """The data of an event that the end of the stream cut short of its empty line."""
        if self._line:
            self._take(bytes(self._line))
        if self._data:
            yield self._event()

    def _grow(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._largest:
            raise Malformed(f"an event has more than {self._largest} bytes")
        self._line += part

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        else:
            self._size -= len(line)  # comments and names of events keep nothing

    def _event(self) -> str:
        data, self._data, self._size = b"\n".join(self._data), [], 0
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Malformed("an event is not UTF-8") from None


def event(data: Any, name: str = "") -> bytes:
    """One event.

    Args:
        data: JSON data.
        name: of the event; "" for none.
    """
    head = b"event: %b\n" % name.encode() if name else b""
    return b"%bdata: %b\n\n" % (head, written(data))


def done() -> bytes:
    """The end of a stream of chat completions."""
    return b"data: %b\n\n" % DONE.encode()
