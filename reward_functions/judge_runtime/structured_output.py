"""Structured verdicts: one JSON schema, and four output modes to ask for it.

    json_schema   the provider constrains the output to the schema
    strict_tool   the provider constrains the input of a tool call to the schema
    tool          the model must call a tool, whose input is the verdict
    json          the instructions demand one JSON object, and the whole answer must be one

The family of a model decides the mode; `reward judge probe` tries it. The schema has strings and
enumerations only, which every dialect supports. It depends on the judge alone, because providers
compile and cache a grammar for each schema.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import NoVerdict
from reward_functions.core.jsons import unique_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.asking import VerdictField
    from reward_functions.judge_runtime.config import JudgeModel, OutputMode

TOOL: Final = "verdict"
TOOL_ABOUT: Final = "Hand in the verdict. Call this exactly once."

MAX_ANSWER: Final = 200_000
"""Characters of an answer that are parsed. A verdict has some thousands."""

FAMILIES: Final[tuple[tuple[str, str, OutputMode], ...]] = (
    ("bedrock", r"claude-(?:haiku|sonnet|opus)-(?:4-[5-9]|[5-9])", "json_schema"),
    ("bedrock", r"^(?:[a-z]+\.)?(?:openai\.gpt-oss|qwen\.|deepseek\.v)", "json_schema"),
    ("bedrock", r"^(?:google\.gemma|nvidia\.|minimax\.|moonshot)", "json_schema"),
    ("bedrock", r"claude|amazon\.nova", "tool"),
    ("openai", r".", "json_schema"),
)
"""(backend, pattern of model ids, mode): the first match counts; `json` without one. Bedrock's
user guide lists which models take structured output; `toolChoice` by name is documented for Claude
and Nova. Endpoints of the OpenAI kind share `response_format`, vLLM's included."""

_FENCED: Final = re.compile(r"\A```(?:json)?[^\S\n]*+\n(.*)\n```\Z", re.DOTALL)


def output_mode_of(model: JudgeModel) -> OutputMode:
    """The output mode of the settings; where they say "auto", that of the model's family."""
    if model.output_mode != "auto":
        return model.output_mode
    for backend, pattern, mode in FAMILIES:
        if model.backend == backend and re.search(pattern, model.model):
            return mode
    return "json"


def advice(mode: OutputMode) -> str:
    """The advice after a provider denied a request, to append to the message."""
    return (
        ": is the model id right, may it be called with these credentials, does it support "
        f"output_mode {mode!r}? Try `reward judge probe`"
    )


def schema(fields: Sequence[VerdictField]) -> dict[str, Any]:
    """The JSON schema of a verdict."""
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _property(field: VerdictField) -> dict[str, Any]:
    schema = {"type": "string", "description": field.about}
    return {**schema, "enum": sorted(field.choices)} if field.choices else schema


def instructions(fields: Sequence[VerdictField]) -> str:
    """The text that output mode `json` appends to the instructions."""
    lines = [
        f'  "{field.name}": {" | ".join(map(json.dumps, sorted(field.choices))) or "a text"}'
        f"  ({field.about})"
        for field in fields
    ]
    listed = "\n".join(lines)
    return (
        "\n\nAnswer with one JSON object and nothing else: no prose, no code fence. It has exactly "
        f"these fields, in this order:\n{listed}"
    )


def decoded(text: Any) -> Any:
    """The JSON value that the answer consists of, with or without a code fence around it.

    Raises:
        NoVerdict: the answer is no string or no JSON, is too long, or names a field twice.
    """
    if not isinstance(text, str):
        raise NoVerdict("the answer is no string")
    bare = text.strip()
    fenced = _FENCED.match(bare) if bare.startswith("```") else None
    if len(bare) > MAX_ANSWER:
        raise NoVerdict("the answer is too long to be a verdict")
    try:
        return json.loads(fenced[1] if fenced else bare, object_pairs_hook=unique_names)
    except (ValueError, RecursionError):
        raise NoVerdict("the answer is no JSON object") from None
