"""How a parquet file is read a piece at a time, decided by its footer and its pages' headers.

For each row group: which leaves of its columns, and how many rows at once, so that what pyarrow
unpacks stays within the file's allowance. Texts are read as places in their dictionary: a text that
a thousand cells share stays one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.tools.json_rows import BadInput
from reward_functions.tools.row_limits import MAX_COLUMNS, MB, allowance
from reward_functions.tools.rows.parquet_pages import BadPage, Page, pages_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedReader

ROWS: Final = (256, 64, 16, 4, 1)
"""Rows that are read at once: the most that fit."""

AIM: Final = 32 * MB
"""Bytes that a piece takes where fewer rows make it smaller."""

PLACE: Final = 16
"""Bytes of a value beside its text: a number, a place in a dictionary, its levels."""

WIDEST: Final = 64 * 1024
"""Bytes of a value of a fixed width: a decimal has 32."""

LONGEST_FOOTER: Final = 16 * MB


class Leaf(NamedTuple):
    """A column of values inside a table's columns.

    Args:
        at: its number.
        path: its names, with points.
        nested: whether it stands in a list, so that a row may hold any number of its values.
        text: whether it holds texts.
        places: whether they are read as places in a dictionary.
    """

    at: int
    path: str
    nested: bool
    text: bool
    places: bool


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
    from pyarrow import types  # noqa: PLC0415 - heavy, and an extra

    kinds = [kind for field in table.schema_arrow for kind in _kinds(types, field.type)]
    found = [table.schema.column(at) for at in range(table.metadata.num_columns)]
    leaves = []
    for at, each in enumerate(found):
        text = each.physical_type == "BYTE_ARRAY"
        places = text and not _is_delta(table.metadata, at)
        leaves.append(Leaf(at, each.path, each.max_repetition_level > 0, text, places))
    if len(kinds) != len(leaves) or any("." in field.name for field in table.schema_arrow):
        return leaves  # which path is whose cannot be told: everything is read
    return [leaf for leaf, kind in zip(leaves, kinds, strict=True) if not is_bytes(types, kind)]


def _is_delta(footer: Any, at: int) -> bool:
    """Whether a column has an encoding that pyarrow does not read as places in a dictionary."""
    chunks = (footer.row_group(group).column(at) for group in range(footer.num_row_groups))
    return any(each.startswith("DELTA") for chunk in chunks for each in chunk.encodings)


def _kinds(types: Any, kind: Any) -> Iterator[Any]:
    """The types of the leaves of a type, in their order."""
    kind = getattr(kind, "storage_type", kind)
    if types.is_dictionary(kind):
        kind = kind.value_type
    if not types.is_nested(kind):
        yield kind
        return
    for at in range(kind.num_fields):
        yield from _kinds(types, kind.field(at).type)


def is_bytes(types: Any, kind: Any) -> bool:
    """Whether values of a type are bytes, which rows of text have no use for."""
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or str(kind) == "binary_view"
    )


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


def rows_at_once(opened: Opened, leaves: Sequence[Leaf], group: int) -> int:
    """How many rows of a row group are read at a time.

    Args:
        opened: the file.
        leaves: that are read of it.
        group: the row group's number.

    Raises:
        BadInput: one row at a time takes more than a file of this size may.
    """
    chunks = opened.table.metadata.row_group(group)
    fixed, growing = 0, []
    for leaf in leaves:
        chunk = chunks.column(leaf.at)
        try:
            pages = list(_pages(opened.stream, chunk))
        except BadPage as problem:
            raise BadInput(
                f"{opened.name}: column {leaf.path[:80]} cannot be read: {problem}: write the file "
                "again"
            ) from None
        known = 0 if leaf.places else sum(page.size for page in pages if page.is_dictionary)
        fixed += _unpacked(pages)
        values = [page for page in pages if not page.is_dictionary]
        if leaf.nested:
            fixed += sum(
                PLACE * page.values + _texts_of(page, page.values, known) for page in values
            )
        elif leaf.text:
            growing.append(partial(_texts, values, known))
        else:
            width = min(WIDEST, max(PLACE, opened.table.schema.column(leaf.at).length))
            growing.append(width.__mul__)
    return _fitting(fixed, growing, opened)


def _fitting(fixed: int, growing: Sequence[Callable[[int], int]], opened: Opened) -> int:
    takes = {rows: fixed + sum(each(rows) for each in growing) for rows in ROWS}
    fewest = takes[ROWS[-1]]
    if fewest > (most := allowance(opened.size)):
        raise BadInput(
            f"{opened.name}: {fewest // MB:,} MB have to be unpacked at once, and a file of "
            f"{opened.size:,} bytes may take {most // MB:,}: write it with smaller row groups, as "
            "pyarrow does with row_group_size=1000"
        )
    return next(rows for rows in ROWS if takes[rows] <= max(AIM, fewest))


def _pages(stream: BufferedReader, chunk: Any) -> Iterator[Page]:
    begins = chunk.data_page_offset
    first = chunk.dictionary_page_offset
    if first is not None and 0 < first < begins:
        begins = first
    return pages_of(stream, begins, chunk.total_compressed_size, chunk.num_values)


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
        known: bytes of the dictionary's texts, each value being one; 0 where they are places.
    """
    if page.refers:
        return known * min(values, page.values)
    return page.size * (min(values, page.values) if page.prefixed else 1)


def _texts(pages: Sequence[Page], known: int, rows: int) -> int:
    """The most that so many texts in a row take: all bytes of a page may be of one."""
    most = taken = held = first = 0
    for page in pages:
        taken += _texts_of(page, rows, known)
        held += page.values
        # From the last value of the first page to the first one of this: all between, and two.
        while pages[first] is not page and held - pages[first].values - page.values + 2 > rows:
            held -= pages[first].values
            taken -= _texts_of(pages[first], rows, known)
            first += 1
        most = max(most, taken)
    return most + PLACE * rows
