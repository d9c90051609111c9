"""JSON objects of other systems: any further field is kept, and one of another type is refused.

    fields = Fields({"reward": 1, "extra": 2}, "trace record")
    fields.number("reward")         1.0
    fields.rest                     {"extra": 2}

Nothing that they hold is in a message: it names the object, the field and the type.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind, no_constant, unique_names
from reward_functions.rollouts.request.errors import RolloutError

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_LINE: Final = 256 * 1024 * 1024
"""Bytes of an object that is read: a long episode with every token is a few megabytes."""

MOST_IDS: Final = 10_000_000
"""Tokens of one list: longer than any context."""

MOST: Final = 100_000
"""Steps, trajectories or rewards of one list."""


class BadTrace(RolloutError, ConfigurationError, ValueError):
    """What another system wrote and we cannot read. The message names the field."""


def read_object(line: str | bytes, kind: str) -> dict[str, Any]:
    """The JSON object of a line.

    Args:
        line: UTF-8.
        kind: what it should be, for messages.

    Raises:
        BadTrace: it is too large, no JSON, no object, holds NaN, or names something twice.
    """
    if len(line) > LARGEST_LINE:
        raise BadTrace(f"a {kind} has more than {LARGEST_LINE:,} bytes")
    try:
        found = json.loads(line, object_pairs_hook=unique_names, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise BadTrace(f"a {kind} is one JSON object, in which no name stands twice") from None
    if not isinstance(found, dict):
        raise BadTrace(f"a {kind} is a JSON object, not {json_kind(found)}")
    return found


class Fields:
    """The fields of an object; each is read once, and `rest` is what was not read.

    Args:
        given: the object; anything else is refused.
        kind: what it is, for messages.

    Raises:
        BadTrace: it is no object.
    """

    def __init__(self, given: Any, kind: str) -> None:
        if not isinstance(given, dict):
            raise BadTrace(f"a {kind} is an object, not {json_kind(given)}")
        self.kind = kind
        self.rest: dict[str, Any] = dict(given)

    def any(self, name: str, default: Any = None) -> Any:
        """A field of any type."""
        return self.rest.pop(name, default)

    def text(self, name: str, default: str = "") -> str:
        """A string; null counts as absent."""
        return str(self._typed(name, str, "a string", default))

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean; null counts as absent."""
        return bool(self._typed(name, bool, "a boolean", default))

    def object(self, name: str) -> dict[str, Any]:
        """An object; {} where it is absent or null."""
        return dict(self._typed(name, dict, "an object", {}))

    def list(self, name: str, most: int = MOST) -> list[Any]:
        """A list; [] where it is absent or null.

        Raises:
            BadTrace: it is none, or longer than `most`.
        """
        found = list(self._typed(name, list, "a list", []))
        if len(found) > most:
            raise BadTrace(f"{name} of a {self.kind} has more than {most:,} values")
        return found

    def number(self, name: str) -> float | None:
        """A finite number; None where it is absent or null."""
        return self._number(name, self.any(name))

    def whole(self, name: str, default: int | None = None) -> int | None:
        """A whole number; null counts as absent."""
        found = self._typed(name, int, "a whole number", default)
        return found if found is None else int(found)

    def ids(self, name: str) -> tuple[int, ...]:
        """Ids of tokens; () where they are absent."""
        found = self.list(name, MOST_IDS)
        if not all(type(each) is int and each >= 0 for each in found):
            raise BadTrace(f"{name} of a {self.kind} are ids of tokens, whole numbers from 0")
        return tuple(found)

    def numbers(self, name: str, most: int = MOST_IDS) -> tuple[float, ...]:
        """Finite numbers; () where they are absent."""
        return tuple(float(each) for each in map(self._checked(name), self.list(name, most)))

    def messages(self, name: str) -> tuple[dict[str, Any], ...]:
        """Messages of a chat; () where they are absent."""
        found = self.list(name)
        if not all(isinstance(each, dict) for each in found):
            raise BadTrace(f"{name} of a {self.kind} are messages, which are objects")
        return tuple(found)

    def _checked(self, name: str) -> Any:
        def number(value: Any) -> float:
            found = self._number(name, value)
            if found is None:
                raise BadTrace(f"{name} of a {self.kind} has null for a number")
            return found

        return number

    def _number(self, name: str, value: Any) -> float | None:
        if value is None:
            return None
        if type(value) not in {int, float}:
            raise BadTrace(f"{name} of a {self.kind} is a number, not {json_kind(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not isfinite(number):
            raise BadTrace(f"{name} of a {self.kind} is a finite number")
        return number

    def _typed(self, name: str, kind: type, words: str, default: Any) -> Any:
        value = self.rest.pop(name, None)
        if value is None:
            return default
        if type(value) is not kind:
            raise BadTrace(f"{name} of a {self.kind} is {words}, not {json_kind(value)}")
        return value


def chosen(given: Mapping[str, Any], *empty: Any) -> dict[str, Any]:
    """The fields that say something: none that is None, or of the values named empty."""
    return {
        name: value
        for name, value in given.items()
        if value is not None and not any(value == each for each in empty)
    }
