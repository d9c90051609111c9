"""What a judge reads beside the response: the conversation, and texts the data set brings along."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import BadReference
from reward_functions.quantities.unicode_forms import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.types import Sample


def asked(sample: Sample) -> str:
    """What the response answers: the prompt, or the whole conversation where there is more."""
    turns = sample.context
    if len(turns) == 1 and turns[0].role == "user":
        return turns[0].content
    return "\n\n".join(f"[{turn.role}]\n{turn.content}" for turn in turns)


def material(sample: Sample, name: str, keys: Sequence[str]) -> str:
    """A text of the data set, such as the passages a response must keep to.

    Args:
        sample: whose metadata, or whose reference where that is an object, has it.
        name: for the message.
        keys: it may be under; the first that is there counts.

    Raises:
        BadReference: none is there, or it is no text, list of texts or object.
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
