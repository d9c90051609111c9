"""Turn a response to a request, of any shape, into the sample that a reward scores.

Objects that may hold the fields of a data set's row are read in this order:

| object | as |
| --- | --- |
| the `instance` of the request | sagemaker.train.rft's row |
| the request, or the row, itself | |
| a prompt that is itself a JSON object | the trainer passes a cell of the data set on as it is |

The cell is read, and then before the others, only where those have no ground truth: a question may
look like a row, and never replaces the answer that the data set has for it. The policy's own text
is never read as a row.

The ground truth stands under `reference_answer`, `reference`, `ground_truth` or `answer`, there or
in `metadata`, `reward_model` or `extra_info`; the prompt under `messages`, `prompt`, `question`,
`problem` or `input`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.function_calls import calls_in
from reward_functions.core.jsons import unique_names
from reward_functions.core.types import Message, Sample
from reward_functions.rollouts.request.contract import (
    JOB_ARN,
    MODEL,
    MODEL_ENDPOINT,
    PARAMETERS,
    TRAJECTORY_ID,
    RolloutRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

REFERENCE: Final = ("reference_answer", "reference", "ground_truth", "answer")
"""AWS's own name first; then those of data sets, as verl and TRL have them."""

INSIDE: Final = ("metadata", "reward_model", "extra_info")
"""Objects of a row that may hold it: AWS's, and verl's."""

PROMPT: Final = ("prompt", "question", "problem", "input")
"""Of an object, what the user asks."""

LARGEST_CELL: Final = 1024 * 1024
"""Characters of a prompt that is read as JSON."""

NOT_DATA: Final = frozenset(
    {"id", "messages", "prompt", "instance", "metadata", "reference_answer"}
)
"""Fields of a row that have a meaning of their own."""

NOT_OF_THE_ROW: Final = frozenset({*JOB_ARN, *TRAJECTORY_ID, *PARAMETERS, *MODEL, *MODEL_ENDPOINT})
"""Fields of a request that no reward reads."""

Given = RolloutRequest | Mapping[str, Any] | Sample
"""A trainer's request, a row of a data set, or a sample."""


def sample_of(request: Given, response: str) -> Sample:
    """A response to a request as a sample, without a reference where none is found.

    Args:
        request: what was asked.
        response: what the policy wrote at last.
    """
    if isinstance(request, Sample):
        return request.answered(response)
    rows = tuple(_rows(request))
    sample = Sample(
        id=_id(rows),
        messages=_messages(rows),
        reference=_reference(rows),
        metadata=_metadata(rows),
    )
    return sample.answered(response)


def _rows(request: RolloutRequest | Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The objects that may hold the fields of a row, those of the data set first."""
    fields = request if isinstance(request, Mapping) else request.payload or request.wire()
    rows = tuple(row for row in (fields.get("instance"), fields) if isinstance(row, Mapping))
    truth = _reference(rows)
    for row in rows:
        if truth is None:
            yield from _cell(row.get("prompt"))
        yield row


def _cell(prompt: Any) -> Iterator[Mapping[str, Any]]:
    """The object that a prompt is, where it is the JSON of one, read in one way alone."""
    if isinstance(prompt, str) and len(prompt) <= LARGEST_CELL and prompt.lstrip()[:1] == "{":
        try:
            yield json.loads(prompt, object_pairs_hook=unique_names)
        except (ValueError, RecursionError):
            return


def _reference(rows: tuple[Mapping[str, Any], ...]) -> Any:
    """The first value under one of the names; null counts as absent."""
    places = (place for row in rows for place in (row, *_inner(row)))
    found = (place.get(name) for place in places for name in REFERENCE)
    return next((value for value in found if value is not None), None)


def _inner(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from (row[name] for name in INSIDE if isinstance(row.get(name), Mapping))


def _messages(rows: tuple[Mapping[str, Any], ...]) -> tuple[Message, ...]:
    """The conversation, as a list of turns or as what the user asks."""
    for row in rows:
        turns = row.get("messages") or row.get("prompt")
        if isinstance(turns, list):
            return tuple(_message(turn) for turn in turns if isinstance(turn, Mapping))
        for name in PROMPT:
            if isinstance(row.get(name), str):
                return (Message(role="user", content=row[name]),)
    return ()


def _message(turn: Mapping[str, Any]) -> Message:
    return Message(str(turn.get("role", "user")), _text(turn.get("content")), calls_in(turn))


def _text(content: Any) -> str:
    """The text of a message: a string, or its blocks of text."""
    if isinstance(content, list):
        return "\n".join(each["text"] for each in content if _is_text(each))
    return content if isinstance(content, str) else ""


def _is_text(block: Any) -> bool:
    return isinstance(block, Mapping) and isinstance(block.get("text"), str)


def _metadata(rows: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    """Every further field of the row, and those of its metadata but the ids of a rollout."""
    fields: dict[str, Any] = {}
    for row in reversed(rows):
        fields |= {name: value for name, value in row.items() if name not in NOT_DATA}
        inner = row.get("metadata")
        fields |= dict(inner) if isinstance(inner, Mapping) else {}
    return {name: value for name, value in fields.items() if name not in NOT_OF_THE_ROW}


def _id(rows: tuple[Mapping[str, Any], ...]) -> str:
    """The row's own id, or the rollout's."""
    found = (row["id"] for row in rows if isinstance(row.get("id"), str | int))
    inner = (each for row in rows for each in _inner(row))
    rollout = (each[name] for each in inner for name in TRAJECTORY_ID if each.get(name))
    return str(next(found, None) or next(rollout, "rollout"))
