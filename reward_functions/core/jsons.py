"""What JSON values are called in messages, and what strict readers of JSON refuse."""

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


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated names, as `object_pairs_hook` of `json.loads`.

    Raises:
        ValueError: a name is repeated.
    """
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is repeated")
    return dict(pairs)


def no_constant(name: str) -> Any:
    """No NaN and no infinity, as `parse_constant` of `json.loads`: JSON has none.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is not JSON")
