"""Tables of parquet and Arrow, a batch of rows at a time, with pyarrow: the extra `parquet`.

pyarrow (170 MB) and not duckdb (66 MB): a data set that `datasets` saved to disk is Arrow, which
duckdb reads only with an extension from the network.

A few bytes of a table can stand for gigabytes, and its footer may say anything about sizes. The
limit of what is decoded at a time is therefore set before, by what pyarrow itself holds a file to:

    parquet   the headers of pages: pyarrow allocates what a header says, and refuses a page that
              unpacks to more. Of a list the longest row counts, by its levels of repetition
    Arrow     the messages of its stream; a compressed buffer begins with its length once unpacked
    values    the arrays of a batch, for thousands of cells may point at one string, and as Python
              values each is one of its own

Texts that all stand in a dictionary are read as places in it: a text that a thousand cells share
stays one. Where the dictionary was given up, pyarrow would collect all texts of the row group in
one, so these are read as texts.

Sources: github.com/apache/parquet-format, "Data Pages" and "Run Length Encoding / Bit-Packing
Hybrid", thrift-compact-protocol.md; arrow.apache.org/docs/format/Columnar.html, "Encapsulated
message format".
"""

from __future__ import annotations

import struct
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from os import SEEK_END
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyarrow import compute, ipc, parquet, types

