"""CSV and TSV with a line of column names; a cell may hold JSON, and go over several lines.

A cell is JSON where it is an object, or a list of objects or of strings: messages, a reference with
several answers. `[1, 2]` stays a string: it may be an interval.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import (
    VALUE,
    is_too_deep,
    may_be_too_deep,
    text_size,
    values_of,
)
from reward_functions.data.json_rows import NOT_UTF8, BadInput, Row, bounded_lines
from reward_functions.data.row_limits import (
    MAX_COLUMNS,
    MAX_TEXT,
    MAX_VALUES,
    MB,
    ROW,
    has_too_many_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

REPR: Final = ("[{'role'", "[{'content'", "{'role'", "{'messages'")
"""How Python writes messages, which is not JSON; pandas writes them so."""


def scan_csv(stream: BinaryIO, name: str, delimiter: str) -> Iterator[Row | BadInput]:
    """The rows of a CSV as objects. A first or last column without a name is left out.

    The first is the numbers that pandas writes, the last a separator at the end of the line.

    Raises:
        BadInput: the column names are missing or repeated, or the text cannot be taken apart.
    """
    lines = _Lines(stream, name, delimiter)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header = _next(reader, name, 1)
    if header is None:
        return
    if len(header) > MAX_COLUMNS:
        raise BadInput(
            f"{name}, line 1: {len(header):,} columns, and {MAX_COLUMNS:,} are read: leave some out"
        )
    names = [column.strip() for column in header]
    named = [column for column in names if column]
    if twice := next((column for column in named if names.count(column) > 1), None):
        raise BadInput(f"{name}, line 1: two columns are called {twice[:40]!r}: rename one")
    if not named or "" in names[1:-1]:
        raise BadInput(f"{name}, line 1: a column has no name: name it, or leave it out")
    begins = reader.line_num + 1
    lines.begin()
    while (cells := _next(reader, name, begins)) is not None:
        place, where = f"input line {begins}", f"{name}, line {begins}"
        begins, size = reader.line_num + 1, ROW + lines.decoded
        lines.begin()
        if not cells:
            continue
        if len(cells) != len(names):
            yield BadInput(
                f"{where}: {len(cells)} cells, and there are {len(names)} columns: quote cells "
                "that hold the separator"
            )
            continue
        try:
            content = {
                key: _value(cell, key) for key, cell in zip(names, cells, strict=True) if key
            }
        except ValueError as error:
            yield BadInput(f"{where}: {error}")
            continue
        yield Row(place, content, where, size)


class _Lines:
    """The lines of a CSV as text; those of one row are bounded together.

    Attributes:
        decoded: bytes that the row at hand takes in memory so far, about.
    """

    def __init__(self, stream: BinaryIO, name: str, delimiter: str) -> None:
        self._lines = enumerate(bounded_lines(stream, name), 1)
        self._name, self._delimiter = name, delimiter.encode()
        self.begin()

    def begin(self) -> None:
        """Count from here: another row begins."""
        self.decoded = self._size = self._cells = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        where = f"{self._name}, line {number}"
        cells = line.count(self._delimiter)
        self._size += len(line)
        self._cells += cells
        values = values_of(line, len(line))  # of JSON in cells; commas are among them
        self.decoded += text_size(line) + VALUE * max(cells, values)
        if self._size > MAX_TEXT:
            raise BadInput(
                f"{where}: a row of more than {MAX_TEXT // MB} MB: is a quote never closed?"
            )
        if self._cells > MAX_VALUES:
            raise BadInput(f"{where}: more than {MAX_VALUES:,} cells: is this line CSV?")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{where}, byte {error.start + 1}: {NOT_UTF8}") from None


def _next(reader: Any, name: str, begins: int) -> list[str] | None:
    """The next row; the limit of a cell is the module's own, so it is ours for this row only."""
    before = csv.field_size_limit(MAX_TEXT)
    try:
        return next(reader, None)
    except csv.Error as error:
        lines = f"line {begins}" if reader.line_num <= begins else f"lines {begins} and on"
        hint = "; is a quote never closed?" if "end of data" in str(error) else ""
        problem = str(error).partition(" - ")[0]
        raise BadInput(f"{name}, {lines}: not CSV: {problem}{hint}") from None
    finally:
        csv.field_size_limit(before)


def _value(cell: str, column: str) -> Any:
    """A cell, decoded where it is JSON of a kind that rows hold, and no larger or deeper.

    Raises:
        ValueError: it is messages in Python's notation.
    """
    start = cell.lstrip()[:1]
    if start not in ("{", "["):
        return cell
    if len(cell) > MAX_VALUES and has_too_many_values(cell.encode()):
        return cell
    try:
        decoded = json.loads(cell)
    except (ValueError, RecursionError):
        if cell.lstrip().startswith(REPR):
            raise ValueError(
                f"column {column} holds messages as Python writes them; write them as JSON"
            ) from None
        return cell
    if may_be_too_deep(cell) and is_too_deep(decoded):
        return cell
    if isinstance(decoded, dict):
        return decoded
    return decoded if decoded and _is_list_of_parts(decoded) else cell


def _is_list_of_parts(decoded: list[Any]) -> bool:
    return all(isinstance(item, dict) for item in decoded) or all(
        isinstance(item, str) for item in decoded
    )
