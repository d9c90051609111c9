"""The rows of a file of any format and shape, as a trainer would send them.

    file ──(formats)──→ objects ──(shapes: the first tell the shape)──→ canonical rows

Everything streams: what stays in memory is the first `AHEAD` rows, fewer where they are long, then
one.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import BadSample
from reward_functions.data.decimals import pointed_reference
from reward_functions.data.json_rows import BATCH, ROW, BadInput, Room, Row, raising, shown
from reward_functions.data.rows.formats import scan_file
from reward_functions.data.rows.shapes import (
    BEDROCK,
    RowOptions,
    UnknownShape,
    canonical,
    columns_for,
    first,
    fitting,
    require_responses,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from reward_functions.data.rows.shapes import Columns, Shape


AHEAD: Final = 32
"""Rows that are read before the shape is known."""

AS_FOUND: Final = RowOptions()
"""Recognise the shape; no mapping."""


class Recognised(NamedTuple):
    """How the rows of a file are read, once the first of them are known.

    Args:
        columns: where the parts of a row stand.
        check: the shape that every row must fit; None where somebody named one, or a mapping.
        usual: the columns of the first row that fits: a row with the same ones is not checked.
        canonical: whether rows are passed on as they are.
        comma: whether their references have a decimal comma.
    """

    columns: Columns
    check: Shape | None = None
    usual: Collection[str] | None = None
    canonical: bool = False
    comma: bool = False


def recognised(
    file: str,
    objects: Sequence[Mapping[str, Any]],
    options: RowOptions = AS_FOUND,
    *,
    answered: bool = False,
) -> Recognised:
    """How rows are read, by the first `AHEAD` of them, of which there is at least one.

    Raises:
        UnknownShape: they have none, or several, or hold no responses where those are asked for.
    """
    columns, shape = columns_for(shown(file), objects, options)
    if answered and not (shape and shape.name == BEDROCK):
        require_responses(shown(file), objects, columns, shape)
    return Recognised(
        columns,
        shape if options.shape is None else None,
        next((each.keys() for each in objects if shape and shape.fits(each)), None),
        shape is not None and shape.name == BEDROCK,
        options.comma,
    )


class BadRow(BadInput):
    """A row that is not a valid sample of its file's shape. It harms no other row.

    Args:
        where: the file and the line.
        place: "input line 3".
        name: the row's id, of any type.
        problem: what is wrong, in a few words.
    """

    def __init__(self, where: str, place: str, name: Any, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where, self.place, self.name, self.problem = where, place, name, problem


def read_rows(
    file: str, options: RowOptions = AS_FOUND, *, answered: bool = False, whole: bool = False
) -> Iterator[Row]:
    """The canonical rows of a file, as `scan_rows` reads them.

    Raises:
        BadInput: a row cannot be read, or is not valid; the file's shape is not known; it has two.
        OSError: the file cannot be read.
    """
    yield from raising(scan_rows(file, options, answered=answered, whole=whole))


def prompts_of(file: str, options: RowOptions = AS_FOUND, *, whole: bool = False) -> Iterator[Row]:
    """The canonical rows without responses of their own columns: one for each row of the file.

    Raises:
        BadInput, OSError: as `read_rows`.
    """
    yield from raising(scan_rows(file, options, responses=False, whole=whole))


def objects_of(file: str) -> Iterator[Row]:
    """The objects of a file as they are, in any shape.

    Raises:
        BadInput, OSError: as `read_rows`.
    """
    yield from raising(scan_file(file))


def scan_rows(
    file: str,
    options: RowOptions = AS_FOUND,
    *,
    responses: bool = True,
    answered: bool = False,
    whole: bool = False,
) -> Iterator[Row | BadInput]:
    """The canonical rows of a file; what is not a row is an error in its place.

    Args:
        file: its path; - is standard input.
        options: how to read its rows.
        responses: whether to read the responses; without, a row is what a policy is asked.
        answered: whether a file without responses is refused; Bedrock's rows may have none, which
            its trainers send to see whether a function answers.
        whole: whether the caller keeps something of every row.

    Raises:
        BadInput: the file's shape is not known, or it has two; or there are no responses; all rows
            take more than a file of this size may.
        OSError: the file cannot be read.
    """
    room = Room(shown(file), whole=whole)
    found = _canonical(file, room, options, responses=responses, answered=answered)
    yield from room.held(found)


def _canonical(
    file: str, room: Room, options: RowOptions, *, responses: bool, answered: bool
) -> Iterator[Row | BadInput]:
    rows = scan_file(file, room)
    ahead = list(first_rows(rows))
    objects = [row.content for row in ahead if isinstance(row, Row)]
    everything = chain(ahead, rows)
    if not objects:
        yield from everything
        return
    try:
        how = recognised(file, objects, options, answered=answered)
    except UnknownShape as unknown:  # what cannot be read at all is named first
        raise next((row for row in ahead if isinstance(row, BadInput)), unknown) from None
    if not responses:
        how = how._replace(columns=how.columns._replace(response=()))
    yield from canonical_rows(everything, how, responses=responses)


def canonical_rows(
    rows: Iterable[Row | BadInput], how: Recognised, *, responses: bool = True
) -> Iterator[Row | BadInput]:
    """Objects as canonical rows; what is not a row is an error in its place.

    Args:
        rows: objects of a file, from anywhere in it.
        how: they are read.
        responses: whether to read the responses.

    Raises:
        BadInput: a row has another shape.
    """
    found = _canonical_rows(rows, how, responses=responses)
    yield from map(_pointed, found) if how.comma else found


def _canonical_rows(
    rows: Iterable[Row | BadInput], how: Recognised, *, responses: bool
) -> Iterator[Row | BadInput]:
    columns, check, usual, is_canonical, _ = how
    for row in rows:
        if not isinstance(row, Row):
            yield row
            continue
        known = row.content.keys() == usual and not is_canonical
        if check and not known and not check.fits(row.content):
            _check_shape(row, check)
        if is_canonical:  # the decoder says what is wrong with it
            yield row
        else:
            yield from _converted(row, columns, responses=responses)


def _pointed(row: Row | BadInput) -> Row | BadInput:
    """A row whose reference has a decimal point, in the place of its comma."""
    if not isinstance(row, Row) or "reference_answer" not in row.content:
        return row
    try:
        reference = pointed_reference(row.content["reference_answer"])
    except BadSample as error:
        return BadRow(row.where, row.place, row.content.get("id"), str(error))
    return row._replace(content={**row.content, "reference_answer": reference})


def first_rows(rows: Iterator[Row | BadInput]) -> Iterator[Row | BadInput]:
    """The rows that tell the shape: `AHEAD`, or fewer long ones."""
    size = 0
    for row in islice(rows, AHEAD):
        yield row
        size += row.size
        if size > BATCH:
            return


def _converted(row: Row, columns: Columns, *, responses: bool) -> Iterator[Row | BadInput]:
    try:
        found = canonical(row.content, columns)
    except BadSample as error:
        yield BadRow(row.where, row.place, row.content.get("id"), str(error))
        return
    if len(found) == 1 or not responses:
        yield row._replace(content=found[0])
        return
    for number, one in enumerate(found, 1):
        where = f"{row.where}, response {number}"
        size = ROW + row.size // len(found)
        yield Row(f"{row.place}, response {number}", one, where, size)


def _check_shape(row: Row, shape: Shape) -> None:
    """A row that does not fit its file's shape is bad by itself, unless it has another shape.

    A row with the shape's own columns has no other, though one of them holds null, unless the other
    finds a response where this one finds none.

    Raises:
        BadInput: it has.
    """
    own = shape.names_columns(row.content)
    others = [
        other.name
        for other in fitting(row.content)
        if other is not shape and not (own and _answers_alike(shape, other, row.content))
    ]
    if others:
        raise BadInput(
            f"{row.where}: a row of the shape {others[0]}, and those before it are {shape.name}: "
            "one file has one shape; split it, or name the columns with --map"
        )


def _answers_alike(one: Shape, other: Shape, content: Mapping[str, Any]) -> bool:
    return first(content, one.columns.response) == first(content, other.columns.response)
