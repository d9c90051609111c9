"""The normal forms that a reward compared, as a reader sees them: words, and never a Python repr.

A form is what its class says it is (`__str__`). One that says nothing is shown by its parts: a
mapping or a record as "name: value; …", a sequence by its members. An object without parts is named
by its class. Parts without content are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from numbers import Number
from typing import Final

DEPTH: Final = 6
"""Levels of parts that are shown; a form may hold itself."""

PARTS: Final = 1_000
"""Parts of one form that are shown."""


def rendered(form: object) -> str | None:
    """A normal form as a string; it may be a number of more digits than Python writes."""
    return None if form is None else _rendered(form, DEPTH)


def _rendered(form: object, depth: int) -> str:
    if isinstance(form, (type, bytes)):
        return form.__name__ if isinstance(form, type) else f"{len(form):,} bytes"
    if isinstance(form, (str, Number)) or type(form).__str__ is not object.__str__:
        try:
            return str(form)
        except ValueError:
            return "a number of too many digits to write"
    named = _named(form)
    if depth and named is not None:
        pairs = [(name, _shown(value, depth - 1)) for name, value in named[:PARTS]]
        return _and_more("; ".join([f"{name}: {text}" for name, text in pairs if text]), named)
    if depth and isinstance(form, (Sequence, AbstractSet)):
        members = list(form)
        between = " | " if any(_named(each) is not None for each in members[:PARTS]) else ", "
        return _and_more(
            between.join([_shown(each, depth - 1) for each in members[:PARTS]]), members
        )
    return "…" if not depth else type(form).__name__


def _shown(value: object, depth: int) -> str:
    return "" if value is None else _rendered(value, depth)


def _and_more(text: str, parts: Sequence[object]) -> str:
    return f"{text} and {len(parts) - PARTS:,} more" if len(parts) > PARTS else text


def _named(form: object) -> Sequence[tuple[object, object]] | None:
    """The parts of a mapping, a dataclass or a named tuple, by name; None of anything else."""
    if isinstance(form, Mapping):
        return [(_rendered(name, 1), value) for name, value in form.items()]
    if is_dataclass(form) and not isinstance(form, type):
        return [(each.name, getattr(form, each.name, None)) for each in fields(form)]
    if isinstance(form, tuple) and hasattr(form, "_fields"):
        return list(zip(form._fields, form, strict=True))
    return None
