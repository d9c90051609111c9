"""What a reward was given beside its source, as text that is the same in every process.

| value | written as |
| --- | --- |
| plain data, and lists, mappings and sets of it | its value |
| a function, a `functools.partial` | its name, and what it holds, likewise |
| a declared reward | its name and version |
| anything else: a client, a tokenizer | its type |

A function holds its defaults, what it has closed over and, if it is a method, its object; an object
holds its fields, but those that begin with an underscore.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import PurePath
from re import Pattern
from types import FunctionType, MethodType
from typing import Any, Final

from reward_functions.core.spec import RewardSpec

PLAIN: Final = (type(None), str, bytes, int, float, complex, Enum, PurePath, Pattern)


def held(given: object) -> dict[str, Any]:
    """What code was given beside its source, by name."""
    if isinstance(given, MethodType):
        return {"self": held(given.__self__), **held(given.__func__)}
    if isinstance(given, partial):
        return {"function": given.func, "arguments": given.args, **given.keywords}
    if isinstance(given, FunctionType):
        code = given.__code__
        closed = zip(code.co_freevars, given.__closure__ or (), strict=True)
        return {
            "line": code.co_firstlineno,  # all lambdas of a module have one name
            "defaults": given.__defaults__,
            "named defaults": given.__kwdefaults__,
            **{name: _content(cell) for name, cell in closed},
        }
    if is_dataclass(given) and not isinstance(given, type):
        return {each.name: getattr(given, each.name) for each in fields(given)}
    own = {} if isinstance(given, type) else getattr(given, "__dict__", {})
    return {name: value for name, value in own.items() if not name.startswith("_")}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def written(value: object, inside: tuple[int, ...] = ()) -> str:
    """A value by the table above.

    Args:
        value: whatever it is; it may hold itself.
        inside: the ids of the values that it is part of.
    """
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, RewardSpec):
        return f"{value.name} {value.version}"
    if id(value) in inside:
        return "itself"
    within = (*inside, id(value))
    if isinstance(value, Mapping):
        pairs = ((written(name, within), written(each, within)) for name, each in value.items())
        return f"{{{', '.join(sorted(': '.join(pair) for pair in pairs))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(each, within) for each in value)}]"
    if isinstance(value, AbstractSet):
        return f"{{{', '.join(sorted(written(each, within) for each in value))}}}"
    named: Any = value if hasattr(value, "__qualname__") else type(value)
    name = f"{named.__module__}.{named.__qualname__}"
    if isinstance(value, FunctionType | MethodType | partial) or is_dataclass(value):
        return name + written(held(value), within)
    return name
