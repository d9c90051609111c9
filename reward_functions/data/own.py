"""One's own questions: rows of any shape and format, as training data.

A row keeps its prompt, its earlier turns, its reference and its id; a response is left out, since
the policy writes its own. What cannot be trained on is a `BadRecord`: no prompt, no reference, or a
reference that the reward cannot read or whose right answer it does not pay. The same question again
is dropped, and under another reference wherever it stands: neither is known to be right.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import json_kind
from reward_functions.core.types import ASSISTANT_ROLES
from reward_functions.data.json_rows import BadInput
from reward_functions.data.records import BadRecord, Dropped, Row, digest, text_of, worded
from reward_functions.data.rows.formats import files_of, splits_of
from reward_functions.data.rows.reading import AS_FOUND, scan_rows
from reward_functions.data.sources import NAMES, split_files
from reward_functions.data.wording import AS_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.data.json_rows import Row as ReadRow
    from reward_functions.data.records import RecordOutcome
    from reward_functions.data.rows.recognition import RowOptions
    from reward_functions.data.wording import Wording

REPEATED: Final = "the same question again"
CONFLICT: Final = "the same question under another reference"

NO_SPLIT: Final = "split is missing, and other rows have one"
NO_REFERENCE: Final = "there is no reference"
NOT_JSON: Final = "NaN and Infinity are not numbers of JSON"

SPLIT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
"""What a split may be called: its file is called so."""

SYSTEM_ROLES: Final = ("system", "developer")


def files(source: str) -> list[tuple[Path, str | None]]:
    """The files of a source, and the split each belongs to; None where it names none.

    Args:
        source: a file, a data set's folder, or such a folder and a split.

    Raises:
        BadInput: the folder holds no rows.
    """
    path = Path(source)
    if not path.is_dir():
        listed = files_of(source)
        if listed is None:
            return split_files(path)
        return [(file, NAMES.get(path.name, path.name)) for file in listed]
    found = splits_of(path)
    if len(found) == 1:
        return split_files(path)
    if not found:
        files_of(source)  # says which endings there are
    return [(file, NAMES.get(name, name)) for name in sorted(found) for file in found[name]]


def name_of(source: str) -> str:
    """What a source is called in ids and metadata: its name without endings."""
    stem = Path(source).name.split(".", 1)[0]
    return re.sub(r"[^\w-]+", "-", stem).strip("-")[:64] or "own"


def outcomes(
    sources: Sequence[tuple[Path, str | None]],
    name: str,
    options: RowOptions = AS_FOUND,
    wording: Wording = AS_PUBLISHED,
    complaint: Callable[[dict[str, Any], int], str | None] | None = None,
) -> Iterator[RecordOutcome]:
    """What becomes of every row, in order.

    Args:
        sources: the files, and the split of each, as `files` finds them. They are read twice.
        name: of the data set, which ids without one of their own begin with.
        options: how the rows are read.
        wording: of the prompts, which are compared as the policy reads them.
        complaint: why the reward cannot use a row, at a position; None where it can.

    Raises:
        BadInput: the shape of a file's rows is not known, or it has two.
        OSError: a file cannot be read.
    """
    references: dict[bytes, set[bytes]] = {}
    named = False
    for row in worded(_rows(sources, name, options), wording):
        if isinstance(row, Row):
            references.setdefault(_asked(row), set()).add(_mark(row.reference))
            named = named or row.split is not None
    seen: set[bytes] = set()
    for position, row in enumerate(worded(_rows(sources, name, options), wording)):
        if not isinstance(row, Row):
            yield row
            continue
        content = row.wire(name)
        lost = named and row.split is None
        why = NO_SPLIT if lost else _flaw(content, position, complaint)
        if why:
            yield BadRecord(f"{row.where}: {why}", why)
        elif len(references[_asked(row)]) > 1:
            yield Dropped(row.id, CONFLICT)
        elif _asked(row) in seen:
            yield Dropped(row.id, REPEATED)
        else:
            seen.add(_asked(row))
            yield row


def _rows(
    sources: Sequence[tuple[Path, str | None]], name: str, options: RowOptions
) -> Iterator[Row | BadInput]:
    for file, split in sources:
        for row in scan_rows(str(file), options, responses=False, whole=True):
            try:
                yield row if isinstance(row, BadInput) else _row(row, split, name)
            except BadRecord as error:
                yield error


def _row(read: ReadRow, split: str | None, name: str) -> Row:
    turns = _prompt_turns(read)
    metadata = _metadata(read)
    own = metadata.pop("split", None)
    if own not in (None, ""):
        if not isinstance(own, str) or not SPLIT.fullmatch(own):
            raise BadRecord(f"{read.where}: split is not a name of letters, digits, - and _")
        split = NAMES.get(own, own)
    system = [text_of(turn["content"]) for turn in turns[:1] if turn["role"] in SYSTEM_ROLES]
    question = text_of(turns[-1]["content"])
    reference = read.content.get("reference_answer")
    return Row(
        id=_id(read, question, split, name),
        system=system[0] if system else "",
        question=question,
        reference=reference,
        fields={key: _text(value) for key, value in metadata.items() if _text(value)},
        earlier=turns[len(system) : -1],
        metadata=metadata,
        split=split,
        where=read.where,
    )


def _prompt_turns(read: ReadRow) -> list[dict[str, Any]]:
    """The turns up to the last of the user's; a response behind it is left out.

    Raises:
        BadRecord: they make no prompt of text.
    """
    messages = read.content.get("messages")
    turns = list(messages) if isinstance(messages, list) else []
    for turn in turns:
        if not isinstance(turn, dict) or not isinstance(turn.get("role"), str):
            raise BadRecord(f"{read.where}: a message is not an object with a role")
    while turns and turns[-1]["role"] in ASSISTANT_ROLES:
        turns.pop()
    if not turns or turns[-1]["role"] != "user":
        raise BadRecord(f"{read.where}: the prompt does not end with a user turn", "no user turn")
    if not text_of(turns[-1].get("content")).strip():
        raise BadRecord(f"{read.where}: the question is empty", "the question is empty")
    return turns


def _metadata(read: ReadRow) -> dict[str, Any]:
    metadata = read.content.get("metadata")
    known = {"id", "messages", "reference_answer", "metadata"}
    further = {key: value for key, value in read.content.items() if key not in known}
    every = further | (dict(metadata) if isinstance(metadata, dict) else {})
    return {key: value for key, value in every.items() if value == value}  # noqa: PLR0124 - NaN is none


def _flaw(
    content: dict[str, Any],
    position: int,
    complaint: Callable[[dict[str, Any], int], str | None] | None,
) -> str | None:
    """Why a row cannot be trained on; None where it can. A reward may need no reference."""
    if not _is_json(content):
        return NOT_JSON
    if complaint:
        return complaint(content, position)
    return NO_REFERENCE if _is_blank(content.get("reference_answer")) else None


def _is_blank(reference: Any) -> bool:
    return (
        reference is None
        or (isinstance(reference, str | list | dict) and not reference)
        or (isinstance(reference, str) and not reference.strip())
    )


def _is_json(content: dict[str, Any]) -> bool:
    """Whether a row holds no NaN and no Infinity, which Python writes and a trainer cannot read."""
    try:
        json.dumps(content, allow_nan=False)
    except ValueError:
        return False
    return True


def _id(read: ReadRow, question: str, split: str | None, name: str) -> str:
    own = read.content.get("id")
    if own is None or own == "":
        return "-".join([name, *filter(None, [split]), digest(question)])
    if isinstance(own, bool) or not isinstance(own, str | int):
        raise BadRecord(f"{read.where}: id is {json_kind(own)}, not a string")
    return str(own)


def _text(value: Any) -> str:
    """A column that a template may name: a string, or a number as it is written."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return json.dumps(value) if number else value if isinstance(value, str) else ""


def _asked(row: Row) -> bytes:
    return _mark([row.split, row.system, *row.earlier, row.prompt])


def _mark(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
