"""The samples of a file of any format and shape, decoded as the Lambda would decode them.

    file ──rows_of──→ Unread ──read──→ Read

Code that only counts rows, or hands them to another process, leaves them unread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from reward_functions.core.errors import BadSample
from reward_functions.core.types import Unscored
from reward_functions.data.json_rows import BadInput, Row, shown
from reward_functions.data.rows import reading
from reward_functions.data.rows.reading import AS_FOUND, BadRow, scan_rows
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reward_functions.core.types import Sample


class Read(NamedTuple):
    """A sample, or why a row is no sample, and where it stands: "input line 3"."""

    place: str
    sample: Sample | Unscored


class Unread(NamedTuple):
    """A row before it is decoded, and where it stands; it passes between processes as it is.

    Args:
        place: "input line 3".
        position: in the file, from 0.
        content: of the row.
        problem: why it is no row of its file's shape; "" where it is one.
        size: bytes that it takes in memory, about.
    """

    place: str
    position: int
    content: dict[str, Any]
    problem: str = ""
    size: int = 0

    def read(self) -> Read:
        """Its sample, or why it is no sample."""
        found = decode_row(self.content, self.position)
        if self.problem:
            return Read(self.place, Unscored(found.id, BadSample(self.problem)))
        if isinstance(found, Unscored):
            found.error.__traceback__ = None  # whose frames hold the row
        return Read(self.place, found)


def row_options(mapped: list[str] | None, shape: str | None) -> RowOptions:
    """The values of `--map` and `--rows`.

    Raises:
        ConfigurationError: they cannot be read.
    """
    return RowOptions.parse(mapped, shape)


def require_rows(rows: int, file: str, *, allow_empty: bool) -> None:
    """Refuse a file without rows, unless somebody expects one.

    Args:
        rows: that it has.
        file: as it was typed.
        allow_empty: whether `--allow-empty` is given.

    Raises:
        BadInput: it has none, which is rarely what was meant.
    """
    if not rows and not allow_empty:
        raise BadInput(f"{shown(file)} holds no rows: name another file, or add --allow-empty")


def rows_of(
    file: str, rows: RowOptions = AS_FOUND, *, answered: bool = True, whole: bool = False
) -> Iterator[Unread]:
    """The rows of a file, one at a time.

    Args:
        file: its path; - is standard input.
        rows: how its rows are read.
        answered: whether a data set without responses is refused: each would earn the minimum.
        whole: whether the command keeps something of every row.

    Raises:
        BadInput: a line or an item is not an object; the file's format or shape is not known, or
            it has two; all rows take more than a file of this size may.
        OSError: the file cannot be read.
    """
    yield from unread(scan_rows(file, rows, answered=answered, whole=whole))


def unread(rows: Iterable[Row | BadInput], before: int = 0) -> Iterator[Unread]:
    """Canonical rows as they are scored.

    Args:
        rows: in their order.
        before: rows of the source before them.

    Raises:
        BadInput: one is no row.
    """
    for position, row in enumerate(rows, before):
        if isinstance(row, Row):
            yield Unread(row.place, position, row.content, "", row.size)
        elif isinstance(row, BadRow):
            yield Unread(row.place, position, {"id": row.name}, row.problem)
        else:
            raise row


def samples_of(
    file: str, rows: RowOptions = AS_FOUND, *, answered: bool = True, whole: bool = False
) -> Iterator[Read]:
    """The samples of a file, as `rows_of` finds them; one that is not valid is an `Unscored`."""
    for row in rows_of(file, rows, answered=answered, whole=whole):
        yield row.read()


def read_samples(
    file: str, rows: RowOptions = AS_FOUND, *, answered: bool = True
) -> tuple[list[Sample | Unscored], list[str]]:
    """All samples of a file, and the place of each, as `samples_of` reads them."""
    read = list(samples_of(file, rows, answered=answered, whole=True))
    return [each.sample for each in read], [each.place for each in read]


def samples_in(
    objects: Sequence[dict[str, Any]], rows: RowOptions = AS_FOUND
) -> tuple[list[Sample | Unscored], list[str]]:
    """The samples of objects of Python, and the place of each, as those of a file are read.

    Args:
        objects: at least one.
        rows: how they are read.

    Raises:
        BadInput: their shape is not known.
    """
    how = reading.recognised("rows", objects[: reading.AHEAD], rows)
    given = (Row(f"row {at}", each, f"row {at}") for at, each in enumerate(objects, 1))
    read = [each.read() for each in unread(reading.canonical_rows(given, how))]
    return [each.sample for each in read], [each.place for each in read]
