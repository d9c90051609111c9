"""What a value of JSON is called, in the words of JSON, for messages about what was expected."""

from __future__ import annotations

from typing import Any, Final

_NAMES: Final[dict[type, str]] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def json_kind(value: Any) -> str:
    """Name a value's kind: "an object", "a list", "a text", "null" ...; of no JSON, its type."""
    return _NAMES.get(type(value), f"of type {type(value).__name__}")
