"""Immutable records that take microseconds to define.

A record is used as a frozen dataclass with slots is: it compares, hashes and prints by its fields,
takes them by position or name, and is matched by position. `dataclass` compiles six methods of
each class when its module is loaded, which for all nodes takes longer than to read an answer.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

_Record = TypeVar("_Record")


@dataclass_transform(frozen_default=True)
def record(described: type[_Record]) -> type[_Record]:
    """A class of at most five annotated fields, made a record; its docstring is kept."""
    names = tuple(described.__annotations__)
    own = {
        name: value
        for name, value in vars(described).items()
        if name not in ("__dict__", "__weakref__", *names)
    }
    own |= {"__slots__": names, "__match_args__": names, "__repr__": _shown, "__reduce__": _made_of}
    own |= {"__setattr__": _refused, "__delattr__": _refused}
    made: Any = type(described.__name__, (), own)
    made.__init__ = _filling(made, names, vars(described))
    made.__eq__, made.__hash__ = _comparing(made, attrgetter(*names))
    result: type[_Record] = made
    return result


def changed(value: _Record, changes: dict[str, Any]) -> _Record:
    """The record with other values in some fields."""
    names: tuple[str, ...] = type(value).__slots__  # type: ignore[attr-defined]
    return type(value)(*(changes.get(name, getattr(value, name)) for name in names))


def values(value: Any) -> tuple[Any, ...]:
    """What a record holds, in the order of its fields."""
    return tuple(getattr(value, name) for name in value.__slots__)


def _filling(made: type, names: tuple[str, ...], described: Any) -> Any:
    """The method that fills a new record."""
    fill: Any = _BY_COUNT[len(names) - 1](*(vars(made)[name].__set__ for name in names))
    fill.__code__ = fill.__code__.replace(co_varnames=("self", *names))
    fill.__defaults__ = tuple(described[name] for name in names if name in described)
    return fill


# The parameters are renamed: each class calls them by its fields.
def _one(a: Any) -> Any:
    def __init__(self: Any, p: Any) -> None:  # noqa: N807
        a(self, p)

    return __init__


def _two(a: Any, b: Any) -> Any:
    def __init__(self: Any, p: Any, q: Any) -> None:  # noqa: N807
        a(self, p)
        b(self, q)

    return __init__


def _three(a: Any, b: Any, c: Any) -> Any:
    def __init__(self: Any, p: Any, q: Any, r: Any) -> None:  # noqa: N807
        a(self, p)
        b(self, q)
        c(self, r)

    return __init__


def _four(a: Any, b: Any, c: Any, d: Any) -> Any:
    def __init__(self: Any, p: Any, q: Any, r: Any, s: Any) -> None:  # noqa: N807
        a(self, p)
        b(self, q)
        c(self, r)
        d(self, s)

    return __init__


def _five(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    def __init__(self: Any, p: Any, q: Any, r: Any, s: Any, t: Any) -> None:  # noqa: N807, PLR0917
        a(self, p)
        b(self, q)
        c(self, r)
        d(self, s)
        e(self, t)

    return __init__


_BY_COUNT: Final = (_one, _two, _three, _four, _five)


def _comparing(made: type, held: Callable[[Any], Any]) -> tuple[Any, Any]:
    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return held(self) == held(other) if other.__class__ is made else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(held(self))

    return __eq__, __hash__


def _shown(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _made_of(self: Any) -> tuple[type, tuple[Any, ...]]:
    return type(self), values(self)


def _refused(self: Any, name: str, *_value: Any) -> None:
    raise FrozenInstanceError(f"a {type(self).__name__} never changes: {name!r} stays")
