"""What rows of a table take as Python values, measured before they are made.

In a table, thousands of cells may point at one string; as Python values each is one of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.json_rows import BadInput
from reward_functions.data.row_limits import BATCH, MAX_TEXT, MAX_VALUES, MB, ROW
from reward_functions.data.rows.parquet_plan import is_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    from pyarrow import types  # noqa: PLC0415 - heavy, and an extra

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
    return own + (_texts(column) or 0)


def _texts(column: Any) -> int | None:
    """The bytes of an array's texts; None where it holds no texts."""
    from pyarrow import compute, types  # noqa: PLC0415 - heavy, and an extra

    kind = column.type
    if str(kind) in ("string_view", "binary_view"):
        return int(compute.sum(_view_lengths(column)).as_py() or 0)
    if types.is_string(kind) or types.is_large_string(kind) or is_bytes(types, kind):
        return int(compute.sum(compute.binary_length(column)).as_py() or 0)
    return None


def _referred(column: Any) -> int:
    """The bytes of the texts that an array of places in a dictionary stands for."""
    from pyarrow import compute, types  # noqa: PLC0415 - heavy, and an extra

    known, kind = column.dictionary, column.type.value_type
    if types.is_string(kind) or types.is_large_string(kind) or is_bytes(types, kind):
        lengths = compute.binary_length(known).take(column.indices)
        return int(compute.sum(lengths).as_py() or 0)
    if types.is_primitive(kind) or types.is_null(kind):
        return 0
    return len(column) * measured(known)


def _view_lengths(column: Any) -> Any:
    """The lengths of texts that are kept as views; a null one counts as what stands there."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, and an extra

    numbers, each = column.buffers()[1], _VIEW // 4
    flat = pa.Array.from_buffers(
        pa.int32(), each * len(column), [None, numbers], offset=each * column.offset
    )
    return pa.compute.list_element(pa.FixedSizeListArray.from_arrays(flat, each), 0)
