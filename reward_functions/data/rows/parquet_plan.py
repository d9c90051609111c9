"""How a parquet file is read a piece at a time, decided by its footer and its pages.

For each row group: which leaves of its columns, and how many rows at once, so that what pyarrow
unpacks stays within the file's allowance. Of a list the longest row counts, be the row group as
large as it likes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.data.json_rows import BadInput
from reward_functions.data.row_limits import MAX_COLUMNS, MB, allowance
from reward_functions.data.rows.parquet_chunks import (
    PLACE,
    WIDEST,
    Chunk,
    Leaf,
    Opened,
    chunk_of,
    require_room,
)
from reward_functions.data.rows.parquet_pages import BadPage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader

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
    from pyarrow import types  # noqa: PLC0415 - heavy, and an extra

    kinds = [kind for field in table.schema_arrow for kind in _kinds(types, field.type)]
    found = [table.schema.column(at) for at in range(table.metadata.num_columns)]
    leaves = []
    for at, each in enumerate(found):
        text = each.physical_type == "BYTE_ARRAY"
        width = min(WIDEST, max(PLACE, each.length))
        leaves.append(Leaf(at, each.path, each.max_repetition_level, text, width))
    if len(kinds) != len(leaves) or any("." in field.name for field in table.schema_arrow):
        return leaves  # which path is whose cannot be told: everything is read
    return [leaf for leaf, kind in zip(leaves, kinds, strict=True) if not is_bytes(types, kind)]


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


class Plan(NamedTuple):
    """How a row group is read.

    Args:
        rows: at once.
        places: paths of the columns whose texts are read as places in a dictionary.
    """

    rows: int
    places: frozenset[str]


def planned(opened: Opened, leaves: Sequence[Leaf], group: int) -> Plan:
    """How a row group is read.

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
    places = frozenset(chunk.leaf.path for chunk in chunks if chunk.places)
    return Plan(_fitting(chunks, opened), places)


def _fitting(chunks: Sequence[Chunk], opened: Opened) -> int:
    """The most rows that take no more than is aimed at, or little more than one row does."""
    takes = {rows: sum(chunk.takes(rows) for chunk in chunks) for rows in ROWS}
    fewest = takes[ROWS[-1]]
    require_room(opened, fewest)
    aim = min(allowance(opened.size), max(AIM, fewest + fewest // 4))
    return next(rows for rows in ROWS if takes[rows] <= aim)