from reward_functions.data.json_rows import (
    BATCH,
    MAX_COLUMNS,
    MAX_TEXT,
    MAX_VALUES,
    MB,
    ROW,
    BadInput,
    Row,
    allowance,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from io import BufferedReader

    _Read = Callable[["Page"], bytes]

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


def _varint(text: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends; IndexError past the end of the text."""
    value = 0
    for place in range(_LONGEST_VARINT):
        byte = text[at + place]
        value |= (byte & 127) << (7 * place)
        if byte < 128:  # noqa: PLR2004 - the bit that says that more follow
            return value, at + place + 1
    raise BadPage("a number of a page has no end")


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
        value, self.at = _varint(self.text, self.at)
        return value

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


CUT_OFF: Final = "the levels of a page are cut off"

_LENGTH: Final = 4
"""Bytes of the length before levels that are packed with the rest."""

_STRETCH: Final = 1 << 16
"""Bytes of packed levels that are looked at together."""


def _signs(width: int) -> tuple[str, ...]:
    """By a byte of levels of so many bits: "0" for a row that begins, "1" for one that goes on."""
    places = range(0, 8, width)
    return tuple(
        "".join("01"[byte >> place & (1 << width) - 1 > 0] for place in places)
        for byte in range(256)
    )


_SIGNS: Final = {width: _signs(width) for width in (1, 2, 4)}


def longest_row(
    pages: Iterable[Page],
    deepest: int,
    unpacked: Callable[[Page], bytes],
    apart: Callable[[Page], bytes],
) -> int | None:
    """The most values that a row of a column has; None where its levels are of another kind.

    Args:
        pages: of the column, with values.
        deepest: its largest level.
        unpacked: gives all bytes of a page.
        apart: gives the levels of one that has them apart.

    Raises:
        BadPage: the levels of a page are cut off.
    """
    width = deepest.bit_length()
    if width not in _SIGNS:
        return None
    rows = _Rows()
    for page in pages:
        if page.levels is not None:
            levels = apart(page)
        else:
            text = unpacked(page)
            length = int.from_bytes(text[:_LENGTH], "little")
            levels = text[_LENGTH : _LENGTH + length]
        _read(levels, width, page.values, rows)
    return rows.longest


class _Rows:
    """The rows of a column so far: the values of the longest, and of the last."""

    def __init__(self) -> None:
        self.longest = self._last = 0

    def run(self, count: int, *, begins: bool) -> None:
        """So many values, each of a row of its own, or all of the row at hand."""
        self._last = 1 if begins and count else self._last + count * (not begins)
        self.longest = max(self.longest, self._last)

    def signs(self, signs: str) -> None:
        """Values one by one, as `_SIGNS` writes them."""
        first, *others = signs.split("0")
        self.run(len(first), begins=False)
        if others:
            self.longest = max(self.longest, 1 + max(map(len, others)))
            self._last = 1 + len(others[-1])


def _read(levels: bytes, width: int, values: int, rows: _Rows) -> None:
    """Count the values of one page."""
    at = seen = 0
    while seen < values:
        try:
            head, at = _varint(levels, at)
        except IndexError:
            raise BadPage(CUT_OFF) from None
        size = (head >> 1) * width if head & 1 else 1
        if at + size > len(levels) or head < 2:  # noqa: PLR2004 - a run of nothing
            raise BadPage(CUT_OFF)
        if head & 1:
            for begins in range(at, at + size, _STRETCH):
                packed = levels[begins : min(begins + _STRETCH, at + size)]
                signs = "".join(map(_SIGNS[width].__getitem__, packed))[: values - seen]
                rows.signs(signs)
                seen += len(signs)
        else:
            count = min(head >> 1, values - seen)
            rows.run(count, begins=levels[at] == 0)
            seen += count
        at += size


PLACE: Final = 16
"""Bytes of a value beside its text: a number, a place in a dictionary, its levels."""

WIDEST: Final = 64 * 1024
"""Bytes of a value of a fixed width: a decimal has 32."""

LARGEST_LOOK: Final = 4 * MB
"""Bytes of a dictionary whose texts are looked at; writers give one up at 1 MB."""

_CODECS: Final = {
    "UNCOMPRESSED": "",
    "SNAPPY": "snappy",
    "GZIP": "gzip",
    "BROTLI": "brotli",
    "ZSTD": "zstd",
}
"""What pyarrow calls the packings of pages; of LZ4 there are two that the footer calls alike."""


class Opened(NamedTuple):
    """A parquet file whose footer is read.

    Args:
        table: a ParquetFile.
        stream: the same file.
        size: its bytes.
        name: what messages call it.
    """

    table: Any
    stream: BufferedReader
    size: int
    name: str


class Leaf(NamedTuple):
    """A column of values inside a table's columns.

    Args:
        at: its number.
        path: its names, with points.
        deepest: lists that it stands in, so that a row may hold any number of its values.
        text: whether it holds texts.
        width: bytes of a missing value.
    """

    at: int
    path: str
    deepest: int
    text: bool
    width: int


class Chunk(NamedTuple):
    """A leaf of a row group.

    Args:
        leaf: which.
        pages: those of values.
        fixed: bytes that are taken however few rows are read.
        places: whether its texts are read as places in a dictionary.
        known: bytes of the longest text of the dictionary.
        longest: the most values that a row has.
    """

    leaf: Leaf
    pages: Sequence[Page]
    fixed: int
    places: bool
    known: int
    longest: int

    def takes(self, rows: int) -> int:
        """Bytes of so many rows."""
        values = min(rows * self.longest, sum(page.values for page in self.pages))
        if not self.leaf.text:
            return self.fixed + self.leaf.width * values
        return self.fixed + _texts(self.pages, 0 if self.places else self.known, values)


def chunk_of(opened: Opened, leaf: Leaf, column: Any) -> Chunk:
    """A leaf of a row group, by the footer's entry of its column.

    Raises:
        BadPage: a page cannot be read.
        BadInput: one page takes more than a file of this size may.
    """
    begins = column.data_page_offset
    first = column.dictionary_page_offset
    if first is not None and 0 < first < begins:
        begins = first
    length, count = column.total_compressed_size, column.num_values
    pages = list(pages_of(opened.stream, begins, length, count))
    require_room(opened, fixed := _unpacked(pages))
    unpack = _Unpack(opened.stream, _CODECS.get(column.compression))
    values = [page for page in pages if not page.is_dictionary]
    places = leaf.text and all(page.refers for page in values)
    written = leaf.text and not places
    known = [_longest(page, unpack) for page in pages if written and page.is_dictionary]
    longest = _values_of_a_row(leaf, values, unpack)
    return Chunk(leaf, values, fixed, places, max(known, default=0), longest)


def require_room(opened: Opened, size: int) -> None:
    """Refuse what has to be unpacked at once, where it is too much.

    Raises:
        BadInput: it is more than a file of this size may take.
    """
    if size > (most := allowance(opened.size)):
        raise BadInput(
            f"{opened.name}: {size // MB:,} MB have to be unpacked at once, and a file of "
            f"{opened.size:,} bytes may take {most // MB:,}: write it with smaller row groups, as "
            "pyarrow does with row_group_size=1000"
        )


class _Unpack:
    """The bytes of a page.

    Args:
        stream: the file.
        codec: how its pages are packed; "" for not at all, None where that is not known.
    """

    def __init__(self, stream: BufferedReader, codec: str | None) -> None:
        self._stream = stream
        self.codec = codec

    def __call__(self, page: Page) -> bytes:

        self._stream.seek(page.begins)
        packed = self._stream.read(page.packed)
        return bytes(pa.decompress(packed, page.size, self.codec)) if self.codec else packed

    def levels(self, page: Page) -> bytes:
        """The levels of repetition of a page that has them apart."""
        self._stream.seek(page.begins)
        return self._stream.read(page.levels or 0)


def _values_of_a_row(leaf: Leaf, pages: Sequence[Page], unpack: _Unpack) -> int:
    """The most values that a row has of a leaf: all there are, where nothing else can be known."""
    if not leaf.deepest:
        return 1
    everything = sum(page.values for page in pages)
    if unpack.codec is None:
        return everything
    found = longest_row(pages, leaf.deepest, unpack, unpack.levels)
    return everything if found is None else found


def _longest(page: Page, unpack: _Unpack) -> int:
    """Bytes of the longest text of a dictionary; all of them, where nothing else can be known."""
    if page.size > LARGEST_LOOK or unpack.codec is None:
        return page.size
    return longest_text(unpack(page), page.values)


def _unpacked(pages: Sequence[Page]) -> int:
    """The largest page, and the dictionary: as a page, as values, and as those of a piece."""
    largest = max((page.size for page in pages), default=0)
    known = sum(2 * page.size + PLACE * page.values for page in pages if page.is_dictionary)
    return largest + known


def _texts_of(page: Page, values: int, known: int) -> int:
    """The most that so many values of a page take as texts.

    Args:
        page: with values.
        values: as many as are read of it.
        known: bytes of the longest text of the dictionary; 0 where they are read as places.
    """
    if page.refers:
        return known * min(values, page.values)
    return page.size * (min(values, page.values) if page.prefixed else 1)


def _texts(pages: Sequence[Page], known: int, values: int) -> int:
    """The most that so many texts in a row take: all bytes of a page may be of one."""
    most = taken = held = first = 0
    for page in pages:
        taken += _texts_of(page, values, known)
        held += page.values
        # From the last value of the first page to the first one of this: all between, and two.
        while pages[first] is not page and held - pages[first].values - page.values + 2 > values:
            held -= pages[first].values
            taken -= _texts_of(pages[first], values, known)
            first += 1
        most = max(most, taken)
    return most + PLACE * values


ROWS: Final = (256, 64, 16, 4, 1)
"""Rows that are read at once: the most that fit."""

AIM: Final = 32 * MB
"""Bytes that a piece takes where fewer rows make it smaller."""

LONGEST_FOOTER: Final = 16 * MB


def require_modest_footer(stream: BufferedReader, name: str) -> None:
    """Refuse a footer that takes long to read, before it is read.

    Raises:
        BadInput: it is longer than any of a file of rows.
    """
    stream.seek(-8, 2)
    length = int.from_bytes(stream.read(4), "little")
    stream.seek(0)
    if length > LONGEST_FOOTER:
        raise BadInput(
            f"{name}: its footer has {length // MB} MB: write it with fewer columns or row groups"
        )


def leaves_of(table: Any, name: str) -> list[Leaf]:
    """The leaves that are read: those of bytes are left out.

    Raises:
        BadInput: the table has too many columns.
    """
    if table.metadata.num_columns > MAX_COLUMNS:
        raise BadInput(
            f"{name}: {table.metadata.num_columns:,} columns, and {MAX_COLUMNS:,} are read: "
            "write the columns that rewards read to a file of their own"
        )

    kinds = [kind for field in table.schema_arrow for kind in _kinds(field.type)]
    found = [table.schema.column(at) for at in range(table.metadata.num_columns)]
    leaves = []
    for at, each in enumerate(found):
        text = each.physical_type == "BYTE_ARRAY"
        width = min(WIDEST, max(PLACE, each.length))
        leaves.append(Leaf(at, each.path, each.max_repetition_level, text, width))
    if len(kinds) != len(leaves) or any("." in field.name for field in table.schema_arrow):
        return leaves  # which path is whose cannot be told: everything is read
    return [leaf for leaf, kind in zip(leaves, kinds, strict=True) if not is_bytes(kind)]


def _kinds(kind: Any) -> Iterator[Any]:
    """The types of the leaves of a type, in their order."""
    kind = getattr(kind, "storage_type", kind)
    if types.is_dictionary(kind):
        kind = kind.value_type
    if not types.is_nested(kind):
        yield kind
        return
    for at in range(kind.num_fields):
        yield from _kinds(kind.field(at).type)


def is_bytes(kind: Any) -> bool:
    """Whether values of a type are bytes, which rows of text have no use for."""
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or str(kind) == "binary_view"
    )


def planned(opened: Opened, leaves: Sequence[Leaf], group: int) -> tuple[int, list[str]]:
    """The rows of a group to read at once, and the columns whose texts are places in a dictionary.

    Args:
        opened: the file.
        leaves: that are read of it.
        group: the row group's number.

    Raises:
        BadInput: one row at a time takes more than a file of this size may.
    """
    columns = opened.table.metadata.row_group(group)
    chunks = []
    for leaf in leaves:
        try:
            chunks.append(chunk_of(opened, leaf, columns.column(leaf.at)))
        except BadPage as problem:
            raise BadInput(
                f"{opened.name}: column {leaf.path[:80]} cannot be read: {problem}: write the file "
                "again"
            ) from None
    return _fitting(chunks, opened), [chunk.leaf.path for chunk in chunks if chunk.places]


def _fitting(chunks: Sequence[Chunk], opened: Opened) -> int:
    """The most rows that take no more than is aimed at, or little more than one row does."""
    takes = {rows: sum(chunk.takes(rows) for chunk in chunks) for rows in ROWS}
    fewest = takes[ROWS[-1]]
    require_room(opened, fewest)
    aim = min(allowance(opened.size), max(AIM, fewest + fewest // 4))
    return next(rows for rows in ROWS if takes[rows] <= aim)


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
        unpacked = _unpacked_body(stream, message, begins + size, body)
        yield Body(body, unpacked, message.kind == DICTIONARY_BATCH)
        at = begins + size + body


def _unpacked_body(stream: BufferedReader, message: _Flat, body: int, length: int) -> int:
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


VALUE: Final = 32
"""Bytes of a value beside its text: a number's, and most of those of a short string."""

LARGEST_ROW: Final = MAX_TEXT + VALUE * MAX_VALUES
"""Bytes of a row as Python values."""

_VIEW: Final = 16
"""Bytes by which a column of views refers to a text; the first four are its length."""


def parts_of(batch: Any, name: str, before: int) -> Iterator[tuple[Any, int]]:
    """The batch in parts that are small as Python values, each with the bytes of a row of it.

    Args:
        batch: a RecordBatch.
        name: of the file, for messages.
        before: the rows before this batch.

    Raises:
        BadInput: a row is too large, or a column is of a kind that is not measured.
    """
    if not batch.num_rows:
        return
    try:
        size = sum(map(measured, batch.columns))
    except BadInput as problem:
        raise BadInput(f"{name}: {problem}") from None
    if size <= BATCH or (batch.num_rows == 1 and size <= LARGEST_ROW):
        yield batch, ROW + size // batch.num_rows
    elif batch.num_rows == 1:
        raise BadInput(
            f"{name}, row {before + 1}: takes {size // MB:,} MB as it is decoded, and a row may "
            f"take {LARGEST_ROW // MB}: leave out the column that no reward reads"
        )
    else:
        half = batch.num_rows // 2
        yield from parts_of(batch.slice(0, half), name, before)
        yield from parts_of(batch.slice(half), name, before + half)


def measured(column: Any) -> int:
    """Bytes that an array takes as Python values; about, and never less than its texts have.

    Raises:
        BadInput: of an array whose kind is not known.
    """
    kind, own = column.type, VALUE * len(column)
    if types.is_dictionary(kind):
        return own + _referred(column)
    if types.is_struct(kind):
        return 2 * own + sum(map(measured, column.flatten()))
    if types.is_map(kind):
        begins, ends = column.offsets[0].as_py(), column.offsets[-1].as_py()
        inner = [each.slice(begins, ends - begins) for each in (column.keys, column.items)]
        return 2 * own + sum(map(measured, inner))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return 2 * own + measured(column.flatten())
    if hasattr(column, "storage"):
        return measured(column.storage)
    if types.is_nested(kind) or types.is_run_end_encoded(kind):
        raise BadInput(f"a column of the type {str(kind)[:80]} is not read: save it as parquet")
    return own + (_text_bytes(column) or 0)


def _text_bytes(column: Any) -> int | None:
    """The bytes of an array's texts; None where it holds no texts."""
    kind = column.type
    if str(kind) in ("string_view", "binary_view"):
        return int(compute.sum(_view_lengths(column)).as_py() or 0)
    if types.is_string(kind) or types.is_large_string(kind) or is_bytes(kind):
        return int(compute.sum(compute.binary_length(column)).as_py() or 0)
    return None


def _referred(column: Any) -> int:
    """The bytes of the texts that an array of places in a dictionary stands for."""
    known, kind = column.dictionary, column.type.value_type
    if types.is_string(kind) or types.is_large_string(kind) or is_bytes(kind):
        lengths = compute.binary_length(known).take(column.indices)
        return int(compute.sum(lengths).as_py() or 0)
    if types.is_primitive(kind) or types.is_null(kind):
        return 0
    return len(column) * measured(known)


def _view_lengths(column: Any) -> Any:
    """The lengths of texts that are kept as views; a null one counts as what stands there."""
    numbers, each = column.buffers()[1], _VIEW // 4
    flat = pa.Array.from_buffers(
        pa.int32(), each * len(column), [None, numbers], offset=each * column.offset
    )
    return compute.list_element(pa.FixedSizeListArray.from_arrays(flat, each), 0)


BATCH_ROWS: Final = 256
"""Rows of an Arrow batch that are looked at together."""

FILE: Final = b"ARROW1\x00\x00"
"""What Arrow's format of a file begins with."""


def scan_table(
    stream: BufferedReader,
    name: str,
    *,
    is_parquet: bool,
    groups: range | None = None,
    before: int = 0,
) -> Iterator[Row | BadInput]:
    """The rows of a table as objects; columns of bytes are left out.

    Args:
        stream: the whole file.
        name: of it, for messages.
        is_parquet: whether it is parquet, else Arrow.
        groups: the row groups of parquet to read; all where not given.
        before: rows of the file before them.

    Raises:
        BadInput: the file is broken, it comes from a pipe, or a part of it takes more memory than
            a file of its size may.
    """
    if not stream.seekable():
        raise BadInput(f"{name}: a table is read from a file, not from a pipe: save it first")
    number = before
    try:
        for batch in _parquet(stream, name, groups) if is_parquet else _arrow(stream, name):
            for part, size in parts_of(batch, name, number):
                for content in _values(part):
                    number += 1
                    where = f"{name}, row {number}"
                    yield Row(f"input row {number}", _plain(content), where, size)
    except (pa.ArrowException, OSError) as error:
        problem = " ".join(str(error).split())[:200]
        raise BadInput(
            f"{name}: not readable as a table after row {number}: {problem}: fetch the file again, "
            "or write it again"
        ) from None


def _values(part: Any) -> list[dict[str, Any]]:
    """The rows of a part; texts of a dictionary are made strings at once, which takes half."""
    columns = [
        column.dictionary_decode() if types.is_dictionary(column.type) else column
        for column in part.columns
    ]
    return type(part).from_arrays(columns, names=part.schema.names).to_pylist()  # type: ignore[no-any-return]


def _parquet(stream: BufferedReader, name: str, groups: range | None) -> Iterator[Any]:
    size = stream.seek(0, SEEK_END)
    require_modest_footer(stream, name)
    table = parquet.ParquetFile(stream)
    leaves, footer = leaves_of(table, name), table.metadata
    opened = Opened(table, stream, size, name)
    for group in groups or range(footer.num_row_groups):
        rows, places = planned(opened, leaves, group)
        reader = parquet.ParquetFile(
            stream, metadata=footer, read_dictionary=places, pre_buffer=False
        )
        yield from reader.iter_batches(
            batch_size=rows,
            row_groups=[group],
            columns=[leaf.path for leaf in leaves],
            use_threads=False,
        )


def rows_of_groups(stream: BufferedReader, name: str) -> list[int]:
    """How many rows each row group of a parquet file has, by its footer.

    Raises:
        BadInput: the file is broken, or its footer takes more memory than it may.
    """
    require_modest_footer(stream, name)
    try:
        footer = parquet.ParquetFile(stream).metadata
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{name}: not readable as a table: {error}") from None
    return [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]


def _arrow(stream: BufferedReader, name: str) -> Iterator[Any]:
    """Arrow's two formats: of a file, and of a stream, which `save_to_disk` writes.

    A file is a stream behind its magic, and is read as one: its footer could point anywhere.
    """
    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    begins = len(FILE) if stream.read(len(FILE)) == FILE else 0
    _require_modest_bodies(stream, begins, size, name)
    stream.seek(begins)
    for batch in ipc.open_stream(stream):
        if batch.num_columns > MAX_COLUMNS:
            raise BadInput(f"{name}: more than {MAX_COLUMNS:,} columns: leave some out")
        kept = [field.name for field in batch.schema if not is_bytes(field.type)]
        for at in range(0, batch.num_rows, BATCH_ROWS):
            yield batch.select(kept).slice(at, BATCH_ROWS)


def _require_modest_bodies(stream: BufferedReader, begins: int, size: int, name: str) -> None:
    known = 0
    try:
        for body in bodies_of(stream, begins):
            known += body.unpacked if body.is_dictionary else 0
            if known + body.packed + body.unpacked > max(allowance(size), 2 * size):
                raise BadInput(
                    f"{name}: a batch takes {body.unpacked // MB:,} MB once it is unpacked, and a "
                    f"file of {size:,} bytes may take {allowance(size) // MB:,}: write it in "
                    "smaller batches, or as parquet"
                )
    except BadMessage:
        raise BadInput(f"{name}: not readable as a table: write the file again") from None


def _plain(value: Any) -> Any:
    """A value as JSON has it: times as ISO 8601, decimals as they are written, bytes as null."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    return None if isinstance(value, bytes) else value
