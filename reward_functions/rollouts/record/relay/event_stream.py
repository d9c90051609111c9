"""Server-sent events, read from bytes that are split anywhere, and written.

Source: "Server-sent events" of the HTML standard, section 9.2.6; only `data` is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.relay.bounded_json import Malformed, written

if TYPE_CHECKING:
    from collections.abc import Iterator

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
