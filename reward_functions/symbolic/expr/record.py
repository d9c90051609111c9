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


def changed(value: _Record, **changes: Any) -> _Record:
    """The record with other values in some fields."""
    names: tuple[str, ...] = type(value).__slots__  # type: ignore[attr-defined]
    return type(value)(*(changes.get(name, getattr(value, name)) for name in names))


def values(value: Any) -> tuple[Any, ...]:
    """The values of a record, in the order of its fields."""
    return tuple(getattr(value, name) for name in value.__slots__)


def _filling(made: type, names: tuple[str, ...], described: Any) -> Any:
    """The method that fills a new record."""
    fill: Any = _BY_COUNT[len(names) - 1](*(vars(made)[name].__set__ for name in names))
    fill.__code__ = fill.__code__.replace(co_varnames=("self", *names))
    fill.__defaults__ = tuple(described[name] for name in names if name in described)
    return fill


# The parameters are renamed: each class calls them by its fields. What sets a slot returns None.
_BY_COUNT: Final[tuple[Callable[..., Any], ...]] = (
    lambda a: lambda self, p: a(self, p),  # noqa: PLW0108 - what sets a slot is no function
    lambda a, b: lambda self, p, q: a(self, p) or b(self, q),
    lambda a, b, c: lambda self, p, q, r: a(self, p) or b(self, q) or c(self, r),
    lambda a, b, c, d: (
        lambda self, p, q, r, s: a(self, p) or b(self, q) or c(self, r) or d(self, s)
    ),
    lambda a, b, c, d, e: (
        lambda self, p, q, r, s, t: (
            a(self, p) or b(self, q) or c(self, r) or d(self, s) or e(self, t)
        )
    ),
)


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
