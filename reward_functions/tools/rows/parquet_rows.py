"""Tables of parquet and Arrow, a batch of rows at a time, with pyarrow: the extra `parquet`.

pyarrow (170 MB) and not duckdb (66 MB): a data set that `datasets` saved to disk is Arrow, which
duckdb reads only with an extension from the network.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from reward_functions.tools.json_rows import BadInput, Row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

BATCH: Final = 256
"""Rows that are in memory at a time."""

EXTRA: Final = "pip install 'reward-functions[parquet]'"


def scan_table(stream: BufferedReader, name: str, *, parquet: bool) -> Iterator[Row | BadInput]:
    """The rows of a table as objects; columns of bytes are left out.

    Raises:
        BadInput: pyarrow is not installed, the file is broken, or it comes from a pipe.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - heavy, and an extra
    except ImportError:
        raise BadInput(f"{name}: {'parquet' if parquet else 'Arrow'} needs: {EXTRA}") from None
    if not stream.seekable():
        raise BadInput(f"{name}: a table is read from a file, not from a pipe")
    number = 0
    try:
        for batch in _parquet(stream) if parquet else _arrow(stream):
            for content in batch.to_pylist():
                number += 1
                yield Row(f"input row {number}", _plain(content), f"{name}, row {number}")
    except (pa.ArrowException, OSError) as error:
        problem = " ".join(str(error).split())[:200]
        raise BadInput(f"{name}: not readable as a table after row {number}: {problem}") from None


def _parquet(stream: BufferedReader) -> Iterator[Any]:
    from pyarrow import parquet, types  # noqa: PLC0415 - heavy, and an extra

    table = parquet.ParquetFile(stream)
    kept = [field.name for field in table.schema_arrow if not _is_bytes(types, field.type)]
    yield from table.iter_batches(batch_size=BATCH, columns=kept)


def _arrow(stream: BufferedReader) -> Iterator[Any]:
    """Arrow's two formats: of a file, and of a stream, which `save_to_disk` writes."""
    from pyarrow import ipc, types  # noqa: PLC0415 - heavy, and an extra

    if stream.peek(6).startswith(b"ARROW1"):
        reader = ipc.open_file(stream)
        batches = map(reader.get_batch, range(reader.num_record_batches))
    else:
        batches = iter(ipc.open_stream(stream))
    for batch in batches:
        kept = [field.name for field in batch.schema if not _is_bytes(types, field.type)]
        for at in range(0, batch.num_rows, BATCH):
            yield batch.select(kept).slice(at, BATCH)


def _is_bytes(types: Any, kind: Any) -> bool:
    return bool(
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    )


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
