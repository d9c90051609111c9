"""The rows of a data set as a trainer sends them: an opaque prompt, beside it the row.

| the row has | its prompt is |
| --- | --- |
| the field, by default `prompt`, a string | that string |
| the field, anything else | its JSON: the trainer passes a cell on without reading it |
| no such field, but `messages` | the last user turn: an agent has a system prompt of its own |

The managed trainer sends the prompt alone; the models of sagemaker.train.rft demand the row, as
`instance`, too. Both are sent unless `send` says otherwise, so that a reward finds its reference.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from reward_functions.data.json_rows import BadInput, read_rows
from reward_functions.data.records import text_of
from reward_functions.rollouts.drive.requests import FIELD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.data.json_rows import Row


class Task(NamedTuple):
    """One row.

    Args:
        number: of the row in its file, from 1.
        id: its own, or one by its number.
        prompt: what the trainer would pass.
        content: the row.
    """

    number: int
    id: str
    prompt: str
    content: Mapping[str, Any]


class Tasks(NamedTuple):
    """The rows of a file.

    Args:
        tasks: in order.
        digest: of all of them, however they are spaced and whatever order their names stand in.
    """

    tasks: Sequence[Task]
    digest: str


def read_tasks(file: str, field: str = FIELD) -> Tasks:
    """The rows of a JSONL file or of a JSON array; `-` is standard input.

    Raises:
        BadInput: a row is no object, holds a number that is not finite, or has neither a prompt nor
            a user turn; or there are no rows.
        OSError: the file cannot be read.
    """
    tasks, digest = [], sha256()
    for number, row in enumerate(read_rows(file, whole=True), 1):
        digest.update(_strictly(row).encode() + b"\n")
        tasks.append(Task(number, _identity(row, number), _prompt(row, field), row.content))
    if not tasks:
        raise BadInput(f"{file}: there are no rows")
    return Tasks(tasks, digest.hexdigest()[:16])


def _strictly(row: Row) -> str:
    try:
        return json.dumps(row.content, sort_keys=True, allow_nan=False)
    except ValueError:
        raise BadInput(
            f"{row.where}: a number that is not finite: JSON has none, and no trainer sends one"
        ) from None


def _identity(row: Row, number: int) -> str:
    given = row.content.get("id")
    plain = isinstance(given, str | int) and not isinstance(given, bool)
    return str(given) if plain and given != "" else f"row-{number}"


def _prompt(row: Row, field: str) -> str:
    if field in row.content:
        cell = row.content[field]
        prompt = cell if isinstance(cell, str) else json.dumps(cell)
    else:
        prompt = _last_user_turn(row.content.get("messages"))
    if not prompt.strip():
        raise BadInput(
            f"{row.where}: no prompt: it has no {field!r} and no user turn among its messages; "
            "name the field with --field"
        )
    return prompt


def _last_user_turn(messages: Any) -> str:
    turns = messages if isinstance(messages, list) else []
    users = [turn for turn in turns if isinstance(turn, dict) and turn.get("role") == "user"]
    return text_of(users[-1].get("content")) if users else ""
