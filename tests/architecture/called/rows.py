"""How the rows of a table are called: each with an argument that tells it from the others."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple
from unittest.mock import patch


class Rows(NamedTuple):
    """What each row of a table does.

    Args:
        told: calls a row, given its name and its value.
        expected: what comes of it, by the row's name.
        alike: names of rows, two by two, whose functions are two and do the same.
    """

    told: Callable[[Any, Any], Any]
    expected: Mapping[Any, Any]
    alike: tuple[tuple[Any, Any], ...] = ()


def table(name):
    """The rows of "module:TABLE", by name: of a tuple by their places, of nested tables by both."""
    module, _, attribute = name.partition(":")
    rows = getattr(import_module(f"reward_functions.{module}"), attribute)
    if isinstance(rows, tuple):
        return numbered(*rows)
    if not all(isinstance(value, dict) for value in rows.values()):
        return rows
    return {(outer, name): value for outer, inner in rows.items() for name, value in inner.items()}


def numbered(*rows):
    """Rows by their places."""
    return dict(enumerate(rows))


def wrong(row, other):
    """A row that names what another one names; where it has parts, each function alone."""
    if isinstance(row, tuple) and len(row) == len(other) and any(map(callable, (*row, *other))):
        for at, (own, theirs) in enumerate(zip(row, other, strict=True)):
            if own != theirs and (callable(own) or callable(theirs)):
                parts = [*row[:at], theirs, *row[at + 1 :]]
                yield type(row)(*parts) if hasattr(row, "_fields") else tuple(parts)
    elif is_dataclass(row) and not isinstance(row, type):
        for field in fields(row):
            theirs = getattr(other, field.name)
            if theirs != getattr(row, field.name) and callable(theirs):
                yield replace(row, **{field.name: theirs})
    elif row != other:
        yield other


def placed(name, told):
    """The same where a row is met in its table alone: it stands there while `told` is called."""

    def calling(key, value):
        with patch.dict(table(name), {key: value}):
            return told(key)

    return calling


def taken(by, *probes):
    """Those of some values that a function takes."""
    return [each for each in probes if by(each)]


def outcome(call, *arguments):
    """What a call returns, or the name of what it raises."""
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - a wrong row may raise anything
        return type(error).__name__
