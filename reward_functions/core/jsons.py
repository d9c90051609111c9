"""What JSON values are called in messages, how deep they are, and what strict readers refuse."""

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

MAX_DEPTH: Final = 100
"""Objects and lists within each other that are read: schemas of tools have about 20.

Much of what handles a decoded value calls itself once or twice a level, and Python ends at 1,000
calls within each other."""


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


def is_too_deep(value: Any, most: int = MAX_DEPTH) -> bool:
    """Whether more than `most` objects and lists stand within each other; never recurses."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(most):
        if not level:
            return False
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def may_be_too_deep(text: str | bytes, most: int = MAX_DEPTH) -> bool:
    """Whether JSON text has brackets enough to be too deep, which most texts have not."""
    if isinstance(text, bytes):
        return text.count(b"[") + text.count(b"{") > most
    return text.count("[") + text.count("{") > most
