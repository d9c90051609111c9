"""BFCL's rows: questions with the tools that are offered, and the calls that are right.

A question is `{"id", "question", "function"}`, in `BFCL_v4_CATEGORY.json`; its right calls are
`{"id", "ground_truth"}` in the file of that name below `possible_answer`. They list the values that
an argument may have, "" among them where it may be left out; in an object each field has such a
list. No file has answers to the questions of `irrelevance`: no tool helps there.

Names of tools lose their points, which no provider's names have, and types that are Python's become
those of JSON Schema. Java and JavaScript are left out: their arguments are code. Source: Patil et
al., The Berkeley Function Calling Leaderboard, 2025; github.com/ShishirPatil/gorilla (Apache-2.0).
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.json_rows import BadInput
from reward_functions.data.records import Record, each, text_of
from reward_functions.data.sources import records_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reward_functions.data.records import RecordOutcome, Row

ANSWERS: Final = "possible_answer"
"""The folder of the right calls."""

UNWANTED: Final = "irrelevance"
"""What the ids of questions hold for which no tool helps."""

TYPES: Final = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
"""Types of JSON Schema by BFCL's own."""


def bfcl_files(source: Path) -> list[Path]:
    """The files of a folder, or a file of questions and that of its answers."""
    if source.is_dir():
        return sorted(source.rglob("BFCL_*.json"))
    answers = source.parent / ANSWERS / source.name
    return [source, answers] if answers.is_file() else [source]


def bfcl_outcomes(files: Sequence[Path], row: Callable[..., Row]) -> Iterator[RecordOutcome]:
    """The outcome of every question of some files, which hold the answers as well.

    Args:
        files: in any order.
        row: makes a row of its parts, its prompt worded as the data set's are.
    """
    answers: dict[str, Any] = {}
    questions: list[Record | BadInput] = []
    for file in files:
        for record in records_of(file):
            if isinstance(record, BadInput) or "ground_truth" not in record.content:
                questions.append(record)
            else:
                answers[str(record.get("id"))] = record
    yield from each(questions, partial(bfcl_row, answers=answers, row=row))


def bfcl_row(record: Record, answers: Mapping[str, Record], row: Callable[..., Row]) -> Row:
    """The row of a question.

    Raises:
        BadRecord: a field is missing or cannot be read, or there are no right calls.
    """
    name = record.text("id")
    turns, tools = _turns(record), [_tool(record, one) for one in _objects(record, "function")]
    if name not in answers and UNWANTED not in name:
        raise record.bad("id", f"has no right calls below {ANSWERS}")
    calls = _calls(answers[name]) if name in answers else []
    return row(
        record=record,
        id=f"bfcl-{name}",
        question=text_of(turns[-1].get("content")).strip(),
        earlier=turns[:-1],
        reference={"tool_calls": calls},
        fields={"tools": json.dumps(tools)},
        metadata={"tools": tools},
        counted=name.rpartition("_")[0],
    )


def _turns(record: Record) -> list[dict[str, Any]]:
    """The messages of the first turn; the last is the user's."""
    asked = record.get("question")
    turns = asked[0] if isinstance(asked, list) and asked else None
    if (
        not isinstance(turns, list)
        or not turns
        or not all(isinstance(each, dict) for each in turns)
    ):
        raise record.bad("question", "is not a list of a list of messages")
    if turns[-1].get("role") != "user" or not text_of(turns[-1].get("content")).strip():
        raise record.bad("question", "does not end with a user turn")
    return turns


def _objects(record: Record, field: str) -> list[dict[str, Any]]:
    listed = record.get(field)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise record.bad(field, "is not a list of objects")
    return listed


def _tool(record: Record, function: dict[str, Any]) -> dict[str, Any]:
    """A tool as OpenAI lists it."""
    if not isinstance(name := function.get("name"), str):
        raise record.bad("function", "has a tool without a name")
    kept = {**function, "name": _named(name), "parameters": _schema(function.get("parameters"))}
    return {"type": "function", "function": kept}


def _named(name: str) -> str:
    return name.replace(".", "_")


def _schema(schema: Any) -> Any:
    """A schema with JSON Schema's types."""
    if isinstance(schema, list):
        return [_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    typed = schema.get("type")
    inner = {key: _schema(value) for key, value in schema.items()}
    return inner | ({"type": TYPES[typed]} if isinstance(typed, str) and typed in TYPES else {})


def _calls(answer: Record) -> list[dict[str, Any]]:
    """The right calls; each is an object of one tool's name."""
    calls = _objects(answer, "ground_truth")
    if not all([isinstance(each, dict) for each in call.values()] == [True] for call in calls):
        raise answer.bad("ground_truth", "has a call that is not one tool with an object")
    return [
        {"name": _named(name), "arguments": _fields(arguments)}
        for call in calls
        for name, arguments in call.items()
    ]


def _fields(listed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _choices(values) for name, values in listed.items()}


def _choices(values: Any) -> Any:
    """What `tool_calls` takes for a list of values; the value itself where it is the only one."""
    if not isinstance(values, list):
        return values
    choices = [_value(each) for each in values if each != ""]
    if len(choices) == 1 and len(values) == 1:
        return choices[0]
    return {"any_of": choices} | ({"optional": True} if "" in values else {})


def _value(value: Any) -> Any:
    """A value; the fields of an object, or of objects in a list, have lists of values again."""
    if isinstance(value, list):
        return [_value(each) for each in value]
    return _fields(value) if isinstance(value, dict) else value
