"""A value inside an object by a path with points: `reward_model.ground_truth`, `choices.0.text`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def at(content: Any, path: str) -> Any:
    """The value at a path; None where there is none, as where it is null.

    A key that holds points itself comes first: `a.b` is the column "a.b" where there is one.
    A part of digits counts the items of a list from 0.
    """
    if isinstance(content, dict) and (path in content or "." not in path):
        return content.get(path)
    head, point, rest = path.partition(".")
    inner = _step(content, head)
    if not point:
        return inner
    return None if inner is None else at(inner, rest)


def first(content: Mapping[str, Any], paths: Iterable[str]) -> str | None:
    """The first of several paths that leads to a value."""
    for path in paths:
        if at(content, path) is not None:
            return path
    return None


def top(path: str, content: Mapping[str, Any]) -> str:
    """The column that a path begins with."""
    return path if path in content else path.partition(".")[0]


def _step(content: Any, key: str) -> Any:
    if isinstance(content, dict):
        return content.get(key)
    if isinstance(content, list) and key.isdecimal() and len(key) < 6:  # noqa: PLR2004 - an index
        index = int(key)
        return content[index] if index < len(content) else None
    return None
