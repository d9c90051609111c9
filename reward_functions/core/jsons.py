"""The name of a JSON value's type, for messages about what was expected."""

from __future__ import annotations

from typing import Any, Final

_NAMES: Final[dict[type, str]] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def json_kind(value: Any) -> str:
    """A value's type: "an object", "a list", "a string", "null" ...; of no JSON, Python's name."""
    return _NAMES.get(type(value), f"of type {type(value).__name__}")
