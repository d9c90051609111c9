"""The context of a response: the conversation, and strings of the data set such as passages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import BadReference
from reward_functions.core.function_calls import UNREADABLE
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.quantities.unicode_forms import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.types import Sample


def conversation(sample: Sample) -> str:
    """The turns before the response: the prompt alone where it is the only one."""
    turns = sample.context
    if len(turns) == 1 and turns[0].role == "user":
        return turns[0].content
    return "\n\n".join(f"[{turn.role}]\n{turn.content}" for turn in turns)


def shown_response(sample: Sample) -> str:
    """The response as a judge reads it: without reasoning, its readable calls at the end."""
    text = without_reasoning(sample.response)
    calls = [call._asdict() for call in sample.tool_calls if call != UNREADABLE]
    written = json.dumps(calls, ensure_ascii=False) if calls else ""
    return f"{text}\n\n[tool calls]\n{written}".lstrip() if calls else text


def material(sample: Sample, name: str, keys: Sequence[str]) -> str:
    """A string of the data set, such as the passages a response must keep to.

    Args:
        sample: its metadata is searched, then its reference where that is an object.
        name: of the material, for the message.
        keys: the keys to look under; the first that is present counts.

    Raises:
        BadReference: no key is present, or its value is no string, list of strings or object.
    """
    for place in (sample.metadata, _object(sample.reference)):
        for key in keys:
            if place.get(key) is not None:
                text = _text(place[key])
                if not visible(text).strip():
                    raise BadReference(f"the {name} under {key!r} has no text")
                return text
    raise BadReference(f"the sample has no {name}: none of {', '.join(keys)} is there")


def _object(reference: Any) -> dict[str, Any]:
    if isinstance(reference, str) and reference.lstrip().startswith("{"):
        try:
            reference = json.loads(reference)
        except (ValueError, RecursionError):
            return {}
    return reference if isinstance(reference, dict) else {}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return "\n\n".join(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False) if value else ""
    raise BadReference(f"a text of the data set is of type {type(value).__name__}")
