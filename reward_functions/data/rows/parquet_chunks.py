"""What a column of a row group takes while some rows of it are read, by its pages.

Texts that all stand in a dictionary are read as places in it: a text that a thousand cells share
stays one. Where the dictionary was given up, pyarrow would collect all texts of the row group in
one, so these are read as texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.data.json_rows import BadInput
from reward_functions.data.row_limits import MB, allowance
from reward_functions.data.rows.parquet_levels import longest_row
from reward_functions.data.rows.parquet_pages import Page, longest_text, pages_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BufferedReader

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
        width: bytes of a value that is none.
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
        import pyarrow as pa  # noqa: PLC0415 - heavy, and an extra

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
