"""The rows of a multi-turn job: the one column that is read, with the answer for the reward in it.

The trainer passes the cell `prompt` on to the agent as an opaque string, and nothing else of a row.
A reward that compares with a reference finds it there, where the cell is the JSON of the row.

| the row has | its cell is |
| --- | --- |
| a ground truth beside its prompt | the JSON of the whole row |
| none, and `prompt` is a string | that string |
| none, and `prompt` is anything else | its JSON |
| none, and no `prompt` but `messages` | the last user turn |

A ground truth stands where `rollouts.episode.scoring` looks for one. An agent that hands such a
cell to its model as it is shows it the answer: it has to read the question out of it.

Source: "the `prompt` column is passed as an opaque string", AWS's notebook of multi-turn
reinforcement learning; a cell that is JSON is documented nowhere, and nothing forbids it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.data.atomic import named
from reward_functions.data.json_rows import Row, scan_rows
from reward_functions.data.records import text_of
from reward_functions.jobs.configuration import BadJob
from reward_functions.rollouts.episode.scoring.samples import INSIDE, LARGEST_CELL, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

COLUMN: Final = "prompt"


class Cells(NamedTuple):
    """What is known of the cells of a file.

    Args:
        number: of rows.
        with_reference: that carry a ground truth, and so hold JSON.
    """

    number: int
    with_reference: int


def cell_of(row: Mapping[str, Any], where: str) -> str:
    """The cell of a row.

    Args:
        row: of the training data.
        where: it stands, for errors.

    Raises:
        BadJob: it has no prompt, or a number that JSON has not, or is too long to be read again.
    """
    prompt = row.get(COLUMN)
    try:
        if has_reference(row):
            # Strict JSON: what the agent's side reads again.
            cell = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            asked = prompt or row.get("messages") or row.get("question") or row.get("problem")
        elif prompt is not None:
            cell = asked = (
                prompt if isinstance(prompt, str) else json.dumps(prompt, allow_nan=False)
            )
        else:
            cell = asked = _last_user_turn(row.get("messages"))
    except (ValueError, RecursionError):
        raise BadJob(f"data: {where}: a number that JSON has not, or brackets too deep") from None
    if not asked or (isinstance(asked, str) and not asked.strip()):
        raise BadJob(f"data: {where}: no prompt: write `prompt`, or `messages` with a user turn")
    if len(cell) > LARGEST_CELL:
        raise BadJob(
            f"data: {where}: its prompt has {len(cell):,} characters; agents read {LARGEST_CELL:,}"
        )
    return cell


def has_reference(row: Mapping[str, Any]) -> bool:
    """Whether a row carries a ground truth beside its prompt."""
    places = [row, *(row[name] for name in INSIDE if isinstance(row.get(name), dict))]
    return any(place.get(name) is not None for place in places for name in REFERENCE)


def cells(file: Path) -> Iterator[tuple[str, bool]]:
    """Each row's cell, and whether it carries a ground truth.

    Raises:
        BadJob: a row is no object, or has no prompt.
        OSError: the file cannot be read.
    """
    for each in scan_rows(str(file)):
        if not isinstance(each, Row):
            raise BadJob(f"data: {each}")
        yield cell_of(each.content, each.where), has_reference(each.content)


def counted(file: Path) -> Cells:
    """How many rows there are, and how many carry a ground truth.

    Raises:
        BadJob, OSError: as `cells`.
    """
    found = [known for _, known in cells(file)]
    return Cells(len(found), sum(found))


def write_cells(file: Path, to: Path) -> None:
    """Write a file of training data as the trainer reads it: `{"prompt": CELL}` on each line.

    Raises:
        BadJob, OSError: as `cells`.
    """
    with named(to), to.open("w", encoding="utf-8", newline="\n") as stream:
        for cell, _ in cells(file):
            stream.write(json.dumps({COLUMN: cell}) + "\n")


def _last_user_turn(messages: Any) -> str:
    turns = messages if isinstance(messages, list) else []
    users = [turn for turn in turns if isinstance(turn, dict) and turn.get("role") == "user"]
    return text_of(users[-1].get("content")) if users else ""
