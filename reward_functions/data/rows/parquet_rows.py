"""Tables of parquet and Arrow, a batch of rows at a time, with pyarrow: the extra `parquet`.

pyarrow (170 MB) and not duckdb (66 MB): a data set that `datasets` saved to disk is Arrow, which
duckdb reads only with an extension from the network.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from os import SEEK_END
from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.json_rows import BadInput, Row
from reward_functions.data.row_limits import MAX_COLUMNS, MB, allowance
from reward_functions.data.rows.arrow_messages import BadMessage, bodies_of
from reward_functions.data.rows.parquet_chunks import Opened
from reward_functions.data.rows.parquet_plan import (
    is_bytes,
    leaves_of,
    planned,
    require_modest_footer,
)
from reward_functions.data.rows.table_sizes import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

BATCH_ROWS: Final = 256
"""Rows of an Arrow batch that are looked at together."""

FILE: Final = b"ARROW1\x00\x00"
"""What Arrow's format of a file begins with."""

EXTRA: Final = "pip install 'reward-functions[parquet]'"


def scan_table(stream: BufferedReader, name: str, *, parquet: bool) -> Iterator[Row | BadInput]:
    """The rows of a table as objects; columns of bytes are left out.

    Raises:
        BadInput: pyarrow is not installed, the file is broken, it comes from a pipe, or a part of
            it takes more memory than a file of its size may.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - heavy, and an extra
    except ImportError:
        raise BadInput(f"{name}: {'parquet' if parquet else 'Arrow'} needs: {EXTRA}") from None
    if not stream.seekable():
        raise BadInput(f"{name}: a table is read from a file, not from a pipe: save it first")
    number = 0
    try:
        for batch in _parquet(stream, name) if parquet else _arrow(stream, name):
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
    from pyarrow import types  # noqa: PLC0415 - heavy, and an extra

    columns = [
        column.dictionary_decode() if types.is_dictionary(column.type) else column
        for column in part.columns
    ]
    return type(part).from_arrays(columns, names=part.schema.names).to_pylist()  # type: ignore[no-any-return]


def _parquet(stream: BufferedReader, name: str) -> Iterator[Any]:
    from pyarrow import parquet  # noqa: PLC0415 - heavy, and an extra

    size = stream.seek(0, SEEK_END)
    require_modest_footer(stream, name)
    table = parquet.ParquetFile(stream)
    leaves, footer = leaves_of(table, name), table.metadata
    opened = Opened(table, stream, size, name)
    for group in range(footer.num_row_groups):
        plan = planned(opened, leaves, group)
        reader = parquet.ParquetFile(
            stream, metadata=footer, read_dictionary=[*plan.places], pre_buffer=False
        )
        yield from reader.iter_batches(
            batch_size=plan.rows,
            row_groups=[group],
            columns=[leaf.path for leaf in leaves],
            use_threads=False,
        )


def _arrow(stream: BufferedReader, name: str) -> Iterator[Any]:
    """Arrow's two formats: of a file, and of a stream, which `save_to_disk` writes.

    A file is a stream behind its magic, and is read as one: its footer could point anywhere.
    """
    from pyarrow import ipc, types  # noqa: PLC0415 - heavy, and an extra

    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    begins = len(FILE) if stream.read(len(FILE)) == FILE else 0
    _require_modest_bodies(stream, begins, size, name)
    stream.seek(begins)
    for batch in ipc.open_stream(stream):
        if batch.num_columns > MAX_COLUMNS:
            raise BadInput(f"{name}: more than {MAX_COLUMNS:,} columns: leave some out")
        kept = [field.name for field in batch.schema if not is_bytes(types, field.type)]
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
