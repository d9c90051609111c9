"""CSV and TSV with a line of column names; a cell may hold JSON, and go over several lines.

A cell is JSON where it is an object, or a list of objects or of strings: messages, a reference with
several answers. `[1, 2]` stays a string: it may be an interval.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.tools.json_rows import BadInput, Row, bounded_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

MAX_CELL: Final = 16 << 20
"""Characters of a cell: many times the longest response."""

REPR: Final = ("[{'role'", "[{'content'", "{'role'", "{'messages'")
"""How Python writes messages, which is not JSON; pandas writes them so."""


def scan_csv(stream: BinaryIO, name: str, delimiter: str) -> Iterator[Row | BadInput]:
    """The rows of a CSV as objects. A first or last column without a name is left out.

    The first is the numbers that pandas writes, the last a separator at the end of the line.

    Raises:
        BadInput: the column names are missing or repeated, or the text cannot be taken apart.
    """
    reader = csv.reader(_text(stream, name), delimiter=delimiter, strict=True)
    header = _next(reader, name, 1)
    if header is None:
        return
    names = [column.strip() for column in header]
    named = [column for column in names if column]
    if twice := next((column for column in named if names.count(column) > 1), None):
        raise BadInput(f"{name}, line 1: two columns are called {twice[:40]!r}: rename one")
    if not named or "" in names[1:-1]:
        raise BadInput(f"{name}, line 1: a column has no name")
    begins = reader.line_num + 1
    while (cells := _next(reader, name, begins)) is not None:
        place, where = f"input line {begins}", f"{name}, line {begins}"
        begins = reader.line_num + 1
        if not cells:
            continue
        if len(cells) != len(names):
            yield BadInput(f"{where}: {len(cells)} cells, and there are {len(names)} columns")
            continue
        try:
            content = {
                key: _value(cell, key) for key, cell in zip(names, cells, strict=True) if key
            }
        except ValueError as error:
            yield BadInput(f"{where}: {error}")
            continue
        yield Row(place, content, where)


def _text(stream: BinaryIO, name: str) -> Iterator[str]:
    for number, line in enumerate(bounded_lines(stream, name), 1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{name}, line {number}: not UTF-8 from byte {error.start + 1} on"
            ) from None


def _next(reader: Any, name: str, begins: int) -> list[str] | None:
    """The next row; the limit of a cell is the module's own, so it is ours for this row only."""
    before = csv.field_size_limit(MAX_CELL)
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
    """A cell, decoded where it is JSON of a kind that rows hold.

    Raises:
        ValueError: it is messages in Python's notation.
    """
    start = cell.lstrip()[:1]
    if start not in ("{", "["):
        return cell
    try:
        decoded = json.loads(cell)
    except (ValueError, RecursionError):
        if cell.lstrip().startswith(REPR):
            raise ValueError(
                f"column {column} holds messages as Python writes them; write them as JSON"
            ) from None
        return cell
    if isinstance(decoded, dict):
        return decoded
    return decoded if decoded and _is_list_of_parts(decoded) else cell


def _is_list_of_parts(decoded: list[Any]) -> bool:
    return all(isinstance(item, dict) for item in decoded) or all(
        isinstance(item, str) for item in decoded
    )
