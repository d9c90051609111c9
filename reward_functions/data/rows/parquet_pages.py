"""What the pages of a parquet file become once they are unpacked, by their headers alone.

    column chunk = page header, page, page header, page …

The footer may say anything about sizes; a page's header cannot, for the reader allocates what the
header says and refuses a page that unpacks to more. Headers are Thrift's compact protocol:
github.com/apache/parquet-format, "Data Pages", and thrift-compact-protocol.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.data.row_limits import MB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

HEADER: Final = 1 << 12
"""Bytes of a header that are read at first: it holds a smallest and a largest value."""

LONGEST_HEADER: Final = 16 * MB
"""Of a header: pyarrow's own limit."""

DATA, DICTIONARY, DATA_V2 = 0, 2, 3
"""Kinds of pages."""

OF_DICTIONARY: Final = frozenset({2, 8})
"""Encodings whose values are places in the dictionary page."""

PREFIXED: Final = 7
"""The encoding that writes what a value shares with the one before as a length alone."""

_DEEPEST: Final = 8
_BOOLEANS: Final = {1: True, 2: False}
_VARINTS: Final = frozenset({4, 5, 6})
_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 3, 7, 8, 9, 10, 11, 12
_LONGEST_VARINT: Final = 10


class BadPage(ValueError):
    """A page's header that cannot be read. The message is one sentence without its content."""


class Page(NamedTuple):
    """A page of a column.

    Args:
        values: that it holds, the null ones and those within lists counted.
        size: bytes once it is unpacked.
        is_dictionary: whether others refer to its values.
        refers: whether its values are places in the dictionary.
        prefixed: whether each value may repeat the one before.
        begins: the first byte of what is packed.
        packed: its bytes.
        levels: bytes of the levels of repetition, which stand first and are not packed; None where
            they are packed with the rest.
    """

    values: int
    size: int
    is_dictionary: bool
    refers: bool
    prefixed: bool
    begins: int
    packed: int
    levels: int | None


def pages_of(stream: BufferedReader, begins: int, length: int, values: int) -> Iterator[Page]:
    """The pages of a column chunk, in their order.

    Args:
        stream: the file.
        begins: the chunk's first byte.
        length: its bytes.
        values: as many as it holds.

    Raises:
        BadPage: a header cannot be read.
    """
    at, end, seen = begins, begins + length, 0
    while seen < values and at < end:
        header, size = _header(stream, at)
        packed = header.get(3)
        if not isinstance(packed, int) or packed < 0:
            raise BadPage("a page has no size")
        begins = at + size
        at = begins + packed
        if (page := _page(header, begins, packed)) is not None:
            yield page
            seen += 0 if page.is_dictionary else page.values


def longest_text(dictionary: bytes, values: int) -> int:
    """Bytes of the longest text of a dictionary page, once it is unpacked.

    Raises:
        BadPage: it is cut off.
    """
    longest = at = 0
    for _ in range(values):
        begins = at + 4
        length = int.from_bytes(dictionary[at:begins], "little")
        at = begins + length
        if at > len(dictionary):
            raise BadPage("its dictionary is cut off")
        longest = max(longest, length)
    return longest


def _page(header: dict[int, Any], begins: int, packed: int) -> Page | None:
    """A page of values by its header; None of an index."""
    kind, size = header.get(1), header.get(2)
    field = {DATA: 5, DICTIONARY: 7, DATA_V2: 8}.get(kind) if isinstance(kind, int) else None
    if field is None:
        return None
    own = header.get(field)
    values = own.get(1) if isinstance(own, dict) else None
    encoding = own.get(4 if kind == DATA_V2 else 2) if isinstance(own, dict) else None
    if not isinstance(size, int) or not isinstance(values, int) or min(size, values) < 0:
        raise BadPage("a page has no size")
    is_dictionary = kind == DICTIONARY
    refers = encoding in OF_DICTIONARY and not is_dictionary
    levels = own.get(6) if isinstance(own, dict) and kind == DATA_V2 else None
    prefixed = encoding == PREFIXED
    return Page(values, size, is_dictionary, refers, prefixed, begins, packed, levels)


def _header(stream: BufferedReader, at: int) -> tuple[dict[int, Any], int]:
    """The header that begins at a place, and its bytes."""
    size = HEADER
    while True:
        stream.seek(at)
        text = stream.read(size)
        try:
            reader = _Compact(text)
            return reader.struct(), reader.at
        except IndexError:
            if len(text) < size or size >= LONGEST_HEADER:
                raise BadPage("a page's header is cut off") from None
            size *= 16


class _Compact:
    """A reader of Thrift's compact protocol; past the end of its bytes it raises IndexError."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by their numbers; those of no use here are None."""
        if depth > _DEEPEST:
            raise BadPage("a page's header is nested too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._zigzag()
            fields[number] = self._field(kind, depth)
        return fields

    def _field(self, kind: int, depth: int) -> Any:
        if kind in _BOOLEANS:
            return _BOOLEANS[kind]
        return self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _VARINTS:
            return self._zigzag()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth + 1)
        lengths = {1: 1, 2: 1, _BYTE: 1, _DOUBLE: 8}
        if kind != _BINARY and kind not in lengths:
            raise BadPage("a page's header is not Thrift")
        return self._skip(self._varint() if kind == _BINARY else lengths[kind])

    def _list(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise BadPage("a page's header is nested too deep")
        head = self._byte()
        length = head >> 4 if head >> 4 < 15 else self._varint()  # noqa: PLR2004 - a longer one
        for _ in range(length):
            self._value(head & 15, depth)

    def _skip(self, length: int) -> None:
        self.at += length
        if self.at > len(self.text):
            raise IndexError

    def _byte(self) -> int:
        self.at += 1
        return self.text[self.at - 1]

    def _varint(self) -> int:
        value = 0
        for place in range(_LONGEST_VARINT):
            byte = self._byte()
            value |= (byte & 127) << (7 * place)
            if byte < 128:  # noqa: PLR2004 - the bit that says that more follow
                return value
        raise BadPage("a page's header is not Thrift")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
