"""The tools that a policy was offered: the JSON Schema of each one's arguments, by its name.

Tools are listed as OpenAI lists them, `{"type": "function", "function": {"name", "parameters"}}`,
or each without its wrapping. Schemas have each number as a `JsonNumber`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.references import reference_fields
from reward_functions.quantities.json_numbers import json_with_numbers

if TYPE_CHECKING:
    from reward_functions.core.types import Sample

NO_TOOLS: Final = (ValueError, KeyError, TypeError, RecursionError)
"""What reading something else than a list of tools raises."""


def field_object(schema: Any, name: str) -> dict[str, Any]:
    """An object of an object; an empty one without one."""
    part = schema.get(name) if isinstance(schema, dict) else None
    return part if isinstance(part, dict) else {}


def has_required(schema: Any) -> bool:
    """Whether a schema has a list `required` of names."""
    names = schema.get("required") if isinstance(schema, dict) else None
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def offered_schemas(sample: Sample, file: str = "") -> dict[str, Any]:
    """The schemas of `tools` in the row, else in its reference, else in a file.

    Args:
        sample: its metadata and its reference.
        file: the path of a JSON file; "" for none.

    Raises:
        BadReference: the row's tools are no list of tools.
        ConfigurationError: nor is the file.
    """
    inside = reference_fields(sample.reference) or {}
    found = sample.metadata.get("tools") or inside.get("tools")
    if not found:
        return schemas_of_file(file) if file else {}
    try:
        return _schemas(found if isinstance(found, str) else json.dumps(found))
    except NO_TOOLS:
        raise BadReference("the row's tools are no list of tools with names") from None


@lru_cache(16)
def schemas_of_file(file: str) -> dict[str, Any]:
    """The schemas of a JSON file, which is read once.

    Raises:
        ConfigurationError: it cannot be read, or is no list of tools.
    """
    try:
        return _schemas(Path(file).read_text(encoding="utf-8"))
    except (OSError, *NO_TOOLS) as error:
        why = getattr(error, "strerror", None) or "it is no list of tools"
        raise ConfigurationError(f"the tools of {file} cannot be read: {why}") from None


@lru_cache(256)
def _schemas(text: str) -> dict[str, Any]:
    """The schemas of a list of tools as JSON; anything else raises one of `NO_TOOLS`."""
    if not isinstance(listed := json_with_numbers(text), list):
        raise TypeError("tools are a list")
    tools = [field_object(each, "function") or each for each in listed]
    return {each["name"]: field_object(each, "parameters") for each in tools}
