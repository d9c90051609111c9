"""From a row of any shape to rows as a trainer sends them: one for each response it holds.

    {"id", "messages", "reference_answer", "metadata"}

What a row holds besides goes into the metadata under its own name. A row without a response is one
without an assistant turn: training data.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadSample
from reward_functions.core.jsons import json_kind
from reward_functions.data.rows.columns import at, first, top

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.data.rows.columns import Columns

MAX_WRAPPINGS: Final = 3
"""A text in a message in a choice is the deepest shape there is."""

MAX_RESPONSES: Final = 4_096
"""Responses of one row: above every group size, and one line cannot become a file."""


ALIASES: Final = "aliases"
"""How a column is called whose list is always one of alternatives."""

SHAREGPT_ROLES: Final = {"human": "user", "gpt": "assistant", "chatgpt": "assistant"}
"""The roles of OpenAI's by those of ShareGPT's."""


def canonical(content: Mapping[str, Any], columns: Columns) -> list[dict[str, Any]]:
    """The rows that a row stands for, in the order of its responses.

    Several responses of a row with an id are called `ID-1`, `ID-2`, …

    Raises:
        BadSample: the prompt or the response is missing, or of another type.
    """
    prompt, response, reference, name, system = (
        first(content, paths)
        for paths in (
            columns.prompt,
            columns.response,
            columns.reference,
            columns.id,
            columns.system,
        )
    )
    _require(columns, prompt, response)
    context = [path for path in columns.context if at(content, path)]
    turns = _turns(content, prompt, system, context)
    row: dict[str, Any] = {}
    if name is not None:
        row["id"] = at(content, name)
    if reference is not None:
        value = at(content, reference)
        row["reference_answer"] = _aliases(value) if reference.endswith(ALIASES) else value
    used = {
        top(path, content) for path in (prompt, response, reference, name, system, *context) if path
    }
    if metadata := _metadata(content, columns, used):
        row["metadata"] = metadata
    if response is None:
        return [row | {"messages": turns}]
    answers = _responses(at(content, response), response)
    return [
        row | _numbered(row, number, len(answers)) | {"messages": _exchange(turns, answer)}
        for number, answer in enumerate(answers, 1)
    ]


def _aliases(value: Any) -> Any:
    """Aliases as strings: a list of numbers would be one answer to some rewards."""
    if not isinstance(value, list):
        return value
    numbers = [isinstance(each, int | float) for each in value]
    return [json.dumps(each) for each in value] if value and all(numbers) else value


def _exchange(turns: list[dict[str, Any]], answer: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a sample. Columns may overlap: either may hold the whole exchange."""
    if turns and answer[: len(turns)] == turns:
        return answer
    if turns[-len(answer) :] == answer:
        return turns
    return [*turns, *answer]


def _require(columns: Columns, prompt: str | None, response: str | None) -> None:
    for part, found in (("prompt", prompt), ("response", response)):
        paths = columns.prompt if part == "prompt" else columns.response
        if found is None and part in columns.needed and paths:
            raise BadSample(f"{' or '.join(paths)} is missing")


def _numbered(row: Mapping[str, Any], number: int, count: int) -> dict[str, Any]:
    named = count > 1 and isinstance(row.get("id"), str | int)
    return {"id": f"{row['id']}-{number}"} if named else {}


def _metadata(content: Mapping[str, Any], columns: Columns, used: set[str]) -> dict[str, Any]:
    """The columns that nothing was read from, and the fields of the objects of metadata."""
    inner: dict[str, Any] = {}
    for path in columns.metadata:
        value = at(content, path)
        if isinstance(value, dict):
            inner |= value
            used = used | {path}
    return {key: value for key, value in content.items() if key not in used} | inner


def _turns(
    content: Mapping[str, Any], prompt: str | None, system: str | None, context: list[str]
) -> list[dict[str, Any]]:
    """The messages before the response."""
    turns = [] if prompt is None else _prompt_turns(at(content, prompt), prompt)
    for path in context:
        if prompt is not None and isinstance(at(content, prompt), str):
            turns = [turns[0] | {"content": f"{turns[0]['content']}\n\n{at(content, path)}"}]
    if system is None:
        return turns
    instructions = at(content, system)
    if not isinstance(instructions, str):
        raise BadSample(f"{system} is {json_kind(instructions)}, not a string")
    return [{"role": "system", "content": instructions}, *turns]


def _prompt_turns(value: Any, where: str) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if isinstance(value, list):
        if _are_blocks(value):
            return [{"role": "user", "content": value}]
        return [_turn(each) for each in value]
    raise BadSample(f"{where} is {json_kind(value)}, not a string or a list of messages")


def _turn(value: Any) -> Any:
    """A message; a turn of ShareGPT's is one under other names."""
    if isinstance(value, dict) and "role" not in value and isinstance(value.get("from"), str):
        role = SHAREGPT_ROLES.get(value["from"], value["from"])
        return {"role": role, "content": value.get("value")}
    return value


def _responses(value: Any, where: str) -> list[list[dict[str, Any]]]:
    """The turns of each response: one, or several of a list."""
    if not isinstance(value, list) or _are_turns(value) or _are_blocks(value):
        return [_answer(value, where)]
    if not value:
        raise BadSample(f"{where} is an empty list")
    found = []
    for at_, each in enumerate(value):
        place = f"{where}[{at_}]"
        nested = isinstance(each, list) and not _are_turns(each) and not _are_blocks(each)
        found += (
            [_answer(inner, f"{place}[{deep}]") for deep, inner in enumerate(each)]
            if nested
            else [_answer(each, place)]
        )
        if len(found) > MAX_RESPONSES:
            raise BadSample(f"{where} holds more than {MAX_RESPONSES:,} responses")
    return found


def _answer(value: Any, where: str, depth: int = MAX_WRAPPINGS) -> list[dict[str, Any]]:
    """The turns of one response: a string, blocks, a message, messages, or a choice of an API."""
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}]
    if isinstance(value, list):
        if _are_turns(value):
            return [turn for turn in value if "role" in turn]
        if _are_blocks(value):
            return [{"role": "assistant", "content": value}]
    elif isinstance(value, dict):
        if isinstance(value.get("role"), str):
            return [value]
        for key in ("message", "text", "content", "outputText") if depth else ():
            if value.get(key) is not None:
                return _answer(value[key], f"{where}.{key}", depth - 1)
    raise BadSample(f"{where} is {json_kind(value)}, not a string or a message")


def _are_turns(value: list[Any]) -> bool:
    """Whether a list is messages, with or without the other items of OpenAI's Responses API."""
    dicts = all(isinstance(turn, dict) for turn in value)
    return (
        dicts
        and any(isinstance(turn.get("role"), str) for turn in value)
        and all(isinstance(turn.get("role", turn.get("type")), str) for turn in value)
    )


def _are_blocks(value: list[Any]) -> bool:
    """Whether a list is the content blocks of one message."""
    return bool(value) and all(
        isinstance(block, dict)
        and "role" not in block
        and "message" not in block
        and (isinstance(block.get("type"), str) or "reasoningContent" in block)
        for block in value
    )
