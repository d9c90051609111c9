"""Name JSON values, measure their depth and size, and refuse what strict readers refuse.

Here is also how the object is read that a text ends with.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

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

VALUE: Final = 72
"""Bytes of a value beside its text: those of an empty object, and of a name with its string."""

_DENSE: Final = 8
"""Times by which values may outweigh their text before those in strings are told from others."""

_LONG: Final = 4_096

_STRETCH: Final = 1 << 16
"""Bytes whose strings are told from the rest at a time: each is an object for that moment."""


def json_kind(value: Any) -> str:
    """A value's type: "an object", "a list", "a string", "null" ...; of no JSON, Python's name."""
    return _NAMES.get(type(value), f"of type {type(value).__name__}")


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated names, as `object_pairs_hook` of `json.loads`.

    Raises:
        ValueError: a name is repeated.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is repeated")
    return found


def no_constant(name: str) -> Any:
    """No NaN and no infinity, as `parse_constant` of `json.loads`: JSON has none.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is not JSON")


MAX_FINAL: Final = 100_000
"""Characters of an object that is a whole text; of one behind other words a twentieth."""

MAX_TRIES: Final = 8
"""Braces from which the end of a text is read as an object, the last ones first."""

_OBJECT: Final = re.compile(r'\{\s{0,80}"')
_ESCAPED_CHARACTER: Final = re.compile(rb"\\u").search
"""A third of the price of `in`."""

_ESCAPE: Final = re.compile(r'\\(["\\])?')


def final_object(text: str, *, literal: bool = False) -> tuple[dict[str, Any], int] | None:
    """The JSON object that a text ends with, and where it begins; None where it ends otherwise.

    Numbers are strings, as they are written: 1.50 is no 1.5. An object that repeats a name does not
    count.

    Args:
        text: what a model wrote.
        literal: whether a backslash is one, but before a quote and before another: many models
            escape no LaTeX.
    """
    text = text.rstrip()
    if not text.endswith("}"):
        return None
    whole = len(text) - len(text.lstrip())
    tail = max(whole, len(text) - MAX_FINAL // 20)
    starts = [found.start() for found in _OBJECT.finditer(text, tail)][-MAX_TRIES:]
    if len(text) <= MAX_FINAL and text[whole] == "{" and whole not in starts:
        starts.insert(0, whole)
    for start in reversed(starts):
        written = _ESCAPE.sub(_escaped, text[start:]) if literal else text[start:]
        try:
            return _decoder().decode(written), start
        except (ValueError, RecursionError):
            continue
    return None


def _escaped(backslash: re.Match[str]) -> str:
    return backslash[0] if backslash[1] else "\\\\"


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=unique_names,
        parse_float=str,
        parse_int=str,
        parse_constant=no_constant,
    )


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


def decoded_size(text: bytes, marks: int | None = None) -> int:
    """Bytes that a JSON text takes as Python's values; about, and known before it is decoded.

    Args:
        text: the JSON.
        marks: what `marks_of` says of it, where somebody has asked.
    """
    return text_size(text) + VALUE * values_of(text, _DENSE * len(text) // VALUE, marks)


def text_size(text: bytes) -> int:
    """Bytes of a text in memory: one character may make each of the others take four."""
    return 4 * len(text) if not text.isascii() or _ESCAPED_CHARACTER(text) else len(text)


def values_of(text: bytes, enough: int, marks: int | None = None) -> int:
    """The values of a JSON text; exact where there seem to be more than `enough` in a long one."""
    found = marks_of(text) if marks is None else marks
    if found <= enough or len(text) < _LONG:
        return found
    return sum(map(marks_of, _outside_strings(_unescaped(text))))


def parts_of(text: bytes, enough: int) -> int:
    """The objects, lists and strings of a JSON text; exact where there seem to be more."""
    found = text.count(b'"') // 2 + text.count(b"[") + text.count(b"{")
    if found <= enough:
        return found
    unescaped = _unescaped(text)
    begin = sum(each.count(b"[") + each.count(b"{") for each in _outside_strings(unescaped))
    return unescaped.count(b'"') // 2 + begin


def _unescaped(text: bytes) -> bytes:
    """A JSON text whose quotes all begin or end a string."""
    return text.replace(rb"\\", b"").replace(rb"\"", b"")


def _outside_strings(text: bytes) -> Iterator[bytes]:
    """What of a text without escaped quotes stands outside its strings, a stretch at a time."""
    inside = 0
    for at in range(0, len(text), _STRETCH):
        pieces = text[at : at + _STRETCH].split(b'"')
        yield b"".join(pieces[inside::2])
        inside ^= (len(pieces) - 1) & 1


def marks_of(text: bytes) -> int:
    """The values of a JSON text, its names included; what strings hold is counted too.

    One pass that takes them out costs half of what counting each of the four costs.
    """
    return len(text) - len(text.translate(None, b",:[{"))
