"""How a structured verdict is asked for and read: one schema, four ways, the surest that works.

    json_schema   the model's output is held to the schema
    strict_tool   a tool call is, its input being held to the schema
    tool          a tool call is demanded, its input being the verdict
    json          the instructions demand one JSON object, and the whole answer must be it

Which way a model can take is looked up by its family; `reward judge warm` tries it. The schema has
texts and choices only, which every dialect supports, and depends on the judge alone: providers
compile and keep a grammar for each schema they see.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import NoVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.asking import VerdictField
    from reward_functions.judge_runtime.config import Form, JudgeModel

TOOL: Final = "verdict"
TOOL_ABOUT: Final = "Hand in the verdict. Call this exactly once."

MAX_ANSWER: Final = 200_000
"""Characters of an answer that are looked at. A verdict has some thousands."""

FAMILIES: Final[tuple[tuple[str, str, Form], ...]] = (
    ("bedrock", r"claude-(?:haiku|sonnet|opus)-(?:4-[5-9]|[5-9])", "json_schema"),
    ("bedrock", r"^(?:[a-z]+\.)?(?:openai\.gpt-oss|qwen\.|deepseek\.v)", "json_schema"),
    ("bedrock", r"^(?:google\.gemma|nvidia\.|minimax\.|moonshot)", "json_schema"),
    ("bedrock", r"claude|amazon\.nova", "tool"),
    ("openai", r".", "json_schema"),
)
"""(backend, pattern of model ids, form): the first that fits; `json` where none does. Bedrock's
user guide lists which models take structured output; `toolChoice` by name is documented for Claude
and Nova. Endpoints of the OpenAI kind share `response_format`, vLLM's included."""

_FENCED: Final = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


def form_of(model: JudgeModel) -> Form:
    """The way this model is asked."""
    if model.form != "auto":
        return model.form
    for backend, pattern, form in FAMILIES:
        if model.backend == backend and re.search(pattern, model.model):
            return form
    return "json"


def advice(form: Form) -> str:
    """What to look at when a model takes no request at all."""
    return (
        ": is the model id right, may it be called with these credentials, does it take the form "
        f"{form!r}? Try `reward judge warm`"
    )


def schema(fields: Sequence[VerdictField]) -> dict[str, Any]:
    """The JSON schema of a verdict."""
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _property(field: Field) -> dict[str, Any]:
    told = {"type": "string", "description": field.about}
    return {**told, "enum": sorted(field.choices)} if field.choices else told


def instructions(fields: Sequence[VerdictField]) -> str:
    """What the form `json` adds to the instructions."""
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
    """The JSON object that a whole answer is; a code fence around the whole of it is let pass.

    Raises:
        NoVerdict: it is no text or no object, or names a field twice.
    """
    if not isinstance(text, str):
        raise NoVerdict("the answer is no text")
    bare = text.strip()
    fenced = _FENCED.match(bare) if bare.startswith("```") else None
    if len(bare) > MAX_ANSWER:
        raise NoVerdict("the answer is too long to be a verdict")
    try:
        return json.loads(fenced[1] if fenced else bare, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise NoVerdict("the answer is no JSON object") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated names: of two verdicts, neither is the verdict."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is repeated")
    return dict(pairs)
